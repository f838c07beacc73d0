"""The files of a workspace: what is on disk now, and putting files in place without losing anybody's.

Knows nothing of Git, entries or search.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .errors import InvalidArguments, Unreadable, Unwritable
from .guard import Guard
from .version import blob_id
from .workspace import Workspace, is_kept

# A file that changed this recently may change again without its times telling: FAT counts in 2 s.
_SETTLED_AFTER = 2_500_000_000


@dataclass(frozen=True)
class File:
    """One file as it was read. `status` belongs to exactly these bytes."""

    path: str
    data: bytes
    blob: str
    status: os.stat_result


@dataclass(frozen=True)
class Unusable:
    """A file that is there and cannot be read as one of ours; `reason` says why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Scan:
    """Every file that crabmem keeps the history of, by path, and those it cannot use."""

    files: Mapping[str, File]
    unusable: tuple[Unusable, ...]

    def data(self, path: str) -> bytes | None:
        """The bytes at `path`; None when there is no such file."""
        return self.files[path].data if path in self.files else None

    def blob(self, path: str) -> str | None:
        """The blob at `path`; None when there is no such file."""
        return self.files[path].blob if path in self.files else None


@dataclass(frozen=True)
class Placed:
    """What happened to one path: the bytes that stood there (None: no file) and the status of the new file."""

    displaced: bytes | None
    status: os.stat_result | None


class Store:
    """The files of one workspace. `clock_ns` is the time in nanoseconds, on the disk's clock."""

    def __init__(self, workspace: Workspace, clock_ns: Callable[[], int]) -> None:
        self._workspace = workspace
        self._clock_ns = clock_ns
        self._temporary = workspace.private / "tmp"
        self._known: dict[str, File] = {}
        self._guard = Guard()

    def scan(self) -> Scan:
        """All files as they are now. Unchanged ones are not read again.

        Raises:
            Unreadable: a folder cannot be listed, so that what it holds is unknown.
        """
        files: dict[str, File] = {}
        unusable: list[Unusable] = []
        for path, status in sorted(self._names(), key=lambda found: found[0]):
            try:
                files[path] = self._known_or_read(path, status)
            except FileNotFoundError:
                continue
            except OSError as error:
                unusable.append(Unusable(path, _reason(error)))
        with self._guard:
            now = self._clock_ns()
            self._known = {path: file for path, file in files.items() if _is_settled(file.status, now)}
        return Scan(files, tuple(unusable))

    def read(self, path: str) -> bytes | None:
        """The bytes at `path` now; None when there is no file.

        Raises:
            Unreadable: something else than a regular file of bounded size is there.
        """
        try:
            self.check_place(path)
            return fs.read(self._workspace.file(path))[0]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Unwritable as error:
            raise Unreadable(str(error)) from None
        except OSError as error:
            raise Unreadable(f"{path}: {_reason(error)}") from None

    def stage(self, data: bytes | None, mode_of: File | None) -> str:
        """A temporary file with `data`, durable, ready to be exchanged; its name.

        It gets the permissions of `mode_of`. For None only a name is made: a deletion moves there.
        """
        name = f"write-{secrets.token_hex(8)}"
        if data is not None:
            mode = mode_of.status.st_mode & 0o777 if mode_of else fs.PRIVATE_FILE
            fs.create(self._temporary / name, data, mode)
        return name

    def place(self, path: str, name: str, new: bool, expected: bool) -> Placed:
        """Put the staged file in place at `path`, or take the file away when not `new`.

        What stood there is then under `name`, even if it is not what was `expected` to be there.

        Raises:
            Unwritable: a link or a folder is in the way.
        """
        target, temporary = self._workspace.file(path), self._temporary / name
        self.check_place(path)
        if not new:
            return self._taken_away(target, temporary)
        written = temporary.stat()
        for _ in range(100):
            with suppress(FileNotFoundError):  # Git removes folders that it leaves empty
                fs.make_folder(target.parent)
            if not expected and self._linked(temporary, target):
                return Placed(None, _same_status(target, written))
            if self._exchanged(temporary, target):
                return Placed(self._displaced(temporary, target), _same_status(target, written))
            expected = False
        raise Unwritable(f"{path} comes and goes too fast to be replaced; close what else writes it")

    def _displaced(self, temporary: Path, target: Path) -> bytes:
        """What an exchange moved to `temporary`; put back when it is nothing that history can keep."""
        try:
            return fs.read(temporary)[0]
        except OSError:
            fs.exchange(temporary, target)
            raise

    def check_place(self, path: str) -> None:
        """Refuse a path on which a folder is a link, or at which something other than a file stands.

        Raises:
            Unwritable: the message names what is in the way.
        """
        place, status = self._workspace.root, None
        for part in path.split("/"):
            place = place / part
            try:
                status = os.lstat(place)  # one look: an editor may move the file away between two
            except (FileNotFoundError, NotADirectoryError):
                return
            if stat.S_ISLNK(status.st_mode):
                raise Unwritable(f"{place} is a symbolic link; memory does not follow links: replace it")
        if status and not stat.S_ISREG(status.st_mode):
            raise Unwritable(f"{place} is not a regular file; move it away")

    def sync(self, paths: list[str]) -> None:
        """Make the names of these files durable."""
        for folder in sorted({self._workspace.file(path).parent for path in paths}):
            with suppress(FileNotFoundError):
                fs.sync_folder(folder)

    def staged(self, name: str) -> bytes | None:
        """The bytes under a temporary name now; None when there is no such file."""
        try:
            return fs.read(self._temporary / name)[0]
        except FileNotFoundError:
            return None

    def age_ns(self, name: str) -> int:
        """Nanoseconds since a temporary file got its name."""
        return self._clock_ns() - (self._temporary / name).stat().st_ctime_ns

    def is_open(self, name: str) -> bool:
        """Whether an editor is known to have a temporary file open."""
        return bool(fs.is_open_elsewhere(self._temporary / name))

    def discard(self, name: str) -> None:
        """Remove a temporary file."""
        fs.unlink(self._temporary / name)

    def leftovers(self) -> list[str]:
        """The temporary files that a write left behind."""
        return sorted(file.name for file in self._temporary.glob("write-*"))

    def set_aside(self, name: str) -> Path:
        """Move a temporary file whose bytes nobody knows to where a person finds it."""
        folder = self._workspace.private / "recovered"
        fs.make_folder(folder)
        fs.rename(self._temporary / name, folder / name)
        return folder / name

    def _names(self) -> Iterator[tuple[str, os.stat_result]]:
        """Path and status of what is named like a file of ours, whatever it is."""
        folders = [""]
        while folders:
            folder = folders.pop()
            for item in _listed(self._workspace.file(folder) if folder else self._workspace.root):
                path = f"{folder}{item.name}"
                if item.is_dir(follow_symlinks=False):
                    if is_kept(f"{path}/x.md"):
                        folders.append(f"{path}/")
                elif is_kept(path):
                    try:
                        yield path, item.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue

    def _known_or_read(self, path: str, status: os.stat_result) -> File:
        known = self._known.get(path)
        if known and _signature(known.status) == _signature(status):
            return known
        _check_name(path)
        data, status = fs.read(self._workspace.file(path))
        return File(path, data, blob_id(data), status)

    def _linked(self, temporary: Path, target: Path) -> bool:
        try:
            fs.link(temporary, target)
        except (FileExistsError, FileNotFoundError):
            return False
        fs.unlink(temporary)
        return True

    def _exchanged(self, temporary: Path, target: Path) -> bool:
        try:
            fs.exchange(temporary, target)
        except FileNotFoundError:
            return False
        return True

    def _taken_away(self, target: Path, temporary: Path) -> Placed:
        try:
            fs.rename(target, temporary)
        except FileNotFoundError:
            return Placed(None, None)
        return Placed(fs.read(temporary)[0], None)


def usable_folder(root: Path) -> Path:
    """`root` as an absolute path that is a folder or can become one.

    Raises:
        InvalidArguments: a file is there, or no folder can have that name.
    """
    try:
        usable = stat.S_ISDIR(os.stat(root).st_mode)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        usable = True  # the first write says what is in the way
    except (OSError, ValueError):
        raise InvalidArguments(f"{str(root)[:80]!r} cannot be the name of a folder") from None
    if not usable:
        raise InvalidArguments(f"{root} is a file; a workspace is a folder: name another with --dir")
    return root.absolute()


def parent_of(workspace: Workspace) -> Workspace | None:
    """The workspace that a named agent's own lies in: one of ours, not just any folder around it."""
    parent = workspace.parent
    return parent if parent and parent.private.is_dir() else None


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Unreadable(f"{folder} cannot be listed: {_reason(error)}") from None


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


def _is_settled(status: os.stat_result, now: int) -> bool:
    return max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED_AFTER < now


def _same_status(target: Path, written: os.stat_result) -> os.stat_result | None:
    """The status of `target` while it is the file we wrote; None when it is not, or was written again."""
    try:
        found = target.lstat()
    except FileNotFoundError:
        return None
    same = (found.st_ino, found.st_mtime_ns, found.st_size) == (
        written.st_ino,
        written.st_mtime_ns,
        written.st_size,
    )
    return found if same else None


def _check_name(path: str) -> None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise fs.NotAFile(0, "its name is not UTF-8") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
