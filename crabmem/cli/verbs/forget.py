"""`crabmem forget`: removes one fact."""

import click

from ...operations import facts
from ...results import json_of
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show


@verb(after="links")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_names)
@json_option
@click.pass_context
def forget(ctx: click.Context, names: tuple[str, ...], json_wanted: bool) -> None:
    """Remove a fact, or several. History still holds it: `crabmem undo` brings the last one back, and `crabmem purge`
    erases it.

    \b
    crabmem forget "Deploy key"
    """
    memory = open_session(ctx)
    for name in names:  # before the first is gone
        facts.get(memory, name)
    done = [facts.forget(memory, name) for name in names]
    lines = [f"{'waits' if gone.proposal else 'forgot'}: {plain(gone.name)}" for gone in done]
    show(json_wanted, json_of(done[0] if len(done) == 1 else done), lambda: "\n".join(lines))
