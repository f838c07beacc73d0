"""`crabmem show`: prints one fact."""

from __future__ import annotations

from ...operations import reading
from ...results import json_of
from ...text.quoting import entry_text
from ..declared import argument, json_option, option, verb
from ..opening import open_session
from ..output import plain, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@verb(after="recall")
@argument("name", shell_complete="complete_names")
@option("--at", metavar="REV", help="As it was at a commit of `log`, at the end of a date, or '2 days ago'.")
@json_option
def show_(ctx: Any, name: str, at: str | None, json_wanted: bool) -> None:
    """Print one fact, looked up by name, file name or alias."""
    entry = reading.get(open_session(ctx), name, at)
    show(json_wanted, json_of(entry), lambda: plain(entry_text(entry.name, entry.description, entry.content)))
