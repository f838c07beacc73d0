"""The past: what was done, by whom and when, and how to take it back; what is gone, and how to bring it back."""

from collections.abc import Sequence
from itertools import groupby, islice
from typing import Any

from ..errors import MassLoss, NotFound
from ..operations import history, proposals, revert
from ..operations.forgotten import described
from ..results import Commit, Reverted
from ..text.hashes import short, version_of
from ..text.merge import Conflict, Conflicting, Take
from ..text.times import local
from ..text.word_diff import files_in
from .asking import CONFLICT, Ask, Given, Go, Page, paged, version_at
from .plots import columns

_SHOWN, _STRIDES, _MOST = 40, 60, 200
# The arguments of `history.commits` that the form asks for, and links do.
_ASKED = ("words", "author", "agent", "session", "since", "until")
_TAKES: dict[str, Take] = {"ours": "ours", "theirs": "theirs"}


def timeline(ask: Ask) -> Page:
    """Show commits by day, and within a day by author: all, or those that the fields of the form select."""
    asked, start, problem = {name: ask.query.one(name).strip() for name in _ASKED}, ask.query.number("from"), ""
    try:
        found = history.commits(ask.session, **{name: said or None for name, said in asked.items()})
        commits = list(islice(found, start, start + _SHOWN + 1))
    except NotFound as error:  # no such time
        commits, problem = [], error.text()
    strides = [] if any(asked.values()) or start else ask.chronicle.strides(_STRIDES)
    shown = {
        # The commits before `start` are not read; a None for each lets `paged` count them.
        "title": "Timeline", "days": _days(commits[:_SHOWN]), "rows": paged([None] * start + commits, ask, _SHOWN),
        "asked": asked, "problem": problem, "plot": columns(strides, ask.chronicle.people()) if strides else None,
    }  # fmt: skip
    return Page("timeline", shown, 404 if problem else 200)


def _days(commits: Sequence[Commit]) -> list[tuple[Commit, list[list[Commit]]]]:
    """Group commits by day, each with its first commit, and within a day into runs of one author and session."""
    days = []
    for _, day in groupby(commits, lambda commit: local(commit.time).date()):
        runs = [list(run) for _, run in groupby(day, lambda commit: (commit.author, commit.session))]
        days.append((runs[0][0], runs))
    return days


def commit(ask: Ask) -> Page:
    """Show one commit with its diff; if it has more than `_MOST` files, as an import may, only their names."""
    known = ask.session.engine.history
    found = known.commit(ask.session.timeline.commit_at(ask.query.needed("id")))
    files = files_in(history.patch(ask.session, found.commit)) if len(found.paths) <= _MOST else []
    shown = {"title": found.subject, "commit": found, "reason": known.body(found.commit), "files": files, "most": _MOST}
    return Page("commit", shown)


def preview(ask: Ask, problem: str = "", given: Given | None = None, may_be_meant: bool = False) -> Page:
    """Show what taking back commits, or all that was done in a session or by an agent, would change now.

    The query says what is to be taken back, or `given`, a form that was sent. `problem` says why it was not done;
    `may_be_meant` has the page ask whether so large a loss is meant.
    """
    asked = given or ask.query
    conflicts: tuple[Conflict, ...] = ()
    try:
        done: Reverted | None = _reverted(ask, asked, dry_run=True)
    except Conflicting as error:
        done, conflicts = None, error.conflicts
    shown: dict[str, Any] = {
        "title": "Take back", "what": _what(asked), "reverted": done, "conflicts": conflicts,
        "files": files_in(done.diff)[:_MOST] if done else [], "seen": _fingerprint(done) if done else "",
        "problem": problem, "take": asked.one("take"), "may_be_meant": may_be_meant,
    }  # fmt: skip
    return Page("revert", shown, CONFLICT if problem else 200)


def take_back(ask: Ask) -> Page | Go:
    """Take back what the person saw a preview of; if it would change something else by now, show the preview again."""
    try:
        if _fingerprint(_reverted(ask, ask.form, dry_run=True)) != ask.form.one("seen"):
            words = "memory was changed since this page was made: look at what would change now, and decide again"
            return preview(ask, words, ask.form)
        return Go("/timeline", {}, [_reverted(ask, ask.form, dry_run=False).commit])
    except (Conflicting, MassLoss) as error:
        return preview(ask, error.problem, ask.form, isinstance(error, MassLoss))


def undo(ask: Ask) -> Page | Go:
    """Take back what was just done: its commits are reverted, and proposals decided on wait again.

    If the same lines were changed since, show the preview instead, and leave the proposals as they are.

    Raises:
        NotFound: a proposal was not decided on in this page.
    """
    decided = [*ask.form.get("rejected", []), *ask.form.get("applied", [])]
    if strange := [id for id in decided if id not in ask.decided]:
        raise NotFound(f"{short(strange[0])} is no text that was decided on here")
    try:
        done = [_reverted(ask, ask.form, dry_run=False).commit] if ask.form.get("commit") else []
    except (Conflicting, MassLoss) as error:
        return preview(ask, error.problem, ask.form, isinstance(error, MassLoss))
    for id in decided:
        proposals.restore_proposal(ask.session, id)
    place, query = ("/proposal", {"id": decided[0]}) if len(decided) == 1 else ("/", {})
    return Go(place, query, done, again=decided)


def _what(asked: Given) -> dict[str, list[str]]:
    return {name: asked[name] for name in ("commit", "session", "agent", "since") if asked.one(name)}


def _reverted(ask: Ask, asked: Given, dry_run: bool) -> Reverted:
    """Revert what the fields of a query or form name."""
    session, agent, since = (asked.one(name) or None for name in ("session", "agent", "since"))
    commits, take, is_meant = asked.get("commit", ()), _TAKES.get(asked.one("take")), bool(asked.one("is_meant"))
    return revert.revert(
        ask.session, commits, session=session, agent=agent, since=since, take=take, dry_run=dry_run,
        even_if_many=is_meant,
    )  # fmt: skip


def _fingerprint(done: Reverted) -> str:
    """Return a hash of what a preview shows, its commits and its diff, to tell whether that is still the same."""
    return version_of("\n".join([*(commit.commit for commit in done.commits), done.diff]).encode())


def forgotten(ask: Ask) -> Page:
    """The facts that are gone, the last one first."""
    rows = paged(ask.chronicle.gone(), ask, _SHOWN)
    rows["items"] = [described(ask.session, removal) for removal in rows["items"]]
    versions = {gone.path: version_at(ask.session, gone.path) for gone in rows["items"]}
    return Page("forgotten", {"title": "Forgotten", "rows": rows, "versions": versions})
