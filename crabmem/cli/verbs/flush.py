"""`crabmem flush`: what is due of a conversation that grows too long."""

import click

from ...operations import context
from ...results import json_of
from ..app import open_session, verb
from ..options import json_option
from ..output import show, tell


@verb(after="hook")
@click.option("--tokens", metavar="N", type=click.IntRange(min=0), required=True, help="Tokens in the window now.")
@click.option("--window", metavar="N", type=click.IntRange(min=1), required=True, help="Tokens that the window holds.")
@click.option(
    "--cycle", metavar="N", type=click.IntRange(min=0), default=0, show_default=True,
    help="How often the conversation was shortened.",
)  # fmt: skip
@click.option(
    "--flushed", metavar="N", type=click.IntRange(min=0), help="The cycle in which it was last asked to store, if any."
)
@json_option
def flush(tokens: int, window: int, cycle: int, flushed: int | None, json_wanted: bool) -> None:
    """Say what is due of a conversation whose window fills up, and print what to ask the model then.

    For hosts that are scripts: on stdout the words to give to the model, if any are due, else nothing. When is
    the profile's [window]; the kind of session is --kind. A script keeps two numbers: how often the conversation was
    shortened (--cycle), and what that was when it last asked to store (--flushed).

    \b
    crabmem --profile claw flush --tokens 177000 --window 200000
    """
    due = context.due(open_session(tells_place=False), tokens, window, cycle=cycle, flushed=flushed)
    show(json_wanted, json_of(due), lambda: "\n\n".join(filter(None, (due.prompt, due.warning))))
    if not json_wanted:
        at = ", ".join(f"{step} at {least:,}" for step, least in due.thresholds.items())
        tell(f"due: {', '.join(due.steps) or 'nothing'} ({at or 'the profile has no [window] for that'})")
