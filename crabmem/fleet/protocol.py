"""The calls of an index of many memories, and the values that go in and out. Another engine is one more file."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..prompt.profile import KINDS, Kind

#: The bit of each kind of session.
BITS: Mapping[Kind, int] = {kind: 1 << at for at, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class Space:
    """A memory that is followed: `commit` is what its rows say, None before the first time.

    `language`, `rules`, `settings` and `purges`, the record of what was purged, are those by which they were made.
    `mirror` is the name of the folder that a follower may keep for it.
    """

    id: int
    name: str
    address: str
    language: str = "english"
    commit: str | None = None
    rules: bytes | None = None
    settings: str | None = None
    purges: str | None = None
    error: str = ""
    mirror: str = ""


@dataclass(frozen=True)
class Passage:
    """A part of a fact that is ranked: how often it holds each word, and how long it counts as."""

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True)
class Said:
    """A fact, or a daily note: its file, the mask of the `kinds` that see it, and the `commit` that wrote it last."""

    path: str
    blob: str
    kinds: int
    is_note: bool
    said: str
    commit: str | None
    since: datetime | None


@dataclass(frozen=True)
class Row(Said):
    """A fact as it goes into the index."""

    passages: Sequence[Passage]


@dataclass(frozen=True)
class Contents:
    """A memory at a commit: the blob of each file that is recalled, and how to read some of them.

    `is_rewritten`: the commit does not stand on the one before, so that others wrote what has not changed.
    """

    commit: str
    language: str
    rules: bytes
    settings: str
    purges: str | None
    blobs: Mapping[str, str]
    read: Callable[[Collection[str]], Iterator[Row]]
    is_rewritten: bool = False


@dataclass(frozen=True)
class Asked:
    """A question in the words of one language: `terms` are the groups of words that count as one, each with `rules`."""

    terms: Sequence[Sequence[str]]
    rules: bytes


@dataclass(frozen=True)
class Found(Said):
    """A fact that answers, and of which memory it is; `space` and `kinds` are for who checks the rights again."""

    score: float
    space: int
    name: str
    behind: float | None


@dataclass(frozen=True)
class Followed:
    """A memory that may be asked, for sessions of the kind of the bit `kind`, and how far the index of it is.

    `behind` are seconds since the remote was known to say the same, None for never; `pushed` tells that somebody pushed
    since, `is_failing` that the last look failed.
    """

    id: int
    name: str
    language: str
    kind: int
    commit: str | None
    behind: float | None
    pushed: bool
    is_failing: bool
    facts: int


class FleetIndex(Protocol):
    """An index of many memories. Who may see what is decided by it."""

    def put(self, space: Space, contents: Contents) -> int:
        """Make the rows of `space` equal `contents`, all or nothing; return how many facts were written or removed."""

    def search(self, asked: Sequence[Asked], scope: Collection[int] | None, kind: Kind, limit: int) -> list[Found]:
        """The facts that answer best, of the memories with these ids (None: of all), for sessions of that kind.

        Nothing counts that the one who asks may not see.
        """

    def followed(self, kind: Kind) -> list[Followed]:
        """The memories that may be asked in sessions of that kind, by name."""

    def drop(self) -> None:
        """Remove the whole index."""
