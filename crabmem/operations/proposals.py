"""Proposals, which wait for a person to decide: a new identity, and writes of agents that the settings hold back.

Nothing in a workspace changes before a person decides, and no proposal is recalled or in a prompt. `write/proposals.py`
keeps them; `write/withholding.py` says which part of a write waits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from ..errors import (
    CrabmemError,
    DamagedHistory,
    Disabled,
    Inapplicable,
    InvalidArguments,
    InvalidSettings,
    NotFound,
    Unreadable,
)
from ..git.commits import Note
from ..results import CREATOR, Changed, Hit, Proposal, Proposed, ProposedFile
from ..session import rules
from ..session.init import init
from ..session.rules import check_may_write
from ..session.scopes import others
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.credentials import warnings
from ..text.edit import in_style_of, lenient_text, unified_diff
from ..text.entry import check_text, entry_in, parse_entry
from ..text.hashes import version_of
from ..text.limits import MAX_QUERY
from ..text.slug import name_key
from ..text.values import replace
from ..workspace.layout import SETTINGS
from ..workspace.settings import read_settings
from ..write.draft import Draft
from ..write.proposals import Proposals, expired_before
from .changes import changed, diff_of, file_with, note_with_reason, origin_of, write_file
from .files import identity
from .recall import recall

T = TypeVar("T")
_ID = re.compile("[0-9a-fA-F]{4,40}")
# The subject of the commit that keeps a proposal begins so.
_PROPOSED = "propose: "
# Facts that are shown as being like a proposal.
_MAX_LIKE = 5
# Words that a fact must share with a proposal: with fewer it is about something else.
_LEAST_COMMON_WORDS = 3
#: An empty mapping, the default of arguments by path.
NOTHING: Mapping[str, Any] = MappingProxyType({})


# What waits, and what deciding on it would do


@dataclass(frozen=True)
class Verdict:
    """The effect of applying a proposal on one file: its bytes `now` and `after`, None for no file.

    `clashes`: the same lines were changed since; there `after` has the proposed text.
    """

    path: str
    now: bytes | None
    after: bytes | None
    clashes: bool


@dataclass(frozen=True)
class Wording:
    """A person's text for a file, in place of the proposed one; None removes the file. `base` are the bytes that the
    file had when the person wrote it: later changes are merged."""

    text: str | None
    base: bytes | None


def is_of_sync(proposal: Proposal) -> bool:
    """Whether this is no proposal of an agent, but a text that waits as two machines changed the same lines."""
    return proposal.author == CREATOR


def verdict(file: ProposedFile, now: bytes | None) -> Verdict:
    """The effect of applying a proposal on a file that has the bytes `now`: changes since are merged."""
    from ..text.merge import applied

    done = applied(file.path, file.base, now, file.data)
    return Verdict(file.path, now, done.data, bool(done.conflicts))


def _with_effect(session: Session, proposal: Proposal, read: Callable[[str], bytes | None]) -> Proposal:
    """The proposal with the diff that applying it would make, and whether it clashes; `read` gives a present file."""
    found = [verdict(file, read(file.path)) for file in proposal.files]
    diffs = (
        unified_diff(_text_at(session, each.path, each.now), lenient_text(each.after), each.path) for each in found
    )
    return replace(proposal, diff="".join(diffs), clashes=any(each.clashes for each in found))


def _text_at(session: Session, path: str, data: bytes | None) -> str | None:
    """The text of the bytes `data`; where they are None, for the identity the built-in or the parent's text."""
    return identity(session).text if data is None and path == session.layout.identity else lenient_text(data)


# The use that a session makes of proposals


def write_identity(session: Session, content: str, if_version: str | None = None, reason: str = "") -> Changed:
    """Replace `Crab.md`; with `if_version`, only if it still is that version. `reason` is for the history.

    A person always may. Where the settings only let agents propose it, the answer is a `Proposed`, and the file stays
    as it is.

    Raises:
        Disabled: an agent asks, and the settings do not let agents do that.
    """
    check_identity_is_writable(session)
    if rules.may_write_soul(session):
        return write_file(session, session.layout.identity, content, "soul", if_version, reason)
    return propose_identity(session, content, reason, if_version)


def check_identity_is_writable(session: Session) -> None:
    """Refuse an agent that may neither write `Crab.md` nor propose what it should say.

    Raises:
        Disabled: the settings do not let agents do that.
    """
    if not (rules.may_write_soul(session) or rules.may_propose_soul(session)):
        raise Disabled(
            f"writing {session.layout.identity} is disabled; a person may edit the file, or set soul_editable = true "
            'in crabmem.toml, or soul = "propose" to be asked'
        )


def propose_identity(session: Session, content: str, reason: str = "", if_version: str | None = None) -> Proposed:
    """Propose a new text of `Crab.md` for a person to decide on: no file changes, and the branch does not move.

    While a proposal waits, the same text again is the same proposal. Where no memory has begun yet, one is begun.

    Raises:
        InvalidArguments: the text is blank, cannot be kept, or is what the file says already.
        Full: too many proposals wait already.
        Stale: the file is not at `if_version` any more.
        HoldsSecret: there is a credential in the text, and the settings refuse that.
    """
    path = session.layout.identity
    check_text("content", content, session.profile.largest)
    if not content.strip():
        raise InvalidArguments(f"a proposal is the whole new text of {path}, and this one is blank")
    session.view.check_writable(path)
    kept, note = waiting(session), note_with_reason(session, "propose", path, reason)
    screen = rules.screen(session, content, reason)

    def decide(now: Snapshot) -> bytes:
        return file_with(session, now, path, content, if_version, reason, screen)

    def propose(now: Snapshot) -> tuple[Proposal, bytes | None]:
        data, there = decide(now), now.read(path)
        if lenient_text(data) == _text_at(session, path, there):
            raise Inapplicable(f"{path} says that already, so there is nothing to propose")
        return kept.add({path: data}, {path: there}, note, session.engine.clock()), there

    if not session.engine.history.ownership.holds_memory():
        session.look(decide)  # a text that is refused must not begin a workspace
        init(session)
    secrets = session.settings.secrets  # read now: an error in the settings must come before the proposal is kept
    made, there = _between_writes(session, propose)
    made = _with_effect(session, made, {path: there}.get)  # compared after the lock, so that no writer waits for it
    notices = warnings(f"{lenient_text(made.data)}\n{reason}", _text_at(session, path, there), secrets)
    return Proposed(
        path, version_of(there or b""), None, False, made.diff, notices, origin_of(session, path, None), made
    )


def proposals(
    session: Session, agent: str | None = None, from_session: str | None = None, tags: Sequence[str] = ()
) -> list[Proposal]:
    """The proposals that wait for a person, the oldest first; only those of an `agent`, of a session, or about facts
    with all `tags`, where these are given."""
    found = waiting(session).all()
    meant = [each for each in found if agent in (None, each.agent) and from_session in (None, each.session)]
    tagged = [each for each in meant if all(_has_tag(each, tag) for tag in tags)]
    return with_effects(session, tagged)


def waiting_beside(
    session: Session, agent: str | None = None, from_session: str | None = None, tags: Sequence[str] = ()
) -> dict[str, int]:
    """How many of these `proposals` wait in each other memory that the session sees, by its folder. Memories without
    any, or that cannot be read, are left out."""
    found = dict[str, int]()
    for other in others(session).values():
        with suppress(CrabmemError):  # `recall` and `doctor` say what cannot be read
            found[str(other.root)] = len(proposals(other, agent, from_session, tags))
    return {folder: count for folder, count in found.items() if count}


def places_beside(session: Session, waits: Sequence[Proposal]) -> dict[str, tuple[str, str]]:
    """The name and folder of the memory where each of `waits` waits, by its id; those that wait here are left out."""
    found = dict[str, tuple[str, str]]()
    for name, other in others(session).items() if waits else ():
        with suppress(CrabmemError):
            there = {each.id for each in waiting(other).all()}
            found |= {each.id: (name, str(other.root)) for each in waits if each.id in there}
    return found


def with_effects(session: Session, proposed: Sequence[Proposal]) -> list[Proposal]:
    """The proposals that the session may see, each with what applying it would change now."""
    seen = [each for each in proposed if all(session.view.allows(file.path) for file in each.files)]
    return session.look(lambda now: [_with_effect(session, each, now.read) for each in seen])


def proposal(session: Session, id: str) -> Proposal:
    """The proposal whose id begins with `id`.

    Raises:
        NotFound: there is no such proposal.
        Inapplicable: several ids begin so.
    """
    found = waiting(session).named(id)
    return session.look(lambda now: _with_effect(session, found, now.read))


def facts_like(session: Session, proposal: Proposal) -> tuple[Hit, ...]:
    """Facts that share words with the lines a proposal would add, the best first; () where recall fails.

    The proposal must have its `diff`, as those of `proposals` do.
    """
    added = (line[1:] for line in proposal.diff.split("\n") if line.startswith("+") and not line.startswith("+++ "))
    query = " ".join(" ".join(added).replace("*", " ").replace('"', " ").split())[:MAX_QUERY]
    with suppress(CrabmemError):
        hits = recall(session, query, _MAX_LIKE + 1, explain=True).hits
        like = (hit for hit in hits if len({match.word for match in hit.matches}) >= _LEAST_COMMON_WORDS)
        return tuple(hit for hit in like if hit.entry.path != proposal.path)[:_MAX_LIKE]
    return ()


def verdicts(session: Session, proposal: Proposal) -> list[Verdict]:
    """The effect of applying a proposal on each of its files now, without files that the session may not see."""
    seen = [file for file in proposal.files if session.view.allows(file.path)]
    return session.look(lambda now: [verdict(file, now.read(file.path)) for file in seen])


def apply_proposal(
    session: Session, id: str, wording: Mapping[str, Wording] = NOTHING, if_versions: Mapping[str, str] = NOTHING
) -> Changed:
    """Write a proposal, or a text of another machine, merged with changes since, in a person's commit. It is written
    whole or not at all, and waits no more.

    `wording` has the person's own texts for some of its files, by path. Files in `if_versions` must still be at the
    version given there, "" for no file.

    Raises:
        Disabled: an agent asks.
        Stale: a file is not at its version in `if_versions` any more.
        Conflicting: the same lines were changed since.
        InvalidSettings: `crabmem.toml` could not be read any more afterwards.
        InvalidArguments: the header of a person's wording for a fact cannot be read.
        NotFound: there is no such proposal.
        HoldsSecret: there is a credential in the wording, and the settings refuse that.
    """
    from ..text.merge import Conflict, Conflicting

    proposal = _to_decide_on(session, id)
    main, keys = proposal.path, [("Proposal", proposal.id), ("Proposed-by", proposal.author)]
    if proposal.session and not session.actor.session:  # so that `undo --in` takes it back with all of that session
        keys.append(("Session", proposal.session))
    texts = [each.text for each in wording.values() if each.text is not None]
    screen = rules.screen(session, *texts)
    for each in texts:
        check_text("content", each, session.profile.largest)
    for path, said in wording.items():
        _check_fact(session, path, said)

    def made(file: ProposedFile, now: Snapshot) -> Verdict:
        there, said = now.read(file.path), wording.get(file.path)
        if said is None:
            return verdict(file, there)
        if said.text is None:
            return verdict(ProposedFile(file.path, None, said.base), there)
        screen.refuse_new(said.text, lenient_text(there), lenient_text(file.data) or "")
        style = lenient_text(said.base if file.data is None else file.data) or ""
        return verdict(ProposedFile(file.path, in_style_of(said.text, style).encode(), said.base), there)

    def decide(now: Snapshot) -> Draft[None]:
        _check_versions(session, now, if_versions)
        found = [made(file, now) for file in proposal.files]
        if clashing := [each for each in found if each.clashes]:
            sides = tuple(Conflict(each.path, lenient_text(each.now), lenient_text(each.after)) for each in clashing)
            there = clashing[0].path
            is_synced = is_of_sync(proposal)
            way = (
                f"`crabmem review resolve {there} --edit`"
                if is_synced
                else "edit it yourself, then reject the proposal"
            )
            raise Conflicting(sides, f"nothing was applied to {there}: {way}")
        _check_settings(found)
        note = replace(_apply_note(session, proposal, wording), body=proposal.reason)
        return Draft({each.path: each.after for each in found}, replace(note, trailers=(*note.trailers, *keys)), None)

    done = session.write(decide)
    result = replace(changed(session, done, main), diff=diff_of(done))
    with suppress(CrabmemError):  # the write stands: if the proposal still waits, applying it again changes nothing
        _between_writes(session, lambda now: waiting(session).drop(proposal))
    return result


def _check_settings(found: Sequence[Verdict]) -> None:
    """Refuse to write a `crabmem.toml` that cannot be read: every command would fail, also those that take it back.

    Raises:
        InvalidSettings: the settings that would be written cannot be read.
    """
    for each in found:
        try:
            read_settings(each.after or b"" if each.path == SETTINGS else b"", SETTINGS)
        except (InvalidSettings, Unreadable) as error:
            raise InvalidSettings(f"{error}; nothing was applied: edit it yourself, or keep what is there") from None


def _check_fact(session: Session, path: str, said: Wording) -> None:
    """Refuse a person's wording of a fact if its header cannot be read.

    Raises:
        InvalidArguments: the header cannot be read.
    """
    if said.text is not None and session.layout.is_entry(path):
        entry = parse_entry(path, said.text.encode())
        if entry.problem:
            raise InvalidArguments(f"{path} as you have it: {entry.problem}")


def _apply_note(session: Session, proposal: Proposal, wording: Mapping[str, Wording]) -> Note:
    """The message of a commit that applies a proposal ("Luna's vet as mia proposed"), or a text of another machine."""
    path, is_synced = proposal.path, is_of_sync(proposal)
    entry = entry_in(path, proposal.data) if proposal.data is not None and session.layout.is_entry(path) else None
    name = entry.name if entry else path.rpartition("/")[2]
    if not is_synced and (proposal.data is None or len(proposal.files) > 1):
        name = proposal.change.replace(": ", " ", 1)  # as "forget Luna": a name alone would not say what becomes of it
    what = f"{name} {'as the other machine has it' if is_synced else f'as {proposal.author} proposed'}"
    return rules.note(session, "resolve" if is_synced else "apply", f"{what}, reworded" if wording else what)


def reject_proposal(session: Session, id: str, if_versions: Mapping[str, str] = NOTHING) -> Proposal:
    """Reject a proposal: it waits no more. Git removes its text by and by, `purge` at once.

    Raises:
        Disabled: an agent asks.
        NotFound: there is no such proposal.
        Stale: a file is not at its version in `if_versions` any more.
    """
    proposal = _to_decide_on(session, id)

    def reject(now: Snapshot) -> None:
        _check_versions(session, now, if_versions)
        waiting(session).drop(proposal)

    _between_writes(session, reject)
    return proposal


def restore_proposal(session: Session, id: str) -> Proposal:
    """Have a proposal that a person decided on wait again, if Git still has it; its id begins with `id`.

    Raises:
        Disabled: an agent asks.
        NotFound: there is no such proposal, or Git has removed it since.
        Inapplicable: the ids of several commits begin so.
    """
    check_may_decide(session)
    history = session.engine.history
    try:
        commit = history.resolve(id, anywhere=True) if _ID.fullmatch(id) else ""
        is_one = bool(commit) and history.commit(commit, with_paths=False).subject.startswith(_PROPOSED)
    except (NotFound, DamagedHistory):
        is_one = False
    if not is_one:
        raise NotFound(f"no proposal {id} is there any more: Git removes what is rejected by and by")
    _between_writes(session, lambda now: history.aside.keep(commit))
    return proposal(session, commit)


def _check_versions(session: Session, now: Snapshot, versions: Mapping[str, str]) -> None:
    for path, version in versions.items():
        session.timeline.check_version(path, now.scan.files.get(path), version, now.view.allows)


def _between_writes(session: Session, work: Callable[[Snapshot], T]) -> T:
    """Record outside edits, then call `work` under the writer's lock. It may set commits aside, but changes no file."""
    check_may_write(session)
    return session.engine.writer.between_writes(lambda scan: work(Snapshot(session.engine, session.view, scan)))


def _has_tag(proposal: Proposal, tag: str) -> bool:
    """Whether a fact of the proposal has the tag, as proposed or as it was before."""
    texts = ((file.path, data) for file in proposal.files for data in (file.data, file.base) if data is not None)
    entries = (entry_in(path, data) for path, data in texts)
    return any(name_key(tag.lstrip("# ")) in map(name_key, entry.labels) for entry in entries if entry)


def waiting(session: Session) -> Proposals:
    """The proposals that the session may see, without those that have expired."""
    engine = session.engine
    since = expired_before(session.settings.review.expire, engine.clock())
    return Proposals(engine.history, session.layout, session.view.allows, since, engine.proposed)


def check_may_decide(session: Session) -> None:
    """Refuse everybody but a person.

    Raises:
        Disabled: an agent asks, or a program that does not say that it is a person.
    """
    if session.actor.is_agent:
        raise Disabled("a person decides on proposals, and no agent; ask the person to look at `crabmem review`")


def _to_decide_on(session: Session, id: str) -> Proposal:
    check_may_decide(session)
    return waiting(session).named(id)
