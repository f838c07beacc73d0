"""What the system says of a file, packed: two that are equal belong to a file that nobody changed in between."""

import os
import struct
from typing import NamedTuple

_FORM = struct.Struct("<qqqQQIII")
SIZE = _FORM.size
# The ids of devices and owners are small or marks of all ones; Git's index keeps as much of them.
_HALF = 0xFFFFFFFF


class Stamp(NamedTuple):
    """The status of a file: times in nanoseconds, size in bytes, `mode` with its kind."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int
    device: int
    mode: int
    owner: int
    group: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        """The stamp of a file's status."""
        return cls.unpacked(packed(status))

    @classmethod
    def unpacked(cls, data: bytes) -> "Stamp":
        """The stamp in `SIZE` bytes."""
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
