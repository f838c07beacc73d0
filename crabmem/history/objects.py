"""Git's objects: reading them through dulwich, writing them so that they outlast a power cut."""

import io
import re
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dulwich.diff_tree import tree_changes
from dulwich.errors import (
    ApplyDeltaError,
    ChecksumMismatch,
    FileFormatException,
    MissingCommitError,
    ObjectFormatException,
)
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.walk import Walker

from .. import fs
from ..errors import DamagedHistory
from ..guard import Guard
from .disk import Disk
from .spares import Spares

REGULAR = 0o100644
#: An id of Git's, or the beginning of one.
HEX = re.compile(r"[0-9a-f]{4,40}\Z")
OID = re.compile(rb"[0-9a-f]{40}")
_FOLDER = 0o40000
# What dulwich raises for an object that is missing, cut short or not what its name says.
_DAMAGE = (
    MissingCommitError, LookupError, OSError, ValueError, TypeError, ArithmeticError, AssertionError, EOFError,
    zlib.error, struct.error, ApplyDeltaError, ObjectFormatException, ChecksumMismatch, FileFormatException,
)  # fmt: skip


class Objects:
    """The object store of one repository. Ids are 40 hex digits as text."""

    def __init__(self, folder: Path, spares: Path) -> None:
        self._folder = folder
        self._spares = Spares(spares, folder)
        self._store = Disk(str(folder))
        self._guard = Guard()
        self._fresh: list[str] = []
        self._unsynced: set[Path] = set()
        self._sizes: list[int] = []

    def close(self) -> None:
        """Close the packs that reading has opened."""
        with self._guard:
            self._store.close()

    def get(self, oid: str) -> ShaFile:
        """The object called `oid`.

        Raises:
            DamagedHistory: it is missing or broken.
        """
        try:
            return self._stored(oid)
        except DamagedHistory:
            spare = self._spare(oid)
            if spare is None:
                raise
            return spare

    def _stored(self, oid: str) -> ShaFile:
        with self._reading(oid):
            return self._store[_oid(oid)]

    def _spare(self, oid: str) -> ShaFile | None:
        """An object that somebody's `git prune` took, from its second name."""
        data = self._spares.read(oid)
        if data is None:
            return None
        with self._reading(oid):
            found = ShaFile.from_file(io.BytesIO(data))
            return found if found.id == _oid(oid) else None

    def _is_stored(self, oid: str) -> bool:
        """Whether Git itself finds the object, whole."""
        try:
            self._stored(oid)
        except DamagedHistory:
            return False
        return True

    def commit(self, oid: str) -> Commit:
        """The commit called `oid`; DamagedHistory when it is none."""
        found = self.get(oid)
        if not isinstance(found, Commit):
            raise DamagedHistory(f"object {oid} of the history is no commit")
        return found

    def tree(self, oid: str | None) -> Tree:
        """The tree called `oid`; an empty one for None; DamagedHistory when it is none."""
        if oid is None:
            return Tree()
        found = self.get(oid)
        if not isinstance(found, Tree):
            raise DamagedHistory(f"object {oid} of the history is no tree")
        return found

    def blob(self, oid: str) -> bytes:
        """The bytes of the blob called `oid`."""
        found = self.get(oid)
        return bytes(found.as_raw_string())

    def has(self, oid: str) -> bool:
        """Whether the object is there and whole."""
        try:
            self.get(oid)
        except DamagedHistory:
            return False
        return True

    def verified(self, oid: str) -> ShaFile:
        """The object called `oid`, its bytes compared with its name and its form with Git's rules.

        Raises:
            DamagedHistory: it is missing, broken or another.
        """
        with self._reading(oid):
            kind, data = self._store.get_raw(_oid(oid))
            item = ShaFile.from_raw_string(kind, data)
            item.check()
        if item.id.decode() != oid:
            raise DamagedHistory(f"object {oid} of the history is another")
        return item

    def starting_with(self, prefix: str) -> list[str]:
        """The ids that begin with `prefix`, at least four hex digits."""
        with self._reading(prefix):
            return [oid.decode() for oid in self._store.iter_prefix(prefix.encode())]

    def files(self, tree: str | None, folder: str = "") -> dict[str, str]:
        """Path and blob of each regular file in `tree` and below, in Git's order."""
        found: dict[str, str] = {}
        for name, mode, oid in self.tree(tree).iteritems():
            path = folder + name.decode("utf-8", "surrogateescape")
            if stat.S_ISDIR(mode):
                found |= self.files(oid.decode(), f"{path}/")
            elif stat.S_ISREG(mode):
                found[path] = oid.decode()
        return found

    def parents(self, commit: Commit) -> list[ObjectID]:
        """The parents of `commit`; none where a shallow clone ends."""
        return [] if commit.id in self._shallow() else commit.parents

    def _shallow(self) -> frozenset[bytes]:
        try:
            return frozenset((self._folder.parent / "shallow").read_bytes().split())
        except FileNotFoundError:
            return frozenset()

    def walked(self, start: str, limit: int | None, path: str | None) -> list[Commit]:
        """`start` and the commits it stands on, newest first, at most `limit`, only those that touch `path`."""
        with self._reading(start):
            paths = [path.encode()] if path else None
            walker = Walker(self._store, [_oid(start)], max_entries=limit, paths=paths, get_parents=self.parents)
            return [found.commit for found in walker]

    def changed(self, commit: Commit) -> tuple[str, ...]:
        """The paths in which `commit` differs from its first parent, in Git's order."""
        parents = self.parents(commit)
        before = self.commit(parents[0].decode()).tree if parents else None
        with self._reading(commit.id.decode()):
            changes = [change.new or change.old for change in tree_changes(self._store, before, commit.tree)]
        return tuple(item.path.decode("utf-8", "replace") for item in changes if item and item.path)

    def put_blob(self, data: bytes) -> str:
        """Store `data`; its id. Durable after `flush`."""
        return self.put(Blob.from_string(data))

    def put(self, item: ShaFile) -> str:
        """Store `item`; its id. Durable after `flush`. One that is there already is checked and made to look new."""
        oid = item.id.decode()
        if self._is_stored(oid):
            with suppress(FileNotFoundError):  # it lies in a pack
                fs.touch(self._spares.file(oid))
            self._spares.add(oid)
        else:
            data = item.as_legacy_object()
            self._spares.write(oid, data)
            self._sizes.append(len(data))
            self._unsynced.add(self._spares.file(oid).parent)
        self._fresh.append(oid)
        return oid

    def written(self) -> tuple[int, int]:
        """Bytes and number of the objects that were written since this was asked last."""
        sizes, self._sizes = self._sizes, []
        return sum(sizes), len(sizes)

    def flush(self) -> None:
        """Make the names of all that was put durable; what refers to it comes after."""
        for folder in sorted(self._unsynced):
            with suppress(FileNotFoundError):  # a prune took it: `settled` puts it back
                fs.sync_folder(folder)
        self._unsynced.clear()

    def settled(self) -> None:
        """Put back what somebody's `git prune` removed since it was put, and forget what was put."""
        for oid in self._fresh:
            if not self._is_stored(oid):
                self._spares.restore(oid)
                self._unsynced.add(self._spares.file(oid).parent)
        self._fresh.clear()
        self.flush()

    def restored(self) -> int:
        """Put back what a `git prune` took after the write it belongs to had ended; how many objects."""
        oids = self._spares.all_restored(self._is_stored)
        self._unsynced |= {self._spares.file(oid).parent for oid in oids}
        self.flush()
        return len(oids)

    def grafted(self, tree: str | None, changes: Mapping[str, str | None]) -> str | None:
        """The tree that `tree` becomes when each path holds its blob, or nothing for None.

        A file keeps its mode; None is returned for a tree without files.
        """
        grown = Tree.from_string(self.tree(tree).as_raw_string())
        for name, below in _by_first_part(changes):
            key = name.encode("utf-8", "surrogateescape")
            mode, oid = _found(grown, key)
            if "" in below:
                _set(grown, key, mode if stat.S_ISREG(mode) else REGULAR, below[""])
            else:
                folder = oid.decode() if oid and stat.S_ISDIR(mode) else None
                _set(grown, key, _FOLDER, self.grafted(folder, below))
        return self.put(grown) if len(grown) else None

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Read through dulwich, one thread at a time, whose cache of open packs is not made for more."""
        with self._guard:
            try:
                yield
            except _DAMAGE:
                raise DamagedHistory(f"object {what} of the history is missing or broken") from None


def _oid(text: str) -> ObjectID:
    return ObjectID(text.encode())


def _found(tree: Tree, name: bytes) -> tuple[int, ObjectID | None]:
    """Mode and id of `name` in `tree`; (0, None) when it is not there."""
    return tree[name] if name in tree else (0, None)  # noqa: SIM401 (a Tree has no get)


def _set(tree: Tree, name: bytes, mode: int, oid: str | None) -> None:
    if oid is not None:
        tree.add(name, mode, _oid(oid))
    elif name in tree:
        del tree[name]


def _by_first_part(changes: Mapping[str, str | None]) -> Iterable[tuple[str, dict[str, str | None]]]:
    """The changes grouped by the first part of their path; "" stands for the file itself."""
    grouped: dict[str, dict[str, str | None]] = {}
    for path, oid in changes.items():
        first, _, rest = path.partition("/")
        grouped.setdefault(first, {})[rest] = oid
    return grouped.items()
