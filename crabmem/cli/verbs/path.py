"""`crabmem path`: the folder of the workspace."""

import click

from ..app import open_session, verb
from ..options import json_option
from ..output import show


@verb(after="init")
@json_option
@click.pass_context
def path(ctx: click.Context, json_wanted: bool) -> None:
    """Print the folder of the workspace.

    \b
    cd "$(crabmem path)"
    """
    root = str(open_session(ctx, tells_place=False).root)
    show(json_wanted, {"path": root}, lambda: root)
