"""`crabmem pause`: memory does not speak unasked for a while."""

import click

from ...operations import pause as operation
from ...results import json_of
from ...text.times import LONGEST_SPAN, span_in
from ..app import open_session, verb
from ..options import json_option
from ..output import show
from ..standing import paused_words


@verb(after="agents")
@click.option("--for", "lasting", metavar="TIME", help="For how long: 30m, 2h, 3d, 1w.  [default: until `resume`]")
@json_option
def pause(lasting: str | None, json_wanted: bool) -> None:
    """Pause memory on this machine.

    Nothing is put before your messages, and no agent is asked to store anything.

    What agents may do with tools stays as it is; with `pause = "all"` in crabmem.toml they have none meanwhile. Nothing
    is forgotten, you can read and write, and a session still begins with the identity and the overview. The pause is of
    this workspace, ends by itself at its time, or with `crabmem resume`, and is in no history. No agent can set it.

    \b
    crabmem pause
    crabmem pause --for 2h
    """
    span = span_in(lasting) if lasting is not None else None
    if lasting is not None and span is None:
        raise click.UsageError(f"--for takes a time such as 30m, 2h, 3d or 1w, at most {LONGEST_SPAN.days} days")
    found = operation.pause(open_session(), span)
    show(json_wanted, json_of(found), lambda: paused_words(found))
