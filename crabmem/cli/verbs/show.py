"""`crabmem show`: prints one fact."""

from __future__ import annotations

import click

from ...operations import reading
from ...results import json_of, told_caveat
from ...text.quoting import entry_text
from ..app import verb
from ..opening import open_session, telling_whole_file
from ..options import as_of_option, completing, json_option
from ..output import plain, show, tell


@verb(after="recall")
@click.argument("name", shell_complete=completing("complete_names"))
@as_of_option
@json_option
@click.pass_context
def show_(ctx: click.Context, name: str, as_of: str | None, json_wanted: bool) -> None:
    """Print one fact, looked up by name, file name or alias.

    \b
    crabmem show "Deploy key"
    crabmem show wifi --as-of '2 weeks ago'
    """
    memory = open_session(ctx)
    with telling_whole_file(memory, name):
        entry = reading.get_seen(memory, name, as_of)
    sources = () if as_of else memory.engine.sources_of(entry)
    since = "" if as_of else memory.engine.stale_since(entry)
    data = (
        json_of(entry) | ({"stale_since": since} if since else {}) | ({"sources": json_of(sources)} if sources else {})
    )
    show(json_wanted, data, lambda: plain(entry_text(entry.name, entry.description, entry.content)))
    if (told := told_caveat(since, sources, "`crabmem confirm NAME`")) and not json_wanted:
        tell(plain(told))
