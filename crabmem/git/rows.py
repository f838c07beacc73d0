"""Git's index as rows of bytes: a change costs a splice, not a parse. Only the plain form, which is what Git writes."""

import hashlib
import struct
from bisect import bisect_left
from collections.abc import Mapping

from ..disk.stat import Stamp
from .trees import REGULAR

_SIGNATURE = b"DIRC"
_VERSION = 2
_HEADER = struct.Struct(">4sLL")
_FIXED = struct.Struct(">10L20sH")
_LONGEST = 0xFFF
# Marks of a merge's stages, and of rows that are longer.
_ODD_FLAGS = 0x7000
_HALF = 0xFFFFFFFF

#: What a path of the index should say: its blob (None: the path goes) and the file's stamp when
#: that is known to belong to the blob; without one Git looks at the file itself.
Settled = tuple[str | None, Stamp | None]


class OddIndex(Exception):
    """The index is in another form, or holds what a splice could break."""


class UnknownIndex(Exception):
    """The index uses a form (a sparse one, say) that we leave to Git."""


class Rows:
    """The rows of an index, by path. Never changed once made."""

    __slots__ = ("_keys", "_pieces")

    def __init__(self, keys: list[bytes], pieces: list[bytes]) -> None:
        self._keys = keys
        self._pieces = pieces

    def settled(self, paths: Mapping[bytes, Settled]) -> "Rows":
        """The rows with these paths settled.

        Raises:
            OddIndex: a file would stand where there is a folder, or the reverse.
        """
        keys, pieces = self._keys.copy(), self._pieces.copy()
        for key, (oid, stamp) in paths.items():
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                del keys[at], pieces[at]
            if oid is not None:
                _check_way(keys, key)
                keys.insert(at, key)
                pieces.insert(at, _row(key, oid, stamp))
        return Rows(keys, pieces)

    def raw(self) -> bytes:
        """The bytes of the index."""
        data = _HEADER.pack(_SIGNATURE, _VERSION, len(self._keys)) + b"".join(self._pieces)
        return data + hashlib.sha1(data, usedforsecurity=False).digest()


def parsed(data: bytes) -> Rows:
    """The rows in the bytes of an index.

    Raises:
        OddIndex: it is cut short, altered, or not of the plain form.
    """
    if len(data) < _HEADER.size + 20 or not is_whole(data):
        raise OddIndex
    signature, version, count = _HEADER.unpack_from(data)
    if (signature, version) != (_SIGNATURE, _VERSION):
        raise OddIndex
    try:
        rows, end = _taken_apart(data, count)
        _check_extensions(data[end:-20])
    except (IndexError, struct.error):
        raise OddIndex from None
    return rows


def is_whole(data: bytes) -> bool:
    """Whether an index ends in the checksum of the rest of it."""
    return hashlib.sha1(data[:-20], usedforsecurity=False).digest() == data[-20:]


def _taken_apart(data: bytes, count: int) -> tuple[Rows, int]:
    """The rows, and where they end."""
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
    if at > len(data) - 20 or not all(map(bytes.__lt__, keys, keys[1:])):
        raise OddIndex
    return Rows(keys, pieces), at


def _check_extensions(data: bytes) -> None:
    """Names in capitals are caches that Git makes anew; others are forms that a reader has to know."""
    at = 0
    while at < len(data):
        name, size = struct.unpack_from(">4sL", data, at)
        if not name[:1].isupper():
            raise OddIndex
        at += 8 + size
    if at != len(data):
        raise OddIndex


def _check_way(keys: list[bytes], key: bytes) -> None:
    below = key + b"/"
    at = bisect_left(keys, below)
    parts = key.split(b"/")
    above = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
    if (at < len(keys) and keys[at].startswith(below)) or any(_has(keys, folder) for folder in above):
        raise OddIndex


def _has(keys: list[bytes], key: bytes) -> bool:
    at = bisect_left(keys, key)
    return at < len(keys) and keys[at] == key


def _row(key: bytes, oid: str, stamp: Stamp | None) -> bytes:
    fixed = _FIXED.pack(*numbers(stamp), bytes.fromhex(oid), min(len(key), _LONGEST))
    return fixed + key + b"\0" * (8 - (len(fixed) + len(key)) % 8)


def numbers(stamp: Stamp | None) -> tuple[int, ...]:
    """What Git compares with a file's status; without a stamp nothing that fits any file."""
    if stamp is None:
        return (0, 0, 0, 0, 0, 0, REGULAR, 0, 0, 0)
    times = (*divmod(stamp.changed_ns, 1_000_000_000), *divmod(stamp.modified_ns, 1_000_000_000))
    numbers = (*times, stamp.device, stamp.inode, REGULAR, stamp.owner, stamp.group, stamp.size)
    return tuple(number & _HALF for number in numbers)
