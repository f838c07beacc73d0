"""An index that is kept in step with files, and the file in which the next process finds it.

The catalog of entries is one, the searcher of files another: each says which documents are new, other or gone; what is
found by them, how each is marked, and what the disk has follow from that. Nothing that was purged stays.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from .. import search
from ..disk import state
from ..disk.derived import Cache
from ..disk.fork_lock import Guard, loading
from ..search import Document, Index
from ..workspace.workspace import Workspace

#: So many changes are worth writing the file; a fresh process reads the others again.
WORTH_SAVING = 32
# At the end of a process fewer changes are worth saving: `_WORTH_LEAVING`, or one for each `_SHARE` documents of a
# smaller index. With 10,000 entries saving takes 20 ms, reading one entry again less than 1 ms.
_WORTH_LEAVING, _SHARE = 8, 100
# A document of so many words counts twice, one of twice as many thrice, as long as it takes to read.
_LONG = 1_000
# More changes than that at once are joined at once: there is no index to answer from meanwhile.
_MANY = 500


class SyncedIndex:
    """The index of that name in `disk/state`. A subclass holds `guard` whenever it reads or changes `index`."""

    def __init__(self, workspace: Workspace, name: str = state.INDEX) -> None:
        self.guard = Guard()
        self._cache = Cache(workspace.private_folder, name)
        self._index: Index | None = None
        #: How many changes the disk does not have, long documents counted as several.
        self._unsaved = 0
        self._joining: threading.Thread | None = None
        #: What changed since the thread began to join; None while nobody joins.
        self._since_joining: dict[str, Document | None] | None = None

    @property
    def index(self) -> Index:
        """The index as it is now; the first time, as it was kept."""
        if self._index is None:
            self._index = search.load(self._cache.path) or Index()
        return self._index

    def change(self, changes: Mapping[str, Document | None]) -> None:
        """Replace the documents with these keys; None removes one. Call it with `guard` held.

        When many changes have come together, start a thread that joins them into one segment, which takes long. Recall
        goes on meanwhile, and later changes are applied to the joined index, too.
        """
        if not changes:
            return
        index = self._index = self.index.updated(changes, may_join=len(changes) > _MANY)
        self._unsaved += sum(1 + (sum(document.lengths) // _LONG if document else 0) for document in changes.values())
        if self._since_joining is not None:
            self._since_joining.update(changes)
        elif index.is_grown():
            self._since_joining = {}
            self._joining = threading.Thread(target=self._join, args=(index,), name="crabmem index", daemon=True)
            try:
                self._joining.start()
            except RuntimeError:  # the machine allows no thread now: the next change asks again
                self._joining = self._since_joining = None

    def _join(self, index: Index) -> None:
        """In a thread: join `index`, apply what changed meanwhile, and exchange it for the current one.

        The result is dropped if everything was forgotten meanwhile (`_empty`), as after a purge.
        """
        with loading():
            import numpy  # noqa: F401 (loaded before anybody forks)
        joined = index.joined()
        with self.guard:
            if self._joining is threading.current_thread():  # else it was begun anew meanwhile
                self._index = joined.updated(self._since_joining or {}, may_join=False)
                self._since_joining = None

    def forget_purged(self) -> bool:
        """Empty the index if there was a purge since the last call, as it may hold purged words; return whether."""
        if came := self._cache.renew():
            self._empty()
        return came

    def begin_anew(self) -> None:
        """Forget everything, whatever is on disk: every file is read anew."""
        with self.guard:
            self._empty()

    def _forget(self) -> None:
        """Forget what a subclass knows of the files: all is read anew."""

    def _empty(self) -> None:
        self._index, self._joining, self._since_joining = Index(), None, None
        self._forget()

    def save(self, least: int = WORTH_SAVING) -> None:
        """Save the index for the next process if at least `least` documents changed and the folder allows it."""
        if self._unsaved >= least:
            with self.guard:
                if not self.forget_purged():
                    self._unsaved = 0
                    self._cache.keep(lambda folder: search.save(self.index, folder))

    def close(self) -> None:
        """Wait for work that was begun, and keep what is worth it."""
        if joining := self._joining:
            joining.join()
        if self._unsaved:
            self.save(least=min(_WORTH_LEAVING, 1 + len(self.index) // _SHARE))


def differing(known: Mapping[str, bytes], wanted: Mapping[str, bytes], start: int = 0) -> tuple[list[str], list[str]]:
    """Return the keys in `wanted` that are new or have another mark, and the keys that are in `known` alone.

    Marks are compared from byte `start` on.
    """
    if start:
        new = [key for key, mark in wanted.items() if known.get(key, b"")[start:] != mark[start:]]
    else:
        new = [key for key, mark in wanted.items() if known.get(key) != mark]
    return new, [key for key in known if key not in wanted]
