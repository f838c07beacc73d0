"""Git's index (`.git/index`), kept in step with our commits so that `git status` stays clean. To us only a cache.

The plain form, which is what Git writes unless somebody asked for another, is changed as rows of bytes: a change costs
a splice, not a parse. `index_forms` does the same for every other form that dulwich reads.
"""

import os
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from ..disk import fs, regular, state
from ..disk.stat import Stamp
from ..errors import Busy
from ..text.hashes import checksum
from .parts import Parts
from .trees import REGULAR, Item, splice, to_bytes, to_text

_WAIT = 1.0
# Bytes of the checksum in which the file ends.
_CHECKSUM = 20
_SIGNATURE = b"DIRC"
_VERSION = 2
_HEADER = struct.Struct(">4sLL")
_FIXED = struct.Struct(">10L20sH")
_MODE = 6
_LONGEST = 0xFFF
# Marks of a merge's stages, and of rows that are longer.
_ODD_FLAGS = 0x7000
#: The mark of `git update-index --assume-unchanged`.
LEFT = 0x8000
_FLAGS_AT = 60  # bytes of a row before its flags: ten numbers of four bytes, and an id of twenty
_HALF = 0xFFFFFFFF


class Settled(NamedTuple):
    """The row that a path of the index is to get: mode and id of `item` (None: no row), and the `stamp` of the file
    if that is known to hold this blob; without one Git reads the file itself.

    `is_left`: the file on the disk differs, and Git is to ignore that (`--assume-unchanged`): whatever the person
    commits, the item stays.
    """

    item: Item | None
    stamp: Stamp | None = None
    is_left: bool = False

    @classmethod
    def file(cls, blob: str | None, stamp: Stamp | None = None) -> "Settled":
        """Return the row for a plain file with this blob; with None, that of no file."""
        return cls((REGULAR, blob) if blob else None, stamp)

    def keeps(self, item: Item, flags: int) -> bool:
        """Return whether the index's own row stays as it is: it has this item, and a new row would only lose `LEFT`."""
        return bool(flags & LEFT) and self.item == item and self.stamp is None


class OddIndex(Exception):
    """The index is in another form than the plain one, or holds what a splice could break."""


class UnknownIndex(Exception):
    """The index uses a form (a sparse one, say) that we leave to Git."""


class Index:
    """`.git/index`. To settle a path is to give its row what the head has.

    Paths that could not be settled yet are remembered in a file (`state.INDEX_BEHIND`) across crashes.
    """

    def __init__(self, parts: Parts, head: Callable[[], Mapping[str, Item]]) -> None:
        """`head` returns mode and id of every path at the head."""
        self._root, self._file = parts.root, parts.git / "index"
        self._behind = parts.private / state.INDEX_BEHIND
        self._refs, self._branch, self._head = parts.refs, parts.branch, head
        #: The rows that we wrote last, and the checksum in which that file ends: if it still does, it is not parsed.
        self._written: tuple[bytes, IndexRows] | None = None
        #: Whether the index was last found in a form that we do not write. It then lacks what we commit, and to Git the
        #: person has staged the removal of that.
        self.is_foreign = False

    def settle(self, paths: Mapping[str, Settled]) -> None:
        """Settle `paths`, and those that are remembered as unsettled.

        During a rebase or merge of the person, or if the index is locked or in a form that we do not write, only
        remember them: a later call does it.
        """
        if not paths and not self._is_behind():
            return
        if self._branch.in_progress():
            self.expect(paths)
        else:
            self._settle(paths)

    def settle_first(self, paths: Mapping[str, Settled]) -> None:
        """Settle `paths` before the branch moves, so that a commit of the person in between does not revert them.

        Raises:
            Busy: a rebase or merge is under way, or the index is locked or in a form that we do not write.
        """
        if paths and (self._branch.in_progress() or not self._settle(paths)):
            raise Busy(f"Git's index of {self._root} is locked, or of a form that crabmem does not write: try again")

    def _settle(self, paths: Mapping[str, Settled]) -> bool:
        """Write `paths`, and the remembered ones as the head has them, into the index; return whether that worked.

        If it did not, remember `paths`, and set `is_foreign` if the form of the index is the reason.
        """
        late = self._late()
        files = self._head() if set(late) - paths.keys() else {}
        wanted = {**{path: Settled(files.get(path)) for path in late}, **paths}
        try:
            with fs.durability(False):  # the redo log knows the paths
                self._refs.replace("index", lambda: self._with(wanted), _WAIT)
        except (Busy, UnknownIndex) as error:
            self.is_foreign = isinstance(error, UnknownIndex)
            self.expect(paths)
            return False
        self.is_foreign = False
        if self._is_behind():
            fs.unlink(self._behind)
        return True

    def expect(self, paths: Iterable[str]) -> None:
        """Remember that `paths` are to be settled. Not durable: after a power cut the redo log tells them."""
        if late := to_bytes("\n".join(dict.fromkeys([*self._late(), *paths]))):
            fs.hint(self._behind, late)

    def sync(self) -> None:
        """Wait until the index is on the disk."""
        with suppress(FileNotFoundError):
            fs.sync_file(self._file)
            fs.sync_folder(self._file.parent)

    def _is_behind(self) -> bool:
        """Return whether paths wait to be settled."""
        return self._behind.exists()

    def _late(self) -> list[str]:
        try:
            return to_text(fs.read(self._behind)[0]).splitlines()
        except FileNotFoundError:
            return []

    def items(self, only_left: bool = False) -> dict[str, tuple[int, str, int]] | None:
        """Return mode, id and flags of every path in the index, or of those that are `LEFT`; None if there is no index.

        Raises:
            UnknownIndex: it is in a form that dulwich does not read, or in the middle of a merge.
        """
        found: dict[bytes, tuple[int, str, int]] | None
        try:
            found = self._rows().items(only_left)
        except OddIndex:
            from .index_forms import entries  # what it needs takes long to import

            found = entries(self._file)
            if found and only_left:
                found = {key: item for key, item in found.items() if item[2] & LEFT}
        return None if found is None else {to_text(key): item for key, item in found.items()}

    def staged(self) -> dict[str, tuple[int, str, int]] | None:
        """Return mode, id and flags of each path in the index; None where there is none.

        Raises:
            Busy: a merge is under way in it, or it is of a form that crabmem does not read.
        """
        try:
            return self.items()
        except (UnknownIndex, OSError):
            raise Busy(f"Git's index of {self._root} is in a merge, or of a form that crabmem does not read") from None

    def left(self) -> dict[str, Item]:
        """Return mode and id of the paths with the mark `LEFT`; none if the index cannot be read."""
        try:
            rows = self.items(only_left=True) or {}
        except (UnknownIndex, OSError):
            return {}
        return {path: (mode, oid) for path, (mode, oid, _) in rows.items()}

    def is_plain(self) -> bool:
        """Return whether the index, if there is one, is in a form that writes keep in step with the branch."""
        with suppress(Busy):
            self.staged()
            return True
        return False

    def _with(self, paths: Mapping[str, Settled]) -> bytes:
        """Return the bytes of the index with `paths` settled; remember its rows as those that are written last."""
        wanted = {to_bytes(path): settled for path, settled in paths.items()}
        try:
            rows = self._rows().settled(wanted)
        except OddIndex:
            from .index_forms import settled_by_parsing  # what it needs takes long to import

            self._written = None
            return settled_by_parsing(self._file, wanted, self._head)
        data = rows.raw()
        self._written = data[-_CHECKSUM:], rows
        return data

    def _rows(self) -> "IndexRows":
        """Return the rows of the index: those we wrote last, if the file still ends in their checksum."""
        if self._written and self._checksum() == self._written[0]:
            return self._written[1]
        try:
            return parse_index(fs.read(self._file, limit=fs.LARGE)[0])
        except FileNotFoundError:  # `index_forms` begins one with all that is at the head
            raise OddIndex from None

    def _checksum(self) -> bytes:
        """Return the last bytes of the file, which tell whether it is the one we wrote; b"" if it cannot be read."""
        try:
            handle = regular.opened(os.fspath(self._file))
            with os.fdopen(handle, "rb") as file:
                file.seek(-_CHECKSUM, os.SEEK_END)
                return file.read()
        except OSError:
            return b""


class IndexRows:
    """The rows of an index of the plain form, in the order of their paths. Never changed once made."""

    __slots__ = ("_keys", "_pieces")

    def __init__(self, keys: list[bytes], pieces: list[bytes]) -> None:
        """`keys` are the paths, `pieces` the bytes of a row for each."""
        self._keys = keys
        self._pieces = pieces

    def settled(self, paths: Mapping[bytes, Settled]) -> "IndexRows":
        """Return the rows with `paths` settled.

        Raises:
            OddIndex: a path would be a file and also a folder of others.
        """
        keys, pieces = self._keys.copy(), self._pieces.copy()
        for key, wanted in paths.items():
            if wanted.item is None:
                splice(keys, pieces, key, None)
                continue
            _check_way(keys, key)
            at = bisect_left(keys, key)
            if not (at < len(keys) and keys[at] == key and wanted.keeps(*_parts(pieces[at]))):
                splice(keys, pieces, key, _row(key, wanted.item, wanted.stamp, wanted.is_left))
        return IndexRows(keys, pieces)

    def items(self, only_left: bool) -> dict[bytes, tuple[int, str, int]]:
        """Return mode, id and flags of every path, or of those that are `LEFT`."""
        rows = zip(self._keys, self._pieces, strict=True)
        parts = ((key, _parts(piece)) for key, piece in rows if not only_left or piece[_FLAGS_AT] & LEFT >> 8)
        return {key: (*item, flags) for key, (item, flags) in parts}

    def raw(self) -> bytes:
        """Return the bytes of the index."""
        pieces = [_HEADER.pack(_SIGNATURE, _VERSION, len(self._keys)), *self._pieces]
        # Joined twice, one after the other: a second megabyte beside the first costs more than hashing it.
        pieces.append(checksum(b"".join(pieces)))
        return b"".join(pieces)


def parse_index(data: bytes) -> IndexRows:
    """Return the rows in the bytes of an index.

    Raises:
        OddIndex: it is cut short, altered, or not of the plain form.
    """
    if len(data) < _HEADER.size + _CHECKSUM or not is_whole(data):
        raise OddIndex
    signature, version, count = _HEADER.unpack_from(data)
    if (signature, version) != (_SIGNATURE, _VERSION):
        raise OddIndex
    try:
        return _parsed_rows(data, count)
    except (IndexError, struct.error):
        raise OddIndex from None


def _parsed_rows(data: bytes, count: int) -> IndexRows:
    """Cut the bytes of a plain index into rows; OddIndex if a row, or something behind them, is not of the plain form.

    A row is padded with 1 to 8 zero bytes to a multiple of 8.
    """
    keys, pieces, at, fixed = [], [], _HEADER.size, _FIXED.size
    for _ in range(count):
        flags = data[at + fixed - 2] << 8 | data[at + fixed - 1]
        length = flags & _LONGEST
        if flags & _ODD_FLAGS or length == _LONGEST:
            raise OddIndex
        end = at + (fixed + length + 8 & ~7)
        keys.append(data[at + fixed : at + fixed + length])
        pieces.append(data[at:end])
        at = end
    if at > len(data) - _CHECKSUM or not all(map(bytes.__lt__, keys, keys[1:])):
        raise OddIndex
    # Extensions named in capitals are caches that Git makes anew; others are forms that a reader has to know.
    end = len(data) - _CHECKSUM
    while at < end:
        name, size = struct.unpack_from(">4sL", data, at)
        if not name[:1].isupper():
            raise OddIndex
        at += 8 + size
    if at != end:
        raise OddIndex
    return IndexRows(keys, pieces)


def is_whole(data: bytes) -> bool:
    """Return whether an index ends in the checksum of the rest of it."""
    return checksum(memoryview(data)[:-_CHECKSUM]) == data[-_CHECKSUM:]


def _check_way(keys: list[bytes], key: bytes) -> None:
    """Raise OddIndex where a file at `key` would stand in the place of a folder, or below a file."""
    below = key + b"/"
    at = bisect_left(keys, below)
    parts = key.split(b"/")
    above = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
    if (at < len(keys) and keys[at].startswith(below)) or any(_has(keys, folder) for folder in above):
        raise OddIndex


def _has(keys: list[bytes], key: bytes) -> bool:
    at = bisect_left(keys, key)
    return at < len(keys) and keys[at] == key


def _parts(row: bytes) -> tuple[Item, int]:
    *numbers, oid, flags = _FIXED.unpack_from(row)
    return (numbers[_MODE], oid.hex()), flags


def _row(key: bytes, item: Item, stamp: Stamp | None, is_left: bool) -> bytes:
    flags = min(len(key), _LONGEST) | LEFT * is_left
    fixed = _FIXED.pack(*numbers(stamp, item[0]), bytes.fromhex(item[1]), flags)
    return fixed + key + b"\0" * (8 - (len(fixed) + len(key)) % 8)


def numbers(stamp: Stamp | None, mode: int) -> tuple[int, ...]:
    """Return the ten numbers of a row, by which Git sees that a file is unchanged; zeros without a stamp, so that it
    reads the file. Each is cut to 32 bits, as Git does.
    """
    if stamp is None:
        return (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    times = (*divmod(stamp.changed_ns, 1_000_000_000), *divmod(stamp.modified_ns, 1_000_000_000))
    found = (*times, stamp.device, stamp.inode, mode, stamp.owner, stamp.group, stamp.size)
    return tuple(number & _HALF for number in found)
