"""What of a history lies loose, each object a file of its own, and is reached by references."""

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..errors import DamagedHistory
from .commits import tagged
from .objects import Objects
from .pack import NUMBERS

#: So many packed commits in a row end the way back: what is loose behind a `git pull` is still found.
PATIENCE = 100
_REMEMBERED = 6
_SUBMODULE = 0o160000
_Read = TypeVar("_Read")
# What is none is taken whole, as "": a search for the next one would read the rest again from each byte.
_ROW = re.compile(rb"([^\0]+\0.{20})|.+", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """An object that a commit brought. `path` ends with "/" for a folder and is "" for the commit itself.

    `older` is what the parent has at the same path.
    """

    oid: str
    path: str
    older: str | None = None

    @property
    def is_file(self) -> bool:
        """Whether it is what a file holds."""
        return bool(self.path) and not self.path.endswith("/")


class Reach:
    """Looks at the objects in `folder`, which it reads through `objects`."""

    def __init__(self, objects: Objects, folder: Path) -> None:
        self._objects = objects
        self._folder = folder
        self._rows_of: dict[str, frozenset[bytes]] = {}
        self._raw: dict[str, tuple[int, bytes]] = {}

    def size(self, oid: str) -> int | None:
        """The bytes of the file that holds the object; None when it has none of its own."""
        try:
            return os.stat(f"{self._folder}/{oid[:2]}/{oid[2:]}").st_size
        except FileNotFoundError:
            return None

    def all(self) -> Iterator[str]:
        """Every loose object, reached or not."""
        for folder in self._folder.glob("[0-9a-f][0-9a-f]"):
            with suppress(OSError), os.scandir(folder) as items:
                yield from (folder.name + item.name for item in items if len(item.name) == 38)

    def raw(self, oid: str) -> tuple[int, bytes]:
        """Kind and bytes of an object. A loose one is read without making anything of it: trees are large.

        Raises:
            DamagedHistory: it is missing or broken.
        """
        return _remembered(self._raw, oid, self._read)

    def _read(self, oid: str) -> tuple[int, bytes]:
        kind, data = self._objects.raw(oid)
        return NUMBERS[kind], data

    def commits(self, tips: Iterable[str]) -> list[str]:
        """The loose commits that `tips` reach, oldest first; those behind what cannot be read are not found."""
        found, seen = [], set(tips)
        waiting = deque((tip, PATIENCE) for tip in sorted(seen))
        while waiting:
            oid, patience = waiting.popleft()
            is_loose = self.size(oid) is not None
            if is_loose:
                found.append(oid)
            patience = PATIENCE if is_loose else patience - 1
            parents = [parent for parent in self._parents(oid) if parent not in seen] if patience else []
            seen.update(parents)
            waiting.extend((parent, patience) for parent in parents)
        return found[::-1]

    def pieces(self, commit: str) -> list[Piece]:
        """What `commit` brought that its first parent has not, itself last.

        Raises:
            DamagedHistory: it or one of its folders cannot be read.
        """
        parents = self._objects.parents(commit)
        older = self._tree(parents[0]) if parents else None
        return [*self._changed(self._objects.heading(commit).tree, older, "/"), Piece(commit, "")]

    def folders(self, commit: str) -> list[Piece]:
        """The trees of `commit`, all of them.

        Raises:
            DamagedHistory: one cannot be read.
        """
        found = [Piece(self._objects.heading(commit).tree, "/")]
        for piece in found:  # which grows meanwhile
            below = piece.path.lstrip("/")
            for mode, name, oid in map(_parsed, self._rows(piece.oid)):
                if stat.S_ISDIR(mode):
                    found.append(Piece(oid, f"{below}{name.decode('utf-8', 'surrogateescape')}/"))
        return found

    def _parents(self, oid: str) -> list[str]:
        """What a commit stands on, or the commit a tag is about; nothing for what cannot be read."""
        try:
            kind, data = self._objects.raw(oid)
            return [tagged(data)] if kind == "tag" else self._objects.parents(oid) if kind == "commit" else []
        except DamagedHistory:
            return []

    def _tree(self, commit: str) -> str | None:
        try:
            tree = self._objects.heading(commit).tree
            self._rows(tree)
        except DamagedHistory:
            return None
        return tree

    def _changed(self, tree: str, older: str | None, path: str) -> Iterator[Piece]:
        if tree == older:
            return
        before, now = self._rows(older) if older else frozenset(), self._rows(tree)
        replaced = {name: (mode, oid) for mode, name, oid in map(_parsed, before - now)}
        for mode, name, oid in map(_parsed, sorted(now - before)):
            below = path.lstrip("/") + name.decode("utf-8", "surrogateescape")
            was, old = replaced.get(name, (0, None))
            if stat.S_ISDIR(mode):
                yield from self._changed(oid, old if stat.S_ISDIR(was) else None, f"{below}/")
            elif stat.S_IFMT(mode) != _SUBMODULE:
                yield Piece(oid, below, old if stat.S_ISREG(was) else None)
        yield Piece(tree, path, older)

    def _rows(self, tree: str) -> frozenset[bytes]:
        """All that is in a tree, mode, name and id as they are in it; those looked at last are remembered.

        Two trees of ten thousand rows differ in one, and only that is taken apart.
        """
        return _remembered(self._rows_of, tree, self._taken_apart)

    def _taken_apart(self, tree: str) -> frozenset[bytes]:
        raw = self.raw(tree)[1]
        rows = _ROW.findall(raw)
        if sum(map(len, rows)) != len(raw) or len(set(rows)) != len(rows):
            raise DamagedHistory(f"object {tree} of the history is broken")
        return frozenset(rows)


def _remembered(known: dict[str, _Read], oid: str, read: Callable[[str], _Read]) -> _Read:
    """What `read` says of an object; only what was asked for last stays in `known`."""
    known[oid] = known.pop(oid) if oid in known else read(oid)
    while len(known) > _REMEMBERED:
        del known[next(iter(known))]
    return known[oid]


def _parsed(row: bytes) -> tuple[int, bytes, str]:
    """Mode, name and id."""
    mode, _, name = row[:-21].partition(b" ")
    try:
        return int(mode, 8), name, row[-20:].hex()
    except ValueError:
        raise DamagedHistory(f"a folder of the history has something of the mode {mode!r}") from None
