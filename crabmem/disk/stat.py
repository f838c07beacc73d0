"""The status of a file, packed into a stamp: two that are equal belong to a file that nobody changed in between."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

_FORM = struct.Struct("<qqqQQIII")
SIZE = _FORM.size
#: The parts of the mark by which a file is remembered: its stamp, then the id of its blob, in bytes.
STAMP, BLOB = slice(SIZE), slice(SIZE, SIZE + 20)
#: The beginning of a stamp: both times, size and inode. No change of a file leaves all of them as they are.
BEGINNING = struct.Struct("<qqqQ")
# The ids of devices and owners are small or marks of all ones; Git's index keeps as much of them.
_HALF = 0xFFFFFFFF


class Stamp(NamedTuple):
    """The status of a file: times in nanoseconds, size in bytes, `mode` with its kind. In the order of `packed`."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int
    device: int
    mode: int
    owner: int
    group: int

    @classmethod
    def of(cls, data: bytes) -> Stamp:
        """The status in `SIZE` bytes, as `packed` makes them."""
        return cls._make(_FORM.unpack(data))


def packed(status: os.stat_result) -> bytes:
    """The stamp of a file as `SIZE` bytes. Made for every file of a look, so without a value between."""
    return _FORM.pack(
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
        status.st_mode,
        status.st_uid & _HALF,
        status.st_gid & _HALF,
    )


def unstamped(blob: str) -> bytes:
    """Return the mark of a file as it was at another time: the id of its blob after zeros, a stamp that no file has."""
    return bytes(SIZE) + bytes.fromhex(blob)


def changed_ns(mark: bytes) -> int:
    """When the status of a file changed, by its stamp."""
    return int.from_bytes(mark[8:16], "little", signed=True)


def size(mark: bytes) -> int:
    """The bytes of a file, by its stamp."""
    return int.from_bytes(mark[16:24], "little")
