"""`crabmem prompt`: what goes before a conversation."""

from __future__ import annotations

import click

from ...tools import guide
from ..app import verb
from ..opening import open_session
from ..options import as_of_option, json_option
from ..output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


@verb(after="note")
@as_of_option
@json_option
@click.pass_context
def prompt(ctx: click.Context, as_of: str | None, json_wanted: bool) -> None:
    """Print what goes before a conversation: identity, overview, how to use the tools.

    Which files these are, in which order and how much of each, says the profile; `crabmem context` accounts for it.

    \b
    crabmem prompt
    crabmem --kind subagent prompt --as-of yesterday
    """
    text = guide.prompt(open_session(ctx), as_of)
    show(json_wanted, {"prompt": text}, lambda: text)
