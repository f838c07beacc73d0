"""Threads and forks: a lock that is free in a forked child, which does not have the thread that held it."""

import os
from _thread import RLock, allocate_lock
from _weakrefset import WeakSet
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import CrabmemError

BEYOND_TIME = "the clock of this machine is beyond the year 2262, with which Python cannot work: set it right"


class Guard:
    """Like `threading.Lock`; free in a child process, whoever held it in the parent."""

    def __init__(self) -> None:
        self._lock = allocate_lock()  # which `threading.Lock` is, and takes 2 ms less to load
        _guards.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def acquire(self, timeout: float) -> bool:
        """Take the lock within `timeout` seconds; whether that worked."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def renew(self) -> None:
        """Forget who held the lock."""
        self._lock = allocate_lock()


_guards: "WeakSet[Guard]" = WeakSet()


_loading = RLock()


@contextmanager
def loading() -> Iterator[None]:
    """Import late modules within this block: forks wait for its end.

    A child forked in the middle of an import inherits Python's import lock without the thread that frees it, and would
    wait forever.

    Raises:
        CrabmemError: the clock is beyond the year 2262, so that Python's `logging` cannot be imported.
    """
    try:
        with _loading:  # this very one: a child that is forked within has another
            yield
    except OverflowError:  # Python's own `logging` asks for the time when it is imported
        raise CrabmemError(BEYOND_TIME) from None


def _before_fork() -> None:
    _loading.acquire()


def _after_fork() -> None:
    _loading.release()


def _renew_all() -> None:
    global _loading
    _loading = RLock()
    for guard in list(_guards):
        guard.renew()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_renew_all)
