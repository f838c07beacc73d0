"""`crabmem prompt`: what goes before a conversation."""

from __future__ import annotations

from ...tools import guide
from ..declared import as_of_option, json_option, verb
from ..opening import open_session
from ..output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@verb(after="note")
@as_of_option
@json_option
def prompt(ctx: Any, as_of: str | None, json_wanted: bool) -> None:
    """Print what goes before a conversation: identity, overview, how to use the tools.

    Which files these are, in which order and how much of each, says the profile; `crabmem context` accounts for it.

    \b
    crabmem prompt
    crabmem --kind subagent prompt --as-of yesterday
    """
    text = guide.prompt(open_session(ctx), as_of)
    show(json_wanted, {"prompt": text}, lambda: text)
