"""What waits for the person: texts that agents propose, and texts of which two machines had one each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..errors import CrabmemError, InvalidArguments, NotFound, Stale
from ..operations import history, proposals, provenance, recall, status
from ..results import CREATOR, Hit, Line, Proposal
from ..session.session import Session
from ..text.hashes import short
from ..text.limits import MAX_QUERY
from ..text.word_diff import FileDiff, files_in
from ..text.words import counted, shortened
from .asking import CONFLICT, Ask, Go, Page, check_version, paged, version_at, written

_SHOWN, _SIMILAR, _NEWEST = 40, 5, 6
_TOLD = 600
_BETWEEN = "@"


def inbox(ask: Ask, problem: str = "") -> Page:
    """All that waits, the oldest first."""
    waiting, stands = proposals.proposals(ask.session), status.status(ask.session)
    rows = paged(waiting, ask, _SHOWN)
    rows["items"] = [_row(ask.session, each) for each in rows["items"]]
    newest = [] if waiting or not stands.last else history.log(ask.session, _NEWEST)
    shown = {"title": "Inbox", "rows": rows, "status": stands, "newest": newest, "problem": problem}
    return Page("inbox", shown, CONFLICT if problem else 200)


def _row(session: Session, each: Proposal) -> dict[str, Any]:
    lines = [line for file in files_in(each.diff) for line in file.lines]
    signs = [line.sign for line in lines]
    added = ("".join(text for text, _ in line.pieces) for line in lines if line.sign == "+")
    key = f"{each.id}{_BETWEEN}{version_at(session, each.path)}"
    return {
        "proposal": each, "is_conflict": each.author == CREATOR, "key": key, "added": signs.count("+"),
        "removed": signs.count("-"), "gist": next((text for text in added if text.strip()), ""),
    }  # fmt: skip


def decide(ask: Ask) -> Page | Go:
    """Apply or reject what was ticked, each as it was shown: of what was changed since nothing is done, and is told.

    Where several are about one file, each is joined with those before it.
    """
    do, failed, done, rejected = ask.form.needed("do"), list[str](), list[str | None](), list[str]()
    found = list[Proposal]()
    for each in ask.form.get("which", []):
        id, _, version = each.partition(_BETWEEN)
        try:
            found.append(_seen(ask, id, version))
        except CrabmemError as error:
            failed.append(error.text())
    for proposal in found:
        try:
            go = _done(ask, do, proposal)
            done += go.done
            rejected += go.rejected
        except CrabmemError as error:
            failed.append(error.text())
    if failed:
        words = f"of what was ticked {len(failed)} could not be done: {shortened('; '.join(failed), _TOLD)}"
        return inbox(ask, f"{words} ({counted(len(done) + len(rejected), 'other')} done)")
    return Go("/", {}, done, rejected) if done or rejected else inbox(ask, "nothing was ticked")


def proposal(ask: Ask, problem: str = "", text: str | None = None) -> Page:
    """One text that waits: what it would change word by word, whose words those are now, and facts like it."""
    session, found = ask.session, proposals.proposal(ask.session, ask.query.needed("id"))
    files = files_in(found.diff)
    shown = {
        "title": f"Proposal for {found.path}", "proposal": found, "is_conflict": found.author == CREATOR,
        "version": version_at(session, found.path), "files": files, "owners": {found.path: owners(session, found.path)},
        "similar": _similar(session, found, files), "text": found.text if text is None else text,
        "is_edited": text is not None, "problem": problem,
    }  # fmt: skip
    return Page("proposal", shown, CONFLICT if problem else 200)


def decide_one(ask: Ask) -> Page | Go:
    """Apply a text, write another one in its place, or let it go."""
    do, id, text, version = ask.form.needed("do"), ask.query.needed("id"), ask.form.one("text"), ask.form.one("version")
    try:
        return _done(ask, do, _seen(ask, id, version), version, text)
    except NotFound:
        raise
    except CrabmemError as error:
        words = "the file was changed since this page was made: look at what it would change now, and decide again"
        return proposal(ask, words if isinstance(error, Stale) else error.text(), text if do == "edit" else None)


def _seen(ask: Ask, id: str, version: str) -> Proposal:
    """A proposal whose file is still at `version`."""
    found = proposals.proposal(ask.session, id)
    check_version(ask.session, found.path, version)
    return found


def _done(ask: Ask, do: str, found: Proposal, version: str = "", text: str = "") -> Go:
    """Do with a proposal what the person says."""
    session = ask.session
    if do == "apply":
        return Go("/", {}, [proposals.apply_proposal(session, found.id).commit])
    if do not in ("edit", "reject"):
        raise InvalidArguments(f"there is no such action: {do}")
    commit = written(session, found.path, text, version) if do == "edit" else None
    proposals.reject_proposal(session, found.id)
    ask.rejected.add(found.id)
    return Go("/", {}, [commit], [] if commit else [found.id])


def bring_back(ask: Ask, rejected: Sequence[str]) -> None:
    """Have proposals wait again that were rejected on this page.

    Raises:
        NotFound: one was not, or Git has removed it since.
    """
    engine = ask.session.engine
    if strange := [id for id in rejected if id not in ask.rejected or not engine.history.has(id)]:
        raise NotFound(f"{short(strange[0])} is no text that was rejected on this page")
    for id in rejected:
        engine.writer.beside(lambda scan, id=id: engine.history.keep_aside(id))  # type: ignore[misc]


def owners(session: Session, path: str) -> dict[int, Line]:
    """Who wrote each line of the file at a path, by its number; nobody of a file that is not there."""
    with suppress(NotFound):
        return {line.number: line for line in provenance.blame(session, path)}
    return {}


def _similar(session: Session, found: Proposal, files: list[FileDiff]) -> tuple[Hit, ...]:
    """Facts that say much of what the proposal would add."""
    added = (text for file in files for line in file.lines if line.sign == "+" for text, _ in line.pieces)
    query = " ".join(" ".join(added).replace("*", " ").replace('"', " ").split())[:MAX_QUERY]
    with suppress(CrabmemError):
        hits = recall.recall(session, query, _SIMILAR + 1).hits
        return tuple(hit for hit in hits if hit.entry.path != found.path)[:_SIMILAR]
    return ()
