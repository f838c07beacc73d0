"""Objects that references reach: all, each checked as `git fsck` does; those that lie loose; or those that go out."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ..errors import DamagedHistory, DeniedHistory
from ..text.values import value
from .commits import header, tag_target
from .objects import Objects, remembered
from .trees import DEEPEST, FOLDER, NO_ROWS, SUBMODULE, Rows, check_extent, differing, parse_tree, to_text
from .walk import Graph, Walk

#: Packed commits in a row after which `Reach.commits` stops: enough to find loose ones behind those of a `git pull`.
PATIENCE = 100

#: Called with the commit, path and bytes of each file that a commit brought; not for merges.
Look: TypeAlias = Callable[[str, str, bytes], None]


@value
class Stored:
    """An object of the history: `path` is that of a file or folder, "" for others. `data` is None when it is broken."""

    oid: str
    kind: str
    path: str
    data: bytes | None


def everything(tips: Iterable[str], objects: Objects) -> Iterator[Stored]:
    """Yield all objects that `tips` reach, each once, checked as by `git fsck`; a broken one has no `data`.

    Raises:
        DeniedHistory: this user may not read one of the objects.
    """
    seen: set[str] = set()
    waiting = [(tip, "commit", "") for tip in sorted(set(tips))]
    while waiting:
        oid, kind, path = waiting.pop()
        if oid in seen:
            continue
        seen.add(oid)
        try:
            kind, data = objects.verified(oid)
        except DeniedHistory:
            raise
        except DamagedHistory:
            yield Stored(oid, kind, path, None)
            continue
        yield Stored(oid, kind, path, data)
        waiting.extend(_below(oid, kind, data, path, objects))


def _below(oid: str, kind: str, data: bytes, path: str, objects: Objects) -> Iterator[tuple[str, str, str]]:
    """Yield id, kind and path of each object that an object refers to; of a submodule nothing, as it is elsewhere."""
    if kind == "commit":
        yield from ((parent, "commit", "") for parent in objects.parents(oid))
        yield header(data).tree, "tree", ""
    elif kind == "tag":
        yield tag_target(data), "commit", ""
    elif kind == "tree":
        for name, mode, item in parse_tree(data):
            below = f"{path}/{name.decode('utf-8', 'replace')}".lstrip("/")
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield item, "tree" if stat.S_ISDIR(mode) else "blob", below


class Piece(NamedTuple):
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
    """Finds loose objects in the folder of a repository, and what each commit brought; reads through `objects`."""

    def __init__(self, objects: Objects, folder: Path) -> None:
        self._objects = objects
        self._folder = folder
        self._known_rows: dict[str, Rows] = {}
        self._known: dict[str, tuple[str, bytes]] = {}

    def size(self, oid: str) -> int | None:
        """Return the size of a loose object's file; None when the object has no file of its own."""
        try:
            return os.stat(f"{self._folder}/{oid[:2]}/{oid[2:]}").st_size
        except FileNotFoundError:
            return None

    def all(self) -> Iterator[str]:
        """Yield every loose object, reached or not."""
        for folder in self._folder.glob("[0-9a-f][0-9a-f]"):
            with suppress(OSError), os.scandir(folder) as items:
                yield from (folder.name + item.name for item in items if len(item.name) == 38)

    def raw(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object; the newest are remembered.

        Raises:
            DamagedHistory: it is missing or broken.
        """
        return remembered(self._known, oid, self._objects.raw)

    def commits(self, tips: Iterable[str]) -> list[str]:
        """Return the loose commits that `tips` reach, oldest first.

        The search ends at commits that cannot be read, and after `PATIENCE` packed commits in a row.
        """
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

    def _parents(self, oid: str) -> list[str]:
        """Return what a commit stands on, or the commit a tag is about; nothing for what cannot be read."""
        try:
            kind, data = self._objects.raw(oid)
            return [tag_target(data)] if kind == "tag" else self._objects.parents(oid) if kind == "commit" else []
        except DamagedHistory:
            return []

    def pieces(self, commit: str) -> Iterator[Piece]:
        """Yield the objects of `commit` that its first parent lacks, each once; the commit itself last.

        Without a readable parent all of them.

        Raises:
            DamagedHistory: the commit or one of its folders cannot be read, or its tree is too large or too deep.
        """
        parents, older = self._objects.parents(commit), None
        if parents:
            with suppress(DamagedHistory):
                tree = self._objects.header(parents[0]).tree
                self._rows(tree, None)
                older = tree
        yield from self._brought(self._objects.header(commit).tree, older, "/", set())
        yield Piece(commit, "")

    def _brought(self, tree: str, older: str | None, path: str, seen: set[str]) -> Iterator[Piece]:
        """Yield the objects of a tree that the tree `older` lacks, the tree itself last.

        `seen` has the ids that were yielded: a tree with the same subtree ten times, ten levels deep, has a billion
        paths.
        """
        if tree == older:
            return
        before, after = self._rows(older, tree), self._rows(tree, older)
        gone, come = before.apart(after.raw)
        for key, was, now in differing(frozenset(before.rows[gone]), frozenset(come)):
            check_extent(len(seen), DEEPEST - path.count("/"))
            below = path.lstrip("/") + to_text(key)
            if now is None or now[1] in seen:
                continue
            if now[0] == FOLDER:
                seen.add(now[1])
                yield from self._brought(now[1], was and was[1], below, seen)
            elif stat.S_IFMT(now[0]) != SUBMODULE:
                seen.add(now[1])
                yield Piece(now[1], below, was[1] if was and stat.S_ISREG(was[0]) else None)
        yield Piece(tree, path, older)

    def folders(self, commit: str) -> list[Piece]:
        """Return the trees of `commit`, all of them.

        Raises:
            DamagedHistory: one cannot be read.
        """
        found, seen = [Piece(self._objects.header(commit).tree, "/")], set[str]()
        for piece in found:  # which grows meanwhile
            for key, _, now in differing(frozenset(), frozenset(self._rows(piece.oid, None).rows)):
                if now and now[0] == FOLDER and now[1] not in seen:
                    seen.add(now[1])
                    found.append(Piece(now[1], piece.path.lstrip("/") + to_text(key)))
        return found

    def _rows(self, tree: str | None, other: str | None) -> Rows:
        """Return the rows of a tree, parsed by its differences to the tree `other` if that is cached.

        The bytes are read with `raw`, whose cache then has them when they are packed.
        """
        if tree is None:
            return NO_ROWS
        like = self._known_rows.get(other or "", NO_ROWS)
        return remembered(self._known_rows, tree, partial(self._read_rows, like))

    def _read_rows(self, like: Rows, tree: str) -> Rows:
        try:
            return like.like(self.raw(tree)[1])
        except ValueError:
            raise DamagedHistory(f"object {tree} of the history is broken") from None


def outgoing(
    git: Path, private: Path, objects: Objects, tips: Collection[str], haves: Collection[str], look: Look | None = None
) -> Iterator[Piece]:
    """Yield the objects that `tips` reach and `haves` do not, oldest commit first; unknown `haves` are ignored.

    A few may be at the receiver already: a merge is compared with its first parent only. `look` is called with each
    file before its object is yielded.

    Raises:
        DamagedHistory: one of the objects cannot be read.
    """
    reach, commits = Reach(objects, git / "objects"), list[str]()
    for tip in tips:
        while objects.raw(tip)[0] == "tag":
            yield Piece(tip, "")
            tip = tag_target(objects.raw(tip)[1])
        commits.append(tip)
    known = list[str]()
    for have in haves:
        with suppress(DamagedHistory):
            known += [have] if objects.header(have) else []
    for commit in reversed(Walk(objects, Graph(private)).commits_since(known, commits)):
        looks = look if len(objects.header(commit).parents) < 2 else None
        for piece in reach.pieces(commit):
            if looks and piece.is_file:
                looks(commit, piece.path, objects.blob(piece.oid))
            yield piece
