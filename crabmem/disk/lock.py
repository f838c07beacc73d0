"""One writer at a time, across threads and processes. Readers never come here."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import Busy
from . import fs
from .fork_lock import Guard

_POLL = 0.005


class WriterLock:
    """The lock on `file`. The kernel frees it when its holder dies: it never has to be removed by hand.

    The folder `<file>.d` is the lock, the file the queue before it: a writer that has just written cannot overtake one
    that waits, and deleting the file lets nobody in.

    A watcher, a process that reads ahead, one that syncs unasked and one that stands by each hold such a lock on a file
    of their own: it keeps a second one from beginning, and nothing is written under it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._folder = file.with_name(f"{file.name}.d")
        self._holder = file.with_name(f"{file.name}.pid")
        self._threads = Guard()

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """Hold the lock, waiting at most `timeout` seconds for other threads and for other processes.

        Raises:
            Busy: somebody else held it all that time.
        """
        if not self._threads.acquire(timeout):
            raise Busy(f"another thread has been writing for {timeout:g} s; try again")
        try:
            with ExitStack() as held:
                self._acquire(held, timeout)
                if self._last_holder() != os.getpid():
                    fs.hint(self._holder, str(os.getpid()).encode())
                yield
        finally:
            self._threads.release()

    def _acquire(self, held: ExitStack, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        try:
            while not self._try_acquire(held, deadline):
                pass
        except TimeoutError:
            holder = self._last_holder()
            who = "another process" if holder is None else f"process {holder}"
            raise Busy(
                f"{who} has been writing to {self._file.parent.parent.parent} for more than {timeout:g} s; try again"
            ) from None

    def _try_acquire(self, held: ExitStack, deadline: float) -> bool:
        """Hold the lock; return False where a purge put another one in its place while this process waited for it."""
        fs.make_folder(self._folder)
        with ExitStack() as tried:
            with locked(self._file, os.O_RDWR | os.O_CREAT, deadline):
                handle = tried.enter_context(locked(self._folder, os.O_RDONLY, deadline))
            # Where nothing is in its place, the workspace was moved away: this holds, and whoever asks for it says so.
            if fs.identity(handle) != fs.identity(self._folder) and self._file.parent.is_dir():
                return False
            held.push(tried.pop_all())
        return True

    def is_holder_alive(self) -> bool:
        """Return whether the process that held the lock last is there still, on this machine."""
        holder = self._last_holder()
        return holder is not None and fs.is_alive(holder)

    def _last_holder(self) -> int | None:
        try:
            return int(fs.read(self._holder)[0])
        except (OSError, ValueError):
            return None


@contextmanager
def locked(place: Path, flags: int, deadline: float) -> Iterator[int]:
    """Hold the kernel's lock on a file or folder; its open handle.

    Raises:
        TimeoutError: that did not work until `deadline`.
    """
    # A link may lead to a place where locking makes a file, or keeps somebody else waiting; a pipe blocks `open`.
    handle = os.open(place, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, fs.PRIVATE_FILE)
    try:
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                raise TimeoutError(str(place))
            time.sleep(_POLL)
        yield handle
    finally:
        with suppress(OSError):  # closing alone frees nothing while a child that was forked meanwhile has the handle
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
