"""The commits that one stands on, and what lies between two trees; folders that are the same are not read."""

import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from heapq import heappop, heappush
from typing import NamedTuple

from ..errors import DamagedHistory
from ..results import Commit
from .commits import read_commit
from .diff import similarity
from .known import Known, Row, blobs, may_touch
from .objects import DEEPEST, Objects, check_extent, remember
from .trees import FOLDER

# What is none is taken whole, as "": a search for the next one would read the rest again from each byte.
_PIECE = re.compile(rb"([0-7]{5,6} [^\0/]+\0.{20})|.+", re.DOTALL)
_REMEMBERED = 8
# Below that Git takes a file for a new one.
_ALIKE = 0.5


class Difference(NamedTuple):
    """A file that differs between two trees: its blob in each, None where there is none."""

    path: str
    before: str | None
    after: str | None


class Origin(NamedTuple):
    """A file of a commit."""

    commit: str
    path: str
    blob: str


class Ancestry:
    """The commits of one repository, as far as any of them is asked for."""

    def __init__(self, objects: Objects, known: Known) -> None:
        self._objects = objects
        self._rows = known
        self._folders: dict[str, frozenset[bytes]] = {}
        self._known: dict[tuple[str | None, str], tuple[Difference, ...]] = {}

    def commits(self, start: str, without: str | None = None) -> Iterator[str]:
        """`start` and what it stands on, newest first; not `without` and what that stands on."""
        waiting, seen, hidden = list[tuple[int, int, str]](), set[str](), set[str]()

        def found(oid: str, is_hidden: bool) -> None:
            if is_hidden:
                hidden.add(oid)
            if oid not in seen:
                seen.add(oid)
                heappush(waiting, (-self.time(oid), len(seen), oid))

        if without:
            found(without, True)
        found(start, False)
        while any(oid not in hidden for _, _, oid in waiting):
            _, _, oid = heappop(waiting)
            if oid not in hidden:
                yield oid
            for parent in self._parents(oid):
                found(parent, oid in hidden)

    def reached(self, tips: Iterable[str]) -> Iterator[str]:
        """`tips` and what they stand on, in no order; the way ends at what cannot be read."""
        seen, waiting = set[str](), [*tips]
        while waiting:
            oid = waiting.pop()
            if oid not in seen:
                seen.add(oid)
                yield oid
                with suppress(DamagedHistory):
                    waiting += self._parents(oid)

    def time(self, commit: str) -> int:
        """When a commit was made, in seconds."""
        row = self._rows.get(commit)
        return row.time if row else self._objects.heading(commit).time

    def _parents(self, commit: str) -> list[str]:
        row = self._rows.get(commit)
        return self._objects.parents(commit, row.parents if row else None)

    def commit(self, oid: str, with_paths: bool = True) -> Commit:
        """The commit as people read it."""
        kind, raw = self._objects.raw(oid)
        try:
            paths = tuple(each.path for each in self.since_parent(oid)) if with_paths else ()
            return read_commit(oid, raw if kind == "commit" else b"", tuple(map(_legible, paths)))
        except ValueError:
            raise DamagedHistory(f"object {oid} of the history is no commit") from None

    def since_parent(self, commit: str) -> tuple[Difference, ...]:
        """What `commit` changed in its first parent."""
        return self.changes(next(iter(self._parents(commit)), None), commit)

    def own_changes(self, commit: str) -> tuple[Difference, ...]:
        """The same, without what a merge took from another parent."""
        others = [{each.path for each in self.changes(parent, commit)} for parent in self._parents(commit)[1:]]
        return tuple(each for each in self.since_parent(commit) if all(each.path in paths for paths in others))

    def blobs(self, commit: str) -> Iterator[tuple[str | None, str | None]]:
        """The blobs before and after each change of `commit` in any of its parents."""
        row = self.row(commit)
        return blobs(row) if row else (each[1:] for each in self.since_parent(commit))

    def touches(self, commit: str, path: str) -> bool:
        """Whether the file at `path` is another than in each parent of `commit`."""
        if not self._may_touch(commit, path):
            return False
        parents: list[str | None] = [*self._parents(commit)]
        return all(any(each.path == path for each in self.changes(parent, commit)) for parent in parents or [None])

    def origins(self, file: Origin) -> list[Origin]:
        """Where a file of a commit was in its parents, as `git blame` finds it: renamed files are followed.

        One that is the same in a parent came from there alone.
        """
        parents = list(dict.fromkeys(self._parents(file.commit)))
        known: dict[str, Origin] = {}
        for look in (self._in_place, self._moved):
            for parent in parents:
                found = look(parent, file) if parent not in known else None
                if found and found.blob == file.blob:
                    return [self._furthest(found)]
                if found:
                    known[parent] = found
        return [known[parent] for parent in parents if parent in known]

    def _may_touch(self, commit: str, path: str) -> bool:
        """Whether the file at `path` may differ from that in some parent of `commit`."""
        row = self.row(commit)
        return row is None or may_touch(row, path)

    def row(self, commit: str) -> Row | None:
        """What is known of a commit from now on; None where a shallow clone ends, and where it changed very much."""
        if self._rows.get(commit) is None:
            heading, parents = self._objects.heading(commit), self._parents(commit)
            if list(heading.parents) == parents:
                found = [self.changes(parent, commit) for parent in (*parents, *([] if parents else [None]))]
                self._rows.add(commit, heading.time, heading.parents, found)
        return self._rows.get(commit)

    def _furthest(self, file: Origin) -> Origin:
        """The same file as far back as commits with one parent are known not to have changed it."""
        at, ends = file.commit, self._objects.shallow()
        row, seen = self._rows.get(at), set[str]()
        while row and len(row.parents) == 1 and not may_touch(row, file.path) and at.encode() not in ends:
            seen.add(at)
            at = row.parents[0]
            if at in seen:
                raise DamagedHistory(f"{at} stands on itself: delete `.git/crabmem/index`")
            row = self._rows.get(at)
        return file._replace(commit=at)

    def _in_place(self, parent: str, file: Origin) -> Origin | None:
        changes = self.changes(parent, file.commit) if self._may_touch(file.commit, file.path) else ()
        blob = next((each.before for each in changes if each.path == file.path), file.blob)
        return Origin(parent, file.path, blob) if blob else None

    def path_before(self, commit: str, path: str) -> str:
        """Where the file that a commit has at `path` was before it: elsewhere, when the commit moved it."""
        came = next((each for each in self.since_parent(commit) if each.path == path), None)
        if came is None or came.before or not came.after:
            return path
        return next((each.path for each in self.origins(Origin(commit, path, came.after))), path)

    def _moved(self, parent: str, file: Origin) -> Origin | None:
        """The file that went when the one at `path` came, if the commit says so, or it is the same or much like it."""
        changes = self.changes(parent, file.commit)
        gone = [Origin(parent, each.path, each.before) for each in changes if each.before and not each.after]
        if not gone:
            return None
        text, name = self._objects.blob(file.blob), file.path.rpartition("/")[2]
        said = self.commit(file.commit, with_paths=False).renamed

        def likeness(old: Origin) -> tuple[float, bool]:
            if said == (old.path, file.path):
                return 3.0, True
            share = 2.0 if old.blob == file.blob else similarity(self._objects.blob(old.blob), text)
            return share, old.path.rpartition("/")[2] == name

        best = max(gone, key=likeness)
        return best if likeness(best)[0] >= _ALIKE else None

    def changes(self, before: str | None, after: str) -> tuple[Difference, ...]:
        """The files that differ between two commits, in Git's order; None is nothing at all."""
        found = self._known.get((before, after))
        if found is None:
            tree = self._objects.heading(before).tree if before else None
            found = tuple(self._limited(self._between(tree, self._objects.heading(after).tree, b"")))
            remember(self._known, (before, after), found, _REMEMBERED)
        return found

    def _limited(self, differences: Iterator[Difference]) -> Iterator[Difference]:
        for count, each in enumerate(differences):
            check_extent(count, 0)
            yield each

    def _between(self, before: str | None, after: str | None, folder: bytes) -> Iterator[Difference]:
        if before == after:
            return
        check_extent(0, DEEPEST - folder.count(b"/"))
        old, new = self._pieces(before), self._pieces(after)
        gone, come = _by_name(old - new), _by_name(new - old)
        for key in sorted({*gone, *come}):
            was, now, path = gone.get(key), come.get(key), folder + key
            if path.endswith(b"/"):
                yield from self._between(was and was[1], now and now[1], path)
            elif _blob(was) or _blob(now):
                yield Difference(path.decode("utf-8", "surrogateescape"), _blob(was), _blob(now))

    def _pieces(self, tree: str | None) -> frozenset[bytes]:
        """What a tree stores for each name in it."""
        if tree is None:
            return frozenset()
        found = self._folders.get(tree)
        if found is None:
            found = _parts(tree, self._objects.tree(tree))
            remember(self._folders, tree, found, _REMEMBERED)
        return found


def _parts(tree: str, raw: bytes) -> frozenset[bytes]:
    found = _PIECE.findall(raw)
    if sum(map(len, found)) != len(raw):
        raise DamagedHistory(f"object {tree} of the history is no tree")
    return frozenset(found)


def _by_name(pieces: frozenset[bytes]) -> dict[bytes, tuple[int, str]]:
    """Mode and id by name, a folder's with a `/` at its end."""
    found = {}
    for piece in pieces:
        mode, _, rest = piece[:-21].partition(b" ")
        kind = int(mode, 8)
        found[rest + b"/" * (kind == FOLDER)] = kind, piece[-20:].hex()
    return found


def _blob(item: tuple[int, str] | None) -> str | None:
    return item[1] if item and stat.S_ISREG(item[0]) else None


def _legible(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
