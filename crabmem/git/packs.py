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
from collections.abc import Iterable, Iterator, Set
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from ..disk import fs, regular
from ..disk.regular import HUGE
from ..text.hashes import checksum

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
# Bytes of whole objects that `Packs` caches, as the next ones may be deltas to them; and the longest chain of deltas.
_MOST_MADE, _LONGEST_CHAIN = 16_000_000, 5_000
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT = len(_INDEX)
# Behind it and a table of where the ids of each first byte end.
_IDS = _FANOUT + 256 * 4
_ID = 20
# An index has of each object its id, a checksum and where it lies.
_ROW = _ID + 4 + 4


def packed_among(objects: Path, oids: Set[str]) -> set[str]:
    """Return which of `oids` the packs in the folder `objects` have, by their indexes; unreadable ones are skipped."""
    found, missing = set[str](), {bytes.fromhex(oid) for oid in oids}
    # A pack may be replaced by a larger one while we look: the second look finds that.
    for index in (index for _ in range(2) if missing for index in (objects / "pack").glob("pack-*.idx")):
        if missing and (listed := _listed(index, missing)) and index.with_suffix(".pack").exists():
            found |= {name.hex() for name in listed}
            missing -= listed
    return found


def _listed(index: Path, names: set[bytes]) -> set[bytes]:
    """Return which of the ids `names` an index lists; none if the file cannot be read, or is cut short."""
    try:
        with regular.mapped(index) as data:
            if data[:_FANOUT] != _INDEX or len(data) < _IDS + struct.unpack_from(">I", data, _IDS - 4)[0] * _ROW:
                return set()
            return {name for name in names if _lists(data, name)}
    except (OSError, ValueError, struct.error):
        return set()


def _lists(data: mmap.mmap, name: bytes) -> bool:
    """Return whether an index lists an id: a binary search in the part that its table gives for the id's first byte."""
    first = struct.unpack_from(">I", data, _FANOUT + 4 * (name[0] - 1))[0] if name[0] else 0
    last = struct.unpack_from(">I", data, _FANOUT + 4 * name[0])[0]
    at = bisect_left(range(last), name, first, key=lambda place: _name(data, place))
    return at < last and _name(data, at) == name


def _name(data: mmap.mmap, place: int) -> bytes:
    return data[_IDS + place * _ID : _IDS + (place + 1) * _ID]


class BrokenPack(ValueError):
    """A pack that is cut short, altered, or not of the form that we write."""


class _Held(NamedTuple):
    """Where an object lies in the pack: `crc` is that of its bytes there, `depth` the number of deltas below it."""

    offset: int
    crc: int
    depth: int


class Entry(NamedTuple):
    """An object as it lies in a pack: compressed, and a delta to `base`, or whole where that is None."""

    kind: int
    size: int
    base: str | None
    data: bytes


class Packs:
    """The packs in the folder `objects`, from which objects are copied as they lie: nothing of them is made anew."""

    def __init__(self, objects: Path, most: int) -> None:
        """`most` is how many bytes an object may have."""
        self._open, self._most = ExitStack(), most
        #: A cache of kind and bytes of whole objects by id, and how many more bytes it may take.
        self._made: dict[str, tuple[int, bytes]] = {}
        self._room = _MOST_MADE
        #: By id: the pack, all its rows (offset, id, checksum) by rising offset, and the number of the object's row.
        self._places: dict[str, tuple[mmap.mmap, list[tuple[int, str, int]], int]] = {}
        for index in sorted((objects / "pack").glob("pack-*.idx")):
            with suppress(BrokenPack, OSError):
                rows, pack = _entries(index), self._open.enter_context(regular.mapped(index.with_suffix(".pack")))
                self._places |= {oid: (pack, rows, place) for place, (_, oid, _) in enumerate(rows)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def get(self, oid: str) -> Entry | None:
        """Return an object as it lies in a pack; None if no pack has it, or its checksum is wrong."""
        found = self._places.get(oid)
        if found is None:
            return None
        pack, rows, place = found
        offset, _, crc = rows[place]
        end = rows[place + 1][0] if place + 1 < len(rows) else len(pack) - _TRAILER
        data = pack[offset:end]
        try:
            return _entry(data, offset, rows) if zlib.crc32(data) == crc else None
        except (BrokenPack, IndexError):
            return None

    def raw(self, oid: str) -> tuple[int, bytes] | None:
        """Return kind and bytes of an object, not compared with its id; None where no pack has it whole.

        Quicker than dulwich for thousands; nothing is made of more than `most` bytes.
        """
        from dulwich.errors import ApplyDeltaError

        try:
            return self._raw(oid)
        except (ApplyDeltaError, BrokenPack, zlib.error, IndexError):
            return None

    def _raw(self, oid: str) -> tuple[int, bytes] | None:
        """Go down the chain of deltas to a whole or cached object, then apply them on the way up; cache each result."""
        from dulwich.pack import apply_delta

        row, name = list[tuple[str, bytes]](), oid
        while (found := self._made.get(name)) is None:
            entry = self.get(name)
            plain = _inflated(entry, self._most) if entry and len(row) < _LONGEST_CHAIN else None
            if entry is None or plain is None:
                return None
            if entry.base is None:
                found = entry.kind, plain
                self._keep(name, found)
                break
            row.append((name, plain))
            name = entry.base
        for name, change in reversed(row):
            if size_made_by(change) > self._most:
                return None
            found = found[0], b"".join(apply_delta(found[1], change))
            self._keep(name, found)
        return found

    def _keep(self, oid: str, found: tuple[int, bytes]) -> None:
        """Add an object to the cache, which is emptied first when it would grow beyond `_MOST_MADE` bytes."""
        self._room -= len(found[1])
        if self._room < 0:
            self._made.clear()
            self._room = _MOST_MADE - len(found[1])
        self._made[oid] = found


def _inflated(entry: Entry, most: int) -> bytes | None:
    """Return the inflated bytes of an entry; None if it has more than `most`, or another number than it claims."""
    if entry.size > most:
        return None
    plain = zlib.decompressobj().decompress(entry.data, entry.size + 1)
    return plain if len(plain) == entry.size else None


def _entry(data: bytes, offset: int, rows: list[tuple[int, str, int]]) -> Entry | None:
    """Return the entry in `data`, which lies at `offset`; None for a delta to a place where no object begins."""
    kind, size, base, at = entry_head(data, 0)
    if isinstance(base, int):
        place = bisect_left(rows, (offset - base,))
        return Entry(kind, size, rows[place][1], data[at:]) if rows[place][0] == offset - base else None
    return Entry(kind, size, base.hex() if base else None, data[at:])


def entry_head(data: bytes | mmap.mmap, at: int) -> tuple[int, int, int | bytes | None, int]:
    """Return the header of the entry at `at` in a pack: its kind, inflated size, delta base, and where its data begin.

    The base is the distance in bytes back to its entry (int), its id (bytes), or None for a whole object.

    Raises:
        IndexError: the header is cut short.
        BrokenPack: the size has more than 64 bits.
    """
    kind, (size, at) = data[at] >> 4 & 7, size_at(data, at, 4)
    if kind == _REFERENCE:
        return kind, size, bytes(data[at : at + _ID]), at + _ID
    if kind != _OFFSET:
        return kind, size, None, at
    byte, at = data[at], at + 1
    distance = byte & 0x7F
    while byte & 0x80:
        byte, at = data[at], at + 1
        distance = (distance + 1) << 7 | byte & 0x7F
    return kind, size, distance, at


def size_at(data: bytes | mmap.mmap, at: int, bits: int) -> tuple[int, int]:
    """Return a size in Git's form, and where it ends: the first byte has its lowest `bits` bits, each other one seven.

    Raises: as `entry_head`.
    """
    size, shift = data[at] & ((1 << bits) - 1), bits
    while data[at] & 0x80:
        at += 1
        size |= (data[at] & 0x7F) << shift
        shift += 7
        if shift > 63:
            raise BrokenPack("it has a size of more digits than there are")
    return size, at + 1


def size_made_by(delta: bytes) -> int:
    """Return the size of a delta's result: it begins with the size of its base, and then that of its result.

    Raises: as `entry_head`.
    """
    _, at = size_at(delta, 0, 7)
    return size_at(delta, at, 7)[0]


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
        """Add an object, as a delta to `base` (id and bytes) if that is smaller; return whether it became a delta.

        If `base` is not in this pack, it becomes a thin pack, for a receiver that has the base.
        """
        from .delta import delta

        under = self._held.get(base[0]) if base else None
        change = delta(base[1], data) if base and (not under or under.depth < DEEPEST) else None
        if base is None or change is None or not _is_smaller(change, data):
            self.take(oid, Entry(NUMBERS[kind], len(data), None, zlib.compress(data)))
            return False
        self.take(oid, Entry(NUMBERS[kind], len(change), base[0], zlib.compress(change)))
        return True

    def take(self, oid: str, entry: Entry) -> None:
        """Add an object as it lies in another pack. A delta whose base is not in this one makes it a thin pack."""
        from dulwich.object_format import SHA1
        from dulwich.pack import pack_object_header

        under = self._held.get(entry.base) if entry.base else None
        offset = len(self._data)
        if under:
            head = pack_object_header(_OFFSET, offset - under.offset, entry.size, SHA1)
        elif entry.base:
            head = pack_object_header(_REFERENCE, bytes.fromhex(entry.base), entry.size, SHA1)
        else:
            head = pack_object_header(entry.kind, None, entry.size, SHA1)
        self._data += head
        self._data += entry.data
        crc = zlib.crc32(entry.data, zlib.crc32(head))
        self._held[oid] = _Held(offset, crc, under.depth + 1 if under else bool(entry.base))

    def depth(self, oid: str) -> int:
        """Return how many deltas lie between an object in it and a whole one."""
        return self._held[oid].depth

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
        """Begin this pack, still empty, with a copy of an earlier one: its objects keep their offsets.

        Raises:
            BrokenPack: the bytes of that pack are altered, or it has deltas that name their base by id.
        """
        entries = whole_entries(pack, index)
        depths: dict[int, int] = {}
        ends = [offset for offset, _, _ in entries[1:]] + [len(pack) - _TRAILER]
        for (offset, oid, crc), end in zip(entries, ends, strict=True):
            if zlib.crc32(pack[offset:end]) != crc:
                raise BrokenPack(f"{index.stem} and its index differ")
            _, _, base, _ = entry_head(pack, offset)
            if isinstance(base, bytes):
                raise BrokenPack("it has deltas that name their base")
            depths[offset] = 0 if base is None else depths.get(offset - base, DEEPEST) + 1
            self._held[oid] = _Held(offset, crc, depths[offset])
        self._data[:] = pack[:-_TRAILER]

    def raw(self) -> bytes:
        """Return the bytes of the pack."""
        self._data[:_HEADER] = _head(len(self._held))
        return bytes(self._data) + checksum(self._data)

    def finish(self) -> tuple[str, bytes, bytes]:
        """Return the name, and the bytes of the pack and of its index."""
        data = self.raw()
        ending = data[-_TRAILER:]
        index = index_of(((bytes.fromhex(oid), held.offset, held.crc) for oid, held in self._held.items()), ending)
        return f"pack-{ending.hex()}", data, index


def index_of(entries: Iterable[tuple[bytes, int, int]], ending: bytes) -> bytes:
    """Return the index of a pack of less than 2 GB; `entries` are id, offset and checksum, `ending` the pack's own."""
    from dulwich.pack import write_pack_index_v2

    index = io.BytesIO()
    write_pack_index_v2(index, sorted(entries), ending)
    return index.getvalue()


@contextmanager
def written_aside(folder: Path, data: bytes | Path, index: bytes) -> Iterator[tuple[Path, Path]]:
    """Put a pack and its index durably into the folder of packs, under temporary names; yield the two paths.

    `data` is the pack's bytes, or a file that is moved there. Git removes files of such names after a crash, as we do.
    The block calls `give_name`; files that still have their temporary names afterwards are removed.
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
    """Give a pack from `written_aside` its name, and only then its index: Git fails on an index without a pack."""
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
    """Return the ids that an index lists.

    Raises:
        BrokenPack: the index is cut short or altered.
    """
    return {oid for _, oid, _ in _entries(index)}


def whole_entries(pack: bytes, index: Path) -> list[tuple[int, str, int]]:
    """Return offset, id and checksum of each object of a pack, by rising offset, after checking both files' checksums.

    Raises:
        BrokenPack: the pack or its index is cut short or altered, or they do not belong together.
    """
    entries = _entries(index, pack)
    if checksum(memoryview(pack)[:-_TRAILER]) != pack[-_TRAILER:] or pack[:_HEADER] != _head(len(entries)):
        raise BrokenPack(f"{index.stem} is not as it was written")
    return entries


def _entries(index: Path, pack: bytes | None = None) -> list[tuple[int, str, int]]:
    """Return offset, id and checksum of each object that an index lists, by rising offset; check its own checksum.

    With `pack`, the bytes of a pack, also check that the index belongs to that.
    """
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


def _is_smaller(change: bytes, data: bytes) -> bool:
    """Return whether a delta, compressed, is smaller than the object; below an eighth of it, do not compress."""
    return len(change) * 8 < len(data) or len(zlib.compress(change)) < len(zlib.compress(data))
