"""A new `.git` in the place of the old one, wholly or not at all: by one exchange of two folders.

The new one is made in `.git/crabmem/purging`, and the old one removed from `purging.done` of the new one: beside
`.git` either stands for the moment of the exchange alone. There is nothing to finish: what a crash leaves is removed
by the next command (`repository.clear_purge`).
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from ...disk import fs, state
from ...disk.lock import WriterLock
from ...errors import Busy, Unwritable
from ..refs import GC
from ..repository import clear_purge

# Locks that other processes may hold meanwhile, and go on holding.
_HELD = (state.WATCH, state.READING, state.SYNCING)
# Private files that stay as they are. All others but those that are made anew have words, or were made of words.
_STAYING = frozenset(
    [
        state.ASIDE,
        state.PACKING,
        state.PAUSED,
        state.PROJECT,
        state.RECOVERED,
        *_HELD,
        *(f"{lock}.pid" for lock in _HELD),
    ]
)
# What Git and its users leave beside the references, made of words and ids of commits.
_LEFT = frozenset(
    ["ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG", GC,
     "AUTO_MERGE", "MERGE_RR", "gc.log", "gitk.cache", "index.broken", "info/refs"]
)  # fmt: skip


class Exchange:
    """The new `.git` for the one at `git`, in the folder `new`. Only under the writer's lock."""

    def __init__(self, git: Path) -> None:
        self._git, self._beside = git, git.with_name(state.BESIDE)
        self.new = git / "crabmem" / state.PURGING

    @contextmanager
    def begun(self) -> Iterator[Self]:
        """Make the folder of the new `.git`. At the end of the block the one that is not in use is removed."""
        try:
            with fs.durability(False):  # all that is new is waited for before the exchange
                for name in ("objects/info", "objects/pack", f"crabmem/{state.TEMPORARY}"):
                    fs.make_folder(self.new / name)
                yield self
        finally:
            if os.path.lexists(self._git):
                clear_purge(self._git.parent)

    def write(self, name: str, data: bytes, mode: int = fs.PRIVATE_FILE) -> Path:
        """Write a file of the new one; return its place."""
        place = self.new / name
        fs.make_folder(place.parent)
        with fs.durability(True):
            fs.create(place, data, mode)
        return place

    def take_over(self, but: Collection[str]) -> None:
        """Hard-link all files that stay into the new `.git`, except those in `but` and those that it has already."""
        for where, folders, files in os.walk(self._git, onerror=_refuse):
            prefix = f"{where}/".removeprefix(f"{self._git}/")
            links = [name for name in folders if os.path.islink(f"{where}/{name}")]
            folders[:] = [name for name in folders if name not in links and _stays(f"{prefix}{name}")]
            for name in folders:
                fs.make_folder(self.new / prefix / name)
            for path in (f"{prefix}{name}" for name in (*files, *links)):
                if _stays(path) and path not in but and not os.path.lexists(self.new / path):
                    fs.link(self._git / path, self.new / path)

    @fs.durability(True)
    def carry_out(self, put: Callable[[], None], moved: Callable[[Path], list[str]]) -> None:
        """Exchange the new `.git` for the old one, after calling `put`, which puts files of the workspace in place.

        `moved` returns the references that somebody made or moved in the given `.git` meanwhile.

        Raises:
            Busy: there are such references; the old `.git` is back in its place.
        """
        with WriterLock(self.new / "crabmem" / state.LOCK).held(0):
            self._settle()
            fs.rename(self.new, self._beside)
            fs.sync_folder(self._git.parent)
            put()
            self._swap(moved)
            clear_purge(self._git.parent)

    def _settle(self) -> None:
        """Give all new files the owner and permissions of those that they replace, and make them durable.

        Raises:
            Unwritable: `.git` belongs to another user or group.
        """
        owner = self._git.lstat()
        for where, _, files in os.walk(self.new, topdown=False):
            for place in (*(Path(where, name) for name in files), Path(where)):
                like = owner
                with suppress(OSError):
                    like = (self._git / place.relative_to(self.new)).lstat()
                try:
                    fs.match(place, like, stat.S_IFMT(like.st_mode) == stat.S_IFMT(place.lstat().st_mode))
                except PermissionError:
                    raise Unwritable(
                        f"{self._git} belongs to another user or group, to whom no new one can be given: purge as they"
                    ) from None
            fs.sync_folder(Path(where))

    def _swap(self, moved: Callable[[Path], list[str]]) -> None:
        """Exchange the two folders: in one step, or, where the system has none, by two renames; undo it on any error.

        Then move the old one into the new one's private folder, and back out of it the locks that others hold.
        """
        old, inside = self._beside, self._beside / "crabmem" / state.PURGED
        is_swapped = fs.exchange_folders(self._beside, self._git)
        if not is_swapped:  # after a crash behind the first of two renames `repository.put_back` does the second
            old = inside
            fs.rename(self._git, inside)
        try:
            if late := moved(old):
                raise Busy(f"{', '.join(late)}: made or moved at this moment; nothing was changed: purge again")
            if not is_swapped:
                with suppress(FileNotFoundError):  # another process has put it back
                    fs.rename(self._beside, self._git)
        except BaseException:
            if is_swapped:
                fs.exchange_folders(self._beside, self._git)
            else:
                fs.rename(inside, self._git)
            raise
        private = self._git / "crabmem"
        if is_swapped:
            fs.rename(self._beside, private / state.PURGED)
        for lock in (f"{name}.d" for name in _HELD):
            if (held := private / state.PURGED / "crabmem" / lock).is_dir():
                fs.rename(held, private / lock)


def _refuse(error: OSError) -> None:
    raise error


def _stays(path: str) -> bool:
    """Return whether a file or folder of `.git` is neither made anew nor left behind."""
    top, _, inside = path.partition("/")
    if top == "crabmem":
        return not inside or inside.partition("/")[0] in _STAYING
    return not (top in ("objects", "logs") or path in _LEFT or path.endswith(".lock") or top.startswith("sharedindex."))
