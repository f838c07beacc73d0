"""The status of a file, packed into a stamp: two that are equal belong to a file that nobody changed in between."""

import os
import struct

_FORM = struct.Struct("<qqqQQIII")
SIZE = _FORM.size
#: What a file is remembered by begins with its stamp and the id of its blob, in bytes.
STAMP, BLOB = slice(SIZE), slice(SIZE, SIZE + 20)
#: How a stamp begins, which no change leaves as it is: both times, size and number of the file.
BEGINNING = struct.Struct("<qqqQ")
# The ids of devices and owners are small or marks of all ones; Git's index keeps as much of them.
_HALF = 0xFFFFFFFF


class Stamp:
    """The status of a file: times in nanoseconds, size in bytes, `mode` with its kind."""

    __slots__ = ("changed_ns", "device", "group", "inode", "mode", "modified_ns", "owner", "size")

    def __init__(self, data: bytes) -> None:
        """From `SIZE` bytes, as `packed` makes them."""
        self.modified_ns: int
        self.changed_ns: int
        self.size: int
        self.inode: int
        self.device: int
        self.mode: int
        self.owner: int
        self.group: int
        self.modified_ns, self.changed_ns, self.size, self.inode, self.device, *others = _FORM.unpack(data)
        self.mode, self.owner, self.group = others


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
