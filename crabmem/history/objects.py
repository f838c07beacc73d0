"""Git's objects: reading them through dulwich, writing them so that they outlast a power cut."""

import secrets
import stat
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from dulwich.errors import ChecksumMismatch, FileFormatException, ObjectFormatException
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from .. import fs
from ..errors import DamagedHistory

REGULAR = 0o100644
_TRIES = 10
_FOLDER = 0o40000
# What dulwich raises for an object that is missing, cut short or not what its name says.
_DAMAGE = (
    KeyError, OSError, ValueError, AssertionError, zlib.error, EOFError,
    ObjectFormatException, ChecksumMismatch, FileFormatException,
)  # fmt: skip


class Objects:
    """The object store of one repository. Ids are 40 hex digits as text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = DiskObjectStore(str(folder))
        # dulwich's cache of open packs is not made for threads.
        self._guard = threading.Lock()
        self._fresh: list[ShaFile] = []

    def close(self) -> None:
        """Close the packs that reading has opened."""
        with self._guard:
            self._store.close()

    @property
    def store(self) -> DiskObjectStore:
        """dulwich's store, for its walkers and differs."""
        return self._store

    def get(self, oid: str) -> ShaFile:
        """The object called `oid`.

        Raises:
            DamagedHistory: it is missing or broken.
        """
        try:
            with self._guard:
                return self._store[ObjectID(oid.encode())]
        except _DAMAGE as error:
            raise DamagedHistory(f"object {oid} of the history is missing or broken ({error!r})") from None

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

    def starting_with(self, prefix: str) -> Iterator[str]:
        """The ids that begin with `prefix`, at least four hex digits."""
        with self._guard:
            found = list(self._store.iter_prefix(prefix.encode()))
        return (oid.decode() for oid in found)

    def files(self, tree: str | None, folder: str = "") -> Iterator[tuple[str, str]]:
        """Path and blob of each regular file in `tree` and below, in Git's order."""
        for name, mode, oid in self.tree(tree).iteritems():
            path = folder + name.decode("utf-8", "surrogateescape")
            if stat.S_ISDIR(mode):
                yield from self.files(oid.decode(), f"{path}/")
            elif stat.S_ISREG(mode):
                yield path, oid.decode()

    def put_blob(self, data: bytes) -> str:
        """Store `data`; its id."""
        return self.put(Blob.from_string(data))

    def put(self, item: ShaFile) -> str:
        """Store `item` durably; its id. One that is there already is checked and made to look new."""
        file = self._file(item.id.decode())
        if self.has(item.id.decode()):
            with suppress(FileNotFoundError):  # it lies in a pack
                fs.touch(file)
        else:
            self._write(file, item)
        self._fresh.append(item)
        return item.id.decode()

    def settled(self) -> None:
        """Write again what somebody's `git prune` removed since it was put, and forget what was put."""
        for item in self._fresh:
            if not self.has(item.id.decode()):
                self._write(self._file(item.id.decode()), item)
        self._fresh.clear()

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

    def _file(self, oid: str) -> Path:
        return self._folder / oid[:2] / oid[2:]

    def _write(self, file: Path, item: ShaFile) -> None:
        # Git's own name for an unfinished object: its gc clears what a crash leaves.
        temporary = file.with_name(f"tmp_obj_{secrets.token_hex(8)}")
        for attempt in range(_TRIES):
            fs.make_folder(file.parent)
            try:
                fs.create(temporary, item.as_legacy_object(), 0o444)
                break
            except FileNotFoundError:
                # Somebody's `git gc` removes folders that it leaves empty.
                if attempt == _TRIES - 1:
                    raise
        fs.rename(temporary, file)
        fs.sync_folder(file.parent)


def _found(tree: Tree, name: bytes) -> tuple[int, ObjectID | None]:
    """Mode and id of `name` in `tree`; (0, None) when it is not there."""
    return tree[name] if name in tree else (0, None)  # noqa: SIM401 (a Tree has no get)


def _set(tree: Tree, name: bytes, mode: int, oid: str | None) -> None:
    if oid is not None:
        tree.add(name, mode, ObjectID(oid.encode()))
    elif name in tree:
        del tree[name]


def _by_first_part(changes: Mapping[str, str | None]) -> Iterable[tuple[str, dict[str, str | None]]]:
    """The changes grouped by the first part of their path; "" stands for the file itself."""
    grouped: dict[str, dict[str, str | None]] = {}
    for path, oid in changes.items():
        first, _, rest = path.partition("/")
        grouped.setdefault(first, {})[rest] = oid
    return grouped.items()
