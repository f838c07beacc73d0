"""Two stores of objects read as one, with what is made of them, which no store has yet."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ..commits import header, tag_target
from ..objects import Objects, oid_of
from ..trees import FOLDER, SUBMODULE, Trees, parsed_row, rows_of


class Overlay(Objects):
    """The store in `folder` on top of the store `below`. What is put stays in memory, in `made`."""

    def __init__(self, folder: Path, below: Objects) -> None:
        super().__init__(folder)
        self._below = below
        self.made: dict[str, tuple[str, bytes]] = {}
        #: What was below when it was first asked for.
        self._known = set[str]()

    def raw(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object."""
        if oid in self.made:
            return self.made[oid]
        return self._below.raw(oid) if self._is_below(oid) else super().raw(oid)

    def _is_below(self, oid: str) -> bool:
        self._known = self._known or self._below.all_ids()  # to look for each by itself takes as long as to read it
        return oid in self._known or self._below.is_there(oid)

    def is_there(self, oid: str) -> bool:
        """Return whether there is an object."""
        return oid in self.made or self._is_below(oid) or super().is_there(oid)

    def put(self, kind: str, data: bytes, like: tuple[str, bytes] | None = None) -> str:
        """Take an object that was made; return its id."""
        oid = oid_of(kind, data)
        if not self._is_below(oid):
            self.made[oid] = kind, data
        return oid

    def files(self, tips: Iterable[str]) -> Mapping[str, str]:
        """Return the files of some commits with the ids of their texts."""
        trees = Trees(self)
        return {path: item[1] for tip in tips for path, item in trees.items(self.header(tip).tree).items()}

    def new(self, tips: Iterable[str], is_whole: Callable[[str], bool]) -> Mapping[str, tuple[str, bytes]]:
        """Return the objects that `tips` reach and the store below lacks.

        The search ends at commits for which `is_whole`: there everything is below. That a commit itself is there is not
        enough: a fetch that was killed leaves commits without their files.
        """
        found, waiting, seen = dict[str, tuple[str, bytes]](), [*tips], set[str]()
        while waiting:
            oid = waiting.pop()
            if oid in seen:
                continue
            seen.add(oid)
            kind, data = self.raw(oid)
            if kind == "commit" and is_whole(oid):
                continue
            if not self._is_below(oid):
                found[oid] = kind, data
            if kind == "commit":
                waiting += [header(data).tree, *header(data).parents]
            elif kind == "tree":
                for _, mode, each in map(parsed_row, rows_of(data)):
                    if mode == FOLDER:
                        waiting.append(each)
                    elif mode != SUBMODULE and each not in seen and not self._is_below(each):
                        found[each] = self.raw(each)
            elif kind == "tag":
                waiting.append(tag_target(data))
        return found
