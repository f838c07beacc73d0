"""One look at the files of a workspace: which are there, and which of them must be read."""

import os
import re
import stat
import time
from collections.abc import Mapping, Set

from ...text.hashes import blob_id
from ...workspace.layout import SETTINGS, Layout
from .. import fs
from .. import stat as stamp
from .files import File, Unusable
from .notices import Notices

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A file that changed this recently may change again without its times telling: FAT counts in 2 s.
_SETTLED_AFTER = 2_500_000_000


class Look:
    """What a look finds. `known` are the files of the last one, `marks` what an older process knew.

    `doubted` files are read again although they look the same. `now` is the time in nanoseconds.
    """

    def __init__(
        self, layout: Layout, known: Mapping[str, File], marks: Mapping[str, bytes], doubted: Set[str], now: int
    ) -> None:
        self.files: dict[str, File] = {}
        self.unusable: list[Unusable] = []
        self.changed: list[str] = []
        #: Folders that are called like files of ours.
        self.folders: set[str] = set()
        #: Files that may look the same after a change: too new for their times to tell, ...
        self.young: set[str] = set()
        #: ... half written, ...
        self.partial: set[str] = set()
        #: ... or with another name, under which they may be written without us being told.
        self.linked: set[str] = set()
        self._own_folders = layout.folders
        self._is_kept, self._may_hold_files = layout.is_kept, layout.may_hold_files
        self._known = known
        self._marks = marks
        self._doubted = doubted
        self._now = now
        self._patience = Patience()

    def walk(self, folder: fs.Folder, prefix: str, notices: Notices | None) -> None:
        """Look at what is named like a file of ours in `folder` and below; be told of changes from then on."""
        if notices and folder.handle is not None:
            notices.watch(folder.handle, os.fspath(folder.path), prefix)
        names = fs.names(folder)
        if prefix and ".git" in names:
            # A repository of its own, whose files are in no other one. A person's in a folder of theirs is meant so.
            if (path := prefix[:-1]) in self._own_folders:
                words = f"it is a Git repository of its own, so nothing in it is read: move {prefix}.git away"
                self.unusable.append(Unusable(path, words, is_repository=True))
            return
        for name in names:
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
                    self._walk_below(folder, name, path, notices)

    def glance(self, path: str, spot: fs.Spot) -> None:
        """Look at one file."""
        folder = fs.Folder(spot.path.parent, spot.handle)
        status = folder.status(spot.path.name)
        if not stat.S_ISDIR(status.st_mode):
            self._file(path, folder, spot.path.name, status, self._is_kept(path))

    def _walk_below(self, folder: fs.Folder, name: str, path: str, notices: Notices | None) -> None:
        try:
            with fs.entered(folder, name) as below:
                self.walk(below, f"{path}/", notices)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            error.filename = os.fspath(folder.path / name)  # of what lies in an open folder the system has but a name
            self.unusable.append(Unusable(path, f"the folder cannot be listed: {fs.reason(error)}"))

    def _file(self, path: str, folder: fs.Folder, name: str, status: os.stat_result, is_ours: bool) -> None:
        known, mark = self._known.get(path), stamp.packed(status)
        if status.st_nlink > 1:
            self.linked.add(path)
        if known and known.mark == mark and path not in self._doubted:
            self.files[path] = known
        elif is_ours and (stat.S_ISREG(status.st_mode) or path.endswith((".md", SETTINGS))):
            self._found(path, folder, name, status, mark, known)

    def _found(
        self, path: str, folder: fs.Folder, name: str, status: os.stat_result, mark: bytes, known: File | None
    ) -> None:
        """Take a file from what an older process knew, or read it."""
        file = self._remembered(path, mark)
        try:
            file = file or self._read(path, folder.spot(name), status)
        except FileNotFoundError:
            return
        except OSError as error:
            is_denied, is_beside = isinstance(error, PermissionError), not path.endswith(".md")
            self.unusable.append(Unusable(path, fs.reason(error), is_denied, is_beside=is_beside))
            return
        self.files[path] = file
        if known is None or known[1:3] != file[1:3] or known.is_partial != file.is_partial:
            self.changed.append(path)
        if file.is_partial:
            self.partial.add(path)

    def _remembered(self, path: str, mark: bytes) -> File | None:
        found = self._marks.get(path, b"")
        is_same = found[stamp.STAMP] == mark and path not in self._doubted
        return File(path, found[stamp.BLOB].hex(), mark) if is_same else None

    def _read(self, path: str, spot: fs.Spot, status: os.stat_result) -> File:
        _check_name(path)
        if is_settled(status, self._now):
            data, status = fs.read(spot)
            return File(path, blob_id(data), stamp.packed(status), data)
        data, status, is_partial = read_whole(spot, self._patience)
        self.young.add(path)
        return File(path, blob_id(data), stamp.packed(status), data, is_partial, is_young=True)


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


def read_whole(spot: fs.Spot, patience: Patience) -> tuple[bytes, os.stat_result, bool]:
    """Bytes and status of a file once nobody is writing it, and whether somebody still was."""
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
    if _BREAKS.search(path):
        raise fs.NotAFile(0, "its name has a line break or a control character in it: rename it")
