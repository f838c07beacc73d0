"""`crabmem restore`: brings lost facts back to disk."""

import click

from ...operations import revert
from ...results import json_of
from ...text.words import counted
from ..app import open_session, verb
from ..options import json_option
from ..output import plain, show


@verb(after="adopt")
@json_option
@click.pass_context
def restore(ctx: click.Context, json_wanted: bool) -> None:
    """Bring back the facts that are gone from disk and that nobody forgot."""
    done = revert.restore(open_session(ctx))
    words = f"restored {counted(len(done.paths), 'file')}" if done.paths else "nothing is missing"
    show(json_wanted, json_of(done), lambda: "\n".join([words, *(f"  {plain(path)}" for path in done.paths)]))
