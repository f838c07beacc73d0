"""`crabmem undo`: takes back the newest commit."""

import sys

import click

from ...operations import revert
from ...results import json_of
from ..app import open_session, verb
from ..options import json_option
from ..output import diff_of_commit, plain, show, tell
from ..restoring import done_or_waits, files_restored, yes_really_option


@verb(after="diff")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took back.")
@yes_really_option
@json_option
@click.pass_context
def undo(ctx: click.Context, redo: bool, yes_really: bool, json_wanted: bool) -> None:
    """Take back the newest commit, as a new one. Again, it takes back the one before; `rollback` goes further at once.

    With --redo it brings back what was undone, step by step too, until something else is written.

    \b
    crabmem undo
    crabmem undo --redo
    """
    memory = open_session(ctx)
    done = (revert.redo if redo else revert.undo)(memory, even_if_many=yes_really)
    words = f"{'redone' if redo else 'undone'}: {done.operation.subject if done.operation else 'nothing'}"
    told = done_or_waits(memory, f"{plain(words)}; {files_restored(done)}")
    show(json_wanted, json_of(done), lambda: f"{told}\n{diff_of_commit(done)}")
    if not json_wanted and not redo and sys.stderr.isatty():
        tell("`crabmem undo --redo` brings it back, `crabmem undo` takes back the commit before")
