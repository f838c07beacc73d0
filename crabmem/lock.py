"""One writer at a time, across threads and processes. Readers never come here."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from . import fs
from .errors import Busy
from .guard import Guard

_POLL = 0.005


class WriterLock:
    """The lock on `file`. The kernel frees it when its holder dies: it never has to be removed by hand."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._holder = file.with_name(f"{file.name}.pid")
        self._threads = Guard()
        self._processes = FileLock(file, thread_local=False, poll_interval=_POLL, mode=0o600)

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """Hold the lock, waiting at most `timeout` seconds for other threads and for other processes.

        Raises:
            Busy: somebody else held it all that time.
        """
        if not self._threads.acquire(timeout):
            raise Busy(f"another thread has been writing for {timeout:g} s; try again")
        try:
            self._acquire(timeout)
            try:
                fs.hint(self._holder, str(os.getpid()).encode())
                yield
            finally:
                self._processes.release()
        finally:
            self._threads.release()

    def _acquire(self, timeout: float) -> None:
        try:
            self._processes.acquire(timeout=timeout)
        except Timeout:
            raise Busy(
                f"{self._holder_name()} has been writing to {self._file.parent.parent.parent} "
                f"for more than {timeout:g} s; try again"
            ) from None

    def _holder_name(self) -> str:
        try:
            return f"process {int(self._holder.read_bytes())}"
        except (OSError, ValueError):
            return "another process"
