"""Git's objects: loose ones read and written here; others read through dulwich.

Loose ones are written without waiting for the disk: what makes them again is in the redo log first.
"""

import math
import os
import re
import struct
import sys
import weakref
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..disk import fs, regular
from ..disk.fork_lock import Guard, loading
from ..errors import DamagedHistory, DeniedHistory
from ..text.hashes import checksum
from ..text.values import once
from .commits import Header, header
from .packs import KINDS, NUMBERS, Growing, Packs, packed_among, publish
from .redo import MOST_LOGGED, Batch, Move, Patch, Redo, cost, patch_of

if TYPE_CHECKING:  # what most writes do not need takes long to import
    from dulwich.objects import ObjectID

    from .store import Disk

#: No object of more bytes is read: a few compressed bytes can stand for gigabytes.
LARGEST = 64_000_000
# What is taken apart takes many times its bytes. The message of a commit is not: one of 50,000 files was once 2 MB.
_LARGEST_OF = {"commit": 16_000_000, "tag": 1_000_000, "tree": 16_000_000}
_LARGEST_HEADER = 1_000_000
#: An id of Git's, or the beginning of one.
HEX = re.compile(r"[0-9a-f]{4,40}\Z")
# A commit as nearly all are, with which Git finds nothing wrong: dulwich takes ten times as long to say so.
_PLAIN_COMMIT = re.compile(
    rb"tree [0-9a-f]{40}\n(?:parent [0-9a-f]{40}\n)*"
    rb"author [^<>\0\n]+ <[^<>\0\n]*> [1-9]\d{0,9} [+-]\d{4}\n"
    rb"committer [^<>\0\n]+ <[^<>\0\n]*> [1-9]\d{0,9} [+-]\d{4}\n\n"
)
_KIND = re.compile(rb"(blob|tree|commit|tag) (\d+)\0")
# The tree of a folder of thousands is stored as it is: compressing costs more than all else, and compaction makes a
# delta of it.
_UNCOMPRESSED_TREE = 16_384
# Answers that `remembered` keeps of each kind.
_REMEMBERED = 6
# Headers of commits, some 400 bytes each: a walk, and what compares its commits, ask for the same.
_MOST_HEADERS = 25_000
# How often a file is renamed into a folder that somebody removes; and of how many objects the folders are listed first.
_TRIES, _LISTED_FIRST = 10, 1_000
_TEMPORARY = "object-"
#: Texts put ahead that are worth a pack, and about how many bytes that has at most.
_LEAST_AHEAD, _LARGEST_AHEAD = 50, 16_000_000


class _Fresh(NamedTuple):
    """An object that was put and is not stored yet.

    `base` is the id and bytes of a similar object: the redo log keeps only the difference to that.
    """

    kind: str
    data: bytes
    base: tuple[str, bytes] | None


class Objects:
    """The object store of one repository. Ids are 40 hex digits as text.

    Whether an object is there can be asked in four ways: `has` reads it, from wherever it is, and compares its id;
    `is_there` looks for a file or a place in a pack; `absent` does so for many; `is_unchanged` asks whether the file
    that was seen whole is still the same.
    """

    def __init__(self, folder: Path, temporary: Path | None = None, redo: Redo | None = None) -> None:
        """`temporary` is the folder for half-written files, `redo` the log; a store with neither is only read."""
        self._folder = folder
        self._temporary = temporary or folder
        self._redo = Redo(folder / "none") if redo is None else redo  # a log that is never there
        self._guard = Guard()
        #: The objects that this write has put, by id; and the ids that are known to be in the redo log or on the disk.
        self._fresh: dict[str, _Fresh] = {}
        self._safe: set[str] = set()
        #: The file size of each object that was stored since `written` was called last.
        self._sizes: list[int] = []
        #: The headers of commits that were read.
        self._headers: dict[str, Header] = {}
        #: The signature of each loose file when it was last found whole.
        self._whole: dict[str, tuple[int, ...] | None] = {}
        #: The open packs, within `in_bulk`.
        self._bulk: Packs | None = None
        #: The file of the commits at which a shallow clone ends; its signature when it was read, and these commits.
        self._shallow = folder.parent / "shallow"
        self._ends: tuple[tuple[int, ...], frozenset[bytes]] = ((), frozenset())

    @once
    def _store(self) -> "Disk":
        with loading():
            from .store import Disk

        store = Disk(str(self._folder))
        # Without this dulwich warns about an open store at the end of every process that never closes its memory.
        weakref.finalize(self, store.close)
        return store

    def close(self) -> None:
        """Close the packs that reading has opened."""
        with self._guard:
            if "_store" in vars(self):
                self._store.close()

    def raw(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of the object called `oid`; DamagedHistory when it is missing or broken."""
        if self._bulk and (packed := self._bulk.raw(oid)):
            kind, data = KINDS.get(packed[0], ""), packed[1]
            if oid_of(kind, data) == oid:
                return bounded(oid, kind, data)
        if loose := self._loose(oid):
            return bounded(oid, *loose)
        found = self._from_pack(oid)
        if found is None:
            error = self._unread(oid)
            found = None if isinstance(error, DeniedHistory) else self._logged(oid)
            if found is None:
                raise error
        if oid_of(*found) != oid:
            raise DamagedHistory(f"object {oid} of the history is another")
        return bounded(oid, *found)

    def _loose(self, oid: str) -> tuple[str, bytes] | None:
        """Return kind and bytes of an object from its own file; None when there is none, or it is damaged."""
        try:
            kind, data = _unpacked(fs.read(self._file(oid), limit=LARGEST)[0])
        except (OSError, ValueError, zlib.error):
            return None
        return (kind, data) if oid_of(kind, data) == oid else None

    def _from_pack(self, oid: str) -> tuple[str, bytes] | None:
        """Return kind and bytes of an object as dulwich reads it; None when it cannot. The caller compares the id."""
        try:
            with self._reading(oid):
                number, data = self._store.get_raw(_oid(oid))
        except DamagedHistory:
            return None
        return KINDS[number], data

    def _logged(self, oid: str) -> tuple[str, bytes] | None:
        """Return an object that a power cut or a `git prune` took, made again from the redo log; None if not logged."""
        found = self._redo.patch(oid)
        return self._made(found) if found else None

    def _made(self, patch: Patch) -> tuple[str, bytes] | None:
        """Return kind and bytes of the object that a logged patch makes; None if its base cannot be read, or the result
        has another id.
        """
        try:
            data = patch.whole(self.raw(patch.base)[1] if patch.base else b"")
        except (DamagedHistory, ValueError, RecursionError):
            return None
        return (patch.kind, data) if oid_of(patch.kind, data) == patch.oid else None

    def _is_stored(self, oid: str) -> bool:
        """Return whether Git itself can read the object: `raw` would also make it from the redo log, which Git cannot.

        A damaged file of its own counts as not stored, even if a pack has the object, so that `restore` replaces it.
        """
        if self._loose(oid):
            return True
        if self._signature(oid):  # a file that is cut short, whatever a pack has
            return False
        found = self._from_pack(oid) if packed_among(self._folder, {oid}) else None
        return found is not None and oid_of(*found) == oid

    def header(self, oid: str) -> Header:
        """Return the header of the commit `oid`, which is cached; DamagedHistory when `oid` is no readable commit."""
        found = self._headers.get(oid)
        if found is None:
            if len(self._headers) >= _MOST_HEADERS:
                self._headers.clear()
            found = self._headers[oid] = self._read_header(oid)
        return found

    def _read_header(self, oid: str) -> Header:
        kind, data = self.raw(oid)
        try:
            return header(data if kind == "commit" else b"")
        except ValueError:
            raise DamagedHistory(f"object {oid} of the history is no commit") from None

    def is_unchanged(self, oid: str) -> bool:
        """Return whether the object has a file of its own that is whole; it is read again only if the file changed."""
        seen = self._signature(oid)
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
        """Return whether the object has a file that is not empty, or a place in a pack. It is not read."""
        return not self.absent([oid])

    def verified(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object, after checking its id and, as `git fsck` does, its form.

        Raises:
            DamagedHistory: the object is missing or malformed, or its bytes have another id.
        """
        with self._reading(oid):
            number, data = self._store.get_raw(_oid(oid))
            kind, data = bounded(oid, KINDS[number], data)
            self.check_form(kind, data)
        if oid_of(kind, data) != oid:
            raise DamagedHistory(f"object {oid} of the history is another")
        return kind, data

    @staticmethod
    def check_form(kind: str, data: bytes) -> None:
        """Check the form of an object as `git fsck` does.

        Raises:
            Exception: one of `form_errors`, for an object that breaks Git's rules.
        """
        if kind == "commit" and _PLAIN_COMMIT.match(data):
            return
        from dulwich.objects import ShaFile

        ShaFile.from_raw_string(NUMBERS[kind], data).check()

    @contextmanager
    def in_bulk(self) -> Iterator[Packs]:
        """Yield the packs, from which objects are copied as they lie; within, thousands are read quickly."""
        with Packs(self._folder, LARGEST) as self._bulk:
            try:
                yield self._bulk
            finally:
                self._bulk = None

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
        file = self._shallow
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

        With `is_compared`, check the id of a tree from a pack too, which costs more than reading it. A loose one is
        always checked.
        """
        found = None if is_compared else self._loose(tree) or self._from_pack(tree)
        kind, data = bounded(tree, *(found or self.raw(tree)))
        if kind != "tree":
            raise DamagedHistory(f"object {tree} of the history is no tree")
        return data

    def put(self, kind: str, data: bytes, like: tuple[str, bytes] | None = None) -> str:
        """Take an object to be stored by the next `flush`; return its id.

        A file that the object has already is touched: `git prune` spares what is new. `like` is the id and bytes of a
        similar object, so that the redo log need only keep the difference.
        """
        oid = oid_of(kind, data)
        if oid not in self._safe and self._signature(oid):  # `flush` looks whether it is whole
            with suppress(FileNotFoundError):  # a compaction has just put it into a pack
                fs.touch(self._file(oid))
        self._fresh[oid] = _Fresh(kind, data, like)
        return oid

    def put_ahead(self, blobs: Iterable[bytes]) -> Iterator[bytes]:
        """Store texts in packs before the writer's lock is taken; yield each of them, to show progress.

        A pack needs one wait for the disk instead of one for each text. The last texts are stored only when the
        generator is run to its end. If these are few and small, they are not stored at all: the write that puts them
        under the lock does it.
        """
        growing = Growing()
        for data in blobs:
            oid = oid_of("blob", data)
            if oid not in growing and not self.is_there(oid):
                growing.add(oid, "blob", data, None)
            yield data
            if growing.size > _LARGEST_AHEAD:
                self._publish(growing)
                growing = Growing()
        if len(growing) >= _LEAST_AHEAD or growing.size > MOST_LOGGED:
            self._publish(growing)

    def store(self, objects: Mapping[str, tuple[str, bytes]]) -> None:
        """Store objects durably, each as a file of its own; `objects` has kind and bytes by id.

        Only under the writer's lock, or in a store that has none: its holder deletes the half-written files of others.
        """
        self._store_all({oid: _Fresh(*each, None) for oid, each in objects.items()}, waits=True)
        self.sync(objects)

    def _publish(self, growing: Growing) -> None:
        publish(growing, self._folder / "pack")
        self._safe.update(growing.ids())

    def _write(self, oid: str, kind: str, data: bytes, waits: bool = False) -> None:
        """Store an object as a file of its own, in place of whatever file has its name.

        Without `waits` it is not made durable: the redo log has it. With `waits` it is, unless an outer
        `fs.durability` turns that off.
        """
        stored, temporary = _packed(kind, data), self._temporary / f"{_TEMPORARY}{os.urandom(8).hex()}"
        with nullcontext() if waits else fs.durability(False):
            fs.create(temporary, stored, 0o444)
            for attempt in range(_TRIES):
                try:
                    fs.rename(temporary, self._file(oid))
                    break
                except FileNotFoundError:
                    # Not made yet, or somebody's `git gc` removed a folder that it left empty.
                    if attempt == _TRIES - 1:
                        raise
                    fs.make_folder(self._file(oid).parent)
        self._sizes.append(len(stored))
        remember(self._whole, oid, self._signature(oid))

    def _file(self, oid: str) -> Path:
        return self._folder / f"{oid[:2]}/{oid[2:]}"

    def _signature(self, oid: str) -> tuple[int, ...] | None:
        """Return size, time and inode of the object's own file, to notice that it changed; None when it has no file."""
        try:
            status = os.lstat(f"{self._folder}/{oid[:2]}/{oid[2:]}")
        except FileNotFoundError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ino

    def all_ids(self) -> set[str]:
        """Return the ids of all objects, loose and packed, reachable or not."""
        with self._reading("ids"):
            self._store.close()  # so that it looks through the folder again
            return {oid.decode() for oid in self._store}

    def forget(self) -> None:
        """Read everything anew from now on: the objects were exchanged for others."""
        with self._guard:
            if "_store" in vars(self):
                self._store.close()
                del vars(self)["_store"]
            for known in (self._headers, self._whole, self._fresh, self._safe, self._sizes):
                known.clear()

    def written(self) -> tuple[int, int]:
        """Return bytes and number of the objects that were written since this was asked last."""
        sizes, self._sizes = self._sizes, []
        return sum(sizes), len(sizes)

    def begin(self) -> None:
        """Forget the objects that a failed write has put: nothing refers to them, and a purge may have removed them."""
        self._fresh.clear()

    def flush(self, move: Move | None = None) -> None:
        """Store all objects that were put; log `move`, the commit that they belong to. Only then may a reference move.

        Log first, then create the object files: these are not waited for, so that a power cut may leave them empty, and
        the log is the only copy. What is too large for the log is made durable itself: many objects as a pack, few as
        files.
        """
        safe = self._safe & self._fresh.keys()
        safe -= self.absent(safe)  # a prune may have taken it since
        new = {oid: fresh for oid, fresh in self._fresh.items() if oid not in safe}
        patches = [patch_of(fresh.kind, oid, fresh.data, fresh.base) for oid, fresh in new.items()]
        is_logged = cost(patches) <= MOST_LOGGED  # else it goes to the disk itself
        if not is_logged and len(new) >= _LEAST_AHEAD:
            self._store_as_pack(new)
        elif not is_logged:
            self._store_all(new, waits=True)
            self.sync(new)
        if move or (is_logged and patches):
            self._redo.add(patches if is_logged else (), move)
        if is_logged:
            self._store_all(new, waits=False)
        self._safe |= new.keys()

    def _store_as_pack(self, new: Mapping[str, _Fresh]) -> None:
        """Store objects durably as one pack: as files, each would need two waits for the disk."""
        growing, absent = Growing(), self.absent(new)
        for oid, fresh in new.items():
            if oid in absent:
                growing.add(oid, fresh.kind, fresh.data, None)
        if len(growing):
            self._publish(growing)
        self.sync(new.keys() - growing.ids())

    def _store_all(self, new: Mapping[str, _Fresh], waits: bool) -> None:
        for oid, fresh in new.items():
            if not self._loose(oid):
                self._write(oid, fresh.kind, fresh.data, waits)

    def put_back(self) -> None:
        """Write again what somebody's `git prune` removed since `flush`; then forget what this write has put."""
        for oid, fresh in self._fresh.items():
            if not self.is_there(oid):
                self._write(oid, fresh.kind, fresh.data)
        self._fresh.clear()
        self._safe.clear()

    def restore(self, batches: Iterable[Batch], is_read: bool, most: float = math.inf) -> int:
        """Write again the objects of log batches that are missing; return how many were written.

        With `is_read`, read each object to see whether it is whole: a power cut leaves files that are cut short. Stop
        after about `most` bytes: in a stranger's log a few bytes can stand for an object of 64 MB.
        """
        patches = {each.oid: each for batch in batches for each in batch.patches}
        missing = {oid for oid in patches if not self._is_stored(oid)} if is_read else self.absent(patches)
        count = 0
        for each in (each for oid, each in patches.items() if oid in missing):
            if most < 0:
                break
            made = self._made(each)
            most -= len(made[1]) if made else LARGEST
            if made:
                self._write(each.oid, *made)
                count += 1
        return count

    def absent(self, oids: Iterable[str]) -> set[str]:
        """Return which of `oids` are not stored: no place in a pack, and no file, or an empty one."""
        found = set(oids)
        # Into a fresh clone thousands come, and none has a file: listing the folders once replaces a look for each.
        folders = {*os.listdir(self._folder)} if len(found) > _LISTED_FIRST else None
        maybe = found if folders is None else {oid for oid in found if oid[:2] in folders}
        found -= {oid for oid in maybe if (seen := self._signature(oid)) and seen[0]}
        return found - packed_among(self._folder, found) if found else found

    def sync(self, oids: Iterable[str]) -> None:
        """Make the files of objects durable. Objects without a file are skipped: they are in a pack, or were pruned."""
        folders = set[Path]()
        for oid in oids:
            with suppress(FileNotFoundError):
                fs.sync_file(self._file(oid))
                folders.add(self._file(oid).parent)
        for folder in sorted(folders):
            with suppress(FileNotFoundError):
                fs.sync_folder(folder)
        if folders:
            fs.sync_folder(self._folder)

    def clear_leftovers(self) -> None:
        """Remove what a crash left half written. Only under the writer's lock."""
        for file in fs.called(self._temporary, _TEMPORARY):
            fs.unlink(file)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Let one thread at a time read through dulwich, whose cache of open packs is not thread-safe.

        Raises:
            DamagedHistory: dulwich could not read the object `what`; DeniedHistory where the system refused its file.
        """
        with self._guard:
            before = sys.exception()
            try:
                yield
            except form_errors() as error:
                _clear_frames(error, before)
                raise self._unread(what) from None

    def _unread(self, what: str) -> DamagedHistory:
        """Return the error for an object that cannot be read: DeniedHistory if the system refuses its file."""
        try:
            os.close(regular.opened(os.fspath(self._file(what))))
        except PermissionError as error:
            return denied(error)
        except OSError:
            pass  # it is not there, or in a pack
        return DamagedHistory(f"object {what} of the history is missing or broken")


def denied(error: PermissionError) -> DeniedHistory:
    """Return the error for a file of the repository that the system does not let this user read."""
    return DeniedHistory(f"the history cannot be read: {fs.reason(error)}")


def _clear_frames(error: BaseException | None, before: BaseException | None) -> None:
    """Clear the frames of an error from dulwich: their local variables keep a pack mapped as long as the error lives.

    It lives on as the `__context__` of the error that we raise, and since Python 3.12 in a cycle with its frames.
    `before` is the error that the caller was handling already, whose frames are not ours to clear.
    """
    from traceback import clear_frames  # which no reading needs that finds all whole

    while error is not None and error is not before:
        clear_frames(error.__traceback__)
        error = error.__context__


@cache
def form_errors() -> tuple[type[Exception], ...]:
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


def bounded(oid: str, kind: str, data: bytes) -> tuple[str, bytes]:
    """Return `kind` and `data` if parsing them costs a bounded amount of memory; see `_LARGEST_OF`.

    Raises:
        DamagedHistory: the object, or the header of the commit, is too large.
    """
    end = data.find(b"\n\n", 0, _LARGEST_HEADER) if kind == "commit" else 0
    if len(data) > _LARGEST_OF.get(kind, LARGEST) or (end < 0 and len(data) > _LARGEST_HEADER):
        raise DamagedHistory(f"object {oid} of the history is a {kind} of {len(data):,} bytes: it is no memory's")
    return kind, data


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _oid(text: str) -> "ObjectID":
    from dulwich.objects import ObjectID

    return ObjectID(text.encode())


def oid_of(kind: str, data: bytes) -> str:
    """Return the id of an object."""
    return checksum(b"%s %d\0" % (kind.encode(), len(data)), data).hex()


def _packed(kind: str, data: bytes) -> bytes:
    level = 0 if kind == "tree" and len(data) > _UNCOMPRESSED_TREE else -1
    return zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, level)


def _unpacked(stored: bytes) -> tuple[str, bytes]:
    """Return kind and bytes from the file of a loose object; ValueError or zlib.error if malformed or too large."""
    inflating = zlib.decompressobj()
    plain = inflating.decompress(stored, LARGEST)  # a few bytes can stand for gigabytes
    found = _KIND.match(plain)
    if not found or not inflating.eof:
        raise ValueError("not an object of Git's, or larger than we read")
    return found[1].decode(), plain[found.end() :]


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def remembered(known: dict[K, T], key: K, read: Callable[[K], T], most: int = _REMEMBERED) -> T:
    """Return the value of `key` in the cache `known`, which holds `most`; if it is missing, add what `read` returns."""
    found = known.get(key)
    if found is None:
        found = read(key)
        remember(known, key, found, most)
    return found


def remember(known: dict[K, T], key: K, value: T, most: int = _REMEMBERED) -> None:
    """Add a value to the cache `known`, and drop the oldest beyond `most`. Threads may do so at the same time."""
    known[key] = value
    for oldest in list(known)[:-most]:  # a list: an iterator fails when another thread adds a key
        known.pop(oldest, None)
