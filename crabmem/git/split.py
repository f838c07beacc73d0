"""An index of Git's that is split in two (`core.splitIndex`), read as the one that it stands for.

`.git/index` then holds what changed since `.git/sharedindex.<id>` was written: rows that replace others there, which
have no name of their own, rows that were added, and two bitmaps that say which rows of the other are gone, and which
are replaced. The formats are those of Git's gitformat-index: section "Split index", appendix "ewah".
"""

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace

from dulwich.index import IndexChecksumWriter, SerializedIndexEntry, read_cache_entry, read_index_header, write_index

_LINK = b"link"
_SUM = 20
_WORD = 64


def link_of(data: bytes) -> tuple[str, bytes] | None:
    """The id of the other file, and the bitmaps, in the bytes of an index that is split; None for any other."""
    stream = io.BytesIO(data)
    version, count = read_index_header(stream)
    list(_rows(stream, version, count))
    while stream.tell() < len(data) - _SUM:
        name, size = struct.unpack(">4sL", stream.read(8))
        said = stream.read(size)
        if name == _LINK:
            return said[:_SUM].hex(), said[_SUM:]
    return None


def joined(data: bytes, shared: Callable[[str], bytes]) -> bytes | None:
    """The bytes of one whole index, which says what two parts say; None for an index that is not split.

    `data` are the bytes of the first part, and `shared` returns those of `sharedindex.<id>`.

    Raises:
        ValueError, struct.error, or whatever dulwich raises: they are not what Git writes.
    """
    link = link_of(data)
    if link is None:
        return None
    oid, bitmaps = link
    own = list(_rows_of(data))
    base = list(_rows_of(shared(oid))) if oid.strip("0") else []
    gone, rest = _bits(bitmaps, len(base)) if bitmaps else (set[int](), b"")
    replaced = sorted(_bits(rest, len(base))[0]) if rest else []
    if len(replaced) > len(own):
        raise ValueError("the parts of the index do not fit together")
    for place, row in zip(replaced, own, strict=False):
        base[place] = replace(row, name=row.name or base[place].name)
    kept = [row for place, row in enumerate(base) if place not in gone]
    return _written(sorted([*kept, *own[len(replaced) :]], key=lambda row: (row.name, row.stage().value)))


def _written(rows: list[SerializedIndexEntry]) -> bytes:
    stream = io.BytesIO()
    writer = IndexChecksumWriter(stream)
    write_index(writer, rows, version=3 if any(row.extended_flags for row in rows) else 2)
    writer.write_checksum()
    return stream.getvalue()


def _rows_of(data: bytes) -> Iterator[SerializedIndexEntry]:
    stream = io.BytesIO(data)
    return _rows(stream, *read_index_header(stream))


def _rows(stream: io.BytesIO, version: int, count: int) -> Iterator[SerializedIndexEntry]:
    before = b""
    for _ in range(count):
        row = read_cache_entry(stream, version, before)
        before = row.name
        yield row


def _bits(data: bytes, most: int) -> tuple[set[int], bytes]:
    """The numbers of the bits below `most` that a compressed bitmap has set, and the bytes behind it.

    Words of 64 bits: one says how many words of all zeros or ones follow it, and then how many words as they are.
    """
    size, count = struct.unpack_from(">LL", data)
    words = struct.unpack_from(f">{count}Q", data, 8)
    found, at, place = set[int](), 0, 0
    while at < count:
        ones, run, plain = words[at] & 1, words[at] >> 1 & 0xFFFFFFFF, words[at] >> 33
        at += 1
        if size > most or place + run * _WORD > most + _WORD:  # a run of ones can be four billion words long
            raise ValueError("a bitmap of the index is longer than the index")
        if ones:
            found.update(range(place, min(place + run * _WORD, size)))
        place += run * _WORD
        for word in words[at : at + plain]:
            found.update(place + bit for bit in range(_WORD) if word >> bit & 1)
            place += _WORD
        at += plain
    return found, data[8 + 8 * count + 4 :]
