"""Git's index in whatever form dulwich reads: parsed, changed and written anew. For what is not plain rows."""

import io
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from dulwich.errors import ChecksumMismatch
from dulwich.index import (
    ConflictedIndexEntry,
    IndexChecksumReader,
    IndexChecksumWriter,
    IndexEntry,
    IndexExtension,
    UnsupportedIndexFormat,
    read_index_dict_with_version,
    write_index_dict,
)
from dulwich.objects import ObjectID

from ..disk import fs
from ..disk.stat import Stamp
from .rows import Settled, UnknownIndex, is_whole, numbers
from .split import joined

# What dulwich raises for an index that is cut short, altered or of a version to come.
_BROKEN = (
    AssertionError, ValueError, KeyError, OSError, EOFError, IndexError,
    struct.error, ChecksumMismatch, UnsupportedIndexFormat,
)  # fmt: skip
_Entries = dict[bytes, IndexEntry | ConflictedIndexEntry]


def settled_by_parsing(file: Path, paths: Mapping[bytes, Settled], head: Callable[[], Mapping[str, str]]) -> bytes:
    """The index in `file` with `paths` settled; one made from `head` when there is none, or it is broken.

    Raises:
        UnknownIndex: it is whole, and of a form that dulwich does not write.
    """
    entries, version = _read(file, head)
    _clear_way(entries, {key for key, (oid, _) in paths.items() if oid is not None})
    for key, (oid, stamp) in paths.items():
        entries.pop(key, None)
        if oid is not None:
            entries[key] = _entry(oid, stamp)
    return _bytes(entries, version)


def _read(file: Path, head: Callable[[], Mapping[str, str]]) -> tuple[_Entries, int]:
    """The index as it is; one made from `head` when there is none, or it is broken."""
    try:
        data = fs.read(file, limit=fs.LARGE)[0]
    except FileNotFoundError:
        return _from_head(head()), 2
    try:
        entries, version, extensions = _parsed(_whole(data, file))
    except _BROKEN:
        if is_whole(data):
            raise UnknownIndex from None  # whole, and of a form that dulwich does not read
        fs.rename(file, file.with_name("index.broken"))
        return _from_head(head()), 2
    # Lower-case names are forms that a reader has to know; the others are caches Git makes anew.
    if any(extension.signature.islower() for extension in extensions):
        raise UnknownIndex
    return entries, version


def _clear_way(entries: _Entries, keys: set[bytes]) -> None:
    """Take out what cannot stand beside `keys`: a file whose name a folder now has, and the reverse."""
    for folder in _folders(keys) & entries.keys():
        del entries[folder]
    files_now = keys & _folders(entries)
    for name in [name for name in entries if files_now and _folders([name]) & files_now]:
        del entries[name]


def _folders(paths: Iterable[bytes]) -> set[bytes]:
    """Every folder on the way to `paths`."""
    found: set[bytes] = set()
    row = {path.rpartition(b"/")[0] for path in paths} - {b""}
    while row:
        found |= row
        row = {folder.rpartition(b"/")[0] for folder in row} - {b""} - found
    return found


def _parsed(data: bytes) -> tuple[_Entries, int, list[IndexExtension]]:
    reader = IndexChecksumReader(io.BytesIO(data))
    entries, version, extensions = read_index_dict_with_version(reader)
    reader.check_checksum(allow_empty=True)
    return entries, version, list(extensions)


def _bytes(entries: _Entries, version: int) -> bytes:
    stream = io.BytesIO()
    writer = IndexChecksumWriter(stream)
    write_index_dict(writer, entries, version=version)
    writer.write_checksum()
    return stream.getvalue()


def _from_head(head: Mapping[str, str]) -> _Entries:
    return {path.encode("utf-8", "surrogateescape"): _entry(oid, None) for path, oid in head.items()}


def _entry(oid: str, stamp: Stamp | None) -> IndexEntry:
    changed, changed_ns, modified, modified_ns, *others = numbers(stamp)
    device, inode, mode, owner, group, size = others
    times = (changed, changed_ns), (modified, modified_ns)
    return IndexEntry(*times, device, inode, mode, owner, group, size, ObjectID(oid.encode()))


def staged(file: Path) -> dict[bytes, tuple[int, str]]:
    """Mode and blob of all that an index names; nothing where there is none.

    Raises:
        UnknownIndex: it is of a form that dulwich does not read, or in the middle of a merge.
    """
    return {path: (entry.mode, entry.sha.decode()) for path, entry in _plain(file)[0].items()}


def renamed(file: Path, change: Callable[[bytes, str], tuple[bytes, str] | None]) -> bytes | None:
    """The index with what `change` says of each path and blob, None for one that goes; None where there is no index."""
    if not file.exists():
        return None
    entries, version = _plain(file)
    found: _Entries = {}
    for path, entry in entries.items():
        item = change(path, entry.sha.decode())
        if item:
            oid = ObjectID(item[1].encode())
            found[item[0]] = entry if oid == entry.sha else _entry_like(entry, item[1])
    return _bytes(dict(sorted(found.items())), version)


def _entry_like(entry: IndexEntry, oid: str) -> IndexEntry:
    """A row for another blob; Git looks at the file itself."""
    new = _entry(oid, None)
    return replace(new, mode=entry.mode, flags=entry.flags, extended_flags=entry.extended_flags)


def _whole(data: bytes, file: Path) -> bytes:
    """The bytes of an index, in one where it is split in two."""
    return joined(data, lambda oid: fs.read(file.with_name(f"sharedindex.{oid}"), limit=fs.LARGE)[0]) or data


def _plain(file: Path) -> tuple[dict[bytes, IndexEntry], int]:
    if not file.exists():
        return {}, 2
    try:
        entries, version, extensions = _parsed(_whole(fs.read(file, limit=fs.LARGE)[0], file))
    except _BROKEN:
        raise UnknownIndex from None
    plain = {path: entry for path, entry in entries.items() if isinstance(entry, IndexEntry)}
    if len(plain) < len(entries) or any(extension.signature.islower() for extension in extensions):
        raise UnknownIndex
    return plain, version
