"""`refs/crabmem/proposals/*`: commits that are on no branch, each kept by a reference that is called by its id.

What packs, checks or erases looks at all references, and so at these; a purge gives them the names of what it made.
"""

from .objects import Objects
from .refs import Refs

ASIDE = "refs/crabmem/proposals"


class Aside:
    """The commits beside the branch of one repository."""

    def __init__(self, refs: Refs, objects: Objects) -> None:
        self._refs = refs
        self._objects = objects

    def all(self) -> list[str]:
        """Those that can be read, the oldest first."""
        named = (commit for ref, commit in self._refs.all().items() if ref == f"{ASIDE}/{commit}")
        return sorted(filter(self._objects.has, named), key=self._age)

    def _age(self, commit: str) -> tuple[int, int, str]:
        told = self._objects.heading(commit)
        return told.time, told.made, commit

    def add(self, commit: str) -> None:
        """Keep a commit, which is durable already."""
        self._refs.restore(f"{ASIDE}/{commit}", commit)

    def drop(self, commit: str) -> None:
        """Keep it no longer: Git removes it by and by, `purge` at once."""
        self._refs.remove(f"{ASIDE}/{commit}")
