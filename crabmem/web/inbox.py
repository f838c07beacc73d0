"""The inbox: texts that agents propose, and texts of other machines that conflict with what is here."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, islice
from types import MappingProxyType
from typing import Any

from ..errors import CrabmemError, InvalidArguments, NotFound, Stale
from ..operations import history, proposals, provenance, status
from ..operations.proposals import Verdict, Wording
from ..operations.review import Decision, Outcome, carry_out_decisions
from ..results import OF_SESSION, Proposal
from ..session.session import Session
from ..text.edit import lenient_text
from ..text.entry import Entry, entry_in
from ..text.word_diff import files_in
from ..text.words import counted, shortened
from .asking import CONFLICT, Ask, Go, Page, paged, version_at

# Proposals on a page, and commits that are shown when nothing waits.
_SHOWN, _NEWEST = 40, 6
# Characters of the reasons why ticked proposals could not be carried out.
_TOLD = 600
# Bytes of proposals that a page compares with memory to show their first lines: 262,144 take up to 0.4 s.
_COMPARED = 500_000
# Changed lines among which the one that stands for a proposal is sought.
_LOOKED_AT = 500
# Bytes of a new fact that is shown as fields. A longer one is shown as a diff, of which a page shows a limited part.
_READ = 50_000
# Separates the id and the versions in a `_key`.
_BETWEEN = "@"
# Lines of a fact's header; the text of a fact tells more.
_HEADER = re.compile(r"-{3}|\w+:.*")


def inbox(ask: Ask, problem: str = "") -> Page:
    """Show what waits, grouped by author and session, the oldest first in each group.

    The fields `by`, `in` and `tag` of the query limit it to an agent, a session or a tag.
    """
    session, stands = ask.session, status.status(ask.session)
    by, within, tag = meant = [ask.query.one(name) for name in ("by", "in", "tag")]
    waiting = ask.waiting
    if any(meant):
        chosen = {each.id for each in proposals.proposals(session, by or None, within or None, [tag] * bool(tag))}
        waiting = [each for each in waiting if each.id in chosen]
    counts = Counter(map(_source, waiting))
    place = {source: at for at, source in enumerate(counts)}
    rows = paged(sorted(waiting, key=lambda each: place[_source(each)]), ask, _SHOWN)
    near, far = _split_by_size(rows["items"])
    items = [_row(session, each) for each in [*proposals.with_effects(session, near), *far]]
    groups = groupby(items, lambda row: _source(row["proposal"]))
    rows["groups"] = [(source, counts[source], list(found)) for source, found in groups]
    newest = [] if rows["total"] or not stands.last else history.log(session, _NEWEST)
    shown = {"title": "Inbox", "rows": rows, "status": stands, "newest": newest, "problem": problem, "meant": meant}
    return Page("inbox", shown, CONFLICT if problem else 200)


def _source(each: Proposal) -> tuple[str, str]:
    """Return the author and the session of a text that waits; ("", "") if a sync brought it from another machine."""
    return ("", "") if proposals.is_of_sync(each) else (each.author, each.session or "")


def _split_by_size(items: Sequence[Proposal]) -> tuple[Sequence[Proposal], Sequence[Proposal]]:
    """Split proposals into those whose lines the list shows, and the rest: those after the first `_COMPARED` bytes."""
    sizes = (sum(len(file.data or b"") + len(file.base or b"") for file in each.files) for each in items)
    near = sum(before < _COMPARED for before in islice(accumulate(sizes, initial=0), len(items)))
    return items[:near], items[near:]


def _row(session: Session, each: Proposal) -> dict[str, Any]:
    """Return what the list shows of a proposal; `gists` are the line removed and the line added that tell most."""
    lines = [line for file in files_in(each.diff, with_words=False) for line in file.lines]
    signs = [line.sign for line in lines]
    gists = [(shown, name, _gist(lines, sign)) for shown, name, sign in (("−", "minus", "-"), ("+", "plus", "+"))]
    return {
        "proposal": each, "is_conflict": proposals.is_of_sync(each), "key": _key(session, each), "gists": gists,
        "added": signs.count("+"), "removed": signs.count("-"),
    }  # fmt: skip


def _gist(lines: Sequence[Any], sign: str) -> str:
    """Return the first line with `sign` that is neither blank nor part of a header; else the first not blank, or ""."""
    changed = islice((line for line in lines if line.sign == sign), _LOOKED_AT)
    texts = ("".join(text for text, _ in line.pieces).strip() for line in changed)
    return min(filter(None, texts), key=lambda text: bool(_HEADER.fullmatch(text)), default="")


def _key(session: Session, each: Proposal) -> str:
    """Return the value by which a form names a proposal: its id, and the version of each of its files as shown."""
    return _BETWEEN.join([each.id, *(version_at(session, file.path) for file in each.files)])


def decide(ask: Ask) -> Page | Go:
    """Apply or reject the ticked proposals. One whose files were changed since is left alone, and the page says so."""
    failed, decided, ticked = list[str](), list[Decision](), ask.form.get("which", [])
    for key in ticked:
        try:
            decided.append(_decision(ask, key))
        except NotFound as error:
            failed.append(error.text())
    outcomes = _carry_out(ask, decided)
    failed += [_words_for(each.error) for each in outcomes if each.error]
    if failed:
        words = f"of what was ticked {len(failed)} could not be done: {shortened('; '.join(failed), _TOLD)}"
        return inbox(ask, f"{words} ({counted(len(ticked) - len(failed), 'other')} done)")
    return _go_on("/", {}, outcomes) if ticked else inbox(ask, "nothing was ticked")


def proposal(ask: Ask, problem: str = "", texts: Mapping[str, str] = MappingProxyType({})) -> Page:
    """Show one proposal: what it would change word by word, who wrote the lines that are there now, and similar facts.

    `texts` are the person's own wordings by path, shown again after a `problem`.
    """
    session, found = ask.session, proposals.proposal(ask.session, ask.query.needed("id"))
    ids, files = [each.id for each in ask.waiting], files_in(found.diff)
    verdicts = proposals.verdicts(session, found)
    after = {each.path: lenient_text(each.after) or "" for each in verdicts if each.after is not None}
    at = ids.index(found.id) if found.id in ids else 0
    shown = {
        "title": found.change, "proposal": found, "is_conflict": proposals.is_of_sync(found), "place": at + 1,
        "total": len(ids), "next": ids[(at + 1) % len(ids)], "key": _key(session, found), "files": files,
        "owners": {each.path: provenance.owners(session, each.path) for each in verdicts}, "texts": {**after, **texts},
        "new": _new(session, verdicts), "similar": proposals.facts_like(session, found), "is_edited": bool(texts),
        "problem": problem, "is_of_session": found.rule == OF_SESSION,
    }  # fmt: skip
    return Page("proposal", shown, CONFLICT if problem else 200)


def _new(session: Session, verdicts: Sequence[Verdict]) -> dict[str, Entry]:
    """Return the facts that a proposal would create, by path, without those longer than `_READ`."""
    made = ((each.path, each.after) for each in verdicts if each.now is None and session.layout.is_entry(each.path))
    found = {path: entry_in(path, after) for path, after in made if after is not None and len(after) <= _READ}
    return {path: entry for path, entry in found.items() if entry is not None}


def decide_one(ask: Ask) -> Page | Go:
    """Apply one proposal, as proposed or as the person reworded it, or reject it; go on to the next one that waits.

    Raises:
        NotFound: the proposal does not wait any more.
    """
    id, said = ask.query.needed("id"), dict(zip(ask.form.get("path", []), ask.form.get("text", []), strict=False))
    ids = [each.id for each in ask.waiting]
    [outcome] = _carry_out(ask, [_decision(ask, ask.form.needed("which"), said)])
    if isinstance(outcome.error, NotFound):
        raise outcome.error
    if outcome.error:
        return proposal(ask, _words_for(outcome.error), said)
    left = [each for each in ids[ids.index(id) :] + ids if each != id] if id in ids else ids
    return _go_on("/proposal", {"id": left[0]}, [outcome]) if left else _go_on("/", {}, [outcome])


def _words_for(error: CrabmemError) -> str:
    """Return the words for an error; if a file was changed meanwhile, what the person can do."""
    words = "the file was changed since this page was made: look at what it would change now, and decide again"
    return words if isinstance(error, Stale) else error.text()


def _decision(ask: Ask, key: str, texts: Mapping[str, str] = MappingProxyType({})) -> Decision:
    """Return what the person decided on the proposal with this `_key`; `texts` are their own wordings, by path.

    Raises:
        InvalidArguments: the form is not one that this page made, or a wording is blank.
        NotFound: the proposal does not wait any more.
    """
    do, (id, *versions) = ask.form.needed("do"), key.split(_BETWEEN)
    found = proposals.proposal(ask.session, id)
    if do not in ("apply", "reject", "edit") or len(versions) != len(found.files) or (do == "edit" and not texts):
        raise InvalidArguments(f"there is no such action: {do}")
    if not all(map(str.strip, texts.values())):
        raise InvalidArguments("a text is blank: to have nothing of it, reject it")
    wording = dict[str, Wording]()
    for each in proposals.verdicts(ask.session, found):
        text, meant = texts.get(each.path, "").replace("\r\n", "\n"), lenient_text(each.after) or ""
        if do == "edit" and each.path in texts and (each.clashes or text.rstrip() != meant.rstrip()):
            wording[each.path] = Wording(f"{text.rstrip()}\n", each.now)
    seen = {file.path: version for file, version in zip(found.files, versions, strict=True)}
    return Decision(found.id, "reject" if do == "reject" else "apply", wording, versions=seen)


def _carry_out(ask: Ask, decided: Sequence[Decision]) -> list[Outcome]:
    """Carry out decisions one after the other, and note in `ask.decided` which succeeded.

    Each decision expects its files in the versions that the person saw. If an earlier decision of the same form changed
    a file, the later one expects the version that came of it.
    """
    # By path and the version that was seen: the version now.
    made, outcomes = dict[tuple[str, str], str](), list[Outcome]()
    for each in decided:
        versions = {path: made.get((path, seen), seen) for path, seen in each.versions.items()}
        outcomes += carry_out_decisions(ask.session, [replace(each, versions=versions)])
        if outcomes[-1].error is None:
            ask.decided.add(each.id)
        if commit := outcomes[-1].commit:
            made |= {(path, seen): version_at(ask.session, path, commit) for path, seen in each.versions.items()}
    return outcomes


def _go_on(path: str, query: Mapping[str, str], outcomes: Sequence[Outcome]) -> Go:
    """Return the redirect to the next page, which offers to take the outcomes back."""
    rejected = [each.decision.id for each in outcomes if each.decision.what == "reject"]
    applied = [each.decision.id for each in outcomes if each.decision.what == "apply"]
    return Go(path, query, [each.commit for each in outcomes], rejected, applied)
