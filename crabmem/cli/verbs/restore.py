"""`crabmem restore`: brings lost facts back to disk."""

import click

from ...operations import revert
from ...results import json_of
from ...text.words import counted
from ..app import open_session, verb
from ..options import dry_run_option, json_option
from ..output import plain, show
from ..restoring import done_or_waits


@verb(after="adopt")
@dry_run_option
@json_option
@click.pass_context
def restore(ctx: click.Context, dry_run: bool, json_wanted: bool) -> None:
    """Bring back the facts that are gone from disk and that nobody forgot.

    \b
    crabmem restore --dry-run
    crabmem restore
    """
    memory = open_session(ctx)
    done = revert.restore(memory, dry_run=dry_run)
    verb = "would restore" if dry_run else "restored"
    words = f"{verb} {counted(len(done.paths), 'file')}" if done.paths else "nothing is missing"
    told = done_or_waits(memory, words)
    show(json_wanted, json_of(done), lambda: "\n".join([told, *(f"  {plain(path)}" for path in done.paths)]))
