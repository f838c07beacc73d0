"""Who the agent is: written where a person lets agents, else proposed by them and decided on by a person."""

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ..errors import CrabmemError, Disabled, InvalidArguments
from ..git.proposals import Now, Proposals, against, applied
from ..results import Changed, Proposal, Proposed
from ..session import beginning, rules
from ..session.rules import check_may_write
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.credentials import warnings
from ..text.edit import shown
from ..text.entry import check_text, decoded
from ..text.hashes import version_of
from ..text.merge import Conflicting
from ..write.writer import Draft
from .changes import changed, file_with, note_with_reason, origin_of, write_file
from .files import identity

T = TypeVar("T")


def write_identity(session: Session, content: str, if_version: str | None = None, reason: str = "") -> Changed:
    """Replace `Crab.md`; with `if_version`, only if it still is that version. `reason` is for the history.

    A person always may. Where the settings let agents only propose that, it is a `Proposed`, and the file stays as
    it is.

    Raises:
        Disabled: an agent asks, and the settings do not let agents do that.
    """
    check_identity_is_writable(session)
    if _may_write(session):
        return write_file(session, session.layout.identity, content, "soul", if_version, reason)
    return propose_identity(session, content, reason, if_version)


def check_identity_is_writable(session: Session) -> None:
    """Refuse an agent that may neither write `Crab.md` nor propose what it should say.

    Raises:
        Disabled: the settings do not let agents do that.
    """
    if not _may_write(session) and session.settings.soul != "propose":
        raise Disabled(
            f"writing {session.layout.identity} is disabled; a person may edit the file, or set soul_editable = true "
            'in crabmem.toml, or soul = "propose" to be asked'
        )


def propose_identity(session: Session, content: str, reason: str = "", if_version: str | None = None) -> Proposed:
    """Propose what `Crab.md` should say, for a person to decide on: no file changes, and the branch does not move.

    The same text again, while it waits, is the same proposal.

    Raises:
        InvalidArguments: it is blank, cannot be kept, or is what the file says.
        Full: too many wait already.
        HoldsSecret: there is a credential in it, and the settings refuse that.
    """
    path = session.layout.identity
    check_text("content", content, session.profile.largest)
    if not content.strip():
        raise InvalidArguments(f"a proposal is the whole new text of {path}, and this one is blank")
    waiting, note = _waiting(session), note_with_reason(session, "propose", path, reason)
    screen = rules.screen(session, content, reason)

    def decide(now: Snapshot) -> bytes:
        return file_with(session, now, path, content, if_version, reason, screen)

    def propose(now: Snapshot) -> tuple[Proposal, Now, str]:
        data, there = decide(now), _identity_in(session, now)
        made = against(waiting.add(data, there, note, session.engine.clock()), there)
        return made, there, version_of(now.read(path) or b"")

    if not session.engine.history.has_begun():
        session.look(decide)  # what is refused anyway makes no workspace
        beginning.begin(session)
    secrets = session.settings.secrets  # now: what can fail comes before what cannot be taken back
    made, there, version = _beside(session, propose)
    notices = warnings(f"{shown(made.data)}\n{reason}", there.text, secrets)
    return Proposed(path, version, None, False, made.diff, notices, origin_of(session, path, None), made)


def proposals(session: Session) -> list[Proposal]:
    """What waits for a person to decide, the oldest first."""
    found, now = _waiting(session).all(), session.look(lambda now: _identity_in(session, now))
    return [against(each, now) for each in found]


def proposal(session: Session, id: str) -> Proposal:
    """The proposal whose id begins so.

    Raises:
        NotFound: there is none.
        InvalidArguments: there are several.
    """
    return against(_waiting(session).named(id), session.look(lambda now: _identity_in(session, now)))


def apply_proposal(session: Session, id: str) -> Changed:
    """Write the identity as it was proposed, with what was changed since, in a person's commit.

    Raises:
        Disabled: it is an agent that asks.
        Conflicting: the same lines were changed since.
        NotFound: there is no such proposal.
    """
    proposal = _to_decide_on(session, id)
    path, words = proposal.path, f"{proposal.path.rpartition('/')[2]} as {proposal.author} proposed"
    keys = (("Proposal", proposal.id), ("Proposed-by", proposal.author))
    plain = rules.note(session, "apply", words)
    note = dataclasses.replace(plain, body=proposal.reason, trailers=(*plain.trailers, *keys))

    def decide(now: Snapshot) -> Draft[None]:
        done = applied(proposal, now.read(path))
        if done.conflicts:
            raise Conflicting(done.conflicts, f"nothing was applied: edit {path} yourself, then reject the proposal")
        return Draft({path: done.data}, note, None)

    result = changed(session, session.write(decide), path)
    with suppress(CrabmemError):  # it is applied: where it still waits, applying it again changes nothing else
        _beside(session, lambda now: _waiting(session).drop(proposal))
    return result


def reject_proposal(session: Session, id: str) -> Proposal:
    """Let a proposal go. History keeps it no longer, and Git removes it by and by; `purge` does at once.

    Raises:
        Disabled: it is an agent that asks.
        NotFound: there is no such proposal.
    """
    proposal = _to_decide_on(session, id)
    _beside(session, lambda now: _waiting(session).drop(proposal))
    return proposal


def _beside(session: Session, work: Callable[[Snapshot], T]) -> T:
    """Record outside edits, and do what `work` says to history beside the branch, and to no file."""
    check_may_write(session)
    return session.engine.writer.beside(lambda scan: work(Snapshot(session.engine, session.view, scan)))


def _may_write(session: Session) -> bool:
    return rules.soul_editable(session) or not session.actor.is_agent


def _identity_in(session: Session, now: Snapshot) -> Now:
    data = now.read(path := session.layout.identity)
    return Now(data, identity(session).text if data is None else decoded(path, data))


def _waiting(session: Session) -> Proposals:
    session.view.check_writable(session.layout.identity)
    return Proposals(session.engine.history, session.layout.identity)


def _to_decide_on(session: Session, id: str) -> Proposal:
    """The proposal whose id begins so, for a person to decide on."""
    if session.actor.agent:
        raise Disabled("a person decides on proposals, and no agent; ask the person to look at `crabmem proposals`")
    return _waiting(session).named(id)
