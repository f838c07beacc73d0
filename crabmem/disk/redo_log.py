"""A redo log: what was done and may not be on the disk yet, so that it can be done again after a power cut.

One file, written in place: a head, then frames one after the other, each with a checksum. `begin` writes a new head
only: the old frames behind it match no checksum any more and are overwritten by and by. So most appends wait for the
disk once, as they change neither the size nor the name of the file.

The head names the boot of the machine in which the log was begun, and the file. While both are the same, every process
sees what was done since, on the disk or not. After a reboot, or in a copy, it has to be done again. The head also has a
keyed mark of the user who began the log.
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
#: Most bytes of a body, and of a log that is read: a workspace may be a stranger's.
LARGEST, _LONGEST = 4_000_000, 64_000_000


class RedoLog:
    """The log in `file`. Its users write under a lock of theirs and read without one: half a frame counts as none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start_over(b"")

    def _start_over(self, head: bytes) -> None:
        """Take `head` for the log's, with no frame read yet; b"" stands for a log that is not there."""
        self._head = head
        #: Offset behind the last frame that was read or appended.
        self._end = _HEAD.size
        self._bodies: list[bytes] = []
        #: The checksum of the last frame. Each frame's goes on from the one before, so that no frame counts behind an
        #: overwritten one. The first goes on from the head without its own checksum: a CRC over data and its CRC is
        #: the same for all data.
        self._last = zlib.crc32(head[:-4])

    def bodies(self) -> Sequence[bytes]:
        """Return the bodies appended since the log was begun, by any process, the oldest first."""
        self._catch_up()
        return self._bodies

    def size(self) -> int:
        """Return the bytes that the log takes up, as far as this process has read it."""
        return self._end

    def begin(self, key: bytes | None = None) -> None:
        """Empty the log, durably, by writing a new head; make the file if there is none.

        `key` marks its holder as the one who began the log; without a key the earlier mark stays.
        """
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
        """Add `body`, durably; begin the log if there is none.

        Raises:
            ValueError: `body` is empty, or has more than `LARGEST` bytes.
        """
        if not 0 < len(body) <= LARGEST:
            raise ValueError(f"a body of {len(body)} bytes")
        self._catch_up()
        if not self._head:
            self.begin()
        checksum = zlib.crc32(body, self._last)
        frame = _FRAME.pack(len(body), checksum) + body
        end = self._end + len(frame)
        # Grow by whole steps: most later appends then change no size.
        missing = -end % _STEP if end > os.lstat(self._file).st_size else 0
        fs.write_at(self._file, self._end, frame + bytes(missing))
        self._end, self._last = end, checksum
        self._bodies.append(body)

    def _catch_up(self) -> None:
        """Read the frames that other processes appended; all of them if the log was begun anew."""
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
        """Read the next frame into `_bodies`; return False where no whole one follows."""
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
    """Return whether the holder of `key` began the log in `file`, and the file is no copy."""
    found = _head_of(file)
    return found is not None and found[1] == _mark(found[2], key)


def is_of_now(file: str) -> bool:
    """Return whether the log in `file` exists, was begun in this boot of the machine and is no copy. Reads its head."""
    found = _head_of(file)
    return found is not None and found[0] == _place(found[2])


def _head_of(file: str) -> tuple[bytes, bytes, os.stat_result] | None:
    """Return a log's place (as `_place` makes it), its mark (`_mark`) and the file's status; None for no log."""
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
    """Return a digest of this boot of the machine and of the file's device and inode."""
    return blake2b(system.start_of_machine().encode() + _number(status), digest_size=16).digest()


def _mark(status: os.stat_result, key: bytes) -> bytes:
    """Return the keyed mark of the user who began a log. It covers device and inode: in a copy it does not match."""
    return blake2b(_number(status), key=key, digest_size=32, person=b"crabmem redo").digest()


def _number(status: os.stat_result) -> bytes:
    return b" %d %d" % (status.st_dev, status.st_ino)
