"""Git's index in every form that dulwich reads, also split in two: parsed, changed and written anew.

A split index (`core.splitIndex`) is read as the one that it stands for. `.git/index` then holds what changed since
`.git/sharedindex.<id>` was written: rows that replace others there, which have no name of their own, rows that were
added, and two bitmaps that say which rows of the other are gone, and which are replaced. The formats are those of
Git's gitformat-index: section "Split index", appendix "ewah".
"""

import io
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dulwich.errors import ChecksumMismatch
from dulwich.index import (
    ConflictedIndexEntry,
    IndexChecksumReader,
    IndexChecksumWriter,
    IndexEntry,
    SerializedIndexEntry,
    UnsupportedIndexFormat,
    read_cache_entry,
    read_index_dict_with_version,
    read_index_header,
    write_index,
    write_index_dict,
)
from dulwich.objects import ObjectID

from ..disk import fs
from .index import LEFT, Settled, UnknownIndex, is_whole, numbers
from .trees import REGULAR, Item, to_bytes

# What dulwich raises for an index that is cut short, altered or of a version to come.
_BROKEN = (
    AssertionError, ValueError, KeyError, OSError, EOFError, IndexError,
    struct.error, ChecksumMismatch, UnsupportedIndexFormat,
)  # fmt: skip
_LINK = b"link"
_SUM = 20
_WORD = 64
_Entries = dict[bytes, IndexEntry | ConflictedIndexEntry]


def settled_by_parsing(file: Path, paths: Mapping[bytes, Settled], head: Callable[[], Mapping[str, Item]]) -> bytes:
    """Return the index in `file` with `paths` settled; one made from `head` when there is none, or it is broken.

    Raises:
        UnknownIndex: it is whole, and of a form that dulwich does not write.
    """
    entries, version = _read(file, head)
    _clear_way(entries, {key for key, wanted in paths.items() if wanted.item})
    for key, wanted in paths.items():
        before = entries.pop(key, None)
        if isinstance(before, IndexEntry) and wanted.keeps((before.mode, before.sha.decode()), before.flags):
            entries[key] = before
        elif wanted.item:
            entries[key] = _entry(wanted)
    return _written(entries, version)


def _read(file: Path, head: Callable[[], Mapping[str, Item]]) -> tuple[_Entries, int]:
    """Return the entries of an index and its version; those of `head` when there is none, or it is broken."""
    with suppress(FileNotFoundError):
        data = fs.read(file, limit=fs.LARGE)[0]
        try:
            return _parsed(data, file)
        except _BROKEN:  # among them, that the other part of a split index is missing
            if is_whole(data):
                raise UnknownIndex from None  # whole, and of a form that dulwich does not read
            fs.rename(file, file.with_name("index.broken"))
    return {to_bytes(path): _entry(Settled(item)) for path, item in head().items()}, 2


def _clear_way(entries: _Entries, keys: set[bytes]) -> None:
    """Take out what cannot stand beside `keys`: a file whose name a folder now has, and the reverse."""
    for folder in _folders(keys) & entries.keys():
        del entries[folder]
    files_now = keys & _folders(entries)
    for name in [name for name in entries if files_now and _folders([name]) & files_now]:
        del entries[name]


def _folders(paths: Iterable[bytes]) -> set[bytes]:
    """Return every folder on the way to `paths`."""
    found: set[bytes] = set()
    row = {path.rpartition(b"/")[0] for path in paths} - {b""}
    while row:
        found |= row
        row = {folder.rpartition(b"/")[0] for folder in row} - {b""} - found
    return found


def _parsed(data: bytes, file: Path) -> tuple[_Entries, int]:
    """Return the entries in the bytes of the index `file`, and its version.

    Raises:
        UnknownIndex: it has an extension that a reader has to know, and dulwich does not.
        Exception: one of `_BROKEN`.
    """
    whole = joined(data, lambda oid: fs.read(file.with_name(f"sharedindex.{oid}"), limit=fs.LARGE)[0]) or data
    reader = IndexChecksumReader(io.BytesIO(whole))
    entries, version, extensions = read_index_dict_with_version(reader)
    reader.check_checksum(allow_empty=True)
    # Lower-case names are forms that a reader has to know; the others are caches Git makes anew.
    if any(extension.signature.islower() for extension in extensions):
        raise UnknownIndex
    return entries, version


def _written(entries: _Entries, version: int) -> bytes:
    stream = io.BytesIO()
    writer = IndexChecksumWriter(stream)
    write_index_dict(writer, entries, version=version)
    writer.write_checksum()
    return stream.getvalue()


def _entry(wanted: Settled) -> IndexEntry:
    mode, oid = wanted.item or (REGULAR, "")
    changed, changed_ns, modified, modified_ns, *others = numbers(wanted.stamp, mode)
    device, inode, mode, owner, group, size = others
    times = (changed, changed_ns), (modified, modified_ns)
    flags = LEFT if wanted.is_left else 0
    return IndexEntry(*times, device, inode, mode, owner, group, size, ObjectID(oid.encode()), flags)


def entries(file: Path) -> dict[bytes, tuple[int, str, int]] | None:
    """Return mode, blob and flags of every path in an index; None where there is none.

    Raises:
        UnknownIndex: it is of a form that dulwich does not read, or in the middle of a merge.
    """
    if not file.exists():
        return None
    return {path: (entry.mode, entry.sha.decode(), entry.flags) for path, entry in _unmerged(file)[0].items()}


def staged(file: Path) -> dict[bytes, tuple[int, str]]:
    """Return mode and blob of every path in an index; nothing where there is none.

    Raises: as `entries`.
    """
    return {path: (mode, oid) for path, (mode, oid, _) in (entries(file) or {}).items()}


def renamed(file: Path, change: Callable[[bytes, str], tuple[bytes, str] | None]) -> bytes | None:
    """Return the bytes of an index with what `change` makes of each path and blob; None where there is no index.

    `change` returns the new path and blob, or None for a row that goes.
    """
    if not file.exists():
        return None
    entries, version = _unmerged(file)
    found: _Entries = {}
    for path, entry in entries.items():
        item = change(path, entry.sha.decode())
        if item:
            new = _entry(Settled.file(item[1]))  # without a stamp Git looks at the file itself
            other = replace(new, mode=entry.mode, flags=entry.flags, extended_flags=entry.extended_flags)
            found[item[0]] = entry if new.sha == entry.sha else other
    return _written(dict(sorted(found.items())), version)


def _unmerged(file: Path) -> tuple[dict[bytes, IndexEntry], int]:
    """Return the entries of an index that is not in the middle of a merge, and its version."""
    if not file.exists():
        return {}, 2
    try:
        entries, version = _parsed(fs.read(file, limit=fs.LARGE)[0], file)
    except _BROKEN:
        raise UnknownIndex from None
    plain = {path: entry for path, entry in entries.items() if isinstance(entry, IndexEntry)}
    if len(plain) < len(entries):
        raise UnknownIndex
    return plain, version


# An index that is split in two


def link_of(data: bytes) -> tuple[str, bytes] | None:
    """Return the id of the other part of a split index, and the bitmaps; None for an index that is not split."""
    stream = io.BytesIO(data)
    list(_rows(stream))
    while stream.tell() < len(data) - _SUM:
        name, size = struct.unpack(">4sL", stream.read(8))
        content = stream.read(size)
        if name == _LINK:
            return content[:_SUM].hex(), content[_SUM:]
    return None


def joined(data: bytes, shared: Callable[[str], bytes]) -> bytes | None:
    """Return the bytes of one whole index that says what two parts say; None for an index that is not split.

    `data` are the bytes of the first part, and `shared` returns those of `sharedindex.<id>`.

    Raises:
        ValueError, struct.error, or whatever dulwich raises: they are not what Git writes.
    """
    link = link_of(data)
    if link is None:
        return None
    oid, bitmaps = link
    own = list(_rows(io.BytesIO(data)))
    base = list(_rows(io.BytesIO(shared(oid)))) if oid.strip("0") else []
    gone, rest = _bits(bitmaps, len(base)) if bitmaps else (set[int](), b"")
    replaced = sorted(_bits(rest, len(base))[0]) if rest else []
    if len(replaced) > len(own):
        raise ValueError("the parts of the index do not fit together")
    for place, row in zip(replaced, own, strict=False):
        base[place] = replace(row, name=row.name or base[place].name)
    rows = [row for place, row in enumerate(base) if place not in gone] + own[len(replaced) :]
    rows.sort(key=lambda row: (row.name, row.stage().value))
    stream = io.BytesIO()
    writer = IndexChecksumWriter(stream)
    write_index(writer, rows, version=3 if any(row.extended_flags for row in rows) else 2)
    writer.write_checksum()
    return stream.getvalue()


def _rows(stream: io.BytesIO) -> Iterator[SerializedIndexEntry]:
    version, count = read_index_header(stream)
    before = b""
    for _ in range(count):
        row = read_cache_entry(stream, version, before)
        before = row.name
        yield row


def _bits(data: bytes, most: int) -> tuple[set[int], bytes]:
    """Return the numbers of the bits below `most` that a compressed bitmap has set, and the bytes behind it.

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
