"""Packs: whether one has an object, by its index alone; and one in the making, byte for byte as Git would write it.

Whole indexes are read without dulwich, which takes ten times as long: that is done at each compaction. What needs
dulwich imports it late: a write only asks whether an object is in a pack.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ..disk import fs, regular
from ..disk.regular import HUGE
from ..text.hashes import checksum
from ..text.values import value

if TYPE_CHECKING:
    from dulwich.pack import UnpackedObject

#: What the names of our packs in the making have in them.
TEMPORARY = "crabmem_"
#: The name of a pack, without an ending.
PACK_NAME = re.compile(r"pack-[0-9a-f]{40}\Z")
#: The kinds of objects by the numbers that packs have for them.
KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_NUMBER_OF_ANY = 3  # what is written as it lies is of a kind that nobody asks for
NUMBERS = {kind: number for number, kind in KINDS.items()}
#: Git's own limit for how many deltas lie between an object and a whole one.
DEEPEST = 50
_HEADER = 12
_TRAILER = 20
_REFERENCE, _OFFSET = 7, 6  # the kinds of deltas: with the id of their base, or the way to it
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT = len(_INDEX)
# Behind it and a table of where the ids of each first byte end.
_IDS = _FANOUT + 256 * 4
_ID = 20


def is_packed(objects: Path, oid: str) -> bool:
    """Return whether a pack in the folder `objects` has an object. Indexes that cannot be read have none."""
    return bool(packed_among(objects, {oid}))


def packed_among(objects: Path, oids: Set[str]) -> set[str]:
    """Return those of some objects that packs in the folder `objects` have."""
    found, missing = set[str](), {bytes.fromhex(oid) for oid in oids}
    # A pack may be replaced by a larger one while we look: the second look finds that.
    for index in (index for _ in range(2) if missing for index in (objects / "pack").glob("pack-*.idx")):
        if missing and (listed := _listed(index, missing)) and index.with_suffix(".pack").exists():
            found |= {name.hex() for name in listed}
            missing -= listed
    return found


def _listed(index: Path, names: set[bytes]) -> set[bytes]:
    """Return those of some ids that an index names."""
    try:
        with regular.mapped(index) as data:
            return {name for name in names if data[:_FANOUT] == _INDEX and _lists(data, name)}
    except (OSError, ValueError, struct.error):
        return set()


def _lists(data: mmap.mmap, name: bytes) -> bool:
    first = struct.unpack_from(">I", data, _FANOUT + 4 * (name[0] - 1))[0] if name[0] else 0
    last = struct.unpack_from(">I", data, _FANOUT + 4 * name[0])[0]
    at = bisect_left(range(last), name, first, key=lambda place: _name(data, place))
    return at < last and _name(data, at) == name


def _name(data: mmap.mmap, place: int) -> bytes:
    return data[_IDS + place * _ID : _IDS + (place + 1) * _ID]


class BrokenPack(Exception):
    """A pack that is cut short, altered, or not of the form that we write."""


@value
class _Held:
    """Where an object lies: `depth` is the number of deltas below it."""

    offset: int
    crc: int
    depth: int


class Growing:
    """A pack that grows in memory. Every delta stands on an object of the same pack that lies before it."""

    def __init__(self) -> None:
        self._data = bytearray(_HEADER)
        self._held: dict[str, _Held] = {}

    def __contains__(self, oid: str) -> bool:
        return oid in self._held

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> int:
        """The bytes it takes so far."""
        return len(self._data)

    def add(self, oid: str, kind: str, data: bytes, base: tuple[str, bytes] | None) -> bool:
        """Add an object, as a delta to `base` (id and bytes) where that is smaller; return whether it was.

        With a base that is not in it, it becomes a thin pack.
        """
        from .delta import delta

        under = self._held.get(base[0]) if base else None
        depth = under.depth if under else 0
        change = delta(base[1], data) if base and depth < DEEPEST else None
        offset = len(self._data)
        if base is None or change is None or not _is_smaller(change, data):
            self._held[oid] = _Held(offset, self._written(NUMBERS[kind], [data]), 0)
            return False
        kind_of_delta, place = (_OFFSET, offset - under.offset) if under else (_REFERENCE, bytes.fromhex(base[0]))
        self._held[oid] = _Held(offset, self._written(kind_of_delta, (place, [change])), depth + 1)
        return True

    def _written(self, kind: int, what: list[bytes] | tuple[bytes | int, list[bytes]]) -> int:
        from dulwich.object_format import SHA1
        from dulwich.pack import write_pack_object

        def write(data: bytes) -> int:
            self._data.extend(data)
            return len(data)

        return write_pack_object(write, kind, what, SHA1)

    def ids(self) -> list[str]:
        """Return the objects in it, in their order."""
        return list(self._held)

    def unpacked(self) -> Iterator[UnpackedObject]:
        """Yield the objects as they lie in it, for dulwich to send in this order."""
        from dulwich.pack import UnpackedObject

        places = [*(held.offset for held in self._held.values()), len(self._data)]
        for oid, (start, end) in zip(self._held, pairwise(places), strict=True):
            found = UnpackedObject(_NUMBER_OF_ANY, sha=bytes.fromhex(oid))
            found.comp_chunks = [bytes(self._data[start:end])]
            yield found

    def copy(self, pack: bytes, index: Path) -> None:
        """Begin with the objects of an earlier pack, which stay where they are in it.

        Raises:
            BrokenPack: its bytes are not those that were written, or it refers to objects outside.
        """
        entries = whole_entries(pack, index)
        depths: dict[int, int] = {}
        ends = [offset for offset, _, _ in entries[1:]] + [len(pack) - _TRAILER]
        for (offset, oid, crc), end in zip(entries, ends, strict=True):
            if zlib.crc32(pack[offset:end]) != crc:
                raise BrokenPack(f"{index.stem} and its index differ")
            base = _base(pack, offset)
            depths[offset] = 0 if base is None else depths.get(base, DEEPEST) + 1
            self._held[oid] = _Held(offset, crc, depths[offset])
        self._data[:] = pack[:-_TRAILER]

    def finish(self) -> tuple[str, bytes, bytes]:
        """Return the name, and the bytes of the pack and of its index."""
        from dulwich.pack import write_pack_index_v2

        self._data[:_HEADER] = _head(len(self._held))
        ending = checksum(self._data)
        entries = sorted((bytes.fromhex(oid), held.offset, held.crc) for oid, held in self._held.items())
        index = io.BytesIO()
        write_pack_index_v2(index, entries, ending)
        return f"pack-{ending.hex()}", bytes(self._data) + ending, index.getvalue()


@contextmanager
def written_aside(folder: Path, data: bytes | Path, index: bytes) -> Iterator[tuple[Path, Path]]:
    """Write a pack, or move the file that it is in, and its index into the folder of packs, durably, and yield both.

    Their names are such that Git too takes them for what a crash left. What has not got another name within is removed.
    """
    mark = f"{TEMPORARY}{os.urandom(8).hex()}"
    new, new_index = folder / f"tmp_pack_{mark}", folder / f"tmp_idx_{mark}"
    fs.make_folder(folder)
    try:
        if isinstance(data, Path):
            fs.sync_file(data)
            fs.rename(data, new)
        else:
            fs.create(new, data, 0o444)
        fs.create(new_index, index, 0o444)
        yield new, new_index
    finally:
        with suppress(OSError):  # the next compaction does it
            fs.unlink(new)
            fs.unlink(new_index)


def give_name(new: Path, new_index: Path, name: str) -> None:
    """Give a pack that was written aside its name, and then its index: one that has no pack is an error to Git."""
    folder = new.parent
    fs.rename(new, folder / f"{name}.pack")
    fs.sync_folder(folder)
    fs.rename(new_index, folder / f"{name}.idx")


def publish(growing: Growing, folder: Path) -> None:
    """Put a pack into the folder of packs, durably."""
    name, data, index = growing.finish()
    with written_aside(folder, data, index) as (new, new_index):
        give_name(new, new_index, name)
    fs.sync_folder(folder)


def ids(index: Path) -> set[str]:
    """Return the ids that an index names.

    Raises:
        BrokenPack: it cannot be read.
    """
    return {oid for _, oid, _ in _entries(index)}


def whole_entries(pack: bytes, index: Path) -> list[tuple[int, str, int]]:
    """Return offset, id and checksum of each object of a pack, in their order.

    Raises:
        BrokenPack: it or its index is not as it was written.
    """
    entries = _entries(index, pack)
    if checksum(memoryview(pack)[:-_TRAILER]) != pack[-_TRAILER:] or pack[:_HEADER] != _head(len(entries)):
        raise BrokenPack(f"{index.stem} is not as it was written")
    return entries


def _entries(index: Path, pack: bytes | None = None) -> list[tuple[int, str, int]]:
    """Return offset, id and checksum of each object that an index names, in the order of the pack, which is `pack`."""
    data = fs.read(index, limit=HUGE)[0]
    count = int.from_bytes(data[_IDS - 4 : _IDS], "big")
    whole = len(data) == _IDS + 28 * count + 40 and checksum(memoryview(data)[:-_TRAILER]) == data[-_TRAILER:]
    if not whole or data[:8] != _INDEX or (pack is not None and data[-40:-20] != pack[-_TRAILER:]):
        raise BrokenPack(f"{index.name} is not as it was written")
    oids = data[_IDS : _IDS + 20 * count].hex()
    numbers = struct.unpack(f">{2 * count}L", data[_IDS + 20 * count : -40])
    names = (oids[40 * place : 40 * place + 40] for place in range(count))
    return sorted(zip(numbers[count:], names, numbers[:count], strict=True))


def _head(objects: int) -> bytes:
    return b"PACK" + struct.pack(">LL", 2, objects)


def _base(pack: bytes, offset: int) -> int | None:
    """Return where the object lies that the one at `offset` is a delta to; None for a whole one."""
    kind, at = pack[offset] >> 4 & 7, offset
    if kind == _REFERENCE:
        raise BrokenPack("it has deltas that name their base")
    if kind != _OFFSET:
        return None
    while pack[at] & 0x80:
        at += 1
    distance = pack[at + 1] & 0x7F
    while pack[at + 1] & 0x80:
        at += 1
        distance = (distance + 1) << 7 | pack[at + 1] & 0x7F
    return offset - distance


def _is_smaller(change: bytes, data: bytes) -> bool:
    """Return whether a delta takes less room; where that is plain, nothing is compressed to find out."""
    return len(change) * 8 < len(data) or len(zlib.compress(change)) < len(zlib.compress(data))
