"""Lines of JSON in a file that may be deleted at any time: what is worth remembering, and no loss when it is gone.

Writers need no lock: a line is one write.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from . import fs

T = TypeVar("T")


class Jottings(Generic[T]):
    """The lines of one file, each a value of `kind`."""

    def __init__(self, file: Path, kind: type[T]) -> None:
        self._file = file
        self._decoder = msgspec.json.Decoder(kind)

    def all(self) -> list[T]:
        """Those that are remembered, in order; what is no line of ours is left out."""
        try:
            lines = fs.read(self._file)[0].splitlines() if fs.is_own_folder(self._file.parent) else []
        except OSError:
            return []
        return [found for found in map(self._decoded, lines) if found is not None]

    def add(self, line: T, most: int) -> None:
        """Remember a line, where there is a place for it; the older half is forgotten in a file above `most` bytes."""
        if not fs.is_own_folder(self._file.parent):
            return
        try:
            fs.append(self._file, msgspec.json.encode(line) + b"\n")
            if self._file.stat().st_size > most:
                lines = self.all()
                self._write(lines[len(lines) // 2 :])
        except OSError:
            return  # a disk that is full or read-only: nobody asked for a write

    def add_all(self, lines: Iterable[T]) -> None:
        """Remember lines, all of them in one write, where there is a place for it; none is forgotten for them."""
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        if data and fs.is_own_folder(self._file.parent):
            with suppress(OSError):  # as above
                fs.append(self._file, data)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Forget the lines that do not stay; the file is touched only where there are some."""
        lines = self.all()
        kept = list(filter(stays, lines))
        if len(kept) < len(lines):
            with suppress(OSError):  # as above
                self._write(kept)

    def forget(self) -> None:
        """Forget all of them."""
        if os.path.exists(self._file):
            fs.unlink(self._file)

    def _write(self, lines: Iterable[T]) -> None:
        fs.swap_in(self._file, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    def _decoded(self, line: bytes) -> T | None:
        try:
            return self._decoder.decode(line)
        except msgspec.MsgspecError:
            return None
