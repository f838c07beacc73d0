"""Upkeep beside the work, so that no write waits.

The history is compacted by a process of its own, as Git does it; and what writes left to the redo log is brought to the
disk once they pause.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..disk.background import start
from ..disk.fork_lock import Guard
from ..errors import CrabmemError
from ..workspace.workspace import Workspace
from .history import History

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess


#: Seconds until the next try, in case one was refused, or found somebody else at it.
PAUSE = 60.0
#: Seconds without a write after which all of them are brought to the disk; and after which that is done in any case.
IDLE, LONGEST = 1.0, 10.0
_NICE = 10


class Upkeep:
    """Looks after the history of the workspace at `root`, which is compacted when `is_due` says so.

    Each work is done at most once at a time. It may be ended at any moment, like by a kill.
    """

    def __init__(self, root: Path, is_due: Callable[[], bool]) -> None:
        self._root = root
        self._is_due = is_due
        self._guard = Guard()
        #: The compaction that was begun last, a process or a thread; and until when none is tried again.
        self._worker: subprocess.Popen[bytes] | threading.Thread | None = None
        self._not_before = 0.0
        #: The thread that waits for a pause to make writes durable, and what ends its waiting.
        self._hardening: threading.Thread | None = None
        self._is_over: threading.Event | None = None
        #: When the last write was, by the monotonic clock.
        self._written: float | None = None

    def nudge(self) -> None:
        """Begin the work if it is due: to be called after each write, outside of every lock.

        A failure is none of the write, which is done: the next one asks again.
        """
        is_first, self._written = self._written is None, time.monotonic()
        with self._guard, suppress(CrabmemError, OSError):
            # Most processes that write do so once, and end: they leave it to the log.
            if not (is_first or (self._hardening and self._hardening.is_alive())):
                self._is_over = threading.Event()
                self._hardening = _thread(partial(self._harden_when_idle, self._is_over))
            if self._is_running() or not self._is_due() or time.monotonic() < self._not_before:
                return
            self._not_before = time.monotonic() + PAUSE
            # Where no process can be started, a thread of this one does it; nobody where there can be none either.
            self._worker = start("git.upkeep", self._root) or _thread(partial(compact_history, self._root))

    def close(self, wait: bool = True) -> None:
        """End; `wait` until the work that was begun is done."""
        if self._is_over:
            self._is_over.set()
        if wait and self._hardening:
            self._hardening.join()
        worker = self._worker
        if worker is not None and wait:
            worker.join() if isinstance(worker, threading.Thread) else worker.wait()

    def _harden_when_idle(self, is_over: threading.Event) -> None:
        """Wait for a pause between writes, and make them durable. `is_over` ends the wait: the redo log has them."""
        began = time.monotonic()
        while (pause := min((self._written or began) + IDLE, began + LONGEST) - time.monotonic()) > 0:
            if is_over.wait(pause):
                return
        history = History(Workspace(self._root))
        try:
            history.mending.harden_beside()
        except (CrabmemError, OSError):
            pass  # the disk is full, say: the log still has all of it, and writers are told
        finally:
            history.close()

    def _is_running(self) -> bool:
        """Return whether a compaction runs. When one has ended, forget it; after a success the next need not wait."""
        worker = self._worker
        if worker is None:
            return False
        if isinstance(worker, threading.Thread):
            is_running, did_it = worker.is_alive(), False
        else:
            is_running, did_it = worker.poll() is None, worker.returncode == 0
        if not is_running:
            self._worker, self._not_before = None, 0.0 if did_it else self._not_before
        return is_running


def _thread(work: Callable[[], object]) -> threading.Thread | None:
    thread = threading.Thread(target=work, name="crabmem upkeep", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None  # the machine allows no more of them
    return thread


def compact_history(root: Path) -> bool:
    """Compact the history of the workspace at `root`; return whether anything was done."""
    history = History(Workspace(root))
    try:
        return history.compact() is not None
    except CrabmemError:
        return False  # the disk is full, say: writers are told
    finally:
        history.close()


def main(root: str) -> None:
    """Compact a history in a process of its own, which ends with 1 when there was nothing to do."""
    os.nice(_NICE)
    sys.exit(0 if compact_history(Path(root)) else 1)
