"""Stands between crabmem and the operating system: numbers the calls that change the disk, and makes chosen ones fail.

While a `Shim` is entered the functions of `os`, `fcntl.flock` and the C library's `renameat2` are replaced
in this process, so that what `pathlib` and `shutil` ask of the system is seen as well. A change
of the disk that came past them (through `open`, say) is named in `unseen`.
"""

import errno
import fcntl
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Self

from crabmem.disk import system

#: When a fault acts: ahead of the call; after it took effect and before it returns; or with half the bytes written.
MOMENTS = ("before", "after", "torn")
KILLED = 137

_NAMED = ("mkdir", "rmdir", "unlink", "remove", "utime", "chmod", "truncate")
_TWICE_NAMED = ("rename", "replace", "link")
_OPENED = ("write", "fsync", "fdatasync", "fchmod", "ftruncate")
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: What Python itself reports of changes of the disk, whoever asks for them.
_AUDITED = frozenset(f"os.{name}" for name in (*_NAMED, *_TWICE_NAMED, "symlink", "mkfifo", "mknod"))


@dataclass(frozen=True)
class Call:
    """A call that took effect. `other` is the second path of a rename, link or exchange.

    `at` is where in the file something was written that was not put at its end, or where it was cut short.
    """

    name: str
    path: str
    other: str = ""
    data: bytes = b""
    flags: int = 0
    at: int | None = None


@dataclass(frozen=True)
class Fault:
    """What happens at call number `at`, from 1; for a torn one, at that of the writes.

    `kind` is "kill" or the name of an error; with a "+" every call from there on fails.
    """

    kind: str
    at: int
    moment: str = "before"


class Shim:
    """Counts and records calls. Without `sync`, nothing waits for the disk: enough where no power is cut."""

    def __init__(
        self, fault: Fault | None = None, sync: bool = True, after: Callable[[Call], None] = lambda call: None
    ) -> None:
        """`after` is told each call that took effect, before it returns."""
        self.fault = fault
        self._after = after
        self.count = 0
        self.writes = 0
        self.trace: list[Call] = []
        self.unseen: list[str] = []
        self._sync = sync
        self._opened: dict[int, str] = {}
        self._at: dict[int, int] = {}
        self._real: list[tuple[Any, str, Any]] = []
        self._inside = False
        self._struck = False

    def __enter__(self) -> Self:
        for name in _NAMED:
            self._replace(os, name, self._named)
        for name in _TWICE_NAMED:
            self._replace(os, name, self._twice_named)
        for name in _OPENED:
            self._replace(os, name, self._on_handle)
        self._replace(os, "open", self._open)
        self._replace(os, "close", self._close)
        self._replace(os, "lseek", self._seek)
        self._replace(fcntl, "flock", self._on_handle)
        self._replace(system, "library", self._library)
        _watch_python()
        _entered.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _entered.remove(self)
        while self._real:
            module, name, real = self._real.pop()
            setattr(module, name, real)

    @property
    def is_hit(self) -> bool:
        """Whether the call that was to fail was reached."""
        fault = self.fault
        return fault is not None and (self.writes if fault.moment == "torn" else self.count) >= fault.at

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of what Python did past the replaced functions."""
        opened = event == "open" and arguments[1] is not None and arguments[2] & _CHANGES
        if not self._inside and (opened or event in _AUDITED):
            self.unseen.append(f"{event} {arguments[0]}")

    def _replace(self, module: Any, name: str, wrapper: Callable[..., Any]) -> None:
        real = getattr(module, name)

        def replaced(*given: Any, **options: Any) -> Any:
            return wrapper(name, real, *given, **options)

        self._real.append((module, name, real))
        setattr(module, name, replaced)

    def _open(self, name: str, real: Any, path: Any, flags: int, *given: Any, **options: Any) -> int:
        where = self._path(path, options.get("dir_fd"))

        def opened() -> int:
            handle: int = real(path, flags, *given, **options)
            self._opened[handle] = where
            return handle

        if not flags & _CHANGES:
            return opened()
        return int(self._passed(Call(name, where, flags=flags), opened, undo=os.close))

    def _close(self, name: str, real: Any, handle: int) -> None:
        self._opened.pop(handle, None)
        self._at.pop(handle, None)
        real(handle)

    def _seek(self, name: str, real: Any, handle: int, *given: Any) -> int:
        at = int(real(handle, *given))
        if handle in self._opened:
            self._at[handle] = at
        return at

    def _named(self, name: str, real: Any, path: Any, *given: Any, **options: Any) -> Any:
        where = self._path(path, options.get("dir_fd"))
        plain = "unlink" if name == "remove" else name
        return self._passed(Call(plain, where), lambda: real(path, *given, **options))

    def _twice_named(self, name: str, real: Any, source: Any, target: Any, **options: Any) -> Any:
        one, other = self._path(source, options.get("src_dir_fd")), self._path(target, options.get("dst_dir_fd"))
        plain = "rename" if name == "replace" else name
        return self._passed(Call(plain, one, other), lambda: real(source, target, **options))

    def _on_handle(self, name: str, real: Any, handle: int, *given: Any) -> Any:
        if handle not in self._opened:
            return real(handle, *given)  # a pipe, a terminal: none of a workspace
        if name == "write":
            return self._written(real, handle, bytes(given[0]))
        wait = self._sync or name not in ("fsync", "fdatasync")
        size = int(given[0]) if name == "ftruncate" else None
        return self._passed(Call(name, self._opened[handle], at=size), lambda: real(handle, *given) if wait else None)

    def _written(self, real: Any, handle: int, data: bytes) -> int:
        self.writes += len(data) > 1
        fault, path, at = self.fault, self._opened[handle], self._at.get(handle)
        if fault and fault.moment == "torn" and len(data) > 1 and self.writes == fault.at:
            half = data[: len(data) // 2]
            real(handle, half)
            self.trace.append(Call("write", path, data=half, at=at))
            self._strike(path)
        written = int(self._passed(Call("write", path, data=data, at=at), lambda: real(handle, data)))
        if at is not None:
            self._at[handle] = at + written
        return written

    def _library(self, name: str, real: Any) -> "_Library":
        return _Library(self, real())

    def exchanged(self, library: Any, ends: tuple[int, bytes, int, bytes, int]) -> int:
        """`renameat2`, which reports an error by its result."""
        call = Call("exchange", self._path(ends[1], ends[0]), self._path(ends[3], ends[2]))
        return int(self._passed(call, lambda: library.renameat2(*ends), failed=lambda result: result != 0))

    def _passed(
        self,
        call: Call,
        do: Callable[[], Any],
        undo: Callable[[Any], None] = lambda result: None,
        failed: Callable[[Any], bool] = lambda result: False,
    ) -> Any:
        self.count += 1
        if self._is_now("before"):
            self._strike(call.path)
        self._inside = True
        try:
            result = do()
        finally:
            self._inside = False
        if not failed(result):
            self.trace.append(call)
            self._after(call)
            if self._is_now("after"):
                undo(result)
                self._strike(call.path)
        return result

    def _is_now(self, moment: str) -> bool:
        """Whether the fault acts at this moment of this call: at its own, then, with "+", ahead of each."""
        if not self.fault:
            return False
        if self._struck:
            return moment == "before" and self.fault.kind.endswith("+")
        return self.count == self.fault.at and moment == self.fault.moment

    def _strike(self, path: str) -> None:
        """End the process, or raise the error."""
        kind = self.fault.kind if self.fault else ""
        if kind == "kill":
            os._exit(KILLED)
        self._struck = True
        code = getattr(errno, kind.rstrip("+"))
        raise OSError(code, os.strerror(code), path)

    def _path(self, path: Any, folder: int | None) -> str:
        if isinstance(path, int):
            return self._opened.get(path, "")
        text = os.fsdecode(path)
        if folder is not None and folder in self._opened:
            return os.path.join(self._opened[folder], text)
        return os.path.abspath(text)


class _Library:
    """The C library, with the one function of it that changes the disk passing through the shim."""

    def __init__(self, shim: Shim, library: Any) -> None:
        self._shim, self._library = shim, library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def renameat2(self, *ends: Any) -> int:
        return self._shim.exchanged(self._library, ends)


_entered: list[Shim] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _entered:
        _entered[-1].heard(event, arguments)


@cache
def _watch_python() -> None:
    """Have `_hear` called with what Python reports; a hook cannot be taken away again."""
    sys.addaudithook(_hear)
