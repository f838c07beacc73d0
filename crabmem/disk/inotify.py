"""Changes in open folders as Linux reports them (inotify), so that a scan need not ask for the status of every file.

The kernel queues a change before the call that made it returns, so that nothing is missed by asking late. It reports
only what this machine does to disks of its own: not what others do to a network's or another system's disk. Nor does it
report what is written by way of memory that a program mapped, or by another name that a file got since it was looked
at: for that the store looks at all files every few seconds.
"""

import ctypes
import os
import struct
import sys
import weakref
from _thread import start_new_thread

from . import system

_EVENT = struct.Struct("iIII")
_BUFFER = 1 << 16
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE, _SELF = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200, 0xC00
_ONLY_FOLDERS, _IS_FOLDER = 0x01000000, 0x40000000
_WATCHED = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF | _ONLY_FOLDERS
# Overflow, unmounted, no longer watched, and the folder itself moved or removed: look at everything.
_LOST = 0x4000 | 0x2000 | 0x8000 | _SELF
#: ext, xfs, btrfs, tmpfs, f2fs, bcachefs, zfs: each is written by way of this machine's kernel alone.
_LOCAL = {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0xCA451A4E, 0x2FC12FC1}
_STATFS_BYTES = 256


class Inotify:
    """The changes in some folders since the last time they were asked for. Belongs to one process."""

    def __init__(self) -> None:
        """Open an inotify instance that watches nothing yet.

        Raises:
            OSError: the system allows no more instances.
        """
        self._libc = system.library()
        self._handle = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        #: The process that reads the events: a forked child shares the queue and must not. 0 once a watch has failed.
        self._process = os.getpid()
        #: By watch descriptor, what comes before the names that the kernel reports.
        self._prefixes: dict[int, str] = {}
        #: Device and inode of each watched folder that has no other one in it.
        self._innermost: dict[str, tuple[int, int]] = {}
        self.close = weakref.finalize(self, _close, self._handle)

    @staticmethod
    def begun() -> "Inotify | None":
        """Return an instance that watches nothing yet; None where the system has no inotify, or allows no more."""
        try:
            return Inotify() if system.TELLS_CHANGES else None
        except OSError:
            return None

    def watch(self, handle: int, path: str, prefix: str) -> None:
        """Watch an open folder, which is at `path`; `prefix` is put before the names reported from it.

        After a failure `changed` returns None from then on, so that its callers look at everything.
        """
        try:
            self._watch(handle, path, prefix)
        except OSError:
            self._process = 0

    def _watch(self, handle: int, path: str, prefix: str) -> None:
        if self._kind(handle) not in _LOCAL:
            raise OSError("not a disk of this machine")
        name = f"/proc/self/fd/{handle}".encode()  # the open folder itself: at `path` may be another by now
        number = self._checked(self._libc.inotify_add_watch(self._handle, name, _WATCHED))
        self._prefixes[number] = prefix
        status = os.fstat(handle)
        self._innermost[path] = status.st_dev, status.st_ino
        # Parents are watched first. If a folder is in place, so is its parent: `_are_in_place` need not check that.
        self._innermost.pop(os.path.dirname(path), None)

    def changed(self) -> set[tuple[str, bool]] | None:
        """Return what changed since the last call, as pairs (path, whether it is a folder); None for "anything may".

        None follows a fork, a failed `watch`, a lost event, and a watched folder that was moved, replaced or removed.
        """
        if self._process != os.getpid() or not self._are_in_place():
            return None
        found: set[tuple[str, bool]] = set()
        while data := self._read():
            at = 0
            while at < len(data):
                number, kind, _, size = _EVENT.unpack_from(data, at)
                at += _EVENT.size + size
                if kind & _LOST or not size or number not in self._prefixes:
                    return None
                name = os.fsdecode(data[at - size : at].rstrip(b"\0"))
                found.add((self._prefixes[number] + name, bool(kind & _IS_FOLDER)))
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._handle, _BUFFER)
        except BlockingIOError:
            return b""

    def _are_in_place(self) -> bool:
        """Whether each innermost folder is still the one that its path names."""
        try:
            for path, (device, inode) in self._innermost.items():
                status = os.stat(path)
                if status.st_ino != inode or status.st_dev != device:
                    return False
        except OSError:
            return False
        return True

    def _kind(self, handle: int) -> int:
        """The number of the kind of disk that an open file is on."""
        found = ctypes.create_string_buffer(_STATFS_BYTES)
        self._checked(self._libc.fstatfs(handle, found))
        return int.from_bytes(found.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder) & 0xFFFFFFFF

    def _checked(self, result: int) -> int:
        if result < 0:
            raise system.last_error()
        return result


def _close(handle: int) -> None:
    """Close a handle beside the work: Linux waits up to 8 ms for whoever may be looking at what it watched."""
    try:
        start_new_thread(os.close, (handle,))
    except RuntimeError:  # Python ends, or the machine allows no more threads
        os.close(handle)
