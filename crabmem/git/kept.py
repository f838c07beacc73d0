"""Commits of ours that the branch may not reach, and what keeps each of them.

`refs/crabmem/keep` and `kept/*`: from them every commit of ours stays reachable, whatever happens to the branch.
`refs/crabmem/proposals/*`: commits set aside on no branch. `waiting`: a file of commits that wait for HEAD to be on a
branch again, as after a rebase. What packs, checks or erases looks at all references, and so at these; a purge gives
them the names of what it made.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..disk import fs
from ..errors import Busy, DamagedHistory
from .objects import Objects
from .refs import Refs
from .walk import Walk

KEEP = "refs/crabmem/keep"
KEPT = "refs/crabmem/kept"
ASIDE = "refs/crabmem/proposals"
#: More than a person goes through: of a stranger's references no more are read.
MOST_ASIDE = 1_000
_TRIES = 50
_WAITING = re.compile(r"([0-9a-f]{40}) ([0-9a-f]{40}) ([0-9a-f]{40})")


class Keep:
    """The kept commits of one repository."""

    def __init__(self, refs: Refs, objects: Objects, walk: Walk) -> None:
        self._refs = refs
        self._objects = objects
        self._walk = walk

    def tip(self) -> str | None:
        """Return the newest kept commit; None when there is none that can be read."""
        return self.readable(KEEP)

    def lost(self) -> str | None:
        """Return a report if `refs/crabmem/keep` is there and names no readable commit; else None."""
        if self.tip() or not self._refs.holds(KEEP):
            return None
        return f"{KEEP} could not be read and begins anew with the next commit"

    def advance(self, commit: str) -> None:
        """Set `refs/crabmem/keep` to `commit`; if that does not descend from the old one, keep that below `kept/`.

        Raises:
            Busy: somebody else moves it again and again.
        """
        for _ in range(_TRIES):
            old = self.tip()
            if old is None:
                return self._refs.restore(KEEP, commit)
            if not self._walk.is_ancestor(old, commit):
                # The branch was rewritten: what it was is kept under a name of its own. The redo log knows nothing of
                # that name, so it is on the disk first.
                with fs.durability(True):
                    self._refs.restore(f"{KEPT}/{old}", old)
            if self._refs.swap(KEEP, old, commit):
                return None
        raise Busy(f"{KEEP} changes faster than we can follow; try again")

    def rewritten(self) -> list[str]:
        """Return the commits that were kept when the branch was rewritten."""
        return [commit for ref, commit in self._refs.all().items() if ref.startswith(f"{KEPT}/")]

    def readable(self, ref: str) -> str | None:
        """Return the commit of `ref`, when it is there and whole."""
        try:
            commit = self._refs.read(ref)
        except DamagedHistory:
            return None
        return commit if commit and self._objects.has(commit) else None


class Stretch(NamedTuple):
    """Commits of ours in a row, from behind `base` to `tip`; `before` is the branch as it was when all that began."""

    base: str
    tip: str
    before: str


class Waiting:
    """The commits that were written on no branch: in the middle of a rebase or merge of the person, or HEAD detached.

    Nobody knows how that will end: after `--continue` the files still say it, `--abort` and `--skip` take it away, and
    so does `git switch` to a branch. What is noted in `file`, a line each, is looked at when it is over, so that it
    comes back; what was written before can be taken back by a reset. Only under the writer's lock.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, base: str, commit: str, before: str) -> None:
        """Note a commit that stands on `base`, durably."""
        fs.append(self._file, f"{base} {commit} {before}\n".encode(), durable=True)

    def all(self) -> list[Stretch]:
        """Return the stretches of what was noted, the oldest first. A line that was cut short is none."""
        lines, found = list[str](), list[Stretch]()
        with suppress(OSError):
            lines = fs.read(self._file)[0].decode("ascii", "replace").splitlines()
        for each in map(_WAITING.fullmatch, lines):
            if each and found and found[-1].tip == each[1]:
                found[-1] = found[-1]._replace(tip=each[2])
            elif each:
                found.append(Stretch(*each.groups()))
        return found

    def clear(self) -> None:
        """Forget them all."""
        fs.unlink(self._file)
