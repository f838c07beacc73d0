"""What history tells of texts: who wrote a line, when a fact came and went, what came of a week. Values."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from ..results import Commit, CommitBrief, json_keys


@dataclass(frozen=True)
class Line:
    """A line of a file, and the commit it came with.

    All about the commit is None while the line is not recorded; it then counts as a person's, as it will be.
    """

    number: int
    text: str
    commit: str | None
    time: datetime | None
    author: str | None
    tool: str | None
    agent: str | None
    session: str | None
    is_person: bool

    @classmethod
    def of(cls, number: int, text: str, commit: Commit | None) -> Self:
        """The line that came with `commit`."""
        if commit is None:
            return cls(number, text, None, None, None, None, None, None, True)
        said = commit.commit, commit.time, commit.author, commit.tool, commit.agent, commit.session
        return cls(number, text, *said, commit.is_person)


@dataclass(frozen=True)
class Filter:
    """Which commits are meant; "" asks nothing. `author` is a name or words of it; `tool` may begin the subject."""

    agent: str = ""
    session: str = ""
    tool: str = ""
    author: str = ""

    def __call__(self, commit: Commit) -> bool:
        """Whether `commit` is one, without regard to case."""
        tools = (commit.tool or "", commit.subject.partition(":")[0])
        return (
            _is(self.agent, commit.agent or "")
            and _is(self.session, commit.session or "")
            and any(_is(self.tool, tool) for tool in tools)
            and (not self.author or f" {self.author} ".casefold() in f" {commit.author} ".casefold())
        )


def _is(wanted: str, given: str) -> bool:
    return not wanted or wanted.casefold() == given.casefold()


@dataclass(frozen=True)
class Sighting:
    """What a commit did to a fact in one file: it "appeared", "changed" or "vanished" there.

    `before` and `after` are the lines that say it.
    """

    JSON = (
        "what",
        "name",
        "path",
        "before",
        "after",
        *(f"{key}=commit.brief.{key}" for key in json_keys(CommitBrief)),
    )

    commit: Commit
    what: str
    path: str
    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Sightings:
    """When a fact was known, oldest first. `is_exact` tells whether the text was found word by word.

    `now` are the names of what says it on disk, `unrecorded` those of them whose files no commit has as they are.
    """

    query: str
    is_exact: bool
    steps: tuple[Sighting, ...]
    now: tuple[str, ...]
    unrecorded: tuple[str, ...] = ()


@dataclass(frozen=True)
class News:
    """What became of one entry or file in some time: by which commits, newest first."""

    JSON = ("name", "path", "description", "authors", "commits=commits.brief")

    name: str
    path: str
    description: str
    commits: tuple[Commit, ...]

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote it in that time, who did so last first."""
        return authors(self.commits)


@dataclass(frozen=True)
class Digest:
    """What some time brought: from the commit `since` (None: the beginning) to `until`, by so many `commits`.

    `passing` is what was learned and dropped again. What was changed and changed back is nowhere.
    """

    JSON = ("since", "until", "commits=count", "authors", "learned", "changed", "dropped", "passing")

    since: str | None
    until: str | None
    commits: tuple[Commit, ...]
    learned: tuple[News, ...]
    changed: tuple[News, ...]
    dropped: tuple[News, ...]
    passing: tuple[News, ...]

    @property
    def count(self) -> int:
        """How many commits were made in that time."""
        return len(self.commits)

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote in that time, who did so last first."""
        return authors(self.commits)


def authors(commits: Iterable[Commit]) -> tuple[str, ...]:
    """Whose commits they are, each once."""
    return tuple(dict.fromkeys(commit.author for commit in commits))
