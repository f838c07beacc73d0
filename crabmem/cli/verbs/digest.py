"""`crabmem digest`: what was learned, changed and dropped in a time."""

from collections.abc import Sequence

import click

from ...operations import digest as digest_operations
from ...results import Digest, News, StaleFact, json_of
from ...text.words import counted, enumerated, shortened
from ..app import open_session, verb
from ..completing import complete_commits
from ..options import json_option
from ..output import paged, plain, show

_SHOWN = 100


@verb(after="when")
@click.option(
    "--since",
    metavar="WHEN",
    shell_complete=complete_commits,
    default="1 week ago",
    show_default=True,
    help="From when on.",
)
@click.option("--until", metavar="WHEN", shell_complete=complete_commits, help="Up to when.  [default: now]")
@json_option
@click.pass_context
def digest(ctx: click.Context, since: str, until: str | None, json_wanted: bool) -> None:
    """Say what was learned, changed and dropped, and by whom (a star marks a person), as Markdown.

    Facts of which the day in `stale_after` is past stand at the end.

    \b
    crabmem digest
    crabmem digest --since 2026-05-01 --until 2026-06-01
    """
    found = digest_operations.digest(open_session(ctx), since, until)
    if json_wanted:
        return show(True, json_of(found), str)
    paged(ctx, [_markdown(found)])


def _markdown(found: Digest) -> str:
    stale = f"\n## Stale ({len(found.stale)})\n\n{''.join(map(_stale, found.stale))}" if found.stale else ""
    if not found.commits:
        return plain(f"# Memory\n\nNothing was recorded in that time.\n{stale}")
    days = list(dict.fromkeys(f"{each.time:%Y-%m-%d}" for each in (found.commits[-1], found.commits[0])))
    people = enumerated(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in found.commits))
    head = f"# Memory, {' to '.join(days)}\n\n{counted(len(found.commits), 'change')} by {people}\n"
    parts = (
        ("Learned", found.learned),
        ("Changed", found.changed),
        ("Dropped", found.dropped),
        ("Learned and dropped again", found.passing),
    )
    return plain(head + "".join(_section(title, news) for title, news in parts if news) + stale)


def _section(title: str, news: Sequence[News]) -> str:
    return f"\n## {title} ({len(news)})\n\n{''.join(map(_news, news))}"


def _stale(fact: StaleFact) -> str:
    about = f": {shortened(fact.description, _SHOWN)}" if fact.description else ""
    return f"- **{fact.name}**{about} (since {fact.stale_since})\n"


def _news(news: News) -> str:
    """One fact on one line: what it is about, who wrote it, how often."""
    about = f": {shortened(news.description, _SHOWN)}" if news.description else ""
    people = enumerated(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in news.commits))
    times = len(news.commits)
    return f"- **{news.name}**{about} ({people}{f', {times} times' if times > 1 else ''})\n"
