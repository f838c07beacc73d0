"""Files of the repository that are not memory, while a sync takes in what other machines made of them.

They are checked out where `git pull` would do that: where the disk has what the head had. Elsewhere the file stays as
it is, and Git's index has the new item with the mark of `git update-index --assume-unchanged`: whatever a person
commits, it takes back nobody's work. Sync, `status` and `doctor` name what is left so until the person decides.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ..disk import fs, spelling
from ..disk.stat import Stamp, packed
from ..errors import Busy, CrabmemError
from ..git.history import History
from ..git.index import Settled
from ..git.objects import LARGEST
from ..git.repository import is_sparse
from ..git.trees import SUBMODULE, Item, is_git
from ..text.hashes import blob_id
from ..workspace.workspace import Workspace
from .intent import Step
from .recorder import Recorder

_EXECUTABLE = 0o111
#: What stands for a text that nobody has: something is there that cannot be read.
_UNREADABLE = ""


def checkout_steps(recorder: Recorder, beside: Mapping[str, Item | None]) -> dict[str, Step]:
    """Return steps that check out those of the items whose file on disk is as the head has it; none if sparse.

    Raises:
        Busy: the person has staged another change of one of them, which only Git's index has.
    """
    history, root = recorder.history, recorder.workspace.root
    head, staged = history.head(), history.index.staged()
    found = dict[str, Step]()
    for path, item in beside.items():
        before, there = history.item(head, path), text_at(root, path)
        row = staged.get(path) if staged is not None else None
        is_staged = staged is not None and (row[:2] if row else None) not in (before, item)
        if is_staged and (row[1] if row else None) != there:
            raise Busy(
                f"{path} was changed on another machine, and another change of it is staged here: commit that, or "
                f"`git restore --staged {path}`, and sync again; nothing was taken in"
            )
        old, new = (None if each is None else each[1] for each in (before, item))
        if there == old != new and _may_write(recorder, path, before, item):
            found[path] = Step(old, new, recorder.store.temporary_name(), _mode(root, path, before, item))
    return {} if is_sparse(recorder.workspace.git) else found


def settled(root: Path, beside: Mapping[str, Item | None], steps: Mapping[str, Step]) -> dict[str, Settled]:
    """Return the rows of the items for Git's index. Items neither checked out nor on disk are marked as left."""
    return {
        path: Settled(item, is_left=item is not None and path not in steps and text_at(root, path) != item[1])
        for path, item in beside.items()
    }


def left(history: History, workspace: Workspace) -> list[str]:
    """Return the files that a sync left as they are, and that still differ from the head."""
    return sorted(path for path, item in marked(history).items() if _is_left(workspace, path, item))


def marked(history: History) -> Mapping[str, Item]:
    """Return what Git's index has of the files that it is told to overlook; nothing where there is no repository."""
    return history.index.left() if history.place.exists() else {}


def no_longer_left(history: History, workspace: Workspace) -> dict[str, Settled]:
    """Return what the index is to say of files that were left, and are now as the head has them."""
    found = dict[str, Settled]()
    for path, item in history.index.left().items():
        data, stamp = _read(workspace.root, path)
        if stamp and not workspace.layout.is_kept(path) and data is not None and blob_id(data) == item[1]:
            found[path] = Settled(item, stamp)
    return found


def _is_left(workspace: Workspace, path: str, item: Item) -> bool:
    is_ours = workspace.layout.is_kept(path) or item[0] == SUBMODULE
    return not is_ours and text_at(workspace.root, path) != item[1]


def is_safe(path: str) -> bool:
    """Return whether a path stays in the workspace and leads into no repository."""
    return all(part not in ("", ".", "..") and "\0" not in part and not is_git(part) for part in path.split("/"))


def text_at(root: Path, path: str) -> str | None:
    """Return the blob of what is at `path`, of a link that of its target path; None for nothing, "" if unreadable."""
    data, _ = _read(root, path)
    return blob_id(data) if data is not None else None if _is_free(root, path) else _UNREADABLE


def _is_free(root: Path, path: str) -> bool:
    """Return whether nothing is at `path`, and nothing on the way to it that is no folder."""
    try:
        with fs.inside(root, path) as spot:
            fs.status(spot)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _read(root: Path, path: str) -> tuple[bytes | None, Stamp | None]:
    try:
        with fs.inside(root, path) as spot:
            status = fs.status(spot)
            if stat.S_ISLNK(status.st_mode):
                return os.readlink(os.fsencode(root / path)), None
            data, status = fs.read(spot, limit=LARGEST)
            return data, Stamp.of(packed(status))
    except OSError:
        return None, None


def _may_write(recorder: Recorder, path: str, before: Item | None, item: Item | None) -> bool:
    if not is_safe(path) or not all(stat.S_ISREG(each[0]) for each in (before, item) if each):
        return False
    try:
        recorder.store.check_place(path)
        if before is None:
            spelling.check_new(recorder.workspace.root, path)
        return item is None or recorder.history.has(item[1])
    except (CrabmemError, OSError):
        return False


def _mode(root: Path, path: str, before: Item | None, item: Item | None) -> int | None:
    """Return the permissions of the new file: those of the old one, but for what the item changes."""
    if item is None:
        return None
    if before is None:
        return fs.SHARED_FILE | _EXECUTABLE * bool(item[0] & _EXECUTABLE)
    with fs.inside(root, path) as spot:
        mode = fs.status(spot).st_mode & 0o777
    if item[0] == before[0]:
        return mode
    return mode | (mode & 0o444) >> 2 if item[0] & _EXECUTABLE else mode & ~_EXECUTABLE
