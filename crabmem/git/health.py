"""Whether all is well with a repository: what references reach, the files beside it, and locks that were left."""

from collections.abc import Iterator
from pathlib import Path

from ..disk import state
from ..disk.lock import WriterLock
from ..errors import DamagedHistory
from . import repository
from .parts import Parts
from .reach import Stored, everything
from .refs import OID


class Health:
    """Looks at one repository, and changes nothing."""

    def __init__(self, parts: Parts) -> None:
        self._git, self._private = parts.git, parts.private
        self._refs, self._objects = parts.refs, parts.objects

    def everything(self) -> Iterator[Stored]:
        """Return every object that a reference reaches, checked."""
        return everything(self._refs.tips(), self._objects)

    def unreadable_files(self) -> list[str]:
        """Return the files of the repository, apart from objects and references, that Git cannot read."""
        files = {
            ".git/packed-refs": self._refs.packed_is_whole(),
            ".git/config": repository.is_readable(self._git / "config"),
            ".git/shallow": self._is_shallow_readable(),
        }
        return [path for path, is_fine in files.items() if not is_fine]

    def _is_shallow_readable(self) -> bool:
        try:
            return all(OID.match(each.decode("ascii", "replace")) for each in self._objects.shallow())
        except DamagedHistory:
            return False

    def locks(self) -> list[Path]:
        """Return the locks of other Git processes, or of one that died."""
        return [*self._git.glob("*.lock"), *(self._git / "refs").rglob("*.lock")]

    def left_locks(self) -> list[Path]:
        """Return the locks that a write of ours left which was ended; Git waits for them."""
        ours = [lock for lock in self._refs.our_locks() if lock.suffix == ".lock"]
        return ours if ours and not WriterLock(self._private / state.LOCK).is_holder_alive() else []
