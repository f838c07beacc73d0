"""When and that loose objects are packed: every write leaves a whole copy of a flat folder's tree behind.

How it is done is in `compaction`, which a write that does not compact never loads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..disk import fs, state
from ..disk.lock import locked
from ..errors import Unwritable
from ..text.values import value
from .refs import Refs

#: Bytes, or objects, that lie loose and are worth a compaction.
MOST_BYTES = 24_000_000
MOST_OBJECTS = 2_000


@value
class Packed:
    """What a compaction did: how many objects it packed, and the bytes they and the pack took before and after."""

    objects: int
    before: int
    after: int

    def __add__(self, other: Packed) -> Packed:
        return Packed(self.objects + other.objects, self.before + other.before, self.after + other.after)


class Packing:
    """The loose objects of one repository; `private` is the folder for what is ours.

    What writes left is counted in a file, which may be lost: then it is measured again.
    """

    def __init__(self, git: Path, private: Path, refs: Refs) -> None:
        self._git = git
        self._private = private
        self._refs = refs
        self._counter = private / state.LOOSE

    def count(self, size: int, objects: int) -> None:
        """Note that so many objects of together `size` bytes were written loose."""
        with suppress(OSError):  # a count that is too low is put right by the next measuring
            if objects:
                self._counted()
                fs.append(self._counter, b"%d %d\n" % (size, objects))

    def is_due(self) -> bool:
        """Return whether enough lies loose. Costs a look at one small file."""
        try:
            size, objects = self._counted()
        except OSError:
            return False  # nothing could be packed on such a disk
        return size >= MOST_BYTES or objects >= MOST_OBJECTS

    def compact(self, progress: Callable[[int], None] | None = None, whole: bool = False) -> Packed | None:
        """Pack what is loose and reached by references, but for the newest commits unless `whole`.

        Return None when somebody else does so, `git gc` runs, or nothing was to be done. Writers may write meanwhile.
        `progress` is told how many objects are packed; what it raises ends the work, which leaves all as it was.

        Raises:
            Unwritable: the disk refused; nothing is lost, and the next time goes on from there.
        """
        try:
            with fs.durability(True), self.alone() as is_alone:
                if not is_alone or self._refs.is_gc_running():
                    return None
                from .compaction import Compaction

                seen = self._read()
                packed = Compaction(self._git, self._private, self._refs, progress or (lambda done: None), whole).run()
                fs.hint(self._counter, b"0 0\n" + self._read()[len(seen) :])
                return packed
        except OSError as error:
            raise Unwritable(f"the disk refused to compact the history: {error.strerror or error}") from error

    def _counted(self) -> tuple[int, int]:
        if not self._counter.exists():
            fs.hint(self._counter, b"%d %d\n" % _measured(self._git / "objects"))
        pairs = [line.split() for line in self._read().splitlines()]
        whole = [pair for pair in pairs if len(pair) == 2 and all(map(bytes.isdigit, pair))]
        return sum(int(size) for size, _ in whole), sum(int(objects) for _, objects in whole)

    def _read(self) -> bytes:
        try:
            return fs.read(self._counter)[0]
        except FileNotFoundError:
            return b""

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Keep others from compacting; yield False where somebody does so already. The kernel lets go when we die."""
        with ExitStack() as held:
            try:
                held.enter_context(locked(self._private / state.PACKING, os.O_RDWR | os.O_CREAT, deadline=0))
            except TimeoutError:
                yield False
            else:
                yield True


def _measured(objects: Path) -> tuple[int, int]:
    folders = [folder.path for folder in os.scandir(objects) if len(folder.name) == 2]
    sizes = [item.stat().st_size for folder in folders for item in os.scandir(folder)]
    return sum(sizes), len(sizes)
