"""Git's index: kept in step with our commits, so that `git status` stays clean. Only ever a cache to us."""

import hashlib
import io
import struct
from collections.abc import Iterable, Mapping
from os import stat_result
from pathlib import Path

from dulwich.errors import ChecksumMismatch
from dulwich.index import (
    ConflictedIndexEntry,
    IndexChecksumReader,
    IndexChecksumWriter,
    IndexEntry,
    IndexExtension,
    UnsupportedIndexFormat,
    index_entry_from_stat,
    read_index_dict_with_version,
    write_index_dict,
)

from .. import fs
from ..errors import Busy
from .listing import REGULAR
from .refs import Refs

_WAIT = 1.0
# What dulwich raises for an index that is cut short, altered or of a version to come.
_BROKEN = (
    AssertionError, ValueError, KeyError, OSError, EOFError, IndexError,
    struct.error, ChecksumMismatch, UnsupportedIndexFormat,
)  # fmt: skip
_Entries = dict[bytes, IndexEntry | ConflictedIndexEntry]

#: What a path of the index should say: its blob (None: the path goes) and the file's status when
#: that is known to belong to the blob; without one Git looks at the file itself.
Settled = tuple[str | None, stat_result | None]


class UnknownIndex(Exception):
    """The index uses a form (split, sparse) that we leave to Git."""


class Index:
    """`.git/index`. Paths that wait to be settled are remembered in a file, whatever comes between."""

    def __init__(self, git: Path, private: Path, refs: Refs) -> None:
        self._file = git / "index"
        self._behind = private / "index-behind"
        self._refs = refs

    def settle(self, paths: Mapping[str, Settled], head: Mapping[str, str]) -> bool:
        """Make the index say `paths`; whether it does. `head` is the whole head, for a new index."""
        wanted = {**{path: (head.get(path), None) for path in self._late()}, **paths}
        try:
            self._refs.replace("index", lambda: self._with(wanted, head), _WAIT)
        except (Busy, UnknownIndex):
            return False
        fs.unlink(self._behind)
        return True

    def expect(self, paths: Iterable[str], durably: bool) -> None:
        """Remember that `paths` are about to change, in case nobody comes to settle them."""
        late = "\n".join(dict.fromkeys([*self._late(), *paths])).encode("utf-8", "surrogateescape")
        if not durably:
            return fs.hint(self._behind, late)
        fs.overwrite(self._behind, late)
        fs.sync_folder(self._behind.parent)

    def is_behind(self) -> bool:
        """Whether paths wait to be caught up."""
        return self._behind.exists()

    def _late(self) -> list[str]:
        try:
            return self._behind.read_bytes().decode("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []

    def _with(self, paths: Mapping[str, Settled], head: Mapping[str, str]) -> bytes:
        entries, version = self._read(head)
        wanted = {path.encode("utf-8", "surrogateescape"): settled for path, settled in paths.items()}
        _clear_way(entries, {key for key, (oid, _) in wanted.items() if oid is not None})
        for key, (oid, status) in wanted.items():
            entries.pop(key, None)
            if oid is not None:
                entries[key] = _entry(oid, status)
        return _bytes(entries, version)

    def _read(self, head: Mapping[str, str]) -> tuple[_Entries, int]:
        """The index as it is; one made from `head` when there is none, or it is broken."""
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return _from_head(head), 2
        try:
            entries, version, extensions = _parsed(data)
        except _BROKEN:
            if hashlib.sha1(data[:-20], usedforsecurity=False).digest() == data[-20:]:
                raise UnknownIndex from None  # whole, and of a form that dulwich does not read
            fs.rename(self._file, self._file.with_name("index.broken"))
            return _from_head(head), 2
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


def _entry(oid: str, status: stat_result | None) -> IndexEntry:
    if status is not None:
        return index_entry_from_stat(status, oid.encode(), REGULAR)
    return IndexEntry(0, 0, 0, 0, REGULAR, 0, 0, 0, oid.encode())  # type: ignore[arg-type]
