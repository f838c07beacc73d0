"""Upkeep beside the work: what a workspace needs from time to time is done by a thread of its own."""

import threading
import time
from collections.abc import Callable

from .errors import CrabmemError
from .guard import Guard

#: Seconds until the next try after one that was refused, or found somebody else at it.
PAUSE = 60.0


class Upkeep:
    """Does `work` when `is_due` says so, at most once at a time.

    A process that ends meanwhile ends the work like a kill would, which `work` has to bear; `close` waits for it.
    """

    def __init__(self, is_due: Callable[[], bool], work: Callable[[], object]) -> None:
        """`work` returns something false when there was nothing it could do."""
        self._is_due = is_due
        self._work = work
        self._guard = Guard()
        self._thread: threading.Thread | None = None
        self._not_before = 0.0

    def nudge(self) -> None:
        """Begin the work if it is due: to be called after each write, outside of every lock."""
        with self._guard:
            is_running = self._thread is not None and self._thread.is_alive()
            if is_running or time.monotonic() < self._not_before or not self._is_due():
                return
            self._thread = threading.Thread(target=self._done, name="crabmem upkeep", daemon=True)
            self._thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Wait until the work that was begun is done, at most `timeout` seconds."""
        if self._thread:
            self._thread.join(timeout)

    def _done(self) -> None:
        done: object = None
        try:
            done = self._work()
        except CrabmemError:
            pass  # the disk is full, say: writers are told
        finally:
            self._not_before = 0.0 if done else time.monotonic() + PAUSE
