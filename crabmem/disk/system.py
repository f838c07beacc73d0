"""What this operating system can do beyond POSIX, each with the portable way: asked for here and nowhere else.

Linux and macOS are told apart in this module only, but for where hosts keep their configs. `CRABMEM_PORTABLE=1` has the
portable way taken everywhere, so that what a system without these abilities runs can be tested on one that has them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
from functools import cache

from . import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes

IS_PORTABLE = os.environ.get("CRABMEM_PORTABLE", "") not in ("", "0")
LINUX = sys.platform == "linux" and not IS_PORTABLE
_MAC = sys.platform == "darwin" and not IS_PORTABLE

#: The system tells what changes in open folders (inotify). Elsewhere every file is looked at each time.
TELLS_CHANGES = LINUX
#: The system tells who has a file open for writing (leases). Elsewhere the times of a file say what they can.
TELLS_WRITERS = LINUX
#: What `fcntl` is asked for so that the drive writes what it holds: macOS leaves it there at an `fsync`.
FULL_SYNC: int | None = None
if sys.platform == "darwin" and not IS_PORTABLE:
    FULL_SYNC = fcntl.F_FULLFSYNC

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_HERE = -2 if sys.platform == "darwin" else -100  # AT_FDCWD
_IS_MISSING = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY))
#: The usual disk of this system treats names as equal that differ only in case or in Unicode's form (NFC, NFD).
MAY_FOLD = sys.platform == "darwin" or IS_PORTABLE
#: Nanoseconds for which a file that was written in place may not be whole: a program writes what it has in one go.
JUST_NOW = 20_000_000


def is_missing(error: OSError) -> bool:
    """Whether a call failed as this system, or the disk, cannot do it."""
    return error.errno in _IS_MISSING


def exchange(one: tuple[str, int | None], other: tuple[str, int | None]) -> None:
    """Swap two files atomically, each a name in an open folder, or a path and None.

    Raises:
        OSError: one `is_missing`, where that cannot be done.
    """
    name = "renameat2" if LINUX else "renameatx_np" if _MAC else ""
    call = getattr(library(), name, None) if name else None
    if call is None:
        raise OSError(errno.ENOSYS, "this system has no atomic exchange")
    if call(*_c_place(one), *_c_place(other), _EXCHANGE):
        raise last_error()


def flush(handle: int, bytes_only: bool = False) -> None:
    """Wait until an open file is on the disk; with `bytes_only` its content and size, but not its times."""
    if FULL_SYNC is not None:
        try:
            fcntl.fcntl(handle, FULL_SYNC)
            return
        except OSError as error:
            if not is_missing(error):
                raise
    if sys.platform == "linux" and bytes_only and LINUX:
        os.fdatasync(handle)
    else:
        os.fsync(handle)


def take_lease(handle: int) -> bool:
    """Take a read lease: others who open the file for writing wait until it ends. Return whether the system gave it.

    Raises:
        BlockingIOError: another process has the file open for writing already.
    """
    if sys.platform != "linux" or not TELLS_WRITERS:
        return False
    from _signal import SIGURG  # type: ignore[import-not-found]  # of which `signal` makes an enum, which takes 2 ms

    try:
        # Who breaks the lease has a signal sent to us: by default one that ends the process.
        fcntl.fcntl(handle, fcntl.F_SETSIG, SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def end_lease(handle: int) -> None:
    """Let others write a file again."""
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def is_just_written(status: os.stat_result) -> bool:
    """Return whether a file was written in place a moment ago, so that more may follow. Used where leases are missing.

    A write sets the times of the content (mtime) and of the status (ctime) to the same. A renaming sets ctime alone: a
    file that was written elsewhere and then renamed to here differs in them, and is whole.
    """
    age = time.time_ns() - status.st_mtime_ns
    return status.st_mtime_ns == status.st_ctime_ns and 0 <= age < JUST_NOW


def machine_started() -> int | None:
    """When this machine was started, in seconds since 1970; None where the system does not tell."""
    try:
        return int(_proc("stat").partition("\nbtime ")[2].split()[0])
    except (OSError, ValueError, IndexError):
        return None


@cache
def start_of_machine() -> str:
    """Return an id of the present boot of this machine; where the system has none, a random one for this process."""
    try:
        return _start_of_mac() if _MAC else _proc("sys/kernel/random/boot_id").strip()
    except (OSError, ValueError):
        return os.urandom(16).hex()


def age_of_process() -> float:
    """Seconds since the system started this process, Python's own start among them; 0 where it does not tell.

    A host counts the deadline of a hook from then.
    """
    if sys.platform != "linux":
        return 0.0
    try:
        # The process name, in parentheses, may hold anything: split behind it. Index 19 from there is field 22 of
        # proc(5), `starttime`, in clock ticks since boot.
        ticks = int(_proc("self/stat").rpartition(")")[2].split()[19])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return 0.0


def may_fold(root: str | os.PathLike[str]) -> bool:
    """Return whether the disk of a workspace may treat two spellings as one name.

    The usual disk of this system does, or `.GIT` is found here too: one test for a disk that folds case.
    """
    return MAY_FOLD or os.path.lexists(os.path.join(root, ".GIT"))


def library() -> ctypes.CDLL:
    """The C library."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _proc(path: str) -> str:
    """Return the text of a file below `/proc`. Up to 1 MiB is asked for, as its size is unknown before it is read."""
    if not LINUX:
        raise OSError(errno.ENOSYS, "this system does not tell")
    return regular.read(f"/proc/{path}", 1 << 20).decode("utf-8", "replace")


def _start_of_mac() -> str:
    import ctypes

    size, text = ctypes.c_size_t(64), ctypes.create_string_buffer(64)
    if library().sysctlbyname(b"kern.bootsessionuuid", text, ctypes.byref(size), None, 0):
        raise last_error()
    return text.value.decode("ascii")


def _c_place(place: tuple[str, int | None]) -> tuple[int, bytes]:
    name, folder = place
    return (_HERE if folder is None else folder), os.fsencode(name)


def last_error() -> OSError:
    """The error of the last call of the C library."""
    import ctypes

    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))
