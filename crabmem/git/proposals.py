"""Proposals: what agents would have a file say that is a person's. They lie in history beside the branch.

Nothing in a workspace changes before a person decides. What was proposed is a commit on top of the one it was made
against, so that Git shows, packs and checks it as any other, and `purge` finds it.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from ..errors import DamagedHistory, Full, InvalidArguments, NotFound
from ..results import Proposal
from ..text.edit import lenient_text, unified_diff
from ..text.merge import Merged, merge
from . import History, Note

#: More than a person goes through.
MOST = 100
_SHORTEST = 4


@dataclass(frozen=True)
class Now:
    """What the file says now, with `data` None where there is none; `text` is then what stands in for it."""

    data: bytes | None
    text: str


class Proposals:
    """The proposals for the file at `path` of one workspace."""

    def __init__(self, history: History, path: str) -> None:
        self._history = history
        self._path = path

    def all(self) -> list[Proposal]:
        """Those that wait, the oldest first, without what they would change."""
        found = map(self._read, self._history.aside())
        return [proposal for proposal in found if proposal]

    def named(self, name: str) -> Proposal:
        """The one whose id begins with `name`.

        Raises:
            NotFound: there is none.
            InvalidArguments: there are several, or `name` is too short to tell.
        """
        found = [each for each in self.all() if each.id.startswith(name.lower())]
        if not found:
            raise NotFound(f"no proposal with the id {name}; `crabmem proposals` lists those that wait")
        if len(found) > 1 or len(name) < _SHORTEST:
            raise InvalidArguments(f"{name} does not tell which proposal; give more of its id")
        return found[0]

    def add(self, data: bytes, now: Now, note: Note, when: datetime) -> Proposal:
        """Keep a text until a person decides, unless it waits already; what else proposed the same gives way.

        Raises:
            InvalidArguments: the file says that already.
            Full: so many wait that no person would go through them.
        """
        waiting = self.all()
        same = [each for each in waiting if each.data == data]
        if known := next((each for each in same if each.base == now.data), None):
            return known
        if len(waiting) - len(same) >= MOST:
            raise Full(f"{len(waiting)} proposals wait already; ask the person to go through `crabmem proposals` first")
        made = self._made(data, now, note, when)
        for each in same:
            self.drop(each)
        return made

    def _made(self, data: bytes, now: Now, note: Note, when: datetime) -> Proposal:
        is_new = lenient_text(data) != now.text
        commit = self._history.set_aside({self._path: self._history.put(data)}, note, when) if is_new else None
        made = self._read(commit) if commit else None
        if not made:
            raise InvalidArguments(f"{self._path} says that already, so there is nothing to propose")
        return made

    def drop(self, proposal: Proposal) -> None:
        """Let one go that a person decided on."""
        self._history.drop_aside(proposal.id)

    def _read(self, commit: str) -> Proposal | None:
        """The proposal that a commit is; None for one about another file, or of which a purge left nothing.

        Nor is it one while it is damaged, which `doctor` tells: the others are still to be decided on.
        """
        with suppress(DamagedHistory):
            before, after = self._history.changes(commit).get(self._path, (None, None))
            if after is not None:
                base = None if before is None else self._history.blob(before)
                told, reason = self._history.commit(commit), self._history.body(commit)
                who = told.author, told.agent, told.session
                return Proposal(commit, told.time, *who, reason, self._path, self._history.blob(after), base)
        return None


def applied(proposal: Proposal, now: bytes | None) -> Merged:
    """The file with what was proposed, and with what was changed since."""
    return merge(proposal.path, proposal.base, now, proposal.data)


def against(proposal: Proposal, now: Now) -> Proposal:
    """The proposal with what applying it would change."""
    done = applied(proposal, now.data)
    after = proposal.data if done.conflicts else done.data
    return replace(
        proposal, diff=unified_diff(now.text, lenient_text(after), proposal.path), clashes=bool(done.conflicts)
    )
