"""What of a history lies loose, each object a file of its own, and is reached by references."""

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dulwich.errors import ObjectFormatException
from dulwich.objects import Commit, Tag, parse_tree

from ..errors import DamagedHistory
from .objects import Objects

#: So many packed commits in a row end the way back: what is loose behind a `git pull` is still found.
PATIENCE = 100
_KEPT_LISTS = 6
_SUBMODULE = 0o160000
_Entries = frozenset[tuple[bytes, int, bytes]]


@dataclass(frozen=True)
class Piece:
    """An object that a commit brought. `path` ends with "/" for a folder and is "" for the commit itself.

    `older` is what the parent has at the same path.
    """

    oid: str
    path: str
    older: str | None = None


class Reach:
    """Looks at the objects in `folder`, which it reads through `objects`."""

    def __init__(self, objects: Objects, folder: Path) -> None:
        self._objects = objects
        self._folder = folder
        self._lists: dict[str, _Entries] = {}

    def size(self, oid: str) -> int | None:
        """The bytes of the file that holds the object; None when it has none of its own."""
        try:
            return os.stat(f"{self._folder}/{oid[:2]}/{oid[2:]}").st_size
        except FileNotFoundError:
            return None

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
        raw = self._objects.commit(commit)
        parents = self._objects.parents(raw)
        older = self._tree(parents[0].decode()) if parents else None
        return [*self._changed(raw.tree.decode(), older, "/"), Piece(commit, "")]

    def folders(self, commit: str) -> set[str]:
        """The trees of `commit`, all of them."""
        found, waiting = set(), [self._objects.commit(commit).tree.decode()]
        while waiting:
            tree = waiting.pop()
            found.add(tree)
            waiting.extend(oid.decode() for _, mode, oid in self._entries(tree) if stat.S_ISDIR(mode))
        return found

    def _parents(self, oid: str) -> list[str]:
        """What a commit stands on, or the commit a tag is about; nothing for what cannot be read."""
        try:
            item = self._objects.get(oid)
        except DamagedHistory:
            return []
        if isinstance(item, Tag):
            return [item.object[1].decode()]
        return [parent.decode() for parent in self._objects.parents(item)] if isinstance(item, Commit) else []

    def _tree(self, commit: str) -> str | None:
        try:
            tree = str(self._objects.commit(commit).tree, "ascii")
            self._entries(tree)
        except DamagedHistory:
            return None
        return tree

    def _changed(self, tree: str, older: str | None, path: str) -> Iterator[Piece]:
        if tree == older:
            return
        before = self._entries(older) if older else frozenset()
        now = self._entries(tree)
        replaced = {name: (mode, oid.decode()) for name, mode, oid in before - now}
        for name, mode, oid in sorted(now - before):
            below = path.lstrip("/") + name.decode("utf-8", "surrogateescape")
            was, old = replaced.get(name, (0, None))
            if stat.S_ISDIR(mode):
                yield from self._changed(oid.decode(), old if stat.S_ISDIR(was) else None, f"{below}/")
            elif stat.S_IFMT(mode) != _SUBMODULE:
                yield Piece(oid.decode(), below, old if stat.S_ISREG(was) else None)
        yield Piece(tree, path, older)

    def _entries(self, tree: str) -> _Entries:
        """Name, mode and id of all that is in a tree; those looked at last are remembered."""
        found = self._lists.pop(tree, None)
        if found is None:
            found = self._parsed(tree)
        self._lists[tree] = found
        while len(self._lists) > _KEPT_LISTS:
            del self._lists[next(iter(self._lists))]
        return found

    def _parsed(self, tree: str) -> _Entries:
        try:
            return frozenset(parse_tree(self._objects.tree(tree).as_raw_string(), 20))
        except (ObjectFormatException, ValueError):
            raise DamagedHistory(f"object {tree} of the history is broken") from None
