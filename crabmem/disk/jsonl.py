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

#: Appends put off until the answer that they record has arrived, in a helper that answers for another process. None:
#: lines are appended at once.
held: list[Callable[[], None]] | None = None


class JsonLines(Generic[T]):
    """The lines of one file, each a value.

    `encode` turns a value into what JSON can hold, `decode` turns that back. For a line that is not ours `decode`
    raises ValueError, TypeError, KeyError or AttributeError: readers skip it.
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
        """Append a line, then drop the older half of the lines if the file has more than `most` bytes.

        Does nothing where the folder is missing or the disk refuses. Waits for its turn where `held` is a list.
        """
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
        """Append lines in one write, dropping none; do nothing where the folder is missing or the disk refuses."""
        if (new := list(lines)) and fs.is_own_folder(self._file.parent):
            with suppress(OSError):  # as above
                self.append(new)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Rewrite the file without the lines for which `stays` is false; leave it alone when all stay."""
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
        """Return the lines in order, without those that are not ours; [] when there is no file.

        Raises:
            OSError: the file is there and cannot be read.
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
    """Return a value from JSON if it is a text of at most `most` characters.

    Raises:
        ValueError: the value is no text, or a longer one.
    """
    if not isinstance(said, str) or (most is not None and len(said) > most):
        raise ValueError("no text, or a longer one")
    return said


def text_or_none(said: Any, most: int | None = None) -> str | None:
    """Return None for None, else the same as `text`."""
    return None if said is None else text(said, most)


def number(said: Any) -> int:
    """Return a value from JSON if it is a whole number.

    Raises:
        ValueError: the value is something else, true and false included.
    """
    if type(said) is not int:  # isinstance takes True, too
        raise ValueError("no number")
    return said


def moment(said: Any) -> datetime:
    """Return the moment that a value from JSON names in ISO 8601.

    Raises:
        ValueError: the value is no such text, or has no offset from UTC.
    """
    found = datetime.fromisoformat(text(said))
    if found.tzinfo is None:
        raise ValueError("no moment")
    return found
