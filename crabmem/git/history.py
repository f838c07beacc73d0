"""History: the commits of one workspace, in an ordinary Git repository, without a `git` binary."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..disk import state
from ..disk.seal import Seal
from ..errors import CrabmemError
from ..workspace.workspace import Workspace
from . import repository
from .aside import Aside
from .index import Index
from .mend import Mending
from .ownership import Ownership
from .packing import Packed, Packing
from .parts import Parts
from .past import Past
from .place import Identity, Place
from .recording import Recording
from .redo import Redo

if TYPE_CHECKING:
    from .health import Health
    from .rewrite.repository import RepositoryRewrite


class History(Past):
    """The repository of a workspace, which need not exist yet: its past, and a part for each way to change it.

    `place`: whether it is there. `ownership`: whose it is. `branch`: where its head is. `recording`: commits made.
    `aside`: commits on no branch. `index`: Git's, kept in step. `mending`: what a crash left.
    """

    def __init__(
        self,
        workspace: Workspace,
        seal: Seal | None = None,
        claim_caches: Callable[[Path], None] = lambda private: None,
        identities: tuple[Identity, Identity] | None = None,
    ) -> None:
        """`seal` shows that this user began the redo log; `claim_caches` is called when there is a place for caches.
        `identities` are as `Place` has them.
        """
        self._parts = parts = Parts.of(workspace, Redo(workspace.private / state.REDO, seal))
        super().__init__(parts, Place(workspace, parts, self.forget, identities))
        self.ownership = Ownership(workspace, self, claim_caches)
        self.index = Index(parts, lambda: self.items(self.head()))
        self.recording = Recording(parts, self, self.index)
        self.aside = Aside(parts, self)
        self.mending = Mending(parts, self.index)
        self._packing = Packing(parts.git, parts.private, parts.refs)

    def close(self) -> None:
        """Close the files that reading has opened, and keep for the next process what commits changed."""
        self._walk.save()
        self._objects.close()

    def forget(self) -> None:
        """Read everything anew from now on."""
        self._objects.forget()
        self._trees.forget()
        self._listed = None, {}

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep `git gc` from running beside a write, and count what the write stores."""
        self.recording.begin()
        with self._refs.without_gc():
            try:
                yield
            finally:
                self._packing.count(*self._objects.written())

    def is_compaction_due(self) -> bool:
        """Return whether so much lies loose that `compact` is worth its while. Costs next to nothing."""
        return self.place.exists() and os.path.isdir(self._parts.private) and self._packing.is_due()

    def compact(self, progress: Callable[[int], None] | None = None, whole: bool = False) -> Packed | None:
        """Pack what writes left loose, while others read and write; None when nothing was done. See `Packing`."""
        if not (self.place.exists() and os.path.isdir(self._parts.private)):
            return None
        with suppress(CrabmemError, OSError):  # what is packed is on the disk before it loses its files
            self.mending.harden_beside()
        return self._packing.compact(progress, whole)

    def rewrite(self) -> "RepositoryRewrite":
        """Return what rewrites this repository by a rule."""
        from .rewrite.repository import RepositoryRewrite

        return RepositoryRewrite(self._parts.git, self._parts.private, self._refs, self._objects, self._packing)

    def health(self) -> "Health":
        """Return what looks whether all of it is well."""
        from .health import Health

        return Health(self._parts)

    # Other machines

    def origin(self) -> str | None:
        """Return the address that Git's configuration names for `origin`; None for none."""
        return repository.remotes(self._parts.git).get("origin")

    def set_origin(self, url: str) -> None:
        """Have Git's configuration name `url` for `origin`."""
        repository.set_remote(self._parts.git, "origin", url)

    def tracked(self, ref: str) -> str | None:
        """Return what a reference names, as where a branch of another repository was seen last; None without it."""
        return self._refs.read(ref)

    def track(self, ref: str, commit: str | None) -> None:
        """Remember where a branch of another repository was seen; None forgets it."""
        if commit is None:
            self._refs.remove(ref)
        else:
            self._refs.restore(ref, commit)
