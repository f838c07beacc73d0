"""`crabmem undo`: takes back the newest commit."""

import sys

import click

from ...operations import purge, revert
from ...results import json_of
from ..app import open_session, verb
from ..failure import Failure
from ..options import json_option, yes_option
from ..output import can_ask, diff_of_commit, plain, show, tell
from ..restoring import done_or_waits, files_restored, yes_really_option

_PURGED = "the newest change is a purge, which cannot be undone"


@verb(after="diff")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took back.")
@yes_option
@yes_really_option
@json_option
@click.pass_context
def undo(ctx: click.Context, redo: bool, yes: bool, yes_really: bool, json_wanted: bool) -> None:
    """Take back the newest commit, as a new one. Again, it takes back the one before; `rollback` goes further at once.

    With --redo it brings back what was undone, step by step too, until something else is written. After a purge, which
    nothing takes back, it asks before it takes back what was done earlier.

    \b
    crabmem undo
    crabmem undo --redo
    """
    memory = open_session(ctx)
    if not (redo or yes) and purge.is_newest(memory):
        if not can_ask():
            raise Failure(f"{_PURGED}: `crabmem undo --yes` takes back what was done before it")
        click.confirm(f"{_PURGED}. Take back what was done before it?", abort=True, err=True)
    done = (revert.redo if redo else revert.undo)(memory, even_if_many=yes_really)
    words = f"{'redone' if redo else 'undone'}: {done.operation.subject if done.operation else 'nothing'}"
    told = done_or_waits(memory, f"{plain(words)}; {files_restored(done)}")
    show(json_wanted, json_of(done), lambda: f"{told}\n{diff_of_commit(done)}")
    if not json_wanted and not redo and sys.stderr.isatty():
        tell("`crabmem undo --redo` brings it back, `crabmem undo` takes back the commit before")
