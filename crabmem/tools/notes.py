"""The tool for the note of the day, which only grows."""

from typing import Annotated

from msgspec import Meta

from ..operations import notes
from ..results import Changed, json_of
from ..session.session import Session
from .result import Result, warned
from .tool import ADDS, ToolFunction


def note(
    memory: Session,
    text: Annotated[str, Meta(description="What to add, in Markdown; a line for each thing.")],
) -> Annotated[Result, Changed]:
    """Add a text to the note of today. What is there stays; for what happened, and is no fact of its own yet."""
    changed = notes.write_note(memory, text)
    return Result(warned(f"noted in {changed.path}", changed.warnings), json_of(changed))


TOOLS = (ToolFunction(note, "Add to today's note", ADDS),)
