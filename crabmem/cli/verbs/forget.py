"""`crabmem forget`: removes one fact."""

import sys

import click

from ...operations import facts
from ...results import json_of
from ...session.scopes import addressed
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show, tell


@verb(after="edit")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_names)
@json_option
@click.pass_context
def forget(ctx: click.Context, names: tuple[str, ...], json_wanted: bool) -> None:
    """Remove facts; `crabmem undo` brings the last one back.

    History still holds them; `crabmem purge` erases them.

    \b
    crabmem forget "Deploy key"
    """
    memory = open_session(ctx)
    for name in names:  # before the first is gone
        facts.get(*addressed(memory, name))
    done = [facts.forget(memory, name) for name in names]
    lines = [f"{'waits' if gone.proposal else 'forgot'}: {plain(gone.name)}" for gone in done]
    show(json_wanted, {"facts": json_of(done)}, lambda: "\n".join(lines))
    if not json_wanted and sys.stderr.isatty() and any(gone.commit for gone in done):
        tell(f"`crabmem undo` brings {'it' if len(done) == 1 else 'the last one'} back")
