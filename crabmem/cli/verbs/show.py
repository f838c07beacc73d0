"""`crabmem show`: prints one fact."""

import click

from ...operations import reading
from ...results import json_of, told_caveat
from ...text.entry import Entry
from ...text.quoting import entry_text
from ...text.sources import sources_in
from ..app import verb
from ..opening import open_session, telling_whole_file
from ..options import as_of_option, completing, json_option
from ..output import plain, show, tell


@verb(after="recall")
@click.argument("name", shell_complete=completing("complete_names"))
@as_of_option
@json_option
def show_(name: str, as_of: str | None, json_wanted: bool) -> None:
    """Print one fact, looked up by name, file name or alias.

    Its tags, aliases, sources and the day until which it holds go to stderr, beside the text.

    \b
    crabmem show "Deploy key"
    crabmem show wifi --as-of '2 weeks ago'
    """
    memory = open_session()
    with telling_whole_file(memory, name):
        entry = reading.get_seen(memory, name, as_of)
    sources = () if as_of else memory.engine.sources_of(entry)
    since = "" if as_of else memory.engine.stale_since(entry)
    data = (
        json_of(entry) | ({"stale_since": since} if since else {}) | ({"sources": json_of(sources)} if sources else {})
    )
    show(json_wanted, data, lambda: plain(entry_text(entry.name, entry.description, entry.content)))
    if (about := _about(entry)) and not json_wanted:
        tell(plain(about))
    if (told := told_caveat(since, sources, "`crabmem confirm NAME`")) and not json_wanted:
        tell(plain(told))


def _about(entry: Entry) -> str:
    """Return the rest of a fact on one line: tags, aliases, sources, the day it is stale after; "" if it has none."""
    rows = {"tags": entry.tags, "aliases": entry.aliases, "sources": _sources(entry)}
    told = [f"{key}: {', '.join(values)}" for key, values in rows.items() if values]
    return "; ".join([*told, *([f"stale after {entry.stale_after}"] if entry.stale_after else [])])


def _sources(entry: Entry) -> list[str]:
    if "sources" not in entry.keys:
        return []

    return [source.place for source in sources_in(entry.keys)]
