"""A redo log: what was done and is not known to be on the disk, so that it can be done again after a power cut.

One file, written in place: a head, then frames one after the other, each with a checksum. To `begin` it anew is to
write the head: what stands behind it from before fits no checksum any more, and is overwritten by and by. So most
appends wait for the disk once, as they change nothing but bytes that the file has already.

The head says which start of the machine it was begun in, and which file it is: what was written since then is seen by
everybody, on the disk or not. In a copy, and after a start, it has to be done again. And it has a mark of who began it.
"""

from __future__ import annotations

import os
import struct
import zlib
from _blake2 import blake2b
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from . import fs, regular, system

_HEAD = struct.Struct("<16s16s16s32sI")
_MAGIC = b"crabmem redo 1\n\0"
_FRAME = struct.Struct("<II")
#: The file grows by so many bytes of zeros at a time.
_STEP = 65_536
#: No body has more bytes, and no log that is read: a workspace may be a stranger's.
LARGEST, _LONGEST = 4_000_000, 64_000_000


class RedoLog:
    """The log in `file`. Written under a lock of its users'; read without one: what is half written is not there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start_over(b"")

    def _start_over(self, head: bytes) -> None:
        """Know nothing of it but its head, which is b"" for none."""
        self._head = head
        self._end = _HEAD.size
        self._bodies: list[bytes] = []
        #: The checksum of the last frame, on which that of the next one stands: behind a frame that something else was
        #: written over, none counts. Of the head without its own: with that, it is the same for every head.
        self._last = zlib.crc32(head[:-4])

    def bodies(self) -> Sequence[bytes]:
        """What was appended since it was begun, the oldest first."""
        self._catch_up()
        return self._bodies

    def size(self) -> int:
        """How many bytes it has, as far as it was looked at."""
        return self._end

    def begin(self, key: bytes | None = None) -> None:
        """Forget what it has, durably. `key` is of who begins it; without one the mark of who did so before stays."""
        if not os.path.lexists(self._file):
            fs.create(self._file, bytes(_STEP))
            fs.sync_folder(self._file.parent)
        elif os.lstat(self._file).st_size > _STEP:
            fs.truncate(self._file, _STEP)
        status = os.lstat(self._file)
        owner = _mark(status, key) if key else _HEAD.unpack(self._head)[3] if self._head else bytes(32)
        parts = _MAGIC, os.urandom(16), _place(status), owner
        head = _HEAD.pack(*parts, zlib.crc32(b"".join(parts)))
        fs.write_at(self._file, 0, head)
        self._start_over(head)

    def append(self, body: bytes) -> None:
        """Add `body`, durably.

        Raises:
            ValueError: it is empty, or larger than what is read.
        """
        if not 0 < len(body) <= LARGEST:
            raise ValueError(f"a body of {len(body)} bytes")
        self._catch_up()
        if not self._head:
            self.begin()
        checksum = zlib.crc32(body, self._last)
        frame = _FRAME.pack(len(body), checksum) + body
        end = self._end + len(frame)
        missing = -end % _STEP if end > os.lstat(self._file).st_size else 0
        fs.write_at(self._file, self._end, frame + bytes(missing))
        self._end, self._last = end, checksum
        self._bodies.append(body)

    def _catch_up(self) -> None:
        """Read what others have appended, or all of it where somebody has begun it anew."""
        try:
            file = os.fdopen(regular.opened(os.fspath(self._file), limit=_LONGEST), "rb")
        except OSError:
            return self._start_over(b"")
        with file:
            head = file.read(_HEAD.size)
            if head != self._head:
                self._start_over(head if len(head) == _HEAD.size and _is_head(head) else b"")
            if self._head:
                file.seek(self._end)
                while self._take_next(file):
                    pass

    def _take_next(self, file: BinaryIO) -> bool:
        """Take the frame that comes next; False where there is no whole one."""
        frame = file.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return False
        length, checksum = _FRAME.unpack(frame)
        body = file.read(length) if 0 < length <= LARGEST else b""
        if not body or len(body) < length or zlib.crc32(body, self._last) != checksum:
            return False
        self._end, self._last = self._end + _FRAME.size + length, checksum
        self._bodies.append(body)
        return True


def is_by(file: str, key: bytes) -> bool:
    """Whether who has `key` began the log in `file`, and it is no copy."""
    found = _head_of(file)
    return found is not None and found[1] == _mark(found[2], key)


def is_of_now(file: str) -> bool:
    """Whether the log in `file` is there, was begun since the machine was started, and is no copy; its head is read."""
    found = _head_of(file)
    return found is not None and found[0] == _place(found[2])


def _head_of(file: str) -> tuple[bytes, bytes, os.stat_result] | None:
    """The start and file that a log was begun in, who began it, and the file's status; None for no log."""
    try:
        handle = regular.opened(file)
        try:
            head, status = os.read(handle, _HEAD.size), os.fstat(handle)
        finally:
            os.close(handle)
    except OSError:
        return None
    if len(head) < _HEAD.size or not _is_head(head):
        return None
    _, _, place, owner, _ = _HEAD.unpack(head)
    return place, owner, status


def _is_head(head: bytes) -> bool:
    return head.startswith(_MAGIC) and zlib.crc32(head[:-4]) == int.from_bytes(head[-4:], "little")


def _place(status: os.stat_result) -> bytes:
    """What a start of the machine and a file are known by."""
    return blake2b(system.start_of_machine().encode() + _number(status), digest_size=16).digest()


def _mark(status: os.stat_result, key: bytes) -> bytes:
    """What a log says of who began it: a copy has another number, and so another mark."""
    return blake2b(_number(status), key=key, digest_size=32, person=b"crabmem redo").digest()


def _number(status: os.stat_result) -> bytes:
    return b" %d %d" % (status.st_dev, status.st_ino)
