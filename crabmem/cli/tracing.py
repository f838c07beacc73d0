"""The verbs that say where memory comes from: who wrote a line, when a fact was known, what a week brought."""

from collections.abc import Iterable, Sequence

import click

from ..operations import digest as digest_operations
from ..operations import occurrences, provenance
from ..results import Digest, Line, News, Sighting, Sightings, byline, json_of
from ..text.hashes import short
from ..text.words import shortened
from .base import as_json, complete_names, opened, paged, plain, show, tell, words_of

_WHO = 24
_SHOWN = 100
_COLOURS = {"appeared": "green", "changed": "yellow", "vanished": "red"}


@click.command()
@click.argument("name", shell_complete=complete_names)
@as_json
@click.pass_context
def blame(ctx: click.Context, name: str, json_wanted: bool) -> None:
    """Say who wrote each line of a fact, and when.

    A star marks a person. NAME may be MEMORY.md or Crab.md too.
    """
    lines = provenance.blame(opened(ctx), name)
    if json_wanted:
        return show(True, json_of(lines), str)
    paged(ctx, map(_line, lines))


def _line(line: Line) -> str:
    """Commit, day, author and text of a line."""
    if line.commit is None or line.time is None:
        return f"{'-' * 8}  {'not recorded yet':{_WHO + 12}}  {plain(line.text)}\n"
    commit = click.style(short(line.commit), fg="yellow")
    who = shortened(_who(line.author or "", line.session, line.is_person), _WHO)
    return f"{commit}  {line.time:%Y-%m-%d}  {plain(who):{_WHO}}  {plain(line.text)}".rstrip() + "\n"


def _who(author: str, session: str | None, is_person: bool) -> str:
    return byline(f"{author}{'*' * is_person}", session)


@click.command()
@click.argument("query", nargs=-1, required=True)
@as_json
@click.pass_context
def when(ctx: click.Context, query: tuple[str, ...], json_wanted: bool) -> None:
    """Say when memory knew something: the commits in which it appeared, changed and vanished.

    A text that memory ever said word by word is looked for so, any other by its words: all of them in
    one entry. A star marks a person.
    """
    found = occurrences.when(opened(ctx), words_of(ctx, query))
    show(json_wanted, json_of(found), lambda: "".join(map(_sighting, found.steps)))
    if not json_wanted:
        tell(_today(found))


def _sighting(step: Sighting) -> str:
    """What a commit did, and the lines that changed."""
    commit = step.commit
    head = f"{click.style(short(commit.commit), fg='yellow')}  {commit.time:%Y-%m-%d %H:%M}  {plain(commit.who)}"
    what = f"{click.style(step.what, fg=_COLOURS[step.what])} {'from' if step.what == 'vanished' else 'in'}"
    gone = [line for line in step.before if line not in step.after]
    come = [line for line in step.after if line not in step.before]
    lines = [*(f"  - {_shown(line)}\n" for line in gone), *(f"  + {_shown(line)}\n" for line in come)]
    return f"{head}  {what} {plain(step.name)}\n{''.join(lines)}"


def _shown(line: str) -> str:
    return plain(shortened(line.strip(), _SHOWN))


def _today(found: Sightings) -> str:
    if not (found.steps or found.unrecorded):
        return "memory never said that"
    how = "" if found.is_exact else "; nothing said it word by word, these have all its words"
    fresh = ""
    if found.unrecorded:
        which = "" if found.unrecorded == found.now else f": {_listed(found.unrecorded)}"
        fresh = f" (not recorded yet{which})"
    return (f"today: in {_listed(found.now)}" if found.now else "today: nowhere") + fresh + how


@click.command()
@click.option("--since", metavar="REV|TIME", default="1 week ago", show_default=True, help="From when on.")
@click.option("--until", metavar="REV|TIME", help="Up to when.  [default: now]")
@as_json
@click.pass_context
def digest(ctx: click.Context, since: str, until: str | None, json_wanted: bool) -> None:
    """Say what was learned, changed and dropped, and by whom (a star marks a person), as Markdown."""
    found = digest_operations.digest(opened(ctx), since, until)
    if json_wanted:
        return show(True, json_of(found), str)
    paged(ctx, [_markdown(found)])


def _markdown(found: Digest) -> str:
    if not found.commits:
        return "# Memory\n\nNothing was recorded in that time.\n"
    days = list(dict.fromkeys(f"{each.time:%Y-%m-%d}" for each in (found.commits[-1], found.commits[0])))
    people = _listed(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in found.commits))
    count = "1 change" if len(found.commits) == 1 else f"{len(found.commits)} changes"
    head = f"# Memory, {' to '.join(days)}\n\n{count} by {people}\n"
    parts = (
        ("Learned", found.learned),
        ("Changed", found.changed),
        ("Dropped", found.dropped),
        ("Learned and dropped again", found.passing),
    )
    return plain(head + "".join(_section(title, news) for title, news in parts if news))


def _section(title: str, news: Sequence[News]) -> str:
    return f"\n## {title} ({len(news)})\n\n{''.join(map(_news, news))}"


def _news(news: News) -> str:
    """One fact on one line: what it is about, who wrote it, how often."""
    about = f": {shortened(news.description, _SHOWN)}" if news.description else ""
    people = _listed(dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in news.commits))
    times = len(news.commits)
    return f"- **{news.name}**{about} ({people}{f', {times} times' if times > 1 else ''})\n"


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


COMMANDS = (blame, when, digest)
