"""A scan of a workspace: the files that are there, which of them must be read, and what each says."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Set
from typing import NamedTuple

from ..errors import Busy, Unreadable
from ..text.hashes import blob_id
from ..text.values import field, value
from ..workspace.layout import SETTINGS, Layout
from . import fs
from . import stat as stamp
from .stat import Stamp, changed_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inotify import Inotify

_BREAKS = "[\x00-\x1f\x7f-\x9f\u2028\u2029]"
# A file that changed this recently may change again without its times telling: FAT counts in 2 s.
_SETTLED_AFTER = 2_500_000_000


class File(NamedTuple):
    """One file as it was found. `mark` is its packed stamp, which belongs to exactly these bytes.

    `data` is None when the bytes were not read, as they were known. `is_partial`: somebody was writing the file at
    that moment, so that the bytes may be half of a text. `is_young`: the file changed so lately that it may change once
    more and keep its stamp.
    """

    path: str
    blob: str
    mark: bytes
    data: bytes | None = None
    is_partial: bool = False
    is_young: bool = False

    @property
    def stamp(self) -> Stamp:
        """The status of the file."""
        return Stamp.of(self.mark)

    @property
    def remembered(self) -> bytes:
        """The mark by which a later process knows the file: its stamp, then the id of its blob.

        For a young or partial file the stamp is zeros, which no file has, so that it is read again.
        """
        is_sure = not (self.is_young or self.is_partial)
        return (self.mark if is_sure else bytes(len(self.mark))) + bytes.fromhex(self.blob)


class Files(Mapping[str, File]):
    """Files by path: those that were `read`, and unchanged ones, `known` by the marks that an earlier process left.

    A known file becomes a `File` only on access, as a process asks for few of thousands.
    """

    __slots__ = ("known", "read")

    def __init__(self, read: dict[str, File], known: dict[str, bytes]) -> None:
        self.read = read
        self.known = known

    def __getitem__(self, path: str) -> File:
        file = self.read.get(path)
        if file is None:
            mark = self.known[path]
            file = File(path, mark[stamp.BLOB].hex(), mark[stamp.STAMP])
        return file

    def __contains__(self, path: object) -> bool:
        return path in self.read or path in self.known

    def __iter__(self) -> Iterator[str]:
        yield from self.read
        yield from self.known

    def __len__(self) -> int:
        return len(self.read) + len(self.known)

    def blobs(self) -> Iterator[tuple[str, str]]:
        """The path and the blob of each, without a `File` for those that nobody read."""
        for path, file in self.read.items():
            yield path, file.blob
        for path, mark in self.known.items():
            yield path, mark[stamp.BLOB].hex()

    def newest(self, count: int) -> list[str]:
        """Return the paths of the `count` files that were changed last."""
        from heapq import nlargest  # late: writes alone ask

        marks = {**{path: file.mark for path, file in self.read.items()}, **self.known}
        return nlargest(count, marks, key=lambda path: changed_ns(marks[path]))

    def changed(self, read: dict[str, File], gone: Set[str]) -> Files:
        """Return these files with those added or replaced that were `read` since, and without those `gone`."""
        files, marks = self.read | read, self.known.copy()
        for path in gone | read.keys():
            marks.pop(path, None)
        for path in gone:
            files.pop(path, None)
        return Files(files, marks)


@value
class Unusable:
    """A file that is there and cannot be read as one of ours; `reason` says why.

    `is_denied` when it may well be one of ours, and only this user may not read it. `is_repository` when it is a
    folder that memory is in, whose files belong to another repository. `is_beside` when it is no Markdown, so that no
    fact is missing.
    """

    path: str
    reason: str
    is_denied: bool = False
    is_repository: bool = False
    is_beside: bool = False


@value
class Scan:
    """Every file that crabmem keeps the history of, by path in no order, and those it cannot use.

    `folders` are those that are called like such a file.
    """

    files: Files
    unusable: tuple[Unusable, ...]
    _read: Callable[[str], bytes | None] = field(repr=False, default=lambda path: None)
    # The paths that changed, oldest first, in a list that the scans of one store share; this scan covers the first
    # `_seen` of them.
    _changes: list[str] = field(repr=False, default_factory=list)
    _seen: int = field(repr=False, default=0)
    folders: frozenset[str] = frozenset()
    # Quicker by far than `_read`, and unchecked: its bytes count only if they have the id of the blob.
    _read_plainly: Callable[[str, bytes], bytes | None] = field(repr=False, default=lambda path, mark: None)

    def data(self, path: str) -> bytes | None:
        """The bytes at `path`; None when there is no such file.

        Raises:
            Busy: the file was known, not read, and is being changed at this moment.
        """
        file = self.files.get(path)
        if file is None or file.data is not None:
            return file.data if file else None
        data = self._read_plainly(path, file.mark)
        if data is not None and blob_id(data) == file.blob:
            return data
        data = self._read(path)
        if data is None or blob_id(data) != file.blob:
            raise Busy(f"{path} changes at this moment; try again")
        return data

    def since(self, earlier: Scan) -> set[str] | None:
        """The paths that may differ from an earlier scan of the same store; None when that is not known."""
        if earlier._changes is not self._changes:
            return None
        return set(self._changes[earlier._seen : self._seen])

    def is_hidden(self, path: str) -> bool:
        """Return whether something unusable stands at `path`, or at a folder on the way there."""
        return any(_is_at(item, path) for item in self.unusable)

    def check_not_denied(self, path: str) -> None:
        """Check that `path`, which the scan does not have, is really missing and not merely unreadable.

        Raises:
            Unreadable: this user may not read `path`, or a folder on the way there.
        """
        for item in self.unusable:
            if item.is_denied and _is_at(item, path):
                raise Unreadable(f"{item.path}: {item.reason}")

    def blob(self, path: str) -> str | None:
        """The blob at `path`; None when there is no such file."""
        file = self.files.get(path)
        return file.blob if file else None


def _is_at(item: Unusable, path: str) -> bool:
    """Whether something stands at `path`, or on the way there."""
    return path == item.path or path.startswith(f"{item.path}/")


class Look:
    """One look at the files, and what it finds.

    `known` are the files of the last look, `marks` those that an earlier process left, by path. `doubted` files are
    read again although they look the same. `now` is the time in nanoseconds. `names` lists an open folder.
    """

    def __init__(
        self,
        layout: Layout,
        known: Mapping[str, File],
        marks: Mapping[str, bytes],
        doubted: Set[str],
        now: int,
        names: Callable[[fs.Folder], list[str]] = fs.names,
    ) -> None:
        self.files: dict[str, File] = {}
        #: The marks of those that look as an older process knew them.
        self.taken: dict[str, bytes] = {}
        self.unusable: list[Unusable] = []
        self.changed: list[str] = []
        #: Folders that are called like files of ours.
        self.folders: set[str] = set()
        # Three kinds of files may look the same after a change.
        #: Changed so lately that another change may leave their times as they are.
        self.young: set[str] = set()
        #: Being written as they were read: what was read may be half of a text.
        self.partial: set[str] = set()
        #: With a second name, under which somebody may write them without us being told.
        self.linked: set[str] = set()
        self._own_folders = layout.folders
        self._is_kept, self._may_hold_files = layout.is_kept, layout.may_hold_files
        self._known = known
        self._marks = marks
        self._doubted = doubted
        self._now = now
        self._names = names
        self._patience = Patience()

    def walk(self, folder: fs.Folder, prefix: str, inotify: Inotify | None) -> None:
        """Look at what is named like a file of ours in `folder` and below; `prefix` is the folder's path with a slash.

        Each folder is watched before it is listed, so that no change falls between both.
        """
        if inotify and folder.handle is not None:
            inotify.watch(folder.handle, folder.where, prefix)
        names = self._names(folder)
        if prefix and ".git" in names:
            # A nested repository: its files are in no other one. It is a problem only where our own folders are; in any
            # other folder the person meant it so.
            if (path := prefix[:-1]) in self._own_folders:
                words = f"it is a Git repository of its own, so nothing in it is read: move {prefix}.git away"
                self.unusable.append(Unusable(path, words, is_repository=True))
            return
        for name in self._others(folder, prefix, names) if self._marks else names:
            path = prefix + name
            is_known = path in self._known or path in self._marks
            if is_known or self._is_kept(path) or self._may_hold_files(path):
                try:
                    status = folder.status(name)
                except FileNotFoundError:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    self._file(path, folder, name, status, is_known or self._is_kept(path))
                elif self._may_hold_files(path):
                    if path.endswith(".md"):
                        self.folders.add(path)
                    self._walk_below(folder, name, path, inotify)

    def _others(self, folder: fs.Folder, prefix: str, names: list[str]) -> list[str]:
        """Return those of `names` that differ from the marks of an earlier process; take the rest by their marks.

        Most of a fresh process's time is spent here, once for each file: so local names, and no objects.
        """
        marks, taken, handle = self._marks.get, self.taken, folder.handle
        if handle is None or self._doubted:
            return names
        look, begins_as, others = os.stat, stamp.BEGINNING.pack, list[str]()
        for name in names:
            path = prefix + name
            mark = marks(path)
            if mark is None:
                others.append(name)
                continue
            try:
                found = look(name, dir_fd=handle, follow_symlinks=False)
            except OSError:
                others.append(name)
                continue
            # The beginning is enough: what changes any other part of a stamp changes its times.
            if mark.startswith(begins_as(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)):
                taken[path] = mark
                if found.st_nlink > 1:
                    self.linked.add(path)
            else:
                others.append(name)
        return others

    def glance(self, path: str, spot: fs.Spot) -> None:
        """Look at one file."""
        folder = spot.folder
        status = folder.status(spot.name)
        if not stat.S_ISDIR(status.st_mode):
            self._file(path, folder, spot.name, status, self._is_kept(path))

    def _walk_below(self, folder: fs.Folder, name: str, path: str, inotify: Inotify | None) -> None:
        try:
            with fs.entered(folder, name) as below:
                self.walk(below, f"{path}/", inotify)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            error.filename = folder.spot(name).where  # of what lies in an open folder the system has but a name
            words = f"the folder cannot be listed: {fs.reason(error)}"
            self.unusable.append(Unusable(path, words, isinstance(error, PermissionError)))

    def _file(self, path: str, folder: fs.Folder, name: str, status: os.stat_result, is_ours: bool) -> None:
        """Take in what is at `path` and is no folder: as it is known, or by `_take`.

        Links, pipes and devices matter only under a name of Markdown or settings: `_take` finds them unusable.
        """
        known, mark = self._known.get(path), stamp.packed(status)
        if status.st_nlink > 1:
            self.linked.add(path)
        if path in self._own_folders:
            words = "it is not a folder, so nothing in it is remembered; move it away"
            self.unusable.append(Unusable(path, words))
        if known and known.mark == mark and path not in self._doubted:
            self.files[path] = known
        elif is_ours and (stat.S_ISREG(status.st_mode) or path.endswith((".md", SETTINGS))):
            self._take(path, folder, name, status, mark, known)

    def _take(
        self, path: str, folder: fs.Folder, name: str, status: os.stat_result, mark: bytes, known: File | None
    ) -> None:
        """Add a file by its mark, or read it, and note it as changed or partial; or note why it is unusable."""
        file = self._from_mark(path, mark)
        try:
            file = file or self._read(path, folder.spot(name), status)
        except FileNotFoundError:
            return
        except OSError as error:
            is_denied, is_beside = isinstance(error, PermissionError), not path.endswith(".md")
            self.unusable.append(Unusable(path, fs.reason(error), is_denied, is_beside=is_beside))
            return
        self.files[path] = file
        if known is None or (known.blob, known.mark) != (file.blob, file.mark) or known.is_partial != file.is_partial:
            self.changed.append(path)
        if file.is_partial:
            self.partial.add(path)

    def _from_mark(self, path: str, mark: bytes) -> File | None:
        found = self._marks.get(path, b"")
        is_same = found[stamp.STAMP] == mark and path not in self._doubted
        return File(path, found[stamp.BLOB].hex(), mark) if is_same else None

    def _read(self, path: str, spot: fs.Spot, status: os.stat_result) -> File:
        """Read a file; one that changed a moment ago is read when nobody writes it, and noted as young."""
        _check_name(path)
        if is_settled(status, self._now):
            data, status = fs.read(spot)
            return File(path, blob_id(data), stamp.packed(status), data)
        data, status, is_partial = read_whole(spot, self._patience)
        self.young.add(path)
        return File(path, blob_id(data), stamp.packed(status), data, is_partial, is_young=True)


# How many times to wait, and for how many seconds each.
_TURNS, _TURN = 20, 0.002


class Patience:
    """How long to wait, altogether, for files that somebody is writing: most saves take less."""

    def __init__(self) -> None:
        self._turns = _TURNS

    def is_left(self) -> bool:
        """Wait a little; return False when no wait is left."""
        self._turns -= 1
        time.sleep(_TURN if self._turns >= 0 else 0)
        return self._turns >= 0


def read_whole(spot: fs.Spot, patience: Patience) -> tuple[bytes, os.stat_result, bool]:
    """Read a file when nobody writes it, or `patience` ends; return bytes, status, and whether somebody still wrote."""
    while True:
        try:
            return *fs.read(spot, steady=True), False
        except fs.BeingWritten:
            if not patience.is_left():
                return *fs.read(spot), True


def is_settled(status: os.stat_result, now: int) -> bool:
    """Whether a file was left alone for so long that its times will tell of the next change."""
    return max(status.st_mtime_ns, status.st_ctime_ns) + _SETTLED_AFTER < now


def _check_name(path: str) -> None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise fs.NotAFile(0, "its name is not UTF-8") from None
    if not path.isprintable() and re.search(_BREAKS, path):
        raise fs.NotAFile(0, "its name has a line break or a control character in it: rename it")
