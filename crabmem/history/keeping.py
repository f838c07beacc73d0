"""`refs/crabmem/keep`, from which every commit of ours stays reachable, whatever happens to the branch."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from ..errors import Busy, DamagedHistory
from .commit import COMMITTER, Note, raw_commit
from .objects import Objects
from .refs import Refs

KEEP = "refs/crabmem/keep"
_TRIES = 50


class Keep:
    """The kept commits of one repository."""

    def __init__(self, refs: Refs, objects: Objects) -> None:
        self._refs = refs
        self._objects = objects

    def tip(self) -> str | None:
        """The newest kept commit; None when there is none that can be read."""
        return self.readable(KEEP)

    def advance(self, commit: str) -> None:
        """Make the reference reach `commit` and all it reached before.

        Raises:
            Busy: somebody else moves it again and again.
        """
        for _ in range(_TRIES):
            old = self.tip()
            if old is None:
                return self._refs.restore(KEEP, commit)
            new = commit if self.is_ancestor(old, commit) else self._merged(old, commit)
            if self._refs.swap(KEEP, old, new):
                return None
        raise Busy(f"{KEEP} changes faster than we can follow; try again")

    def readable(self, ref: str) -> str | None:
        """The commit of `ref`, when it is there and whole."""
        try:
            commit = self._refs.read(ref)
        except DamagedHistory:
            return None
        return commit if commit and self._objects.has(commit) else None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` is `old` or stands on it."""
        return any(commit == old for commit in self.ancestors(new))

    def ancestors(self, commit: str) -> Iterator[str]:
        """`commit` and what it stands on, nearest first, as far as it can be read."""
        seen: set[str] = set()
        row = [commit]
        while row:
            yield from row
            seen.update(row)
            row = [parent for parent in self._parents(row) if parent not in seen]

    def _parents(self, commits: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        for commit in commits:
            if self._objects.has(commit):
                found.update((parent.decode(), None) for parent in self._objects.commit(commit).parents)
        return list(found)

    def _merged(self, old: str, commit: str) -> str:
        """A commit with the files of `commit` that stands on both."""
        raw = self._objects.commit(commit)
        note = Note("keep: the branch was rewritten", COMMITTER)
        when = datetime.fromtimestamp(raw.commit_time).astimezone()
        return self._objects.put(raw_commit(raw.tree.decode(), [old, commit], note, when, 0))
