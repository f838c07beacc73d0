"""Git's index in every form that dulwich reads and writes: parsed, changed and written anew.

One that is sparse, or split in two (`core.splitIndex`), is left to Git.
"""

import io
import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dulwich.errors import ChecksumMismatch
from dulwich.index import (
    ConflictedIndexEntry,
    IndexChecksumReader,
    IndexChecksumWriter,
    IndexEntry,
    UnsupportedIndexFormat,
    read_index_dict_with_version,
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
_Entries = dict[bytes, IndexEntry | ConflictedIndexEntry]


def settled_by_parsing(file: Path, paths: Mapping[bytes, Settled], head: Callable[[], Mapping[str, Item]]) -> bytes:
    """Return the bytes of the index in `file` with `paths` settled; made from `head` if there is none, or a broken one.

    Raises:
        UnknownIndex: the index is whole, and in a form that dulwich does not read.
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
    """Return the entries of an index and its version; those of `head` if there is none, or it is broken.

    A broken one is renamed to `index.broken`.

    Raises:
        UnknownIndex: its checksum is right, but dulwich cannot read it.
    """
    with suppress(FileNotFoundError):
        data = fs.read(file, limit=fs.LARGE)[0]
        try:
            return _parsed(data)
        except _BROKEN:
            if is_whole(data):
                raise UnknownIndex from None  # whole, and of a form that dulwich does not read
            fs.rename(file, file.with_name("index.broken"))
    return {to_bytes(path): _entry(Settled(item)) for path, item in head().items()}, 2


def _clear_way(entries: _Entries, keys: set[bytes]) -> None:
    """Remove entries that the files `keys` exclude: a file at a folder of theirs, and files below one of them."""
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


def _parsed(data: bytes) -> tuple[_Entries, int]:
    """Return the entries in the bytes of an index, and its version.

    Raises:
        UnknownIndex: the index has an extension that a reader must understand, and dulwich does not.
        Exception: one of `_BROKEN`.
    """
    reader = IndexChecksumReader(io.BytesIO(data))
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
    """Return mode, blob and flags of every path in an index; None if there is no index.

    Raises:
        UnknownIndex: the index is in a form that dulwich does not read, or has the stages of a merge.
    """
    if not file.exists():
        return None
    return {path: (entry.mode, entry.sha.decode(), entry.flags) for path, entry in _unmerged(file)[0].items()}


def renamed(file: Path, change: Callable[[bytes, str], tuple[bytes, str] | None]) -> bytes | None:
    """Return the bytes of an index with the rows that `change` makes of each path and blob; None if there is no index.

    `change` returns the new path and blob, or None to drop the row. A row with a new blob loses its stamp.

    Raises:
        UnknownIndex: as `entries`.
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
    """Return the entries of an index and its version; UnknownIndex if it is unreadable, or a merge is under way."""
    try:
        entries, version = _parsed(fs.read(file, limit=fs.LARGE)[0])
    except _BROKEN:
        raise UnknownIndex from None
    plain = {path: entry for path, entry in entries.items() if isinstance(entry, IndexEntry)}
    if len(plain) < len(entries):
        raise UnknownIndex
    return plain, version
