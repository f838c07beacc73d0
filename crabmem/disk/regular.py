"""Opening a file that may be anything: a workspace may come from a stranger, with pipes, devices and links in it.

Everything that crabmem reads below a workspace is opened here. Loads next to nothing, for processes that only ask.
"""

import errno
import mmap
import os
import stat

#: What no file of a repository, or of ours in it, may exceed: packs and indexes are mapped and may be large.
HUGE = 1 << 40

# Without O_NONBLOCK, opening a pipe waits until somebody writes to it.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Opening a link, a socket (the third is macOS's) or a folder fails with these.
_IS_OTHER = (errno.ELOOP, errno.ENXIO, errno.EOPNOTSUPP, errno.EISDIR)


class NotAFile(OSError):
    """The name belongs to something other than a regular file, or to a file that is too large."""


def opened(name: str, limit: int = HUGE) -> int:
    """A handle to read a regular file, as `open_regular`."""
    return open_regular(name, limit=limit)[0]


def open_regular(name: str, folder: int | None = None, path: str = "", limit: int = HUGE) -> tuple[int, os.stat_result]:
    """A handle to read the regular file `name`, in an open `folder` if one is given, and the file's status.

    The last part may not be a link. `path` is what errors call it.

    Raises:
        FileNotFoundError: nothing there.
        NotAFile: a link, folder, pipe or device, or a file of more than `limit` bytes.
    """
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        error.filename = path or name
        if error.errno in _IS_OTHER:
            raise NotAFile(error.errno, "it is not a regular file", path or name) from None
        raise
    return handle, check_regular(handle, path or name, limit)


def read(name: str, size: int) -> bytes:
    """The bytes of a small regular file.

    Raises: as `opened`; NotAFile for one of more than `size` bytes.
    """
    handle = opened(name, limit=size)
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)


def read_known(name: str, size: int) -> bytes:
    """Return at most `size` bytes of what was a regular file a moment ago, without checking that it still is.

    For callers that compare the bytes with the id of a blob.

    Raises:
        OSError: the file is gone, or cannot be read.
    """
    handle = os.open(name, _READ)
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)


def mapped(name: str | os.PathLike[str]) -> mmap.mmap:
    """Return a large regular file mapped into memory, for reading; the caller closes it.

    Raises: as `opened`; ValueError for an empty file.
    """
    handle = opened(os.fspath(name))
    try:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(handle)


def check_regular(handle: int, path: str, limit: int = HUGE) -> os.stat_result:
    """Return the status of an open file; close it and raise NotAFile if it is not regular or exceeds `limit` bytes."""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(errno.EINVAL, "it is not a regular file", path)
        if status.st_size > limit:
            raise NotAFile(errno.EFBIG, f"it is larger than {limit} bytes", path)
    except BaseException:
        os.close(handle)
        raise
    return status
