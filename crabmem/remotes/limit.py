"""How long a remote may be silent, how slowly it may speak, and how much it may say."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..disk.background import in_time
from ..errors import Unreachable, Untrusted

T = TypeVar("T")
#: Told which step is under way, and how many bytes, or objects, of it are done.
Progress = Callable[[str, int], None]

#: References take no more bytes than this, a pack no more than that; its objects, made whole, no more than the last.
MOST_REFS, MOST_PACK, MOST_WORK = 20_000_000, 1_000_000_000, 100_000_000_000
#: Bytes of whole objects for each byte of a pack, and for a pack however small: a folder of 10,000 facts has a whole
#: tree in each commit, which is a thousand times its delta.
WORK_PER_BYTE, LEAST_WORK = 5_000, 2_000_000_000
MOST_OBJECTS = 1_000_000
#: Objects that are kept as files of their own, as writes leave them: compaction packs those, and no others.
FEW = 300
# Bytes in a second on the slowest line that is waited for, on the whole: a modem has ten times as many.
_SLOWEST = 500


class Limit:
    """One exchange with the remote that is shown as `where`, which may be silent for so many seconds.

    What it says, and what is sent to it, buys time for more of the same, so that a slow line is no failure, and one
    that drips is. Steps of our own work, which are bounded by what was said, buy time as well.
    """

    def __init__(self, where: str, seconds: float, progress: Progress = lambda step, done: None) -> None:
        self.where = where
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._progress = progress
        #: How many bytes the remote may still say.
        self.room = self._most = MOST_REFS

    def left(self) -> float:
        """Return how many seconds are left.

        Raises:
            Unreachable: none are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.over()
        return left

    def over(self) -> Unreachable:
        """Return what to say when the time is over."""
        return Unreachable(
            f"{self.where} said nothing, or hardly anything, for {self._seconds:g} s: try again where the network is "
            "better"
        )

    def allow(self, size: int) -> None:
        """Let the remote say so many bytes from now on."""
        self.room = self._most = size

    def heard(self, size: int) -> None:
        """Count what it said.

        Raises:
            Untrusted: that is more than it may.
            Unreachable: the time is over.
        """
        self.room -= size
        if self.room < 0:
            raise Untrusted(f"{self.where} says more than {self._most:,} bytes: that is no memory's, and was not kept")
        self.sent(size)

    def sent(self, size: int) -> None:
        """Count what went over the line.

        Raises:
            Unreachable: the time is over.
        """
        self.left()
        self._end = min(self._end + size / _SLOWEST, time.monotonic() + self._seconds)

    def show(self, step: str, done: int) -> None:
        """Show how far a step is that buys no time."""
        self._progress(step, done)

    def tell(self, step: str, done: int) -> None:
        """Say how far a step of our own work is.

        Raises:
            Unreachable: the time is over.
        """
        self.left()
        self._end = time.monotonic() + self._seconds
        self._progress(step, done)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let work of our own take as long as it does, of which the remote hears nothing."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - began

    def run(self, work: Callable[[], T]) -> T:
        """Return what `work` does, which is left alone when the time is over."""
        self.left()
        try:
            return in_time(work, lambda: self._end)
        except TimeoutError:
            raise self.over() from None
