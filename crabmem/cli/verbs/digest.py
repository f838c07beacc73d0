"""`crabmem digest`: what was learned, changed and dropped in a time."""

from collections.abc import Sequence
from pathlib import Path

import click

from ...disk import fs
from ...errors import Unwritable
from ...operations import digest as digest_operations
from ...operations import proposals
from ...results import Digest, News, StaleFact, json_of
from ...text.words import counted, enumerated, shortened
from ..app import open_session, verb
from ..completing import complete_files
from ..options import by_option, in_option, json_option, when_option
from ..output import day, echo, exit_failed, paged, plain, show, tell

_SHOWN = 100
_USUAL = "1 week ago"


@verb(after="restore")
@when_option("--since", "From when on.  [default: 1 week ago; of a session or an agent, the beginning]")
@when_option("--until", "Up to when.  [default: now]")
@in_option("Only what a session brought.", "--session")
@by_option("Only what an agent brought.", "--agent")
@click.option(
    "--html",
    "file",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write it as a page with every change, word by word; - for stdout.",
)
@json_option
def digest(
    since: str | None,
    until: str | None,
    in_session: str | None,
    by: str | None,
    file: str | None,
    json_wanted: bool,
) -> None:
    """Sum up what was learned, changed and dropped, and by whom.

    It is Markdown; a star marks a person.

    With --html it is a page of one file, which loads nothing and runs no script: what was written, word by word, by
    whom, and what waits for you.

    Facts of which the day in `stale_after` is past, or whose sources changed, stand at the end.

    \b
    crabmem digest
    crabmem digest --since 2026-05-01 --until 2026-06-01
    crabmem digest --in s-42 --html s-42.html

    Exit status 1 when nothing is of the session or the agent that was asked for.
    """
    memory = open_session()
    begin = since or (None if in_session or by else _USUAL)
    found = digest_operations.digest(memory, begin, until, by, in_session)
    is_empty = not found.commits and (in_session is not None or by is not None)
    if file is not None:
        from ..digest_page import page  # late: no other digest needs it

        _write(file, page(memory, found, proposals.proposals(memory, by, in_session), memory.engine.clock()))
    if json_wanted and file != "-":
        show(True, json_of(found), str)
    elif file is None:
        paged([_markdown(found)])
    if is_empty:
        exit_failed()


def _write(file: str, text: str) -> None:
    """Write a page, replacing one that is there; `-` is stdout."""
    if file == "-":
        return echo(text)
    try:
        fs.swap_in(Path(file).absolute(), text.encode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        raise Unwritable(
            f"{file} cannot be written: {fs.reason(error) if isinstance(error, OSError) else 'that is not a file name'}"
        ) from None
    tell(f"wrote {file}")


def _markdown(found: Digest) -> str:
    stale = f"\n## Stale ({len(found.stale)})\n\n{''.join(map(_stale, found.stale))}" if found.stale else ""
    if not found.commits:
        return plain(f"# Memory\n\nNothing was recorded in that time.\n{stale}")
    days = dict.fromkeys(day(each.time) for each in (found.commits[-1], found.commits[0]))
    people = enumerated(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in found.commits))
    head = f"# Memory, {' to '.join(days)}\n\n{counted(len(found.commits), 'change')} by {people}\n"
    return plain(head + "".join(_section(title, news) for title, news in found.sections) + stale)


def _section(title: str, news: Sequence[News]) -> str:
    return f"\n## {title} ({len(news)})\n\n{''.join(map(_news, news))}"


def _stale(fact: StaleFact) -> str:
    about = f": {shortened(fact.description, _SHOWN)}" if fact.description else ""
    return f"- **{fact.name}**{about} ({fact.why})\n"


def _news(news: News) -> str:
    about = f": {shortened(news.description, _SHOWN)}" if news.description else ""
    people = enumerated(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in news.commits))
    times = len(news.commits)
    place = f", now in {news.moved_to}" if news.moved_to else ""
    return f"- **{news.name}**{about}{place} ({people}{f', {times} times' if times > 1 else ''})\n"
