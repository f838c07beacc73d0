"""How long a remote may send nothing, how slowly it may send, and how much."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..disk.background import in_time
from ..errors import Unreachable, Untrusted

T = TypeVar("T")
#: Called with the step that is under way, and how many bytes or objects of it are done.
Progress = Callable[[str, int], None]

#: Bytes that a remote's list of references may take, and a pack; and the objects of a pack in all, inflated and whole.
MOST_REFS, MOST_PACK, MOST_WORK = 20_000_000, 1_000_000_000, 100_000_000_000
#: Bytes of whole objects that each byte of a pack allows, and those that any pack may have: a folder of 10,000 facts
#: has a whole tree in each commit, which is a thousand times as large as its delta.
WORK_PER_BYTE, LEAST_WORK = 5_000, 2_000_000_000
MOST_OBJECTS = 1_000_000
#: Objects that a fetch or push stores as loose files, so that compaction packs them later; of more it makes a pack.
FEW = 300
# Bytes in a second on the slowest line that is waited for, on the whole: a modem has ten times as many.
_SLOWEST = 500


class Limit:
    """The limits of one exchange with a remote. `where` is its name in messages; it may be silent for `seconds`.

    The deadline moves with each byte that goes over the line, as if the line had `_SLOWEST` bytes a second: a slow line
    is no failure, one that only drips is. It also moves with steps of our own work, which the size of the pack bounds.
    """

    def __init__(self, where: str, seconds: float, progress: Progress = lambda step, done: None) -> None:
        self.where = where
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._progress = progress
        #: How many bytes the remote may still send, and how many `allow` set.
        self.room = self._most = MOST_REFS

    def left(self) -> float:
        """Return the seconds until the deadline.

        Raises:
            Unreachable: the deadline has passed.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.over()
        return left

    def over(self) -> Unreachable:
        """Return the error for a deadline that has passed."""
        return Unreachable(
            f"{self.where} said nothing, or hardly anything, for {self._seconds:g} s: try again where the network is "
            "better"
        )

    def allow(self, size: int) -> None:
        """Set how many bytes the remote may send from now on."""
        self.room = self._most = size

    def heard(self, size: int) -> None:
        """Count `size` bytes that the remote sent, and move the deadline for them.

        Raises:
            Untrusted: the remote has sent more than it may.
            Unreachable: the deadline had passed.
        """
        self.room -= size
        if self.room < 0:
            raise Untrusted(f"{self.where} says more than {self._most:,} bytes: that is no memory's, and was not kept")
        self.sent(size)

    def sent(self, size: int) -> None:
        """Move the deadline for `size` bytes that went over the line, at most to `seconds` from now.

        Raises:
            Unreachable: the deadline had passed.
        """
        self.left()
        self._end = min(self._end + size / _SLOWEST, time.monotonic() + self._seconds)

    def show(self, step: str, done: int) -> None:
        """Report progress, and leave the deadline as it is."""
        self._progress(step, done)

    def tell(self, step: str, done: int) -> None:
        """Report progress of our own work, and set the deadline to `seconds` from now.

        Raises:
            Unreachable: the deadline had passed.
        """
        self.left()
        self._end = time.monotonic() + self._seconds
        self._progress(step, done)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock within the block, for work of our own of which the remote notices nothing."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - began

    def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns. It runs in a thread, which is abandoned when the deadline passes.

        Raises:
            Unreachable: the deadline has passed.
        """
        self.left()
        try:
            return in_time(work, lambda: self._end)
        except TimeoutError:
            raise self.over() from None
