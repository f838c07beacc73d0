"""`crabmem watch`: records a person's edits as they pause."""

import os
import signal
import threading

import click

from ...errors import CrabmemError
from ...results import json_of
from ...text.hashes import short
from ..app import open_session, verb
from ..output import as_text, plain, tell, warn_of_secrets


def asked_to_stop() -> threading.Event:
    """Return an event that is set when this process gets SIGINT or SIGTERM."""
    stop = threading.Event()

    def ask(number: int, frame: object) -> None:
        # Python runs this in the main thread, perhaps while that thread waits for the event and holds its lock: to set
        # the event here would then block for ever.
        threading.Thread(target=stop.set).start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return stop


@verb(after="adopt")
@click.option("--json", "json_wanted", is_flag=True, help="Print a line of JSON for each commit.")
def watch(json_wanted: bool) -> None:
    """Record edits as soon as you pause, until Ctrl-C. Without it they are recorded at the next write.

    \b
    crabmem watch
    crabmem watch --json
    """
    from ...standby.offer import offering
    from ...watch import watched

    memory = open_session(is_brief=False)
    stop = asked_to_stop()
    tell(f"watching {memory.root}; stop with Ctrl-C")
    said = ""
    with offering(os.environ):
        for item in watched(memory, stop):
            if isinstance(item, CrabmemError):
                if str(item) != said:
                    tell(f"crabmem: {item}")
                said = str(item)
            else:
                click.echo(as_text(json_of(item)) if json_wanted else f"{short(item.commit)}  {plain(item.subject)}")
                warn_of_secrets(memory, item.paths)
