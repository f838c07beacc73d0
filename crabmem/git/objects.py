"""Git's objects: loose ones read and written here, so that they outlast a power cut; others read through dulwich."""

import hashlib
import os
import re
import struct
import sys
import weakref
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..disk import fs, regular
from ..disk.fork_lock import Guard, loading
from ..errors import DamagedHistory, DeniedHistory
from ..text.values import once
from .commits import Header, header
from .packs import KINDS, is_packed
from .spares import Spares

if TYPE_CHECKING:  # what most writes do not need takes long to import
    from dulwich.objects import ObjectID

    from .store import Disk

#: No object of more bytes is read: a few compressed bytes can stand for gigabytes.
LARGEST = 64_000_000
# What is taken apart takes many times its bytes.
_LARGEST_OF = {"commit": 1_000_000, "tag": 1_000_000, "tree": 16_000_000}
#: An id of Git's, or the beginning of one.
HEX = re.compile(r"[0-9a-f]{4,40}\Z")
_KIND = re.compile(rb"(blob|tree|commit|tag) (\d+)\0")
# A folder of thousands is stored as it is: compressing costs more than all else, and compaction makes a delta of it.
_LARGE = 16_384
_REMEMBERED = 6


class Objects:
    """The object store of one repository. Ids are 40 hex digits as text."""

    def __init__(self, folder: Path, spares: Path) -> None:
        self._folder = folder
        self._spares = Spares(spares, folder)
        self._guard = Guard()
        self._fresh: list[str] = []
        self._unsynced: set[Path] = set()
        self._sizes: list[int] = []
        self._headers: dict[str, Header] = {}
        self._whole: dict[str, tuple[int, ...] | None] = {}
        self._ends: tuple[tuple[int, ...], frozenset[bytes]] = ((), frozenset())

    @once
    def _store(self) -> "Disk":
        with loading():
            from .store import Disk

        store = Disk(str(self._folder))
        # Who never closes a memory is not to read dulwich's complaints when the interpreter ends.
        weakref.finalize(self, store.close)
        return store

    def close(self) -> None:
        """Close the packs that reading has opened."""
        with self._guard:
            if "_store" in vars(self):
                self._store.close()

    def raw(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of the object called `oid`; DamagedHistory when it is missing or broken."""
        if loose := self._loose(oid):
            return _bounded(oid, *loose)
        found = self._from_pack(oid) or self._spare(oid)
        if found is None:
            raise self._unread(oid)
        if oid_of(*found) != oid:
            raise DamagedHistory(f"object {oid} of the history is another")
        return _bounded(oid, *found)

    def _loose(self, oid: str) -> tuple[str, bytes] | None:
        """Return an object that is no pack's; None when it is not there, or not what its name says."""
        try:
            kind, data = _unpacked(fs.read(self._spares.file(oid), limit=LARGEST)[0])
        except (OSError, ValueError, zlib.error):
            return None
        return (kind, data) if oid_of(kind, data) == oid else None

    def _from_pack(self, oid: str) -> tuple[str, bytes] | None:
        """Return an object as a pack has it; None where there is none. It is not compared with its name."""
        try:
            with self._reading(oid):
                number, data = self._store.get_raw(_oid(oid))
        except DamagedHistory:
            return None
        return KINDS[number], data

    def _spare(self, oid: str) -> tuple[str, bytes] | None:
        """Return an object that somebody's `git prune` took, from its second name."""
        data = self._spares.read(oid)
        with suppress(ValueError, zlib.error):
            return _unpacked(data) if data is not None else None
        return None

    def _is_stored(self, oid: str) -> bool:
        """Return whether Git itself finds the object, whole."""
        if self._loose(oid):
            return True
        found = self._from_pack(oid) if is_packed(self._folder, oid) else None
        return found is not None and oid_of(*found) == oid

    def header(self, oid: str) -> Header:
        """Return the header of the commit called `oid`; DamagedHistory when it is none."""
        return remembered(self._headers, oid, self._read_header)

    def _read_header(self, oid: str) -> Header:
        kind, data = self.raw(oid)
        try:
            return header(data if kind == "commit" else b"")
        except ValueError:
            raise DamagedHistory(f"object {oid} of the history is no commit") from None

    def is_unchanged(self, oid: str) -> bool:
        """Return whether the object is a file that was found whole and has not changed since."""
        seen = self._spares.signature(oid)
        if seen is None or (self._whole.get(oid) != seen and not self._loose(oid)):
            return False
        remember(self._whole, oid, seen)
        return True

    def blob(self, oid: str) -> bytes:
        """Return the bytes of the blob called `oid`."""
        return self.raw(oid)[1]

    def has(self, oid: str) -> bool:
        """Return whether the object is there and whole.

        Raises:
            DeniedHistory: this user may not look.
        """
        try:
            self.raw(oid)
        except DeniedHistory:
            raise
        except DamagedHistory:
            return False
        return True

    def is_there(self, oid: str) -> bool:
        """Return whether the object has its name, or is in a pack; a look that does not read it."""
        seen = self._spares.signature(oid)
        return bool(seen and seen[0]) or is_packed(self._folder, oid)

    def verified(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object, compared with its name, and its form with Git's rules.

        Raises:
            DamagedHistory: it is missing, broken or another.
        """
        from dulwich.objects import ShaFile

        with self._reading(oid):
            number, data = self._store.get_raw(_oid(oid))
            kind, data = _bounded(oid, KINDS[number], data)
            ShaFile.from_raw_string(number, data).check()
        if oid_of(kind, data) != oid:
            raise DamagedHistory(f"object {oid} of the history is another")
        return kind, data

    def starting_with(self, prefix: str) -> list[str]:
        """Return the ids that begin with `prefix`, at least four hex digits."""
        with self._reading(prefix):
            return [oid.decode() for oid in self._store.iter_prefix(prefix.encode())]

    def parents(self, commit: str) -> list[str]:
        """Return the parents of `commit`; none where a shallow clone ends."""
        if commit.encode() in self.shallow():
            return []
        return list(self.header(commit).parents)

    def shallow(self) -> frozenset[bytes]:
        """Return the commits at which a shallow clone ends.

        It is asked for each commit, so the file is read again only when it changed.
        """
        file = self._folder.parent / "shallow"
        try:
            now = _signature(os.lstat(file))
            if self._ends[0] != now:
                data, status = fs.read(file)
                self._ends = _signature(status), frozenset(data.split())
            return self._ends[1]
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise DamagedHistory(f"`.git/shallow` cannot be read: {fs.reason(error)}") from None

    def tree(self, tree: str, is_compared: bool) -> bytes:
        """Return the bytes of a tree.

        What lies in a pack is only compared with its name if it `is_compared`: that costs more than reading it.
        """
        found = None if is_compared else self._loose(tree) or self._from_pack(tree)
        kind, data = _bounded(tree, *(found or self.raw(tree)))
        if kind != "tree":
            raise DamagedHistory(f"object {tree} of the history is no tree")
        return data

    def put(self, kind: str, data: bytes) -> str:
        """Store an object; return its id. Durable after `flush`. One that is there already is made to look new."""
        oid = oid_of(kind, data)
        if self._loose(oid):
            with suppress(FileNotFoundError):  # a compaction has just put it into a pack
                fs.touch(self._spares.file(oid))
            self._spares.add(oid)
        else:
            stored = _packed(kind, data)
            self._spares.write(oid, stored)
            self._sizes.append(len(stored))
            remember(self._whole, oid, self._spares.signature(oid))
            self._unsynced.add(self._spares.file(oid).parent)
        self._fresh.append(oid)
        return oid

    def put_ahead(self, data: bytes, temporary: Path) -> Path | None:
        """Store a blob that nothing refers to yet, also beside another writer; None when it is there already.

        `put` then finds it, or stores it again where a prune took it. The folder it is in must be synced.
        """
        oid = oid_of("blob", data)
        if self.is_there(oid):
            return None
        stored = _packed("blob", data)
        fs.create(temporary, stored, 0o444)
        target = self._spares.file(oid)
        fs.make_folder(target.parent)
        fs.rename(temporary, target)
        self._sizes.append(len(stored))
        return target.parent

    def all_ids(self) -> set[str]:
        """Return every object, loose or in a pack, whether anything reaches it or not."""
        with self._reading("ids"):
            self._store.close()  # so that it looks through the folder again
            return {oid.decode() for oid in self._store}

    def forget(self) -> None:
        """Read everything anew from now on: the objects were exchanged for others."""
        with self._guard:
            if "_store" in vars(self):
                self._store.close()
                del vars(self)["_store"]
            for known in (self._headers, self._whole, self._fresh, self._unsynced):
                known.clear()

    def written(self) -> tuple[int, int]:
        """Return bytes and number of the objects that were written since this was asked last."""
        sizes, self._sizes = self._sizes, []
        return sum(sizes), len(sizes)

    def begin(self) -> None:
        """Forget what a write put that then failed: a purge or a prune may have taken it, and nothing refers to it."""
        self._fresh.clear()

    def flush(self) -> None:
        """Make the names of all that was put durable; what refers to it comes after."""
        for folder in sorted(self._unsynced):
            with suppress(FileNotFoundError):  # a prune took it: `put_back` puts it back
                fs.sync_folder(folder)
        self._unsynced.clear()

    def put_back(self) -> None:
        """Put back what somebody's `git prune` removed since it was put, and forget what was put."""
        for oid in self._fresh:
            if not self.is_there(oid):
                self._spares.restore(oid)
                self._unsynced.add(self._spares.file(oid).parent)
        self._fresh.clear()
        self.flush()

    def restore_spares(self) -> int:
        """Put back what a `git prune` took after the write it belongs to had ended; return how many objects."""
        oids = self._spares.restore_all(self._is_stored)
        self._unsynced |= {self._spares.file(oid).parent for oid in oids}
        self.flush()
        return len(oids)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Read through dulwich, one thread at a time, whose cache of open packs is not made for more."""
        with self._guard:
            before = sys.exception()
            try:
                yield
            except _damage() as error:
                _clear_frames(error, before)
                raise self._unread(what) from None

    def _unread(self, what: str) -> DamagedHistory:
        """Return what is wrong with an object that cannot be read."""
        try:
            os.close(regular.opened(os.fspath(self._spares.file(what))))
        except PermissionError as error:
            return denied(error)
        except OSError:
            pass  # it is not there, or in a pack
        return DamagedHistory(f"object {what} of the history is missing or broken")


def denied(error: PermissionError) -> DeniedHistory:
    """Return what a reader is told whom the system refuses a file of the repository."""
    return DeniedHistory(f"the history cannot be read: {fs.reason(error)}")


def _clear_frames(error: BaseException | None, before: BaseException | None) -> None:
    """Let go of what dulwich's frames hold: they keep views of a pack, and with them its mapping, as long as the error.

    The error lasts: it stays the context of the one that we raise, and in a cycle with its frames since Python 3.12.
    `before` is what the caller was handling already, which is none of ours.
    """
    from traceback import clear_frames  # which no reading needs that finds all whole

    while error is not None and error is not before:
        clear_frames(error.__traceback__)
        error = error.__context__


@cache
def _damage() -> tuple[type[Exception], ...]:
    """Return what dulwich raises for an object that is missing, cut short or not what its name says."""
    with loading():
        from dulwich.errors import (
            ApplyDeltaError,
            ChecksumMismatch,
            FileFormatException,
            MissingCommitError,
            ObjectFormatException,
        )
    from dulwich.pack import DeltaCycle, UnresolvedDeltas

    return (
        DeltaCycle, UnresolvedDeltas,
        MissingCommitError, LookupError, OSError, ValueError, TypeError, ArithmeticError, AssertionError, EOFError,
        zlib.error, struct.error, ApplyDeltaError, ObjectFormatException, ChecksumMismatch, FileFormatException,
    )  # fmt: skip


def _bounded(oid: str, kind: str, data: bytes) -> tuple[str, bytes]:
    """Return kind and bytes of an object, if what it takes to take it apart is bounded too."""
    if len(data) > _LARGEST_OF.get(kind, LARGEST):
        raise DamagedHistory(f"object {oid} of the history is a {kind} of {len(data):,} bytes: it is no memory's")
    return kind, data


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _oid(text: str) -> "ObjectID":
    from dulwich.objects import ObjectID

    return ObjectID(text.encode())


def oid_of(kind: str, data: bytes) -> str:
    """Return the id of an object."""
    named = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    named.update(data)
    return named.hexdigest()


def _packed(kind: str, data: bytes) -> bytes:
    """Return an object as Git stores it by itself."""
    level = 0 if kind == "tree" and len(data) > _LARGE else -1
    return zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, level)


def _unpacked(stored: bytes) -> tuple[str, bytes]:
    """Return kind and bytes of an object stored by itself; ValueError or zlib.error for none, or one too large."""
    inflating = zlib.decompressobj()
    plain = inflating.decompress(stored, LARGEST)  # a few bytes can stand for gigabytes
    found = _KIND.match(plain)
    if not found or not inflating.eof:
        raise ValueError("not an object of Git's, or larger than we read")
    return found[1].decode(), plain[found.end() :]


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def remembered(known: dict[K, T], key: K, read: Callable[[K], T], most: int = _REMEMBERED) -> T:
    """Return what `read` returns for `key`, and keep it with the newest of its kind."""
    found = known.get(key)
    if found is None:
        found = read(key)
        remember(known, key, found, most)
    return found


def remember(known: dict[K, T], key: K, value: T, most: int = _REMEMBERED) -> None:
    """Keep a value with the newest of its kind; what many threads do at once does no harm."""
    known[key] = value
    for oldest in list(known)[:-most]:  # a list: an iterator fails when another thread adds a key
        known.pop(oldest, None)
