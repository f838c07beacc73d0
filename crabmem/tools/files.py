"""The tools for whole files: memory (the overview) and soul (the identity)."""

from typing import Annotated

from msgspec import Meta

from ..memory import Memory as _Memory
from ..results import Changed, Proposed, json_of
from .entries import Version
from .proposing import Reason, identity_result
from .result import Hints, Result, ToolFunction, changed_text


def memory(
    memory: _Memory,
    content: Annotated[str, Meta(description="The whole new overview in Markdown, not only what is added.")],
    if_version: Version = None,
) -> Annotated[Result, Changed]:
    """Replace the overview. Keep it short and curated, and read the whole of it before you replace it."""
    changed = memory.write_overview(content, if_version)
    name = changed.path.rpartition("/")[2]
    text = f"{name} updated" if content.strip() else f"{name} is empty now: nothing of it is in view any more"
    return Result(changed_text(text, changed), json_of(changed))


def soul(
    memory: _Memory,
    content: Annotated[str, Meta(description="The whole new identity in Markdown.")],
    reason: Reason = "",
) -> Annotated[Result, Proposed]:
    """Replace the file that says who you are, or propose that where a person decides. Tell the person when you do."""
    return identity_result(memory.write_identity(content, reason=reason))


def _may_write_soul(memory: _Memory) -> bool:
    return memory.soul_editable or memory.settings.soul == "propose"


_WRITES = Hints(read_only=False, destructive=True)
TOOLS = (
    ToolFunction(memory, "Replace the overview", _WRITES),
    ToolFunction(soul, "Replace the identity", _WRITES, _may_write_soul),
)
