"""Threads and forks: a lock that is free in a forked child, which does not have the thread that held it, and a property
that needs none."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from ..errors import CrabmemError

BEYOND_TIME = "the clock of this machine is beyond the year 2262, with which Python cannot work: set it right"


class Guard:
    """Like `threading.Lock`; free in a child process, whoever held it in the parent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _guards.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def acquire(self, timeout: float) -> bool:
        """Take the lock within `timeout` seconds; whether that worked."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def renew(self) -> None:
        """Forget who held the lock."""
        self._lock = threading.Lock()


_guards: "weakref.WeakSet[Guard]" = weakref.WeakSet()


_loading = threading.RLock()


@contextmanager
def loading() -> Iterator[None]:
    """Import within it what is loaded late: a child that is forked meanwhile would wait for that import forever.

    Raises:
        CrabmemError: the clock is so wrong that Python cannot load it.
    """
    with _loading:
        try:
            yield
        except OverflowError:  # Python's own `logging` asks for the time when it is imported
            raise CrabmemError(BEYOND_TIME) from None


def _before_fork() -> None:
    _loading.acquire()


def _after_fork() -> None:
    _loading.release()


def _renew_all() -> None:
    global _loading
    _loading = threading.RLock()
    for guard in list(_guards):
        guard.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_renew_all)


T = TypeVar("T")


class once(Generic[T]):
    """A property that is computed once for an object, and from then on is a plain attribute of it.

    As `functools.cached_property`, which before Python 3.12 holds one lock for all objects of a class: a child that is
    forked while another thread computes would wait for that lock for ever. Two threads may compute it both here.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> T | Self:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value

    if TYPE_CHECKING:  # a plain attribute can be set

        def __set__(self, instance: object, value: T) -> None: ...
