"""A pack in the making, in Git's form: what an earlier one held, byte for byte, and new objects behind it."""

import hashlib
import io
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dulwich.object_format import SHA1
from dulwich.objects import ObjectID
from dulwich.pack import (
    OFS_DELTA,
    Pack,
    load_pack_index,
    write_pack_index_v2,
    write_pack_object,
)

from ..disk import fs
from ..disk.regular import HUGE
from .delta import delta
from .objects import KINDS, oid_of
from .store import Data

#: Git's own limit for how many deltas lie between an object and a whole one.
DEEPEST = 50
_HEADER = 12
_TRAILER = 20
_REFERENCE = 7
_INDEX = b"\xfftOc\0\0\0\2"
# Behind it and a table of where the ids of each first byte end.
_IDS = 8 + 256 * 4


class BrokenPack(Exception):
    """A pack that is cut short, altered, or not of the form that we write."""


@dataclass(frozen=True)
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

    def add(self, oid: str, kind: int, data: bytes, base: tuple[str, bytes] | None) -> bool:
        """Add an object, as a delta to `base` (id and bytes) where that is smaller; whether it was."""
        under = self._held[base[0]] if base else None
        change = delta(base[1], data) if base and under and under.depth < DEEPEST else None
        offset = len(self._data)
        if change is None or under is None or not _is_smaller(change, data):
            self._held[oid] = _Held(offset, self._written(kind, [data]), 0)
            return False
        crc = self._written(OFS_DELTA, (offset - under.offset, [change]))
        self._held[oid] = _Held(offset, crc, under.depth + 1)
        return True

    def _written(self, kind: int, what: list[bytes] | tuple[bytes | int, list[bytes]]) -> int:
        def write(data: bytes) -> int:
            self._data.extend(data)
            return len(data)

        return write_pack_object(write, kind, what, SHA1)

    def ids(self) -> list[str]:
        """The objects in it, in their order."""
        return list(self._held)

    def copy(self, pack: bytes, index: Path) -> None:
        """Begin with the objects of an earlier pack, which stay where they are in it.

        Raises:
            BrokenPack: its bytes are not those that were written, or it refers to objects outside.
        """
        entries = _whole(pack, index)
        depths: dict[int, int] = {}
        ends = [offset for offset, _, _ in entries[1:]] + [len(pack) - _TRAILER]
        for (offset, oid, crc), end in zip(entries, ends, strict=True):
            if zlib.crc32(pack[offset:end]) != crc:
                raise BrokenPack(f"{index.stem} and its index differ")
            base = _base(pack, offset)
            depths[offset] = 0 if base is None else depths.get(base, DEEPEST) + 1
            self._held[oid] = _Held(offset, crc, depths[offset])
        self._data[:] = pack[:-_TRAILER]

    def finished(self) -> tuple[str, bytes, bytes]:
        """The name, and the bytes of the pack and of its index."""
        self._data[:_HEADER] = _head(len(self._held))
        checksum = hashlib.sha1(self._data).digest()
        entries = sorted((bytes.fromhex(oid), held.offset, held.crc) for oid, held in self._held.items())
        index = io.BytesIO()
        write_pack_index_v2(index, entries, checksum)
        return f"pack-{checksum.hex()}", bytes(self._data) + checksum, index.getvalue()


def check(pack: Path, index: Path, oids: Iterable[str]) -> None:
    """Read `oids` back from a pack on the disk, and compare each with its id.

    Raises:
        Exception: what dulwich raises for whatever is wrong.
    """
    _whole(fs.read(pack, limit=HUGE)[0], index)  # dulwich leaves files open when they are not what they should be
    read = Pack.from_objects(Data(pack, SHA1), load_pack_index(index, SHA1))
    try:
        for oid in oids:
            kind, data = read.get_raw(ObjectID(oid.encode()))
            if oid_of(KINDS[kind], data) != oid:
                raise BrokenPack(f"{oid} is another object in it")
    finally:
        read.close()


def ids(index: Path) -> set[str]:
    """The ids that an index names.

    Raises:
        BrokenPack: it cannot be read.
    """
    return {oid for _, oid, _ in _entries(index)}


def _whole(pack: bytes, index: Path) -> list[tuple[int, str, int]]:
    """What an index names, after the pack and it were compared with their checksums."""
    entries = _entries(index, pack)
    if hashlib.sha1(pack[:-_TRAILER]).digest() != pack[-_TRAILER:] or pack[:_HEADER] != _head(len(entries)):
        raise BrokenPack(f"{index.stem} is not as it was written")
    return entries


def _entries(index: Path, pack: bytes | None = None) -> list[tuple[int, str, int]]:
    """Offset, id and checksum of what an index names, in the order of the pack; it has to be that of `pack`.

    Read without dulwich, which takes ten times as long: it is read at each compaction.
    """
    data = fs.read(index, limit=HUGE)[0]
    count = int.from_bytes(data[_IDS - 4 : _IDS], "big")
    whole = len(data) == _IDS + 28 * count + 40 and hashlib.sha1(data[:-_TRAILER]).digest() == data[-_TRAILER:]
    if not whole or data[:8] != _INDEX or (pack is not None and data[-40:-20] != pack[-_TRAILER:]):
        raise BrokenPack(f"{index.name} is not as it was written")
    oids = data[_IDS : _IDS + 20 * count].hex()
    numbers = struct.unpack(f">{2 * count}L", data[_IDS + 20 * count : -40])
    names = (oids[40 * place : 40 * place + 40] for place in range(count))
    return sorted(zip(numbers[count:], names, numbers[:count], strict=True))


def _head(objects: int) -> bytes:
    return b"PACK" + struct.pack(">LL", 2, objects)


def _base(pack: bytes, offset: int) -> int | None:
    """Where the object lies that the one at `offset` is a delta to; None for a whole one."""
    kind, at = pack[offset] >> 4 & 7, offset
    if kind == _REFERENCE:
        raise BrokenPack("it has deltas that name their base")
    if kind != OFS_DELTA:
        return None
    while pack[at] & 0x80:
        at += 1
    distance = pack[at + 1] & 0x7F
    while pack[at + 1] & 0x80:
        at += 1
        distance = (distance + 1) << 7 | pack[at + 1] & 0x7F
    return offset - distance


def _is_smaller(change: bytes, data: bytes) -> bool:
    """Whether a delta takes less room; where that is plain, nothing is compressed to find out."""
    return len(change) * 8 < len(data) or len(zlib.compress(change)) < len(zlib.compress(data))
