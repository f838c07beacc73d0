"""Every call that changes the disk, one function each, so that a test can stop or fail the Nth of them.

`before` is called with the operation's name and the path ahead of each change. Functions raise
plain OSError; who calls knows what it means. What differs between systems lives here.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
MAX_BYTES = 5_000_000

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | _NO_FOLLOW | _NO_WAIT | _BINARY | _CLOEXEC
_EXCHANGE_IS_MISSING = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def _nothing(operation: str, path: str) -> None:
    """The ordinary `before`."""


before: Callable[[str, str], None] = _nothing


class NotAFile(OSError):
    """Something other than a regular file of at most `MAX_BYTES` has that name."""


def read(file: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file and its status as they were read. Follows no link, waits for no pipe.

    Raises:
        FileNotFoundError: nothing there.
        NotAFile: a link, folder, pipe or device, or too large.
    """
    try:
        handle = os.open(file, _READ)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise NotAFile(error.errno, "it is not a regular file", str(file)) from None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(errno.EINVAL, "it is not a regular file", str(file))
        data = _all_of(handle)
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise NotAFile(errno.EFBIG, f"it is larger than {MAX_BYTES} bytes", str(file))
    return data, status


def _all_of(handle: int) -> bytes:
    """What an open file holds, up to one byte more than we take."""
    pieces = []
    room = MAX_BYTES + 1
    while room and (piece := os.read(handle, room)):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def make_folder(folder: Path) -> None:
    """Make `folder` and its parents, for its owner only; one that exists is left as it is."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    before("mkdir", str(folder))
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    sync_folder(folder.parent)


def create(file: Path, data: bytes, mode: int = PRIVATE_FILE) -> os.stat_result:
    """Write a new file, wholly on the disk when this returns; its status. An existing one is an error."""
    before("create", str(file))
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _CLOEXEC, PRIVATE_FILE)
    try:
        if mode != PRIVATE_FILE and hasattr(os, "fchmod"):
            os.fchmod(handle, mode)
        _write(handle, file, data)
        return os.fstat(handle)
    finally:
        os.close(handle)


def overwrite(file: Path, data: bytes) -> None:
    """Write `data` in place, durably. Not atomic: for files whose torn state is recognised."""
    before("open", str(file))
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY | _CLOEXEC, PRIVATE_FILE)
    try:
        _write(handle, file, data)
    finally:
        os.close(handle)


def hint(file: Path, data: bytes) -> None:
    """Write in place without waiting for the disk: for what may be lost or torn without harm."""
    before("hint", str(file))
    file.write_bytes(data)


def append(file: Path, data: bytes) -> None:
    """Add `data` at the end of `file`, in one write."""
    before("append", str(file))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY | _CLOEXEC
    handle = os.open(file, flags, PRIVATE_FILE)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def rename(source: Path, target: Path) -> None:
    """Move a file over another, atomically."""
    before("rename", str(target))
    os.replace(source, target)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; FileExistsError when that name is taken."""
    before("link", str(target))
    os.link(source, target)


def unlink(file: Path) -> None:
    """Remove a name; none there is fine."""
    before("unlink", str(file))
    file.unlink(missing_ok=True)


def touch(file: Path) -> None:
    """Make a file look new, so that `git prune` spares it."""
    before("touch", str(file))
    os.utime(file)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where the system can be asked to."""
    before("fsync", str(folder))
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | _CLOEXEC)
    try:
        _sync(handle)
    finally:
        os.close(handle)


def exchange(one: Path, other: Path) -> None:
    """Swap two files atomically, so that no save of anybody falls between a look and a replace.

    Where the system cannot, a link and two renames come close: only a save within microseconds
    of them is missed.
    """
    before("exchange", str(other))
    try:
        _native_exchange(os.fsencode(one), os.fsencode(other))
    except OSError as error:
        if error.errno not in _EXCHANGE_IS_MISSING:
            raise
        _exchange_by_names(one, other)


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs on this machine; True where that cannot be asked."""
    if sys.platform == "win32":
        return True  # there, signal 0 is Ctrl-C
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _exchange_by_names(one: Path, other: Path) -> None:
    aside = one.with_name(one.name + ".aside")
    link(other, aside)
    rename(one, other)
    rename(aside, one)


def _native_exchange(one: bytes, other: bytes) -> None:
    if sys.platform == "linux":
        _checked(_libc().renameat2(_AT_FDCWD, one, _AT_FDCWD, other, 2), other)
    elif sys.platform == "darwin":
        _checked(_libc().renamex_np(one, other, 2), other)
    else:
        raise OSError(errno.ENOSYS, "this system has no atomic exchange")


_AT_FDCWD = -100


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2" if sys.platform == "linux" else "renamex_np"):
        raise OSError(errno.ENOSYS, "this C library has no atomic exchange")
    return library


def _checked(result: int, path: bytes) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), os.fsdecode(path))


def _write(handle: int, file: Path, data: bytes) -> None:
    before("write", str(file))
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    before("fsync", str(file))
    _sync(handle)


def _sync(handle: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # fsync on macOS leaves the data in the drive's cache.
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def is_open_elsewhere(file: Path) -> bool | None:
    """Whether somebody has `file` open for writing; None where the system cannot tell."""
    if sys.platform != "linux":
        return None
    import fcntl

    handle = os.open(file, _READ)
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)
    return False
