"""Who the agent is: written where a person lets agents, else proposed by them and decided on by a person.

Nothing in a workspace changes before a person decides. What was proposed is a commit on top of the one it was made
against, beside the branch, so that Git shows, packs and checks it as any other, and `purge` finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from ..errors import CrabmemError, DamagedHistory, Disabled, Full, Inapplicable, InvalidArguments, NotFound
from ..results import CREATOR, Changed, Proposal, Proposed
from ..session import rules
from ..session.rules import check_may_write
from ..text.edit import lenient_text, unified_diff
from ..text.entry import check_text, decode, entry_in
from ..text.hashes import version_of
from ..text.values import replace
from .files import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..git.commits import Note
    from ..git.history import History
    from ..session.session import Session
    from ..session.snapshot import Snapshot
    from ..text.merge import Merged
    from ..write.writer import Draft

T = TypeVar("T")
#: More than a person goes through.
MOST = 100
_SHORTEST = 4


# What waits, in history beside the branch


@dataclass(frozen=True)
class Now:
    """What the file says now, with `data` None where there is none; `text` is then what stands in for it."""

    data: bytes | None
    text: str


class Proposals:
    """The proposals for files of one workspace, of those that `allows` says a session may see."""

    def __init__(self, history: History, allows: Callable[[str], bool]) -> None:
        self._history = history
        self._allows = allows

    def all(self) -> list[Proposal]:
        """Those that wait, the oldest first, without what they would change."""
        found = map(self._read, self._history.aside())
        return [proposal for proposal in found if proposal and self._allows(proposal.path)]

    def named(self, name: str) -> Proposal:
        """The one whose id begins with `name`.

        Raises:
            NotFound: there is none.
            Inapplicable: there are several, or `name` is too short to tell.
        """
        found = [each for each in self.all() if each.id.startswith(name.lower())]
        if not found:
            raise NotFound(f"no proposal with the id {name}; `crabmem proposals` lists those that wait")
        if len(found) > 1 or len(name) < _SHORTEST:
            raise Inapplicable(f"{name} does not tell which proposal; give more of its id")
        return found[0]

    def add(self, path: str, data: bytes, now: Now, note: Note, when: datetime) -> Proposal:
        """Keep a text for the file at `path` until a person decides, unless it waits already; what else proposed the
        same gives way.

        Raises:
            Inapplicable: the file says that already.
            Full: so many wait that no person would go through them.
        """
        waiting = self.all()
        same = [each for each in waiting if (each.path, each.data) == (path, data)]
        if known := next((each for each in same if each.base == now.data), None):
            return known
        if len(waiting) - len(same) >= MOST:
            raise Full(f"{len(waiting)} proposals wait already; ask the person to go through `crabmem proposals` first")
        made = self._made(path, data, now, note, when)
        for each in same:
            self.drop(each)
        return made

    def _made(self, path: str, data: bytes, now: Now, note: Note, when: datetime) -> Proposal:
        is_new = lenient_text(data) != now.text
        commit = self._history.set_aside({path: self._history.put(data)}, note, when) if is_new else None
        made = self._read(commit) if commit else None
        if not made:
            raise Inapplicable(f"{path} says that already, so there is nothing to propose")
        return made

    def drop(self, proposal: Proposal) -> None:
        """Let one go that a person decided on."""
        self._history.drop_aside(proposal.id)

    def _read(self, commit: str) -> Proposal | None:
        """The proposal that a commit is; None for one that is about no file, as after a purge, or about several.

        Nor is it one while it is damaged, which `doctor` tells: the others are still to be decided on.
        """
        with suppress(DamagedHistory):
            changes = self._history.changes.of(commit)
            path, before, after = changes[0] if len(changes) == 1 else ("", None, None)
            if after is not None:
                base = None if before is None else self._history.blob(before)
                told, reason = self._history.commit(commit), self._history.body(commit)
                who = told.author, told.agent, told.session
                return Proposal(commit, told.time, *who, reason, path, self._history.blob(after), base)
        return None


def is_of_sync(proposal: Proposal) -> bool:
    """Whether it is a text that waits since two machines changed the same place, and nobody proposed."""
    return proposal.author == CREATOR


def applied(proposal: Proposal, now: bytes | None) -> Merged:
    """The file with what was proposed, and with what was changed since."""
    from ..text.merge import merge

    return merge(proposal.path, proposal.base, now, proposal.data)


def against(proposal: Proposal, now: Now) -> Proposal:
    """The proposal with what applying it would change."""
    done = applied(proposal, now.data)
    after = proposal.data if done.conflicts else done.data
    return replace(
        proposal, diff=unified_diff(now.text, lenient_text(after), proposal.path), clashes=bool(done.conflicts)
    )


# What a session does with it


def write_identity(session: Session, content: str, if_version: str | None = None, reason: str = "") -> Changed:
    """Replace `Crab.md`; with `if_version`, only if it still is that version. `reason` is for the history.

    A person always may. Where the settings let agents only propose that, it is a `Proposed`, and the file stays as
    it is.

    Raises:
        Disabled: an agent asks, and the settings do not let agents do that.
    """
    from .changes import write_file

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
    from ..session.init import init
    from ..text.credentials import warnings
    from .changes import file_with, note_with_reason, origin_of

    path = session.layout.identity
    check_text("content", content, session.profile.largest)
    if not content.strip():
        raise InvalidArguments(f"a proposal is the whole new text of {path}, and this one is blank")
    session.view.check_writable(path)
    waiting, note = _waiting(session), note_with_reason(session, "propose", path, reason)
    screen = rules.screen(session, content, reason)

    def decide(now: Snapshot) -> bytes:
        return file_with(session, now, path, content, if_version, reason, screen)

    def propose(now: Snapshot) -> tuple[Proposal, Now, str]:
        data, there = decide(now), _now(session, now, path)
        made = against(waiting.add(path, data, there, note, session.engine.clock()), there)
        return made, there, version_of(now.read(path) or b"")

    if not session.engine.history.has_begun():
        session.look(decide)  # what is refused anyway makes no workspace
        init(session)
    secrets = session.settings.secrets  # now: what can fail comes before what cannot be taken back
    made, there, version = _beside(session, propose)
    notices = warnings(f"{lenient_text(made.data)}\n{reason}", there.text, secrets)
    return Proposed(path, version, None, False, made.diff, notices, origin_of(session, path, None), made)


def proposals(session: Session) -> list[Proposal]:
    """What waits for a person to decide, the oldest first."""
    found = _waiting(session).all()
    return session.look(lambda now: [against(each, _now(session, now, each.path)) for each in found])


def proposal(session: Session, id: str) -> Proposal:
    """The proposal whose id begins so.

    Raises:
        NotFound: there is none.
        Inapplicable: there are several.
    """
    found = _waiting(session).named(id)
    return session.look(lambda now: against(found, _now(session, now, found.path)))


def apply_proposal(session: Session, id: str) -> Changed:
    """Write a file as it was proposed, or as another machine has it, with what was changed since, in a person's commit.

    Raises:
        Disabled: it is an agent that asks.
        Conflicting: the same lines were changed since.
        NotFound: there is no such proposal.
    """
    from ..text.merge import Conflicting
    from ..write.writer import Draft
    from .changes import changed

    proposal = _to_decide_on(session, id)
    path, is_synced = proposal.path, is_of_sync(proposal)
    entry = entry_in(path, proposal.data) if session.layout.is_entry(path) else None
    called = entry.name if entry else path.rpartition("/")[2]
    words = "as the other machine has it" if is_synced else f"as {proposal.author} proposed"
    keys = (("Proposal", proposal.id), ("Proposed-by", proposal.author))
    plain = rules.note(session, "resolve" if is_synced else "apply", f"{called} {words}")
    note = replace(plain, body=proposal.reason, trailers=(*plain.trailers, *keys))

    def decide(now: Snapshot) -> Draft[None]:
        done = applied(proposal, now.read(path))
        if done.conflicts:
            way = f"`crabmem resolve {path} --edit`" if is_synced else "edit it yourself, then reject the proposal"
            raise Conflicting(done.conflicts, f"nothing was applied to {path}: {way}")
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
    from ..session.snapshot import Snapshot

    check_may_write(session)
    return session.engine.writer.beside(lambda scan: work(Snapshot(session.engine, session.view, scan)))


def _may_write(session: Session) -> bool:
    return rules.soul_editable(session) or not session.actor.is_agent


def _now(session: Session, now: Snapshot, path: str) -> Now:
    data = now.read(path)
    if data is None:
        return Now(None, identity(session).text if path == session.layout.identity else "")
    return Now(data, decode(path, data))


def _waiting(session: Session) -> Proposals:
    return Proposals(session.engine.history, session.view.allows)


def _to_decide_on(session: Session, id: str) -> Proposal:
    """The proposal whose id begins so, for a person to decide on."""
    if session.actor.agent:
        raise Disabled("a person decides on proposals, and no agent; ask the person to look at `crabmem proposals`")
    return _waiting(session).named(id)
