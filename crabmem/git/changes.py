"""What commits changed, and where the files of a commit came from: renamed files are followed, as Git does."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..errors import DamagedHistory
from ..results import Commit
from .commits import read_commit
from .diff import ALIKE, similarity
from .objects import Objects, remembered
from .trees import Trees, to_bytes
from .walk import Row, Walk, key

_REMEMBERED = 8


class Difference(NamedTuple):
    """A file that differs between two trees: its blob in each, None where there is none."""

    path: str
    before: str | None
    after: str | None


class Origin(NamedTuple):
    """A version of a file: the file at `path` in `commit`, which need not have changed it."""

    commit: str
    path: str
    blob: str


class Changes:
    """The changes of the commits of one repository."""

    def __init__(self, objects: Objects, trees: Trees, walk: Walk) -> None:
        self._objects = objects
        self._trees = trees
        self._walk = walk
        self._known: dict[tuple[str | None, str], tuple[Difference, ...]] = {}

    def between(self, before: str | None, after: str) -> tuple[Difference, ...]:
        """Return the files that differ between two commits, in Git's order; None is no commit, without any file."""
        return remembered(self._known, (before, after), self._compare, _REMEMBERED)

    def _compare(self, commits: tuple[str | None, str]) -> tuple[Difference, ...]:
        before, after = (self._objects.header(commit).tree if commit else None for commit in commits)
        return tuple(map(Difference._make, self._trees.differences(before, after)))

    def sides(self, commit: str) -> Iterator[tuple[Difference, ...]]:
        """Yield the differences of `commit` from each of its parents; all its files if it has none."""
        parents: list[str | None] = [*self._walk.parents(commit)]
        return (self.between(parent, commit) for parent in parents or [None])

    def of(self, commit: str) -> tuple[Difference, ...]:
        """Return what `commit` changed in its first parent."""
        return next(self.sides(commit))

    def own(self, commit: str) -> tuple[Difference, ...]:
        """Return the differences of `commit` from its first parent, without what a merge took from another one."""
        first, *others = ({each.path: each for each in side} for side in self.sides(commit))
        return tuple(each for path, each in first.items() if all(path in other for other in others))

    def blobs(self, commit: str) -> Iterator[tuple[str | None, str | None]]:
        """Return the blobs before and after each change of `commit` from any of its parents.

        Where the row keeps no changes, of the first parent alone.
        """
        row = self.row(commit)
        return (each[1:] for each in self.of(commit)) if row.changes is None else row.blobs()

    def touches(self, commit: str, path: str) -> bool:
        """Return whether the file at `path` is another than in each parent of `commit`."""
        may_touch = self.row(commit).may_touch(path)
        return may_touch and all(any(each.path == path for each in side) for side in self.sides(commit))

    def newest(self, commits: Iterable[str], files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """For each of `files` (blobs by path), yield the first of `commits` that wrote it with this blob, and its path.

        `commits` come newest first; the search ends once all files are found.
        """
        left = {key(path): (path, blob) for path, blob in files.items()}
        for oid in commits if left else ():
            row = self.row(oid)
            is_listed = row.changes is not None and len(row.parents) < 2  # a merge's row has what it only took, too
            for name, after in row.written() if is_listed else ((key(each.path), each.after) for each in self.own(oid)):
                path, blob = left.get(name, ("", None))
                if blob and blob == after:
                    del left[name]
                    yield oid, path
            if not left:
                break

    def row(self, commit: str) -> Row:
        """Return the row of a commit with its changes, which the graph keeps.

        `changes` stays None at the end of a shallow clone; after very many changes the graph does not keep the row.
        """
        row = self._walk.row(commit)
        if row.changes is None and list(row.parents) == self._walk.parents(commit):
            changes = [each for side in self.sides(commit) for each in side]
            row = self._walk.graph.add(commit, self._objects.header(commit), changes)
        return row

    def commit(self, oid: str, with_paths: bool = True) -> Commit:
        """Return the commit as people read it; only `with_paths` with what it changed, which takes its time."""
        kind, raw = self._objects.raw(oid)
        try:
            paths = tuple(to_bytes(each.path).decode("utf-8", "replace") for each in self.of(oid)) if with_paths else ()
            return read_commit(oid, raw if kind == "commit" else b"", paths)
        except ValueError:
            raise DamagedHistory(f"object {oid} of the history is no commit") from None

    # Where files came from

    def origins(self, file: Origin) -> list[Origin]:
        """Return the version in each parent that a file came from, as `git blame` does: renamed files are followed.

        If one parent has the same bytes, return that version alone, as far back as it is known to be unchanged.
        """
        parents = list(dict.fromkeys(self._walk.parents(file.commit)))
        known: dict[str, Origin] = {}
        for look in (self._in_place, self._moved):
            for parent in parents:
                found = look(parent, file) if parent not in known else None
                if found and found.blob == file.blob:
                    return [self._furthest(found)]
                if found:
                    known[parent] = found
        return [known[parent] for parent in parents if parent in known]

    def _in_place(self, parent: str, file: Origin) -> Origin | None:
        """Return the version at the same path in a parent; None if the parent has no file there."""
        changes = self.between(parent, file.commit) if self.row(file.commit).may_touch(file.path) else ()
        blob = next((each.before for each in changes if each.path == file.path), file.blob)
        return Origin(parent, file.path, blob) if blob else None

    def _moved(self, parent: str, file: Origin) -> Origin | None:
        """Return the version in a parent that the commit renamed to this file; None if it renamed none.

        The old file is one that the commit removed: the one in its trailer `Renamed`, else the most similar, from
        `ALIKE` on.
        """
        changes = self.between(parent, file.commit)
        gone = [Origin(parent, each.path, each.before) for each in changes if each.before and not each.after]
        if not gone:
            return None
        text, name = self._objects.blob(file.blob), file.path.rpartition("/")[2]
        renamed = self.commit(file.commit, with_paths=False).renamed

        def likeness(old: Origin) -> tuple[float, bool]:
            if renamed == (old.path, file.path):
                return 3.0, True
            share = 2.0 if old.blob == file.blob else similarity(self._objects.blob(old.blob), text)
            return share, old.path.rpartition("/")[2] == name

        best = max(gone, key=likeness)
        return best if likeness(best)[0] >= ALIKE else None

    def _furthest(self, file: Origin) -> Origin:
        """Go back from a version to the oldest commit with the same file, over commits with one parent.

        Only rows that the graph has already are asked, so that it costs no reading.
        """
        at, ends, graph = file.commit, self._objects.shallow(), self._walk.graph
        row, seen = graph.get(at), set[str]()
        while row and len(row.parents) == 1 and not row.may_touch(file.path) and at.encode() not in ends:
            seen.add(at)
            at = row.parents[0]
            if at in seen:
                raise DamagedHistory(f"{at} stands on itself: delete `.git/crabmem/index`")
            row = graph.get(at)
        return file._replace(commit=at)

    def path_before(self, commit: str, path: str) -> str:
        """Return the path of a commit's file in its first parent: another than `path` if the commit moved the file."""
        came = next((each for each in self.of(commit) if each.path == path), None)
        if came is None or came.before or not came.after:
            return path
        return next((each.path for each in self.origins(Origin(commit, path, came.after))), path)

    def followed(self, commits: Iterable[str], path: str) -> Iterator[tuple[str, str]]:
        """Yield the commits that touch the file at `path`, and its path in each; `commits` come newest first."""
        for oid in commits:
            if self.touches(oid, path):
                yield oid, path
                path = self.path_before(oid, path)
