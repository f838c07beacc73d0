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
    """A lock between threads and processes. The kernel frees it when its holder dies: nobody removes it by hand.

    The folder `<file>.d` is the lock. `file` is the queue before it, held only until the folder is locked: a writer
    that has just written cannot overtake a waiting one, and deleting `file` does not release the lock. `<file>.pid` has
    the process id of the last holder.

    The watcher, the process that reads ahead, the automatic sync and the standby helper each hold such a lock on a file
    of their own, to keep a second one from starting. They write nothing under it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._folder = file.with_name(f"{file.name}.d")
        self._holder = file.with_name(f"{file.name}.pid")
        self._threads = Guard()

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """Hold the lock, waiting at most `timeout` seconds for other threads and for other processes.

        Notes this process as the last holder, for messages and for `is_holder_alive`.

        Raises:
            Busy: another thread or process held the lock for all of that time.
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
        """Enter the lock into `held`; Busy after `timeout` seconds, naming the workspace, three folders up."""
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
        """Enter the lock into `held`; return False if a purge exchanged `.git`, and the lock with it, meanwhile."""
        fs.make_folder(self._folder)
        with ExitStack() as tried:
            with locked(self._file, os.O_RDWR | os.O_CREAT, deadline):
                handle = tried.enter_context(locked(self._folder, os.O_RDONLY, deadline))
            # With no `.git/crabmem` left, the workspace was moved away: no retry, the writer's own check reports it.
            if fs.identity(handle) != fs.identity(self._folder) and self._file.parent.is_dir():
                return False
            held.push(tried.pop_all())
        return True

    def is_holder_alive(self) -> bool:
        """Return whether the process that held the lock last still runs on this machine."""
        holder = self._last_holder()
        return holder is not None and fs.is_alive(holder)

    def _last_holder(self) -> int | None:
        try:
            return int(fs.read(self._holder)[0])
        except (OSError, ValueError):
            return None


@contextmanager
def locked(place: Path, flags: int, deadline: float) -> Iterator[int]:
    """Hold the kernel's exclusive lock (flock) on a file or folder; yield its open handle.

    Raises:
        TimeoutError: another handle still held the lock at `deadline`, by the monotonic clock.
    """
    # Through a link, O_CREAT would make a file elsewhere, or the lock would block somebody else. A pipe blocks `open`.
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
