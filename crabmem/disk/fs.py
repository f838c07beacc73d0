"""Every call that changes the disk, one function each, so that a test can stop or fail the Nth of them.

`before` is called with the operation's name and the path ahead of each change. Functions raise
plain OSError; callers know what it means. What differs between systems is in `system`.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple, TypeAlias

from . import regular, system
from .regular import NotAFile as NotAFile

Place: TypeAlias = "Path | Spot | str"


PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SHARED_FILE = 0o644
MAX_BYTES = 5_000_000
#: Nothing that is read whole below `.git` is larger, a workspace of 100,000 entries included.
LARGE = 128_000_000

_WRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
# A folder on the way may be one that this user may not list.
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC | os.O_DIRECTORY
_waiting: ContextVar[bool] = ContextVar("waiting", default=True)


def _do_nothing(operation: str, path: str) -> None:
    """The ordinary `before`."""


before: Callable[[str, str], None] = _do_nothing


class BeingWritten(OSError):
    """Somebody has the file open for writing at this moment."""


class Spot(NamedTuple):
    """A file by its name in an open folder, so that nobody can turn the way to it aside any more.

    `handle` is the folder's; None where the system has none: then the path is used.
    """

    where: str
    handle: int | None

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return os.path.basename(self.where)

    @property
    def folder(self) -> Folder:
        """The folder it is in."""
        return Folder(os.path.dirname(self.where) or os.curdir, self.handle)


class Folder(NamedTuple):
    """An open folder."""

    where: str
    handle: int | None

    def spot(self, name: str) -> Spot:
        """The place of `name` in it."""
        return Spot(f"{self.where}{os.sep}{name}", self.handle)

    def status(self, name: str) -> os.stat_result:
        """The status of what is called `name`, be it a link. Asked of every file, so without a path."""
        if self.handle is None:
            return os.lstat(f"{self.where}/{name}")
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False)


def reason(error: OSError) -> str:
    """Return the text of an error without its number. Where access was denied, add what denies it and the way out."""
    words = (error.strerror or str(error)).lower()
    return words + _way_in(error.filename) if isinstance(error, PermissionError) else words


def _way_in(path: object) -> str:
    """The folder or file that keeps this process from what is at `path`, and how to change that; "" when unknown."""
    if not isinstance(path, str) or not os.path.isabs(path):
        return ""
    file = Path(path)
    for place in (*reversed(file.parents), file):
        with suppress(OSError):
            status, is_on_the_way = os.stat(place), place != file and place != file.parent
            if not _may_access(place, status, os.X_OK if is_on_the_way else os.R_OK | os.W_OK):
                return f"; {_way_to_regain(place, status)}"
    return ""


def _may_access(place: Path, status: os.stat_result, how: int) -> bool:
    if stat.S_ISDIR(status.st_mode):
        how |= os.X_OK
    return os.access(place, how, effective_ids=os.access in os.supports_effective_ids)


def _way_to_regain(place: Path, status: os.stat_result) -> str:
    import shlex

    if status.st_uid == os.geteuid():
        return f"`chmod -R u+rwX {shlex.quote(str(place))}` gives you access"
    return f'{place} belongs to another user: `sudo chown -R "$(id -u)" {shlex.quote(str(place))}` makes it yours'


def check_folder(folder: str) -> None:
    """Raise PermissionError for a folder that is there and may not be entered."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.stat(f"{folder}{os.sep}.")


def _at(place: Place) -> tuple[str, int | None]:
    """What a system call takes for `place`: a name and the handle of its folder, or a path and None."""
    if not isinstance(place, Spot):
        return os.fspath(place), None
    return (place.where, None) if place.handle is None else (place.name, place.handle)


def _path(place: Place) -> str:
    return place.where if isinstance(place, Spot) else os.fspath(place)


@contextmanager
def _naming(place: Place) -> Iterator[None]:
    """Have errors within the block name the whole path of `place`, not only the last part that the system was given."""
    try:
        yield
    except OSError as error:
        error.filename = _path(place)
        raise


@contextmanager
def durability(waits: bool) -> Iterator[None]:
    """Set whether changes within the block wait for the disk (fsync). Those that do not may be lost with the power."""
    token = _waiting.set(waits)
    try:
        yield
    finally:
        _waiting.reset(token)


def opened(folder: Path | str) -> AbstractContextManager[Folder]:
    """A folder by its path, links followed: for the one that a person named."""
    return _open_folder(Spot(os.fspath(folder), None), _FOLDER)


@contextmanager
def straight(folder: str) -> Iterator[Folder]:
    """Open a folder by a path that was resolved before, following no link: one on the way now was put there since.

    Raises:
        NotADirectoryError: a link or a file stands on the way.
    """
    *way, last = [step for step in folder.split(os.sep) if step] or [os.curdir]
    with ExitStack() as stack:
        here = stack.enter_context(_open_folder(Spot(os.sep, None), _PASSED))
        for step in way:
            here = stack.enter_context(
                _open_folder(Spot(os.path.join(here.where, step), here.handle), _PASSED | os.O_NOFOLLOW)
            )
        yield stack.enter_context(
            _open_folder(Spot(os.path.join(here.where, last), here.handle), _FOLDER | os.O_NOFOLLOW)
        )


def entered(folder: Folder, name: str) -> AbstractContextManager[Folder]:
    """A folder in an open one.

    Raises:
        NotADirectoryError: it is a link, or no folder.
    """
    return _open_folder(folder.spot(name), _FOLDER | os.O_NOFOLLOW)


@contextmanager
def _open_folder(place: Spot, flags: int) -> Iterator[Folder]:
    name, parent = _at(place)
    with _naming(place):
        try:
            handle = os.open(name, flags, dir_fd=parent)
        except OSError as error:
            if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW:  # what macOS says of a link
                raise NotADirectoryError(errno.ENOTDIR, "it is a link") from None
            raise
    try:
        yield Folder(place.where, handle)
    finally:
        os.close(handle)


@contextmanager
def inside(root: Path | str, path: str, make: bool = False) -> Iterator[Spot]:
    """The place of `path` below `root`. No link on the way is followed, whoever swaps folders meanwhile.

    With `make`, folders that are missing are made.

    Raises:
        FileNotFoundError: a folder on the way is missing.
        NotADirectoryError: a link or a file stands where a folder should be, or `path` has `..` in it.
    """
    *way, name = path.split("/")
    if ".." in (*way, name):
        raise NotADirectoryError(errno.ENOTDIR, "it is not in the workspace", path)
    if make and not isinstance(root, str):
        make_folder(root)
    with ExitStack() as stack:
        here = stack.enter_context(opened(root))
        for step in way:
            if make:
                make_folder(here.spot(step))
            here = stack.enter_context(entered(here, step))
        yield here.spot(name)


def path_in(root: Path, file: str) -> str | None:
    """Return the path below `root` of `file`, which may be named through links or `..`; None for a file elsewhere.

    Links to its folder are resolved. The last part is taken as it is, whether or not a file is there.
    """
    folder, name = os.path.split(file)
    try:
        file.encode()
        below = os.path.relpath(os.path.realpath(folder), os.path.realpath(root))
    except (OSError, ValueError):
        return None  # no folder has that name, or it is on another drive
    if not name or "\0" in name or os.path.isabs(below) or below.split(os.sep)[0] == os.pardir:
        return None
    return (name if below == os.curdir else os.path.join(below, name)).replace(os.sep, "/")


def names(folder: Folder) -> list[str]:
    """The names of what is in an open folder."""
    return os.listdir(folder.where if folder.handle is None else folder.handle)


def called(folder: Path, beginning: str) -> list[Path]:
    """Return the files in `folder` whose names start with `beginning`; [] where it is missing or may not be listed.

    Each write looks at several: `glob` takes ten times as long.
    """
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        return [folder / name for name in os.listdir(folder) if name.startswith(beginning)]
    return []


def read(place: Place, steady: bool = False, limit: int = MAX_BYTES) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file and its status as they were read. Follows no link, waits for no pipe.

    Raises:
        FileNotFoundError: nothing there.
        NotAFile: a link, folder, pipe or device is there, or a file of more than `limit` bytes.
        BeingWritten: only when `steady`: somebody is writing the file, so that the bytes may be half of a text.
    """
    name, folder = _at(place)
    handle, status = regular.open_regular(name, folder, _path(place), limit)
    try:
        with _nobody_writing(handle, _path(place)) if steady else nullcontext():
            data = _all_of(handle, status.st_size, limit)
    finally:
        os.close(handle)
    if len(data) > limit:  # it grew meanwhile
        raise NotAFile(errno.EFBIG, f"it is larger than {limit} bytes", _path(place))
    return data, status


def _all_of(handle: int, size: int, limit: int) -> bytes:
    """Return the bytes of an open file of `size` bytes, up to `limit` + 1: one more shows that it grew too large."""
    pieces, room, missing = list[bytes](), limit + 1, size
    # `os.read` allocates as many bytes as it is asked for: ask for about `size`, not for `limit`.
    while room and (piece := os.read(handle, asked := min(room, max(size, 65_536) + 1))):
        pieces.append(piece)
        room -= len(piece)
        missing -= len(piece)
        if len(piece) < asked and missing <= 0:  # the end, unless a disk gives less than there is
            break
    return b"".join(pieces)


@contextmanager
def _nobody_writing(handle: int, path: str) -> Iterator[None]:
    """Take a read lease: others that open the file for writing wait until the block ends.

    Where there are no leases, the file's times are checked at the end instead.

    Raises:
        BeingWritten: another process has the file open for writing, or wrote it a moment ago.
    """
    try:
        is_leased = system.take_lease(handle)
    except BlockingIOError:
        raise BeingWritten(errno.EAGAIN, "it is being written at this moment", path) from None
    try:
        yield
        if not is_leased and system.is_just_written(os.fstat(handle)):
            raise BeingWritten(errno.EAGAIN, "it was written a moment ago", path)
    finally:
        if is_leased:
            system.end_lease(handle)


def is_open_elsewhere(file: Path) -> bool:
    """Whether somebody is known to have `file` open for writing."""
    try:
        read(file, steady=True)
    except BeingWritten:
        return True
    except OSError:
        pass  # gone, or nothing that we take: who reads it says so
    return False


def make_folder(folder: Path | Spot) -> None:
    """Make `folder` for its owner only, and the parents of a path; what exists is left as it is."""
    name, parent = _at(folder)
    if isinstance(folder, Spot):
        with suppress(FileNotFoundError):
            status(folder)
            return  # whatever it is: entering it tells
    else:
        if folder.is_dir():
            return
        if folder.parent != folder:
            make_folder(folder.parent)
    before("mkdir", _path(folder))
    try:
        with _naming(folder):
            os.mkdir(name, PRIVATE_FOLDER, dir_fd=parent)
    except FileExistsError:
        if not isinstance(folder, Spot) and not folder.is_dir():
            raise
        return
    sync_folder(Folder(os.path.dirname(_path(folder)) or os.curdir, parent))


def status(place: Place) -> os.stat_result:
    """The status of what has that name, be it a link."""
    name, folder = _at(place)
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def create(file: Path, data: bytes, mode: int = PRIVATE_FILE) -> os.stat_result:
    """Write a new file, wholly on the disk when this returns; its status. An existing one is an error."""
    before("create", str(file))
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        if mode != PRIVATE_FILE:
            os.fchmod(handle, mode)
        _write(handle, file, data)
        _sync(handle, file)
        return os.fstat(handle)
    except OSError:  # on a full disk the file may hold a beginning, which the next write would take for a text to keep
        with suppress(OSError):
            os.unlink(file)
        raise
    finally:
        os.close(handle)


def overwrite(file: Path, data: bytes) -> None:
    """Write `data` in place, durably. Not atomic: for files whose torn state is recognised."""
    with _writing("open", file, os.O_CREAT | os.O_TRUNC) as handle:
        _write(handle, file, data)
        _sync(handle, file)


def write_at(file: Path, offset: int, data: bytes) -> None:
    """Write into a file that is there, durably. Not atomic: for files whose torn state is recognised."""
    with _writing("open", file) as handle:
        os.lseek(handle, offset, os.SEEK_SET)
        _write(handle, file, data)
        _sync(handle, file, bytes_only=True)


def truncate(file: Path, size: int) -> None:
    """Cut a file short, without waiting for the disk."""
    with _writing("truncate", file) as handle:
        os.ftruncate(handle, size)


def sync_file(file: Path) -> None:
    """Wait until the bytes of a file written earlier are on the disk; FileNotFoundError when there is none.

    Does nothing, and looks for no file, where changes do not wait (`durability`).
    """
    if not _waiting.get():
        return
    handle = regular.opened(os.fspath(file))
    try:
        _sync(handle, file)
    finally:
        os.close(handle)


def hint(file: Path, data: bytes) -> None:
    """Write in place without waiting for the disk: for what may be lost or torn without harm."""
    with _writing("hint", file, os.O_CREAT | os.O_TRUNC) as handle:
        _write(handle, file, data)


def identity(folder: Path | str | int) -> tuple[int, int] | None:
    """Device and inode of a folder, or of one that is open; None where there is none, or nobody may look."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_own_folder(folder: Path | str) -> bool:
    """Return whether `folder`, which lies directly in `.git`, is a folder, and neither it nor `.git` is a link."""
    return os.path.isdir(folder) and not (os.path.islink(folder) or os.path.islink(os.path.dirname(folder)))


def swap_in(file: Path, data: bytes) -> None:
    """Replace a file atomically, without waiting for the disk: for what may be lost without harm."""
    # Process and thread in the name: two that replace the file at once do not write into one temporary file.
    own = file.with_name(f"{file.name}.{os.getpid()}.{get_ident()}")
    try:
        hint(own, data)
        rename(own, file)
    except OSError:
        unlink(own)
        raise


def append(file: Path, data: bytes, durable: bool = False) -> None:
    """Add `data` at the end of `file`, in one write; wait for the disk if it is to be `durable`."""
    with _writing("append", file, os.O_CREAT | os.O_APPEND) as handle:
        os.write(handle, data)
        if durable:
            _sync(handle, file)


@contextmanager
def _writing(operation: str, file: Path, flags: int = 0) -> Iterator[int]:
    """Open a file for writing and yield its handle; NotAFile for a pipe or a device of that name."""
    before(operation, str(file))
    handle = os.open(file, _WRITE | flags, PRIVATE_FILE)
    regular.check_regular(handle, str(file))
    try:
        yield handle
    finally:
        os.close(handle)


def rename(source: Place, target: Place) -> None:
    """Move a file over another, atomically."""
    before("rename", _path(target))
    (old, old_folder), (new, new_folder) = _at(source), _at(target)
    try:
        os.replace(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder)
    except OSError as error:
        # The system does not say which of both was refused: it is the source if nothing denies access to the target.
        is_source = isinstance(error, PermissionError) and not _way_in(_path(target))
        error.filename = _path(source if is_source else target)
        raise


def link(source: Place, target: Place) -> None:
    """Give a file a second name; FileExistsError when that name is taken."""
    before("link", _path(target))
    (old, old_folder), (new, new_folder) = _at(source), _at(target)
    with _naming(target):
        # Followed, a link in the place of what we staged would give a file elsewhere a name in the workspace.
        os.link(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder, follow_symlinks=False)


def unlink(file: Path) -> None:
    """Remove a name; none there is fine."""
    before("unlink", str(file))
    with suppress(FileNotFoundError):
        os.unlink(file)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all that is in it, as far as that can be done."""
    before("remove", str(folder))
    if folder.is_dir() and not folder.is_symlink():
        import shutil

        return shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # `rmtree` opens what it is given: a pipe keeps it waiting, a link leads elsewhere
        os.unlink(folder)


def remove_folder(folder: Path) -> None:
    """Remove an empty folder."""
    before("rmdir", str(folder))
    os.rmdir(folder)


def chmod(place: Path, mode: int) -> None:
    """Set the permissions of a file or folder."""
    before("chmod", str(place))
    os.chmod(place, mode)


def match(place: Path, like: os.stat_result, with_mode: bool) -> None:
    """Give a file or folder the owner and group that `like` has, and `with_mode` its permissions, too."""
    now = os.lstat(place)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        before("chown", str(place))
        os.chown(place, like.st_uid, like.st_gid, follow_symlinks=False)
    mode = stat.S_IMODE(like.st_mode)
    if with_mode and stat.S_IMODE(os.lstat(place).st_mode) != mode:  # a change of the owner takes some of them away
        chmod(place, mode)


def touch(file: Path) -> None:
    """Make a file look new, so that `git prune` spares it."""
    before("touch", str(file))
    os.utime(file, follow_symlinks=False)


def set_modified(place: Path, modified_ns: int) -> None:
    """Set when a file or folder was changed, in nanoseconds since 1970."""
    before("touch", str(place))
    os.utime(place, ns=(modified_ns, modified_ns))


def sync_folder(folder: Path | Folder) -> None:
    """Make the names in `folder` durable."""
    if not _waiting.get():
        return
    path, handle = (folder.where, folder.handle) if isinstance(folder, Folder) else (folder, None)
    before("fsync", str(path))
    if handle is not None:
        return system.flush(handle)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        system.flush(handle)
    finally:
        os.close(handle)


def exchange(one: Path, other: Place) -> None:
    """Swap two files atomically, so that no save of anybody falls between a look and a replace.

    Where the system cannot, a link and two renames come close: only a save within microseconds
    of them is missed.
    """
    before("exchange", _path(other))
    try:
        with _naming(other):
            system.exchange(_at(one), _at(other))
    except OSError as error:
        if not system.is_missing(error):
            raise
        _exchange_in_steps(one, other)


def exchange_folders(one: Path, other: Path) -> bool:
    """Swap two folders atomically; return False where the system, or the disk, cannot."""
    before("exchange", str(other))
    try:
        system.exchange(_at(one), _at(other))
    except OSError as error:
        if not system.is_missing(error):
            raise
        return False
    return True


def _exchange_in_steps(one: Path, other: Place) -> None:
    """Swap two files by giving `other` a second name and renaming both.

    A step that reports an error may have been done all the same, so each handler looks at which names exist.
    """
    # A random name, as one that a crash left may hold a person's save that is nowhere else.
    aside = one.with_name(f"{one.name}.{os.urandom(4).hex()}.aside")
    try:
        link(other, aside)
    except OSError:
        unlink(aside)
        raise
    try:
        rename(one, other)
    except OSError:
        if os.path.lexists(one):
            unlink(aside)
            raise
    try:
        rename(aside, one)
    except OSError:
        if os.path.lexists(aside):
            rename(aside, other)  # as it was before; a retry stages the new text again
            raise


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_from_before_start(file: Path) -> bool:
    """Return whether `file` was last written before this machine was started, so that its writer has ended.

    False where the system does not tell when that was.
    """
    start = system.machine_started()
    try:
        return start is not None and file.lstat().st_mtime < start
    except OSError:
        return False


def _write(handle: int, file: Path, data: bytes) -> None:
    before("write", str(file))
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _sync(handle: int, file: Path, bytes_only: bool = False) -> None:
    if _waiting.get():
        before("fsync", str(file))
        system.flush(handle, bytes_only)
