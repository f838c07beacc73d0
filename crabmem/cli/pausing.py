"""How a pause is told to a person."""

from __future__ import annotations

from .output import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..results import Paused


def paused_words(found: Paused) -> str:
    """Until when memory is paused, and what agents keep."""
    until = f"until {here(found.until):%Y-%m-%d %H:%M}" if found.until else "until `crabmem resume`"
    return f"paused {until}: no auto-recall, no reminders, {'agents keep their tools' if found.tools else 'no tools'}"
