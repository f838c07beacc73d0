"""`crabmem watch`: records a person's edits as they pause."""

import signal
import threading

import click

from ...errors import CrabmemError
from ...results import json_of
from ...text.hashes import short
from ..app import open_session, verb
from ..output import as_text, plain, tell, warn_of_secrets


@verb(after="reindex")
@click.option("--json", "json_wanted", is_flag=True, help="Print a line of JSON for each commit.")
@click.pass_context
def watch(ctx: click.Context, json_wanted: bool) -> None:
    """Record edits as soon as you pause, until Ctrl-C. Without it they are recorded at the next write."""
    from ...watch import watched

    memory = open_session(ctx)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    tell(f"watching {memory.root}; stop with Ctrl-C")
    said = ""
    for item in watched(memory, stop):
        if isinstance(item, CrabmemError):
            if str(item) != said:
                tell(f"crabmem: {item}")
            said = str(item)
        else:
            click.echo(as_text(json_of(item)) if json_wanted else f"{short(item.commit)}  {plain(item.subject)}")
            warn_of_secrets(memory, item.paths)
