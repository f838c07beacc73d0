"""What is under way: one write's intent, durable before the first file is touched and cleared at its end."""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from . import fs
from .workspace import Layout

_STAGED = re.compile(r"write-[0-9a-f]{16}\Z")
_BLOB = re.compile(r"([0-9a-f]{40})?\Z")
_KEY = re.compile(r"[A-Z][A-Za-z-]*\Z")
_AUTHOR = re.compile(r"[^<>\0\r\n]+ <[^<>\0\r\n]*>\Z")


class Step(msgspec.Struct, frozen=True):
    """One file of a write: its blob before and after (None: no file), and the temporary file it is exchanged with."""

    old: str | None
    new: str | None
    temporary: str


class Intent(msgspec.Struct, frozen=True):
    """A write that has begun: the words of its commit, its files by path, and the head it found."""

    subject: str
    author: str
    body: str
    trailers: tuple[tuple[str, str], ...]
    when: datetime
    steps: Mapping[str, Step]
    head: str | None = None


class Journal:
    """The one intent of a workspace, in `file`. Only used under the writer's lock."""

    def __init__(self, file: Path, layout: Layout) -> None:
        self._file = file
        self._layout = layout

    def begin(self, intent: Intent) -> None:
        """Make `intent` durable."""
        fresh = not self._file.exists()
        fs.overwrite(self._file, msgspec.json.encode(intent) + b"\n")
        if fresh:
            fs.sync_folder(self._file.parent)

    def finish(self) -> None:
        """Forget the intent. One that comes back after a power cut is recognised as done."""
        fs.hint(self._file, b"")

    def pending(self) -> Intent | None:
        """The intent of a write that did not end; one that was cut short had not begun.

        One that names anything but our files is none of ours, whoever put it there.
        """
        try:
            intent = msgspec.json.decode(self._file.read_bytes(), type=Intent)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return intent if _is_ours(intent, self._layout) else None

    def is_open(self) -> bool:
        """Whether something is, or was, under way; False where that cannot be seen."""
        try:
            return self._file.stat().st_size > 0
        except OSError:
            return False


def _is_ours(intent: Intent, layout: Layout) -> bool:
    """Whether every path, id and word is one that we could have written."""
    steps = all(
        layout.is_kept(path)
        and _STAGED.match(step.temporary)
        and _BLOB.match(step.old or "")
        and _BLOB.match(step.new or "")
        for path, step in intent.steps.items()
    )
    trailers = all(_KEY.match(key) and "\0" not in value for key, value in intent.trailers)
    return steps and trailers and bool(_AUTHOR.match(intent.author)) and "\0" not in intent.subject + intent.body
