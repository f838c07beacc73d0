"""Lines of JSON in a file, each a value of one type, appended as they come: what is worth remembering.

Writers need no lock: a line is one write. What is no line of ours, or was cut short, is left out. Most such files may
be deleted at any time (see `state`), so that reading and adding never fail; `read` and `append` are for those whose
loss has to be told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from . import fs

T = TypeVar("T")

#: Lines to add once the answer that they tell of has arrived, in a process that answers for another; None for at once.
held: list[Callable[[], None]] | None = None


class JsonLines(Generic[T]):
    """The lines of one file, each a value.

    `encode` makes of one what JSON can say. `decode` makes one of that; for what is none it raises a ValueError,
    TypeError, KeyError or AttributeError.
    """

    def __init__(self, file: Path, encode: Callable[[T], Any], decode: Callable[[Any], T]) -> None:
        self._file = file
        self._encode = encode
        self._decode = decode

    def all(self) -> list[T]:
        """The lines in order; none where the file cannot be read, or a link leads to it."""
        try:
            return self.read() if fs.is_own_folder(self._file.parent) else []
        except OSError:
            return []

    def add(self, line: T, most: int) -> None:
        """Add a line, where there is a place for it; the older half goes from a file above `most` bytes."""
        if held is not None:
            held.append(lambda: self._add(line, most))
        else:
            self._add(line, most)

    def _add(self, line: T, most: int) -> None:
        if not fs.is_own_folder(self._file.parent):
            return
        try:
            self.append([line])
            if self._file.stat().st_size > most:
                lines = self.all()
                self._write(lines[len(lines) // 2 :])
        except OSError:
            return  # a disk that is full or read-only: nobody asked for a write

    def add_all(self, lines: Iterable[T]) -> None:
        """Add lines, all of them in one write, where there is a place for it; none goes for them."""
        if (new := list(lines)) and fs.is_own_folder(self._file.parent):
            with suppress(OSError):  # as above
                self.append(new)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Remove the lines that do not stay; the file is touched only where there are some."""
        lines = self.all()
        kept = list(filter(stays, lines))
        if len(kept) < len(lines):
            with suppress(OSError):  # as above
                self._write(kept)

    def remove(self) -> None:
        """Remove the file."""
        if os.path.exists(self._file):
            fs.unlink(self._file)

    def read(self) -> list[T]:
        """The lines in order; none of a file that is not there.

        Raises:
            OSError: it cannot be read.
        """
        try:
            lines = fs.read(self._file)[0].splitlines()
        except FileNotFoundError:
            return []
        return [found for found in map(self._value_in, lines) if found is not None]

    def append(self, lines: Iterable[T]) -> None:
        """Add lines in one write.

        Raises:
            OSError: the disk refused.
        """
        fs.append(self._file, self.encoded(lines))

    def encoded(self, lines: Iterable[T]) -> bytes:
        """Values as lines."""
        return b"".join(encoded(self._encode(line)) + b"\n" for line in lines)

    def _write(self, lines: Iterable[T]) -> None:
        fs.swap_in(self._file, self.encoded(lines))

    def _value_in(self, line: bytes) -> T | None:
        try:
            return self._decode(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None


def encoded(said: object) -> bytes:
    """A line of JSON, with moments as ISO 8601 has them."""
    return json.dumps(said, separators=(",", ":"), default=datetime.isoformat).encode()


def text(said: Any, most: int | None = None) -> str:
    """A text of at most so many characters, as JSON said it.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(said, str) or (most is not None and len(said) > most):
        raise ValueError("no text, or a longer one")
    return said


def text_or_none(said: Any, most: int | None = None) -> str | None:
    """The same, or None."""
    return None if said is None else text(said, most)


def number(said: Any) -> int:
    """A whole number, as JSON said it.

    Raises:
        ValueError: it is something else.
    """
    if type(said) is not int:  # isinstance takes True, too
        raise ValueError("no number")
    return said


def moment(said: Any) -> datetime:
    """A moment, as JSON said it.

    Raises:
        ValueError: it is something else, or does not say how far it is from UTC.
    """
    found = datetime.fromisoformat(text(said))
    if found.tzinfo is None:
        raise ValueError("no moment")
    return found
