"""`refs/crabmem/keep` and `kept/*`: from them every commit of ours stays reachable, whatever happens to the branch."""

from collections.abc import Iterable, Iterator

from ..errors import Busy, DamagedHistory
from .objects import Objects
from .refs import Refs

KEEP = "refs/crabmem/keep"
KEPT = "refs/crabmem/kept"
_TRIES = 50


class Keep:
    """The kept commits of one repository."""

    def __init__(self, refs: Refs, objects: Objects) -> None:
        self._refs = refs
        self._objects = objects

    def tip(self) -> str | None:
        """The newest kept commit; None when there is none that can be read."""
        return self.readable(KEEP)

    def lost(self) -> str | None:
        """What there is to say about a reference of ours that names no commit; None when all is well."""
        if self.tip() or not self._refs.holds(KEEP):
            return None
        return f"{KEEP} could not be read and begins anew with the next commit"

    def wait(self) -> None:
        """Wait until `advance` can be done; Busy when some Git process is in its way, or died there."""
        self._refs.wait_for(KEEP)

    def advance(self, commit: str) -> None:
        """Set the reference to `commit`; what it reached and `commit` does not keeps a reference of its own.

        Raises:
            Busy: somebody else moves it again and again.
        """
        for _ in range(_TRIES):
            old = self.tip()
            if old is None:
                return self._refs.restore(KEEP, commit)
            if not self.is_ancestor(old, commit):
                # The branch was rewritten: what it was is kept under a name of its own.
                self._refs.restore(f"{KEPT}/{old}", old)
            if self._refs.swap(KEEP, old, commit):
                return None
        raise Busy(f"{KEEP} changes faster than we can follow; try again")

    def rewritten(self) -> list[str]:
        """The commits that were kept when the branch was rewritten."""
        return [commit for ref, commit in self._refs.all().items() if ref.startswith(f"{KEPT}/")]

    def readable(self, ref: str) -> str | None:
        """The commit of `ref`, when it is there and whole."""
        try:
            commit = self._refs.read(ref)
        except DamagedHistory:
            return None
        return commit if commit and self._objects.has(commit) else None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` is `old` or stands on it."""
        if not self._objects.has(old):
            return False
        if old in self._objects.parents(new):
            return True
        return any(commit == old for commit in self.ancestors(new, self._objects.heading(old).time))

    def ancestors(self, commit: str, since: int = 0) -> Iterator[str]:
        """`commit` and what it stands on, nearest first, as far as it can be read; nothing beyond a time `since`."""
        seen: set[str] = set()
        row = [commit]
        while row:
            yield from row
            seen.update(row)
            row = [parent for parent in self._parents(row, since) if parent not in seen]

    def _parents(self, commits: Iterable[str], since: int) -> list[str]:
        found: dict[str, None] = {}
        for commit in commits:
            if self._objects.has(commit) and self._objects.heading(commit).time >= since:
                found.update(dict.fromkeys(self._objects.parents(commit)))
        return list(found)
