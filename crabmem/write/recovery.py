"""What a crash leaves to be finished: the intent of the write under way, and the files that writes displaced.

The intent is durable before the first file is touched, and cleared at the end of the write.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..disk import fs, state
from ..disk.jsonl import JsonLines, encoded
from ..disk.seal import Seal
from ..text.hashes import blob_id
from ..workspace.layout import Layout

# Decoded, a journal takes many times its bytes.
_LARGEST_FOREIGN = 1_000_000
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


class Pending(NamedTuple):
    """A write that did not end. `is_ours`: this user began it on this machine, so it may be finished unasked."""

    intent: Intent
    is_ours: bool


class Journal:
    """The one intent of a workspace, and those of strangers, which are set aside.

    `private` is the folder of crabmem's own files. Only used under the writer's lock.
    """

    def __init__(self, private: Path, layout: Layout, seal: Seal) -> None:
        self._file = private / state.JOURNAL
        self._aside = private / state.ASIDE
        self._layout = layout
        self._seal = seal

    def begin(self, intent: Intent) -> None:
        """Make `intent` durable."""
        fresh = not self._file.exists()
        fs.overwrite(self._file, self._seal.sealed(msgspec.json.encode(intent)) + b"\n")
        if fresh:
            fs.sync_folder(self._file.parent)

    def finish(self) -> None:
        """Forget the intent. One that comes back after a power cut is recognised as done."""
        fs.hint(self._file, b"")

    def pending(self) -> Pending | None:
        """The write that did not end; None for one that was cut short, which had not begun.

        None also for one that names anything but our files: whoever put it there, it is never done.
        """
        return self._read(self._file)

    def set_aside(self, pending: Pending) -> Path:
        """Make way for our writes, and keep an intent of somebody else until a person decides; where it is now."""
        fs.make_folder(self._aside)
        place = self._aside / f"journal-{blob_id(msgspec.json.encode(pending.intent))[:12]}"
        fs.rename(self._file, place)
        return place

    def waiting(self) -> dict[Path, Intent]:
        """The intents that were set aside, and where each is."""
        found = {place: self._read(place) for place in sorted(self._aside.glob("journal-*"))}
        return {place: pending.intent for place, pending in found.items() if pending}

    def is_open(self) -> bool:
        """Whether something is, or was, under way; False where that cannot be seen."""
        try:
            return self._file.lstat().st_size > 0
        except OSError:
            return False

    def _read(self, file: Path) -> Pending | None:
        try:
            data, is_ours = self._seal.opened(fs.read(file)[0].removesuffix(b"\n"))
            if not is_ours and len(data) > _LARGEST_FOREIGN:
                return None
            intent = msgspec.json.decode(data, type=Intent)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return Pending(intent, is_ours) if _names_only_ours(intent, self._layout) else None


def _names_only_ours(intent: Intent, layout: Layout) -> bool:
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


class Displaced:
    """Files that writes replaced, kept for a while: an editor that still has one open may yet write to it.

    Which temporary file stood at which path. `private` is the folder of crabmem's own files. Only used under the
    writer's lock.
    """

    def __init__(self, private: Path, layout: Layout) -> None:
        self._file = private / state.DISPLACED
        self._lines = JsonLines(self._file, dict[str, str])
        self._layout = layout

    def add(self, paths: Mapping[str, str]) -> None:
        """Note paths by the name of the file that stood there."""
        if paths:
            self._lines.append([dict(paths)])

    def all(self) -> dict[str, str]:
        """Every path noted, by name; none that is not ours."""
        noted = {name: path for line in self._lines.read() for name, path in line.items()}
        return {name: path for name, path in noted.items() if self._layout.is_kept(path)}

    def keep(self, paths: Mapping[str, str]) -> None:
        """Forget all but these."""
        fs.hint(self._file, encoded([paths] if paths else []))
