"""An index that the next process finds on the disk; nothing that was purged is kept there."""

from .. import search
from ..disk import state
from ..disk.derived import Cache
from ..search import Index
from ..workspace.workspace import Workspace

#: So many changes are worth writing the cache on disk; a fresh process reads those files again.
WORTH_SAVING = 32


class CachedIndex:
    """The index of that name, and what it became since. Whoever has it keeps threads apart."""

    def __init__(self, workspace: Workspace, name: str = state.INDEX) -> None:
        self._cache = Cache(workspace.private, name)
        self._index: Index | None = None
        #: How many changes the disk does not have.
        self.unsaved = 0

    @property
    def index(self) -> Index:
        """The index as it is now; the first time, as it was kept."""
        if self._index is None:
            self._index = search.load(self._cache.place) or Index()
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
        if came := self._cache.renew():
            self.begin_anew()
        return came

    def save(self) -> None:
        """Keep it for the next process; where there is no place, nothing is kept."""
        self.unsaved = 0
        self._cache.keep(lambda folder: search.save(self.index, folder))
