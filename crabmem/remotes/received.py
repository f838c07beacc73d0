"""A pack that somebody else made: taken apart, and each object in it made whole, in bounded memory and work.

dulwich's own reader inflates what a pack claims, and copies what a delta orders: a megabyte of either can stand for
terabytes. Here nothing is made that is larger than its name allows, and every byte that is made is counted.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from mmap import mmap
from typing import NamedTuple

from ..git.objects import LARGEST, oid_of
from ..git.packs import KINDS, BrokenPack, entry_head, size_at

_HEADER, _TRAILER = 12, 20
# Bytes of whole objects that are held while deltas to them are applied. Git makes chains of up to fifty deltas: those
# of a large folder's trees need fifty times its size at most.
_MOST_HELD = 500_000_000
_STEP = 1 << 16
# Bytes of small deltas that are kept from the first look to the second, which takes them apart.
_MOST_KEPT, _SMALL, _OVERHEAD = 32_000_000, 1_000, 100
#: Called with the number of bytes that are about to be made; raises to end the work.
Spend = Callable[[int], None]


class Record(NamedTuple):
    """An object as it lies in a pack at `offset`; its data begin at `start`, and have `size` bytes inflated.

    `base` is the offset, or the id, of the object to which it is a delta; None for a whole one.
    """

    offset: int
    kind: int
    size: int
    base: int | bytes | None
    start: int
    crc: int
    #: The inflated data of a small delta, while there is room: `objects_in` need not inflate it again.
    plain: bytes | None = None


class Received(NamedTuple):
    """An object of a pack, made whole."""

    oid: str
    kind: str
    data: bytes
    record: Record


def records(pack: mmap, most: int, spend: Spend) -> list[Record]:
    """Return a record of each object in a pack, in order, after checking the pack's checksum.

    Raises:
        BrokenPack: the pack has more than `most` objects, is cut short or altered, or is no pack.
    """
    count = int.from_bytes(pack[8:_HEADER], "big")
    if pack[:8] != b"PACK\0\0\0\2" or len(pack) < _HEADER + _TRAILER:
        raise BrokenPack("it is no pack")
    if count > most:
        raise BrokenPack(f"it has {count:,} objects, more than {most:,}")
    with memoryview(pack) as view, view[:-_TRAILER] as body:
        if hashlib.sha1(body, usedforsecurity=False).digest() != pack[-_TRAILER:]:
            raise BrokenPack("it was cut short or altered on the way")
    found, at, room = list[Record](), _HEADER, _MOST_KEPT
    try:
        for _ in range(count):
            record = _record(pack, at, spend)
            plain, end = _inflated(pack, record.start, record.size)
            is_kept = record.base is not None and len(plain) <= _SMALL and room > len(plain)
            room -= len(plain) + _OVERHEAD if is_kept else 0
            found.append(record._replace(crc=zlib.crc32(pack[at:end]), plain=plain if is_kept else None))
            at = end
    except IndexError:
        raise BrokenPack("it ends within an object") from None
    if at != len(pack) - _TRAILER:
        raise BrokenPack("it has more in it than it says")
    return found


def _record(pack: mmap, offset: int, spend: Spend) -> Record:
    kind, size, base, start = entry_head(pack, offset)
    if (kind not in KINDS and base is None) or size > LARGEST:
        raise BrokenPack(f"it has an object of a kind ({kind}) or size ({size:,} bytes) that we do not read")
    spend(size)
    return Record(offset, kind, size, offset - base if isinstance(base, int) else base, start, 0)


def objects_in(
    pack: mmap, found: list[Record], spend: Spend, outside: Callable[[str], tuple[str, bytes] | None] = lambda oid: None
) -> Iterator[Received]:
    """Yield the objects of a pack, made whole, each after the base of its delta.

    `outside` returns kind and bytes of a base that a thin pack leaves out; None if there is no such object.

    Raises:
        BrokenPack: a delta has no base, is broken, or makes too large an object.
    """
    # The deltas not yet applied, by their base: its offset, or its id.
    below: dict[int | bytes, list[Record]] = {}
    for record in found:
        if record.base is not None:
            below.setdefault(record.base, []).append(record)
    for record in found:
        if record.base is None:
            plain = _inflated(pack, record.start, record.size)[0]
            first = Received(oid_of(KINDS[record.kind], plain), KINDS[record.kind], plain, record)
            yield first
            yield from _standing_on(pack, first.kind, plain, _children(first, below), below, spend)
    for name in [each for each in below if isinstance(each, bytes)]:
        spend(0)  # looking takes time too
        if name in below and (base := outside(name.hex())):
            yield from _standing_on(pack, *base, below.pop(name), below, spend)
    if below:
        raise BrokenPack("it stands on objects that are neither in it nor here, or on itself")


def _children(each: Received, below: dict[int | bytes, list[Record]]) -> list[Record]:
    """Remove from `below`, and return, the deltas to an object: those that name its offset, and those with its id."""
    return below.pop(each.record.offset, []) + below.pop(bytes.fromhex(each.oid), [])


def _standing_on(
    pack: mmap, kind: str, base: bytes, children: list[Record], below: dict[int | bytes, list[Record]], spend: Spend
) -> Iterator[Received]:
    """Yield all objects that are made of `base` by deltas, directly or not: depth first, without recursion.

    A base is let go once its last delta was applied; `held` counts the bytes of those that wait.
    """
    waiting, held = [(base, children)] if children else [], len(base)
    while waiting:
        base, children = waiting[-1]
        record = children.pop()
        if not children:
            waiting.pop()
            held -= len(base)
        change = record.plain if record.plain is not None else _inflated(pack, record.start, record.size)[0]
        data = _applied(base, change, spend)
        each = Received(oid_of(kind, data), kind, data, record)
        yield each
        if children := _children(each, below):
            waiting.append((data, children))
            held += len(data)
        if held > _MOST_HELD:
            raise BrokenPack("its deltas stand on one another in a way that takes too much memory")


def _inflated(pack: mmap, at: int, size: int) -> tuple[bytes, int]:
    """Inflate the data at `at` of a pack; return them, and where the next entry begins.

    Raises:
        BrokenPack: the data are malformed, or do not have exactly `size` bytes; no more than that are made.
    """
    inflating, plain = zlib.decompressobj(), bytearray()
    step = min(_STEP, size + (size >> 8) + 64)
    while not inflating.eof:
        piece = pack[at : at + step]
        try:
            plain += inflating.decompress(piece, size + 1 - len(plain))
        except zlib.error as error:
            raise BrokenPack(f"an object cannot be inflated ({error})") from None
        if not piece or len(plain) > size:
            break
        at += len(piece) - len(inflating.unused_data or inflating.unconsumed_tail)
    if len(plain) != size or not inflating.eof:
        raise BrokenPack("an object has another size than it says")
    return bytes(plain), at


def _applied(base: bytes, delta: bytes, spend: Spend) -> bytes:
    """Apply a delta to `base`.

    Raises:
        BrokenPack: the delta is malformed, is not one to this base, or its result is too large.
    """
    try:
        before, at = size_at(delta, 0, 7)
        size, at = size_at(delta, at, 7)
        if before != len(base) or size > LARGEST:
            raise BrokenPack("a delta is not one to what it stands on, or makes too much of it")
        spend(size)
        parts, made = list[bytes](), 0
        while at < len(delta) and made <= size:
            order, at = delta[at], at + 1
            if order & 0x80:
                numbers = bytearray(
                    7
                )  # where in four bytes, and how much in three, of which those that are zero are left out
                for place in range(7):
                    if order & 1 << place:
                        numbers[place], at = delta[at], at + 1
                start, length = int.from_bytes(numbers[:4], "little"), int.from_bytes(numbers[4:], "little") or 0x10000
                part = base[start : start + length]
            else:
                length, at = order, at + order
                part = delta[at - order : at]
            if not part or len(part) != length:
                raise BrokenPack("a delta has an order that nothing can be made of")
            parts.append(part)
            made += length
    except IndexError:
        raise BrokenPack("a delta is cut short") from None
    if made != size:
        raise BrokenPack("a delta makes another size than it says")
    return b"".join(parts)
