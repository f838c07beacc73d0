"""Upkeep beside the work: the history is compacted by a process of its own, as Git does it, so that no write waits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..disk.background import start
from ..disk.fork_lock import Guard
from ..errors import CrabmemError
from ..workspace.workspace import Workspace
from .history import History

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    import threading


#: Seconds until the next try, in case one was refused, or found somebody else at it.
PAUSE = 60.0
_NICE = 10


class Upkeep:
    """Compacts the history of the workspace at `root` when `is_due` says so, at most once at a time.

    It may be ended at any moment, like by a kill.
    """

    def __init__(self, root: Path, is_due: Callable[[], bool]) -> None:
        self._root = root
        self._is_due = is_due
        self._guard = Guard()
        self._worker: subprocess.Popen[bytes] | threading.Thread | None = None
        self._not_before = 0.0

    def nudge(self) -> None:
        """Begin the work if it is due: to be called after each write, outside of every lock.

        A failure is none of the write, which is done: the next one asks again.
        """
        with self._guard, suppress(CrabmemError, OSError):
            if self._is_running() or not self._is_due() or time.monotonic() < self._not_before:
                return
            self._not_before = time.monotonic() + PAUSE
            self._worker = _start_worker(self._root)

    def close(self, wait: bool = True) -> None:
        """End; `wait` until the work that was begun is done."""
        worker = self._worker
        if worker is not None and wait:
            (worker.join if hasattr(worker, "join") else worker.wait)()

    def _is_running(self) -> bool:
        worker = self._worker
        if worker is None:
            return False
        import subprocess  # late: most writes begin no work

        is_running = worker.poll() is None if isinstance(worker, subprocess.Popen) else worker.is_alive()
        if not is_running:
            did_it = isinstance(worker, subprocess.Popen) and worker.returncode == 0
            self._worker, self._not_before = None, 0.0 if did_it else self._not_before
        return is_running


def _start_worker(root: Path) -> subprocess.Popen[bytes] | threading.Thread | None:
    """Start a process that compacts, or a thread in this one where there can be none; None if there can be neither."""
    import threading

    if process := start("git.upkeep", root):
        return process
    thread = threading.Thread(target=compact_history, args=(root,), name="crabmem upkeep", daemon=True)
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
    if hasattr(os, "nice"):
        os.nice(_NICE)
    sys.exit(0 if compact_history(Path(root)) else 1)
