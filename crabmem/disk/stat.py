"""The status of a file, packed into a stamp: two that are equal belong to a file that nobody changed in between."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

_FORM = struct.Struct("<qqqQQIII")
SIZE = _FORM.size
#: What a file is remembered by begins with its stamp and the id of its blob, in bytes.
STAMP, BLOB = slice(SIZE), slice(SIZE, SIZE + 20)
#: How a stamp begins, which no change leaves as it is: both times, size and number of the file.
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
    """What a file of another time is remembered by: the id of its blob, after a stamp that no file has."""
    return bytes(SIZE) + bytes.fromhex(blob)


def changed_ns(mark: bytes) -> int:
    """When the status of a file changed, by its stamp."""
    return int.from_bytes(mark[8:16], "little", signed=True)


def size(mark: bytes) -> int:
    """The bytes of a file, by its stamp."""
    return int.from_bytes(mark[16:24], "little")
