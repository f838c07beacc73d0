"""What was said of memory before turns: a line for each turn, in a file that may be deleted at any time.

Holds versions of entries, no word of them. Writers need no lock: a line is one write, and one that is lost
makes memory repeat itself.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from . import fs

_MOST = 256_000


class Turn(msgspec.Struct, frozen=True):
    """One turn: when, in which session, the versions of the entries that were injected, and how many characters."""

    when: datetime
    session: str | None
    versions: tuple[str, ...]
    characters: int


class Turns:
    """The turns of one workspace, the older half forgotten now and then."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> list[Turn]:
        """Those that are remembered, in order; what is no line of ours is left out."""
        try:
            lines = fs.read(self._file)[0].splitlines()
        except OSError:
            return []
        return [turn for turn in map(_decoded, lines) if turn]

    def versions(self, session: str) -> set[str]:
        """What was injected in a session."""
        return {version for turn in self.all() if turn.session == session for version in turn.versions}

    def add(self, turn: Turn) -> None:
        """Remember a turn, where there is a place for it."""
        if not self._file.parent.is_dir():
            return
        try:
            fs.append(self._file, msgspec.json.encode(turn) + b"\n")
            if self._file.stat().st_size > _MOST:
                turns = self.all()
                self._replace(turns[len(turns) // 2 :])
        except OSError:
            return  # a disk that is full or read-only: nobody asked for a write

    def _replace(self, turns: Iterable[Turn]) -> None:
        fs.swap_in(self._file, b"".join(msgspec.json.encode(turn) + b"\n" for turn in turns))


def _decoded(line: bytes) -> Turn | None:
    try:
        return msgspec.json.decode(line, type=Turn)
    except msgspec.MsgspecError:
        return None
