"""The files of a workspace: what is on disk now, and putting files in place without losing anybody's.

Knows nothing of Git, entries or search.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import Inapplicable, InvalidArguments, Unreadable, Unwritable, Way
from ..text.values import value
from ..workspace.layout import SETTINGS
from ..workspace.workspace import Workspace
from . import fs, regular, state, system
from . import stat as stamp
from .fork_lock import Guard
from .scan import Files, Look, Patience, Scan, Unusable, is_settled, read_whole
from .stat import Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inotify import Inotify

# Seconds after which every file is looked at although no change was reported: a file may have been written under a
# second name, in a folder that is not watched. At least that long, and `_SHARE` times as long as such a look takes.
_LOOK_AGAIN, _SHARE = 2.0, 50
# Changed paths kept for `Scan.since`. Then a new list begins, and `since` of an older scan is None.
_MOST_CHANGES = 20_000


@value
class Placed:
    """What happened to one path: the bytes that stood there (None: no file) and the stamp of the new file."""

    displaced: bytes | None
    stamp: Stamp | None


class Store:
    """The files of one workspace. `clock_ns` is the time in nanoseconds, on the disk's clock.

    `marks` returns what an earlier process remembered: by path a file's mark, its stamp and the id of its blob. The
    first look takes unchanged files from it without reading them.
    """

    def __init__(
        self, workspace: Workspace, clock_ns: Callable[[], int], marks: Callable[[], Mapping[str, bytes]] = dict
    ) -> None:
        self._workspace = workspace
        self._layout = workspace.layout
        self._clock_ns = clock_ns
        self._root = workspace.folder
        #: The folder of what is staged.
        self._temporary = workspace.private / state.TEMPORARY
        self._guard = Guard()
        self._scan = Scan(Files({}, {}), ())
        self._looks = 0
        #: When every file is looked at again, by the monotonic clock.
        self._due = 0.0
        self._inotify: Inotify | None = None
        self._marks = marks
        #: The settings as they were read last: by path, their stamp and bytes.
        self._documents: dict[str, tuple[bytes, bytes]] = {}
        #: These and the next two: files that may look the same after a change (see `Look`).
        self._young: set[str] = set()
        self._partial: set[str] = set()
        self._linked: set[str] = set()

    def close(self) -> None:
        """Stop being told of changes."""
        with self._guard:
            self._stop_watching()

    @property
    def known(self) -> Scan:
        """The files as they were at the last scan."""
        return self._scan

    def scan(self, is_told: bool = False) -> Scan:
        """Return all files as they are now. Unchanged ones are not read again; the same scan when nothing changed.

        With `is_told`, the system's reports of changes are enough, however long ago every file was looked at.

        Raises:
            Unreadable: a folder cannot be listed, so that what it holds is unknown.
        """
        with self._guard:
            is_sure = is_told or time.monotonic() < self._due
            changed = self._inotify.changed() if self._inotify and is_sure else None
            if changed is None:
                return self._look()
            may_hold = self._layout.may_hold_files
            # A folder is a repository of its own, or one no longer.
            if any(path.endswith("/.git") or (is_folder and may_hold(path)) for path, is_folder in changed):
                return self._look()
            try:
                return self._glance(
                    {path for path, is_folder in changed if not is_folder and self._layout.is_kept(path)}
                )
            except OSError:
                return self._look()

    def _look(self) -> Scan:
        """Look at every file. From the second look on, watch for changes: most processes look once and need none."""
        began = time.monotonic()
        self._stop_watching()
        self._looks += 1
        marks = {} if self._looks > 1 else self._marks()
        names = _names(self._root)
        look = Look(self._layout, self._scan.files, marks, self._young | self._partial, self._clock_ns(), names)
        # It reports names as they were spelled: useless on a disk where several spellings mean one file.
        inotify = _inotify() if self._looks > 1 and names is fs.names else None
        try:
            with fs.opened(self._root) as root:
                look.walk(root, "", inotify)
        except (FileNotFoundError, NotADirectoryError):
            inotify = None  # no workspace yet: nothing to be told of
        except OSError as error:
            error.filename = os.fspath(self._workspace.root)
            raise Unreadable(f"{self._workspace.root} cannot be listed: {fs.reason(error)}") from None
        self._inotify, self._young, self._linked = inotify, set(), set()
        files = Files(look.files, look.taken)
        gone = [path for path in self._scan.files if path not in files]
        self._scan = self._scan_of(look, files, gone, look.unusable, frozenset(look.folders))
        ended = time.monotonic()
        self._due = ended + max(_LOOK_AGAIN, _SHARE * (ended - began))
        return self._scan

    def _glance(self, changed: set[str]) -> Scan:
        """Look at the `changed` files, and at those whose changes may go unreported: partial or with a second name."""
        paths = changed | self._partial | self._linked
        if not paths:
            return self._scan
        look = Look(self._layout, self._scan.files, {}, self._partial | (self._linked & self._young), self._clock_ns())
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError), fs.inside(self._root, path) as spot:
                look.glance(path, spot)
        before = self._scan.files
        gone = {path for path in paths - look.files.keys() if path in before}
        files = before.changed(look.files, gone)
        unusable = [item for item in self._scan.unusable if item.path not in paths] + look.unusable
        self._young -= paths
        self._scan = self._scan_of(look, files, gone, unusable, self._scan.folders)
        return self._scan

    def _scan_of(
        self,
        look: Look,
        files: Files,
        gone: Iterable[str],
        unusable: Iterable[Unusable],
        folders: frozenset[str],
    ) -> Scan:
        """Return the scan that a look makes, the last one when nothing is new; note young, partial and linked files."""
        self._young |= look.young
        self._partial, self._linked = look.partial, look.linked | (self._linked & files.keys())
        changed, before = [*look.changed, *gone], self._scan
        bad = tuple(sorted(unusable, key=lambda item: item.path))
        if not changed and not look.taken and (bad, folders) == (before.unusable, before.folders):
            return before
        changes = before._changes if len(before._changes) < _MOST_CHANGES else []
        changes.extend(changed)
        return Scan(files, bad, self.read, changes, len(changes), folders, self._read_plainly)

    def _stop_watching(self) -> None:
        if self._inotify:
            self._inotify.close()
        self._inotify = None

    def read(self, path: str) -> bytes | None:
        """Return the bytes at `path` now; None when there is no file. The settings are kept while their stamp stays.

        Raises:
            Unreadable: the file may not be read or is too large, or something other than a file is in the way.
        """
        try:
            status = os.lstat(f"{self._root}/{path}")
            known = self._documents.get(path)
            if known and known[0] == stamp.packed(status):
                return known[1]
            self._check_way(path)
            with fs.inside(self._root, path) as spot:
                data, status, _ = read_whole(spot, Patience())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Unwritable as error:
            raise Unreadable(str(error)) from None
        except OSError as error:
            raise Unreadable(f"{path}: {fs.reason(error)}") from None
        if path == SETTINGS and is_settled(status, self._clock_ns()):
            self._documents[path] = stamp.packed(status), data
        return data

    def temporary_name(self) -> str:
        """A name for a file that is to be exchanged, or moved away."""
        return f"write-{_token()}"

    def _read_plainly(self, path: str, mark: bytes) -> bytes | None:
        """Read the file at `path` up to one byte more than its size in `mark`; None where no file can be opened.

        Neither links nor writers are checked: the caller compares the id of the bytes. The byte more changes that id
        where the file has grown.
        """
        try:
            return regular.read_known(f"{self._root}/{path}", stamp.size(mark) + 1)
        except OSError:
            return None

    def stage(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Make the temporary file `name` with `data` and the permissions `mode`, durably; None: those of memory."""
        with fs.durability(True):  # whatever the settings say of history: the files are the memory
            fs.create(self._temporary / name, data, fs.PRIVATE_FILE if mode is None else mode)

    def stage_ahead(self, data: bytes) -> str:
        """Write `data` to a temporary file before a write takes the lock; the file's name, for `take_ahead`."""
        name = f"ahead-{os.getpid()}-{_token()}"  # `clear_ahead` removes those of processes that have ended
        with fs.durability(True):  # as in `stage`
            fs.create(self._temporary / name, data)
        return name

    def take_ahead(self, ahead: str, name: str) -> bool:
        """Give a file that was staged ahead the name `name`; False when somebody cleared it away.

        The new name need not be durable: recovery stages a missing file again from the history.
        """
        try:
            fs.rename(self._temporary / ahead, self._temporary / name)
        except FileNotFoundError:
            return False
        return True

    def clear_ahead(self, own: bool = False) -> None:
        """Remove files that were staged ahead by processes that have ended; with `own`, also those of this process.

        The id of the process is in each name.
        """
        for file in fs.called(self._temporary, "ahead-"):
            pid = file.name.split("-")[1]
            if (own and pid == str(os.getpid())) or not (pid.isdigit() and fs.is_alive(int(pid))):
                fs.unlink(file)

    def place(self, path: str, name: str, new: bool, expected: bool, limit: int = fs.MAX_BYTES) -> Placed:
        """Exchange the staged file `name` with what is at `path`; when not `new`, move the file at `path` to `name`.

        So what stood at `path` is kept under `name`, even if somebody saved it a moment ago. `expected`: whether a file
        is expected there; the attempt is repeated the other way when that is wrong. A displaced file of more than
        `limit` bytes is an error.

        Raises:
            Unwritable: a link or a folder is in the way, or the file comes and goes all the time.
        """
        temporary = self._temporary / name
        written = temporary.stat() if new else None
        for _ in range(100):
            self.check_place(path)
            try:
                with fs.inside(self._workspace.root, path, make=new) as target:
                    placed = self._exchange(temporary, target, written, expected, limit)
            except FileNotFoundError:
                placed = None  # Git removes folders that it leaves empty
            if placed:
                return placed
            if not new:
                return Placed(None, None)
            expected = not expected
        raise Unwritable(f"{path} comes and goes too fast to be replaced; close what else writes it")

    def _exchange(
        self, temporary: Path, target: fs.Spot, written: os.stat_result | None, expected: bool, limit: int
    ) -> Placed | None:
        """Try once; None if a file was there against `expected`, or none was. No `written`: take the file away."""
        if written is None:
            return self._take_away(target, temporary, limit)
        if not expected:
            return Placed(None, _stamp_if_same(target, written)) if _link_into(temporary, target) else None
        try:
            fs.exchange(temporary, target)
        except FileNotFoundError:
            return None
        return Placed(self._read_displaced(temporary, target, limit), _stamp_if_same(target, written))

    def _read_displaced(self, temporary: Path, target: fs.Spot, limit: int) -> bytes:
        """Return the bytes that an exchange moved to `temporary`; if they cannot be read, undo it and raise."""
        try:
            return fs.read(temporary, limit=limit)[0]
        except OSError:
            fs.exchange(temporary, target)
            raise

    def check_place(self, path: str) -> None:
        """Refuse to write at a path where something is in the way, or where a folder is a repository of its own.

        Raises:
            Unwritable: the message names what is in the way.
        """
        self._check_way(path)
        for folder in self._workspace.file(path).parents:
            if folder == self._workspace.root:
                break
            if os.path.lexists(folder / ".git"):
                raise Unwritable(
                    f"{folder / '.git'} makes {folder} a repository of its own, in which memory neither reads nor "
                    f"writes; move {folder / '.git'} away"
                )

    def _check_way(self, path: str) -> None:
        """Refuse a path on which a folder is a link, or at which something other than a file stands.

        Raises:
            Unwritable: the message names what is in the way.
        """
        place, target = self._root, f"{self._root}/{path}"
        for part in path.split("/"):
            place = f"{place}/{part}"
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
        """Make the names of these files durable, by one fsync for each folder."""
        for path in {path.rpartition("/")[0]: path for path in paths}.values():
            with suppress(FileNotFoundError), fs.durability(True), fs.inside(self._workspace.root, path) as spot:
                fs.sync_folder(spot.folder)

    def staged(self, name: str) -> bytes | None:
        """The bytes under a temporary name now; None when there is no such file."""
        try:
            return fs.read(self._temporary / name, limit=fs.LARGE)[0]
        except FileNotFoundError:
            return None

    def stamp_of(self, name: str) -> bytes:
        """The stamp of a temporary file, as bytes."""
        return stamp.packed(os.lstat(f"{self._temporary}/{name}"))

    def age_ns(self, found: bytes) -> int:
        """Nanoseconds since a temporary file got its name, or was written."""
        return self._clock_ns() - stamp.changed_ns(found)

    def is_open(self, name: str) -> bool:
        """Whether an editor is known to have a temporary file open."""
        return fs.is_open_elsewhere(self._temporary / name)

    def discard(self, name: str) -> None:
        """Remove a temporary file."""
        fs.unlink(self._temporary / name)

    def leftovers(self) -> list[str]:
        """The temporary files that a write left behind."""
        return sorted(file.name for file in fs.called(self._temporary, "write-"))

    def set_aside(self, name: str) -> Path:
        """Move a temporary file whose text is nowhere else to `recovered`, for the person; return its new path."""
        folder = self._workspace.private / state.RECOVERED
        fs.make_folder(folder)
        fs.rename(self._temporary / name, folder / name)
        return folder / name

    def _take_away(self, target: fs.Spot, temporary: Path, limit: int) -> Placed | None:
        """Move the file at `target` to `temporary`; None where there is no file. If it cannot be read, move it back."""
        try:
            with suppress(FileNotFoundError):
                if os.path.samestat(fs.status(temporary), fs.status(target)):
                    fs.unlink(temporary)  # a power cut left both names to one file, and a rename would do nothing
            fs.rename(target, temporary)
        except FileNotFoundError:
            return None
        try:
            return Placed(fs.read(temporary, limit=limit)[0], None)
        except OSError:
            # On a disk without links it waits under its name for the next write to set it aside.
            with suppress(OSError):
                _link_into(temporary, target)
            raise


def _token() -> str:
    """What no other temporary file is called."""
    return os.urandom(8).hex()


def _names(root: str) -> Callable[[fs.Folder], list[str]]:
    if not system.may_fold(root):
        return fs.names
    from . import spelling  # late: few disks take two names for one

    return spelling.names


def _inotify() -> Inotify | None:
    from .inotify import Inotify  # late: a process that looks once is told of nothing

    return Inotify.begun()


def usable_folder(root: Path | str) -> str:
    """`root` as an absolute path that is a folder or can become one.

    Raises:
        Inapplicable: a file is there.
        InvalidArguments: no folder can have that name.
    """
    try:
        usable = stat.S_ISDIR(os.stat(root).st_mode)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        usable = True  # the first write says what is in the way
    except (OSError, ValueError):
        raise InvalidArguments(f"{str(root)[:80]!r} cannot be the name of a folder") from None
    if not usable:
        raise Inapplicable(f"{root} is a file; a workspace is a folder", Way("root=…", "name another with {}"))
    folder = os.fspath(root)
    return folder if os.path.isabs(folder) else os.path.join(os.getcwd(), folder)


def _link_into(temporary: Path, target: fs.Spot) -> bool:
    try:
        fs.link(temporary, target)
    except FileExistsError:
        return False
    fs.unlink(temporary)
    return True


def _stamp_if_same(target: fs.Spot, written: os.stat_result) -> Stamp | None:
    """The stamp of `target` while it is the file we wrote; None when it is not, or was written again."""
    try:
        found = Stamp.of(stamp.packed(fs.status(target)))
    except FileNotFoundError:
        return None
    same = (found.inode, found.modified_ns, found.size) == (written.st_ino, written.st_mtime_ns, written.st_size)
    return found if same else None
