"""Which facts were used when: a line for each use, in a file that may be deleted at any time.

Holds no name and no path of a fact, but a digest of where it lies: what is purged does not stand here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..disk.jsonl import JsonLines, moment, text
from ..text.values import value
from .salience import Used

_MOST = 256_000  # bytes of the file
# Outdated lines that a log of reads may have before it is rewritten.
_SPARE = 1_000


@value
class Use:
    """That a fact was used."""

    when: datetime
    fact: str


class UseLog:
    """The uses that are remembered of the facts of one workspace, the older half forgotten now and then."""

    def __init__(self, file: Path) -> None:
        self._lines = JsonLines(file, vars, _heard)

    def add(self, paths: Iterable[str], when: datetime) -> None:
        """Remember that the facts at `paths` were used, where there is a place for it."""
        for path in paths:
            self._lines.add(Use(when, _digest(path)), _MOST)

    def known(self) -> Callable[[str], Used | None]:
        """Read the log once, and return a function from a path to the fact's uses; that returns None for no use."""
        moments = defaultdict[str, list[datetime]](list)
        for line in self._lines.all():
            moments[line.fact].append(line.when)

        def used(path: str) -> Used | None:
            own = moments.get(_digest(path)) if moments else None
            return Used(len(own), max(own)) if own else None

        return used

    def move(self, old: str, new: str) -> None:
        """Have the fact that was at `old` keep its uses at `new`."""
        before, after = _digest(old), _digest(new)
        if moved := [Use(line.when, after) for line in self._lines.all() if line.fact == before]:
            self._lines.add_all(moved)
            self._lines.keep(lambda line: line.fact != before)

    def keep(self, paths: Iterable[str]) -> None:
        """Forget the uses of all facts but those at `paths`."""
        there = set(map(_digest, paths))
        self._lines.keep(lambda line: line.fact in there)


class ReadLog:
    """When the items of stores that do not stay were last put or read, by the digest of their key.

    Without the file they live from their last commit on.
    """

    def __init__(self, file: Path) -> None:
        self._lines = JsonLines(file, vars, _heard)

    def add(self, digests: Iterable[str], when: datetime) -> None:
        """Remember that the items with these digests were put or read."""
        self._lines.add_all(Use(when, digest) for digest in digests)

    def known(self) -> dict[str, datetime]:
        """The last time for each digest that is known."""
        return {line.fact: line.when for line in self._lines.all()}

    def tidy(self, gone: Container[str]) -> None:
        """Drop outdated lines: those of digests that are `gone`, and all but the last of each other digest.

        The file is rewritten only if a digest is gone, or most of its lines are outdated.
        """
        lines, last = self._lines.all(), self.known()
        if len(lines) > _SPARE + 2 * len(last) or any(digest in gone for digest in last):
            self._lines.keep(lambda line: line.fact not in gone and line.when == last[line.fact])


def _digest(path: str) -> str:
    return blake2b(path.encode(), digest_size=8).hexdigest()


def _heard(said: Any) -> Use:
    return Use(moment(said["when"]), text(said["fact"]))
