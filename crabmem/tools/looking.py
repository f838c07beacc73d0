"""Tools that only look: get, list, log."""

from itertools import islice
from typing import Annotated, TypedDict

from msgspec import Meta

from ..errors import InvalidArguments
from ..operations import facts as facts_operations
from ..operations import history, reading
from ..results import Commit, json_of, told_caveat
from ..session.session import Session
from ..text.entry import Entry
from ..text.hashes import short
from ..text.limits import MAX_LIMIT
from ..text.quoting import DATA, hit_text, one_line
from ..text.words import counted, shortened
from .result import Result
from .tool import READS, ToolFunction

_PAGE = 50
_WIDTH = 200

Limit = Annotated[int, Meta(description=f"How many at most; at least 1, and {MAX_LIMIT} at most.")]


class ListData(TypedDict):
    """A page of the facts there are, `total` of them; `next` is what the next page comes `after`, null at the end."""

    facts: "tuple[FactData, ...]"
    total: int
    next: str | None


class FactData(TypedDict):
    """What a fact is about, without its content."""

    name: str
    slug: str
    description: str
    tags: tuple[str, ...]
    version: str


class LogData(TypedDict):
    """Who wrote what, newest first."""

    commits: tuple[Commit, ...]


def get(
    memory: Session,
    name: Annotated[str, Meta(description="Name, file name or alias of the fact.")],
    at: Annotated[
        str | None,
        Meta(description="As it was then: a date such as 2026-03-01, '3 weeks ago', or a commit."),
    ] = None,
) -> Annotated[Result, Entry]:
    """Read one fact whole, by its name, with the version that a careful write names."""
    found = reading.get_seen(memory, name, at)
    caveat = "" if at else told_caveat(memory.engine.stale_since(found), memory.engine.sources_of(found))
    text = hit_text(found.path, found.name, found.description, found.content, found.version, caveat)
    return Result(f"From memory: {DATA}.\n\n{text}", json_of(found))


def list(
    memory: Session,
    limit: Limit = _PAGE,
    after: Annotated[str | None, Meta(description="The `next` of the page before; without it the first page.")] = None,
) -> Annotated[Result, ListData]:
    """List the facts there are, by name and description, a page at a time."""
    _check_limit(limit)
    entries = [*facts_operations.entries(memory), *reading.seen_beside(memory)]
    start = next((at + 1 for at, entry in enumerate(entries) if entry.path == after), None)
    rest = entries[start:] if start else [entry for entry in entries if after is None or entry.path > after]
    page = rest[:limit]
    follows = page[-1].path if len(rest) > len(page) else None
    lines = "\n".join(_line(entry) for entry in page) or ("no more facts" if after else "no facts yet")
    more = f"\n\n({counted(len(rest) - len(page), 'more fact')}: ask for those after `{follows}`)" if follows else ""
    return Result(lines + more, {"facts": [_fact(entry) for entry in page], "total": len(entries), "next": follows})


def log(
    memory: Session,
    limit: Limit = 20,
    name: Annotated[str | None, Meta(description="Only what touched this fact, even if it was forgotten.")] = None,
    since: Annotated[
        str | None, Meta(description="Only after then: a date such as 2026-03-01, '3 weeks ago', or a commit.")
    ] = None,
) -> Annotated[Result, LogData]:
    """List who wrote what when, newest first: yourself, other agents, or a person, whom a star marks."""
    _check_limit(limit)
    commits = tuple(islice(history.commits(memory, name, since=since), limit))
    return Result(log_text(commits), {"commits": [json_of(commit) for commit in commits]})


def log_text(commits: tuple[Commit, ...]) -> str:
    """A line for each commit: id, time, author, session, subject."""
    return "\n".join(_commit(commit) for commit in commits) or "nothing was written"


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArguments(f"limit must be from 1 to {MAX_LIMIT}, not {limit}")


def _commit(commit: Commit) -> str:
    return one_line(f"{short(commit.commit)}  {commit.line}")


def _line(entry: Entry) -> str:
    return one_line(f"- {entry.name}: {shortened(entry.description or entry.content, _WIDTH)}")


def _fact(entry: Entry) -> dict[str, object]:
    keys = ("name", "slug", "description", "tags", "version")
    return {key: value for key, value in json_of(entry).items() if key in keys}


TOOLS = (
    ToolFunction(get, "Read a fact", READS),
    ToolFunction(list, "List facts", READS),
    ToolFunction(log, "Read the log", READS),
)
