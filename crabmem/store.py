"""The files of a workspace: what is on disk now, and putting files in place without losing anybody's.

Knows nothing of Git, entries or search.
"""

import heapq
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import fs
from .errors import InvalidArguments, Unreadable, Unwritable
from .guard import Guard
from .version import blob_id
from .workspace import Workspace, is_kept

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A file that changed this recently may change again without its times telling: FAT counts in 2 s.
_SETTLED_AFTER = 2_500_000_000


@dataclass(frozen=True)
class File:
    """One file as it was read. `status` belongs to exactly these bytes.

    `is_partial` when somebody was writing it at that moment, so that they may be half of a text.
    """

    path: str
    data: bytes
    blob: str
    status: os.stat_result
    is_partial: bool = False


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

    def is_hidden(self, path: str) -> bool:
        """Whether something that cannot be used stands at `path`, or keeps us from looking there."""
        return any(path == item.path or path.startswith(f"{item.path}/") for item in self.unusable)

    def newest(self, count: int) -> list[str]:
        """The paths of the files that were changed last."""
        return heapq.nlargest(count, self.files, key=lambda path: self.files[path].status.st_ctime_ns)

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
        now = self._clock_ns()
        patience = Patience()
        try:
            with fs.opened(self._workspace.root) as root:
                for path, spot, status in self._found(root, "", unusable):
                    try:
                        files[path] = self._known_or_read(path, spot, status, now, patience)
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        unusable.append(Unusable(path, _reason(error)))
        except (FileNotFoundError, NotADirectoryError):
            pass  # no workspace yet
        except OSError as error:
            raise Unreadable(f"{self._workspace.root} cannot be listed: {_reason(error)}") from None
        files = {path: files[path] for path in sorted(files)}
        with self._guard:
            self._known = {
                path: file for path, file in files.items() if not file.is_partial and _is_settled(file.status, now)
            }
        return Scan(files, tuple(sorted(unusable, key=lambda item: item.path)))

    def read(self, path: str) -> bytes | None:
        """The bytes at `path` now; None when there is no file.

        Raises:
            Unreadable: something else than a regular file of bounded size is there.
        """
        try:
            self.check_place(path)
            with fs.inside(self._workspace.root, path) as spot:
                return _read_whole(spot, Patience())[0]
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
        temporary = self._temporary / name
        written = temporary.stat() if new else None
        for _ in range(100):
            self.check_place(path)
            try:
                with fs.inside(self._workspace.root, path, make=new) as target:
                    placed = self._exchanged(temporary, target, written, expected)
            except FileNotFoundError:
                placed = None  # Git removes folders that it leaves empty
            if placed:
                return placed
            if not new:
                return Placed(None, None)
            expected = not expected
        raise Unwritable(f"{path} comes and goes too fast to be replaced; close what else writes it")

    def _exchanged(
        self, temporary: Path, target: fs.Spot, written: os.stat_result | None, expected: bool
    ) -> Placed | None:
        """What one try did; None when there was, or was not, a file although none, or one, was `expected`."""
        if written is None:
            return self._taken_away(target, temporary)
        if not expected:
            return Placed(None, _same_status(target, written)) if _linked(temporary, target) else None
        try:
            fs.exchange(temporary, target)
        except FileNotFoundError:
            return None
        return Placed(self._displaced(temporary, target), _same_status(target, written))

    def _displaced(self, temporary: Path, target: fs.Spot) -> bytes:
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
        place, target = self._workspace.root, self._workspace.file(path)
        for part in path.split("/"):
            place = place / part
            try:
                mode = os.lstat(place).st_mode  # one look: an editor may move the file away between two
            except (FileNotFoundError, NotADirectoryError):
                return
            if stat.S_ISLNK(mode):
                raise Unwritable(f"{place} is a symbolic link; memory does not follow links: replace it")
            if place != target and not stat.S_ISDIR(mode):
                raise Unwritable(f"{place} is not a folder; move it away")
        if not stat.S_ISREG(mode):
            raise Unwritable(f"{place} is not a regular file; move it away")

    def sync(self, paths: list[str]) -> None:
        """Make the names of these files durable."""
        for path in {path.rpartition("/")[0]: path for path in paths}.values():
            with suppress(FileNotFoundError), fs.inside(self._workspace.root, path) as spot:
                fs.sync_folder(fs.Folder(spot.path.parent, spot.handle))

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
        return fs.is_open_elsewhere(self._temporary / name)

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

    def _found(
        self, folder: fs.Folder, prefix: str, unusable: list[Unusable]
    ) -> Iterator[tuple[str, fs.Spot, os.stat_result]]:
        """What is named like a file of ours in `folder` and below, whatever it is; folders nobody may list too."""
        for item in fs.listed(folder):
            path = prefix + item.name
            if item.is_dir(follow_symlinks=False):
                if is_kept(f"{path}/x.md"):
                    yield from self._found_below(folder, item.name, path, unusable)
            elif is_kept(path):
                try:
                    yield path, folder.spot(item.name), item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue

    def _found_below(
        self, folder: fs.Folder, name: str, path: str, unusable: list[Unusable]
    ) -> Iterator[tuple[str, fs.Spot, os.stat_result]]:
        try:
            with fs.entered(folder, name) as below:
                yield from self._found(below, f"{path}/", unusable)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            unusable.append(Unusable(path, f"the folder cannot be listed: {_reason(error)}"))

    def _known_or_read(self, path: str, spot: fs.Spot, status: os.stat_result, now: int, patience: "Patience") -> File:
        known = self._known.get(path)
        if known and _signature(known.status) == _signature(status):
            return known
        _check_name(path)
        if _is_settled(status, now):
            data, status = fs.read(spot)
            return File(path, data, blob_id(data), status)
        data, status, is_partial = _read_whole(spot, patience)
        return File(path, data, blob_id(data), status, is_partial)

    def _taken_away(self, target: fs.Spot, temporary: Path) -> Placed | None:
        try:
            fs.rename(target, temporary)
        except FileNotFoundError:
            return None
        return Placed(fs.read(temporary)[0], None)


class Patience:
    """How long to wait, altogether, for files that somebody is writing: most saves take less."""

    def __init__(self, turns: int = 20, seconds: float = 0.002) -> None:
        self._turns = turns
        self._seconds = seconds

    def is_left(self) -> bool:
        """Wait a little; False when there was enough of that."""
        self._turns -= 1
        time.sleep(self._seconds if self._turns >= 0 else 0)
        return self._turns >= 0


def _read_whole(spot: fs.Spot, patience: Patience) -> tuple[bytes, os.stat_result, bool]:
    """Bytes and status of a file once nobody is writing it, and whether somebody still was."""
    while True:
        try:
            return *fs.read(spot, steady=True), False
        except fs.BeingWritten:
            if not patience.is_left():
                return *fs.read(spot), True


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


def _linked(temporary: Path, target: fs.Spot) -> bool:
    try:
        fs.link(temporary, target)
    except FileExistsError:
        return False
    fs.unlink(temporary)
    return True


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


def _is_settled(status: os.stat_result, now: int) -> bool:
    return max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED_AFTER < now


def _same_status(target: fs.Spot, written: os.stat_result) -> os.stat_result | None:
    """The status of `target` while it is the file we wrote; None when it is not, or was written again."""
    try:
        found = fs.status(target)
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
    if _BREAKS.search(path):
        raise fs.NotAFile(0, "its name has a line break or a control character in it: rename it")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
