"""Turns: what was injected before each message of a session, a line each, in a file that may be deleted at any time.

Holds versions of entries, no word of them. A line that is lost makes memory repeat itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ..text.values import value
from .jsonl import JsonLines, moment, number, text, text_or_none

#: The event that a line tells of.
Kind: TypeAlias = Literal["turn", "begun", "anew", "asked", "stored", "tidy"]


_MOST = 256_000
# What ends the talk that nothing was stored of yet.
_SETTLED = ("asked", "stored")


@value
class Turn:
    """One line: a turn of a session ("turn"), with the versions of the entries that were injected and their characters.

    Other kinds of events: the session began ("begun"), its context was emptied ("anew"), its agent was asked to store
    what is worth keeping ("asked") or had stored something by itself ("stored"), or the person was told what waits to
    be tidied ("tidy"). `transcript` is how many bytes the host's record of the session had then.
    """

    when: datetime
    session: str | None
    versions: tuple[str, ...]
    characters: int
    kind: Kind = "turn"
    transcript: int = 0


@value
class Talk:
    """What was said in a session since something was stored, as far as is known: messages, and since when.

    `transcript` is how many bytes the host's record of the session had then.
    """

    messages: int
    since: datetime | None
    transcript: int


class Turns:
    """The turns of one workspace, the older half forgotten now and then."""

    def __init__(self, file: Path) -> None:
        self._lines = JsonLines(file, _encode, _decode)

    def all(self) -> list[Turn]:
        """All turns that are remembered, in order."""
        return [line for line in self._lines.all() if line.kind == "turn"]

    def versions(self, session: str) -> set[str]:
        """Return the versions injected into a session since its context was last emptied."""
        lines = _after(self._of(session), ("anew",))
        return {version for line in lines for version in line.versions}

    def talk(self, session: str) -> Talk:
        """Return how much was said in a session since its agent was last asked to store something, or did so.

        `since` is the first message after that; without one, the last time the session began, was asked, or stored.
        """
        lines = self._of(session)
        marks = [line for line in lines if line.kind in ("begun", *_SETTLED)]
        turns = [line for line in _after(lines, _SETTLED) if line.kind == "turn"]
        since = next(iter(turns), marks[-1] if marks else None)
        return Talk(len(turns), since.when if since else None, marks[-1].transcript if marks else 0)

    def has_begun(self, session: str | None) -> bool:
        """Return whether a hook reported the beginning of this session: it showed the overview to it then."""
        return session is not None and any(line.kind == "begun" for line in self._of(session))

    def has_told_to_tidy(self, since: datetime) -> bool:
        """Whether the person was told since then what waits to be tidied."""
        return any(line.kind == "tidy" and line.when >= since for line in self._lines.all())

    def add(self, turn: Turn) -> None:
        """Remember a turn, where there is a place for it."""
        self._lines.add(turn, _MOST)

    def _of(self, session: str) -> list[Turn]:
        return [line for line in self._lines.all() if line.session == session]


def _after(lines: Sequence[Turn], kinds: Collection[str]) -> Sequence[Turn]:
    last = max((place for place, line in enumerate(lines) if line.kind in kinds), default=-1)
    return lines[last + 1 :]


def _encode(turn: Turn) -> dict[str, Any]:
    usual = {("kind", "turn"), ("transcript", 0)}
    return {name: said for name, said in vars(turn).items() if (name, said) not in usual}


def _decode(said: Any) -> Turn:
    kind: Kind = said.get("kind", "turn")
    if kind not in get_args(Kind):
        raise ValueError("no line of ours")
    versions = tuple(text(version) for version in said["versions"])
    session, transcript = text_or_none(said["session"]), number(said.get("transcript", 0))
    return Turn(moment(said["when"]), session, versions, number(said["characters"]), kind, transcript)
