"""The tool for looking after facts. No profile offers it: a host asks for it by name, as for sessions that tidy."""

from typing import Annotated

from msgspec import Meta

from ..operations import facts
from ..results import Saved, json_of
from ..session.session import Session
from .entries import Name
from .result import Result, saved_text
from .tool import SAVES, ToolFunction


def confirm(
    memory: Session,
    name: Name,
    until: Annotated[str | None, Meta(description="The last day it surely holds; without it, as long again.")] = None,
) -> Annotated[Result, Saved]:
    """Say that a stale fact is still true: it gets a later `stale_after`."""
    saved = facts.confirm(memory, name, until)
    said = f"confirmed: {saved.entry.name}, until {saved.entry.stale_after}"
    return Result(saved_text(said, saved, memory.agent), json_of(saved))


TOOLS = (ToolFunction(confirm, "Confirm a fact", SAVES),)
