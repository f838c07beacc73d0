"""`crabmem forget`: removes one fact."""

import click

from ...operations import facts
from ...results import json_of
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show


@verb(after="links")
@click.argument("name", shell_complete=complete_names)
@json_option
@click.pass_context
def forget(ctx: click.Context, name: str, json_wanted: bool) -> None:
    """Remove one fact. History still holds it: `crabmem undo` brings it back, and `crabmem purge` erases it.

    \b
    crabmem forget "Deploy key"
    """
    gone = facts.forget(open_session(ctx), name)
    show(json_wanted, json_of(gone), lambda: f"{'waits' if gone.proposal else 'forgot'}: {plain(gone.name)}")
