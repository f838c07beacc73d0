"""Receive packs from a remote: each is a temporary file, and nothing of it is stored before all was checked."""

import hashlib
import os
import secrets
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from ..disk import fs, regular, state
from ..disk.lock import WriterLock
from ..errors import DamagedHistory, HoldsPurged, Untrusted, Unwritable
from ..git.commits import header, tag_target
from ..git.objects import Objects, bounded, form_errors
from ..git.packing import Packing
from ..git.packs import BrokenPack, Growing, give_name, index_of, written_aside
from ..git.reach import everything
from ..git.refs import OID, Refs
from ..git.trees import FOLDER, SUBMODULE, Rows, are_plain, check_tree, checked_like, parsed_row, rows_of
from .limit import FEW, LEAST_WORK, MOST_OBJECTS, MOST_WORK, WORK_PER_BYTE, Limit
from .received import Received, objects_in, records

# Bytes of what comes that may lie loose; more becomes a pack, however few its objects.
_MOST_LOOSE = 16_000_000
_LOCK, _PAUSE = 10.0, 0.05
_STEP = 500
_DAY = 86_400
# Bytes of ours that a thin pack may stand on: they are put into it.
_MOST_OUTSIDE = 200_000_000
_ANY = ""
# Rows of a tree that is worth comparing with.
_WORTH_COMPARING = 20
# Where a pack says how many objects are in it, and how many bytes its checksum takes.
_COUNT, _CHECKSUM = 8, 20


class _Found(NamedTuple):
    kind: str
    size: int
    offset: int
    crc: int


class Quarantine:
    """A pack that a remote sends: a file in crabmem's own folder, which is removed at the end of the block."""

    def __init__(
        self, git: Path, private: Path, objects: Objects, limit: Limit, refused: Set[str] = frozenset()
    ) -> None:
        """`refused` are the ids of objects that may not come in."""
        self._git, self._private, self._objects, self._limit = git, private, objects, limit
        self._unwanted = refused
        self._file = private / state.TEMPORARY / f"fetch-{os.getpid()}-{secrets.token_hex(8)}"
        #: The file's size, and how many bytes of whole objects may still be made.
        self._size, self._work = 0, MOST_WORK
        #: The objects of the pack, by id; and the ids that they refer to, each with the kind it has to be.
        self._found: dict[str, _Found] = {}
        self._needed: dict[str, str] = {}
        #: Rows of trees that were checked, or are here: what these name need not be looked for again.
        self._rows: set[bytes] = set()
        #: The last tree with many plain files, with which the next is compared.
        self._like: Rows | None = None
        #: Our own objects that are bases of deltas in the pack: sizes by id; and how many more bytes these may have.
        self._bases: dict[str, int] = {}
        self._room = _MOST_OUTSIDE

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):  # older files were left by a crash, or by a fetch that was abandoned after its time
            now = self._file.lstat().st_mtime
            fs.unlink(self._file)
            for left in self._file.parent.glob("fetch-*"):
                if now - left.lstat().st_mtime > _DAY:
                    fs.unlink(left)

    def write(self, data: bytes) -> int:
        """Append bytes of the pack to the file; return their number."""
        self._limit.left()  # an abandoned download must not make the file again after it was removed
        with self._disk():
            fs.append(self._file, data)
        self._size += len(data)
        self._limit.show("receiving", self._size)
        return len(data)

    @contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Unwritable(f"the disk does not take what {self._limit.where} sends: {fs.reason(error)}") from error

    def admit(
        self, wants: Collection[str], haves: Iterable[str], is_ours: Callable[[str], bool], lasts: bool = True
    ) -> int:
        """Check the whole pack, and that nothing is missing that `wants` reach; then store its objects.

        `haves` are commits of ours that are complete here; `is_ours` tells whether these reach a commit. With `lasts`,
        wait for the disk. Return how many objects were new.

        Raises:
            Untrusted: the pack is broken, too large or incomplete; nothing was kept.
            HoldsPurged: the pack has a refused object; nothing was kept.
            Unwritable: the disk refused.
        """
        if not self._size:
            raise self._refused(f"{self._limit.where} sent nothing")
        self._work = min(MOST_WORK, LEAST_WORK + WORK_PER_BYTE * self._size)
        broken: tuple[type[Exception], ...] = (BrokenPack, DamagedHistory, *form_errors())
        try:
            with regular.mapped(self._file) as pack:
                found = records(pack, MOST_OBJECTS, self._spend)
                self._know(haves if found else ())
                for each in objects_in(pack, found, self._spend, self._outside):
                    self._check(each)
                self._needed |= dict.fromkeys(wants, _ANY)
                self._check_complete(is_ours)
                new = self._objects.absent(self._found)
                few = new if len(new) <= FEW and sum(self._found[oid].size for oid in new) <= _MOST_LOOSE else ()
                again = objects_in(pack, found, self._spend, self._outside) if few else ()
                loose = {each.oid: (each.kind, each.data) for each in again if each.oid in few}
        except broken as error:
            raise self._refused(f"what {self._limit.where} sent is broken: {error}") from error
        if new:
            with self._disk(), fs.durability(lasts):
                self._store(loose)
        return len(new)

    def _refused(self, why: str) -> Untrusted:
        return Untrusted(f"{why}; nothing of it was kept. Have `git fsck` look at it, or sync with another remote")

    def _spend(self, size: int) -> None:
        """Count bytes of whole objects; BrokenPack when they are more than a pack of this size may stand for."""
        self._work -= size
        if self._work < 0:
            raise BrokenPack("its objects, made whole, are larger than a pack of its size could be worth")
        self._limit.left()

    def _outside(self, oid: str) -> tuple[str, bytes] | None:
        """Return an object of ours that is the base of a delta, and note it in `_bases`; None if it is not here.

        Raises:
            BrokenPack: such bases have too many bytes in all.
        """
        try:
            kind, data = self._objects.raw(oid)
        except DamagedHistory:
            return None
        if oid not in self._bases:
            self._room -= len(data)
            self._bases[oid] = len(data)
        if self._room < 0:
            raise BrokenPack("it stands on more of what is here than it could be worth")
        return kind, data

    def _know(self, haves: Iterable[str]) -> None:
        """Add all rows of our commits' trees to the known ones: the objects that they name are here."""
        seen = set[str]()
        for have in haves:
            with suppress(DamagedHistory, ValueError):  # it is no commit of ours: then less is known
                waiting = [self._objects.header(have).tree]
                while waiting:
                    if (tree := waiting.pop()) not in seen:
                        seen.add(tree)
                        rows = rows_of(self._objects.tree(tree, is_compared=False))
                        self._rows.update(rows)
                        waiting += [oid for _, mode, oid in map(parsed_row, rows) if mode == FOLDER]

    def _check(self, each: Received) -> None:
        """Check an object: its size, form, that it is not refused nor there twice; note the ids that it refers to."""
        bounded(each.oid, each.kind, each.data)
        if each.oid in self._unwanted:
            raise HoldsPurged(f"{self._limit.where} has what was purged; nothing of it was kept: sync again")
        if each.oid in self._found:
            raise BrokenPack(f"it has {each.oid} twice")
        self._found[each.oid] = _Found(each.kind, len(each.data), each.record.offset, each.record.crc)
        if each.kind == "tree":
            new = self._new_rows(each.data)
            self._rows |= new
            named = ((mode, oid) for _, mode, oid in map(parsed_row, new) if mode != SUBMODULE)
            self._needed |= {oid: "tree" if mode == FOLDER else "blob" for mode, oid in named}
        elif each.kind != "blob":
            Objects.check_form(each.kind, each.data)
            if each.kind == "commit":
                says = header(each.data)
                if min(says.committed, says.authored) < 0:  # Git's times have no sign: `git fsck` would fail for ever
                    raise BrokenPack(f"{each.oid} says that it was made before 1970")
                self._needed |= {says.tree: "tree"} | dict.fromkeys(says.parents, "commit")
            else:
                self._needed[tag_target(each.data)] = _ANY
        if len(self._found) % _STEP == 0:
            self._limit.tell("checking", len(self._found))

    def _new_rows(self, tree: bytes) -> set[bytes]:
        """Check a tree, and return its rows that are not known yet.

        Most trees are similar to the one before: then only the differences are parsed and checked.
        """
        found = checked_like(tree, self._like, self._rows) if self._like else None
        if found:
            new, self._like = found
            return new
        new = check_tree(tree, self._rows)
        rows = rows_of(tree)
        self._like = Rows(tree, rows) if len(rows) >= _WORTH_COMPARING and are_plain(rows) else self._like
        return new

    def _check_complete(self, is_ours: Callable[[str], bool]) -> None:
        """Refuse a pack that refers to an object which is neither in it nor here, or of another kind.

        Objects that are here, but not of our history, may be left of a fetch that was killed: all that they reach is
        looked for too.
        """
        for oid, kind in self._needed.items():
            found = self._found.get(oid)
            if not OID.match(oid) or (found and kind not in (found.kind, _ANY)):
                raise BrokenPack(f"it takes {oid[:40]} for a {kind}")
        outside = self._needed.keys() - self._found.keys()
        missing = self._objects.absent(outside)
        for oid in sorted(outside - missing):
            if self._needed[oid] != "blob" and not is_ours(oid):
                for each in everything([oid], self._objects):
                    self._limit.left()
                    missing |= {each.oid} if each.data is None else set()
        if missing:
            raise self._refused(
                f"{self._limit.where} lacks {len(missing)} objects that its history refers to, such as {min(missing)}: "
                "it is damaged, or a shallow clone"
            )

    def _store(self, loose: Mapping[str, tuple[str, bytes]]) -> None:
        """Store few objects as files, under the writer's lock; else the pack itself, while no compaction runs."""
        if loose:
            with WriterLock(self._private / state.LOCK).held(min(_LOCK, self._limit.left())):
                return self._objects.store(loose)
        packing = Packing(self._git, self._private, Refs(self._git, self._private / state.TEMPORARY))
        while True:
            with packing.alone() as is_alone:
                if is_alone:  # a compaction clears away what others have half written
                    return self._publish()
            self._limit.left()
            time.sleep(_PAUSE)

    def _publish(self) -> None:
        folder, checksum = self._git / "objects" / "pack", self._completed()
        entries = ((bytes.fromhex(oid), each.offset, each.crc) for oid, each in self._found.items())
        with written_aside(folder, self._file, index_of(entries, checksum)) as (new, new_index):
            fs.chmod(new, 0o444)
            give_name(new, new_index, f"pack-{checksum.hex()}")
        fs.sync_folder(folder)

    def _completed(self) -> bytes:
        """Append our own bases to a thin pack, as Git allows none in a repository; return the pack's checksum.

        The number of objects in its head and the checksum at its end are written anew.
        """
        added, pieces, end = Growing(), list[bytes](), self._size - _CHECKSUM
        for oid in self._bases.keys() - self._found.keys():
            added.add(oid, *self._objects.raw(oid), None)
        for oid, each in zip(added.ids(), added.unpacked(), strict=True):
            pieces += each.comp_chunks or []
            self._found[oid] = _Found(_ANY, self._bases[oid], end, zlib.crc32(pieces[-1]))
            end += len(pieces[-1])
        if pieces:
            fs.truncate(self._file, self._size - _CHECKSUM)
            fs.append(self._file, b"".join(pieces))
            fs.write_at(self._file, _COUNT, len(self._found).to_bytes(4, "big"))
            with regular.mapped(self._file) as pack:
                fs.append(self._file, hashlib.sha1(pack, usedforsecurity=False).digest())
        with regular.mapped(self._file) as pack:
            return pack[-_CHECKSUM:]
