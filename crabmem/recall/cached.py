"""An index that the next process finds on the disk; nothing that was purged is kept there."""

from pathlib import Path

from .. import search
from ..disk import fs
from ..disk.purged import Purges
from ..search import Index
from ..workspace.workspace import Workspace

#: So many changes are worth writing the cache on disk; a fresh process reads those files again.
WORTH_SAVING = 32


class CachedIndex:
    """The index in `folder`, and what it became since. Whoever has it keeps threads apart."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._folder = folder
        self._private = workspace.private
        self._purges = Purges(workspace.private / "purges")
        self._index: Index | None = None
        #: How many changes the disk does not have.
        self.unsaved = 0

    @property
    def index(self) -> Index:
        """The index as it is now; the first time, as it was kept."""
        if self._index is None:
            self._index = search.load(self._folder) or Index()
        return self._index

    def put(self, index: Index, changes: int = 0) -> None:
        """Have another index, which differs in so many changes."""
        self._index = index
        self.unsaved += changes

    def begin_anew(self) -> None:
        """Have none, whatever is on disk."""
        self._index = Index()

    def forgot_purged(self) -> bool:
        """Whether there was a purge, so that it had words of what was purged; it is forgotten."""
        if came := self._purges.came():
            self.begin_anew()
        return came

    def save(self) -> None:
        """Keep it for the next process; where there is no place, nothing is kept."""
        self.unsaved = 0
        if fs.is_own_folder(self._private):
            search.save(self.index, self._folder)
            if self._purges.came():
                fs.remove_tree(self._folder)
