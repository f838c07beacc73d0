"""The files of a workspace whose history was purged elsewhere: how they follow, and what else of them has to go.

They are known by the ids of what they hold, as nobody here was told a text.
"""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ...disk import fs, state
from ...disk.scan import Scan
from ...errors import Busy
from ...text.hashes import blob_id, short
from ...workspace.workspace import Workspace
from ..history import History
from .purged_line import PurgedLine
from .repository import FileChange, NewHistory

# Names of the copies that editors leave beside a file, as it was or as it will be.
_BESIDE = ("{}~", ".{}.sw[a-p]", "#{}#", ".#{}", ".{}.un~", "{}.tmp", "{}.bak", "{}.orig", "{}.rej")


class PurgedFiles:
    """The files of one workspace, whose history is put on the purged line."""

    def __init__(self, workspace: Workspace, history: History, line: PurgedLine) -> None:
        self._workspace, self._history, self._line = workspace, history, line

    def changes(self, head: str | None, new_head: str | None, scan: Scan) -> Iterator[FileChange]:
        """Yield how they have to change where the head becomes another commit, of which all is stored.

        Raises:
            Busy: one of them is not as the head has it.
        """
        before, after = (dict(self._history.files(commit)) for commit in (head, new_head))
        for path in sorted(path for path in {**before, **after} if before.get(path) != after.get(path)):
            here, data = self._read(path), self._history.blob(after[path]) if path in after else None
            if here and path in before:
                if blob_id(here[0]) != before[path]:
                    raise Busy(
                        f"{path} of {self._workspace.root} is not as it was recorded, and a purge changes it: save or "
                        "commit it, and sync again"
                    )
                yield FileChange(path, before[path], data, here[1])
            elif not here and path not in before:
                yield FileChange(path, None, data, fs.PRIVATE_FILE)
        yield from self._copies(before, scan)

    def _copies(self, before: Mapping[str, str], scan: Scan) -> Iterator[FileChange]:
        """Yield how copies change that are in no commit."""
        for path, blob in scan.files.blobs():
            if path not in before and self._line.is_gone(blob) and (here := self._read(path)):
                end = self._line.end(blob)
                data = self._history.blob(end) if end and self._history.has(end) else None
                yield FileChange(path, blob, data, here[1])

    def leftovers(self, changes: Iterable[FileChange]) -> Iterator[FileChange]:
        """Yield the copies that editors left beside files that change: they go."""
        for change in changes:
            file = self._workspace.file(change.path)
            for left in sorted(left_beside(file.parent, glob.escape(file.name))) if change.was else ():
                path = left.relative_to(self._workspace.root).as_posix()
                if here := self._read(path):
                    yield FileChange(path, blob_id(here[0]), None, here[1])

    def recovered(self) -> list[str]:
        """Return the files below `.git` that keep a text of an unknown save which was purged."""
        return list(self._holding(self._workspace.private / state.RECOVERED))

    def held(self, new: NewHistory) -> list[str]:
        """Look for every object and into every file of `.git`; return where what was purged still stands."""
        here = {oid for oid in self._history.rewrite().present(new.record) if self._line.is_other(oid)}
        files = new.survey.files.items()
        paths = {oid: path for path, held in files for oid in here & held}
        return [*sorted(paths.get(oid, f"commit {short(oid)}") for oid in here), *self._holding(self._workspace.git)]

    def _holding(self, folder: Path) -> Iterator[str]:
        git = self._workspace.git
        for where, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if where != str(git) or name != "objects"]
            for file in (Path(where, name) for name in names):
                with suppress(OSError):
                    if self._line.is_gone(blob_id(fs.read(file, limit=fs.LARGE)[0])):
                        yield file.relative_to(git).as_posix()

    def _read(self, path: str) -> tuple[bytes, int] | None:
        try:
            with fs.inside(self._workspace.root, path) as spot:
                data, status = fs.read(spot)
                return data, status.st_mode & 0o777
        except OSError:
            return None


def left_beside(folder: Path, name: str) -> set[Path]:
    """Return what editors left in a folder beside the files whose names match `name`."""
    return {left for form in _BESIDE for left in folder.glob(form.format(name))}
