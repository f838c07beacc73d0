"""`crabmem show`: prints one fact."""

import click

from ...operations import facts
from ...results import json_of
from ...text.quoting import entry_text
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show


@verb(after="recall")
@click.argument("name", shell_complete=complete_names)
@click.option("--at", metavar="REV", help="As it was at a commit of `log`, at the end of a date, or '2 days ago'.")
@json_option
@click.pass_context
def show_(ctx: click.Context, name: str, at: str | None, json_wanted: bool) -> None:
    """Print one fact, looked up by name, file name or alias."""
    entry = facts.get(open_session(ctx), name, at)
    show(json_wanted, json_of(entry), lambda: plain(entry_text(entry.name, entry.description, entry.content)))
