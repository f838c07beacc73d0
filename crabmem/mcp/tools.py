"""The tools of memory in the protocol."""

from __future__ import annotations

from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .protocol import INVALID_PARAMS, Caller, Refused, refuse_cursor, table_in, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Params
    from .served import Served

#: Claude Code shows a model only the names of tools until it asks for more, except those with this.
_AT_ONCE = {"anthropic/alwaysLoad": True}
_FIRST = "recall"


def list_tools(served: Served, params: Params, caller: Caller) -> Answer:
    """List all tools; they fit on one page."""
    refuse_cursor(params)
    wants_data = served.wants_data(caller)
    return {"tools": [described(tool, wants_data) for tool in served.tools]}


def call_tool(served: Served, params: Params, caller: Caller) -> Answer:
    """Call a tool. A tool that fails, also by its caller's fault, is an answer with `isError`, which the model reads.

    Raises:
        Refused: there is no such tool.
    """
    name, arguments = text_in(params, "name"), table_in(params, "arguments", is_optional=True)
    if name not in served.names:
        there = ", ".join(tool.name for tool in served.tools)
        raise Refused(INVALID_PARAMS, f"no tool named: {name} (there are: {there})")
    memory = served.memory_for(caller)
    # Without a hook that showed the overview, the model may not have seen what a blind write would replace.
    is_shown = memory.engine.turns.has_begun(memory.actor.session)
    done = Toolbox(memory, shows_files=is_shown).call(name, arguments, served.names)
    answer: Answer = {"content": [{"type": "text", "text": done.text}], "isError": done.is_error}
    # Some clients check the data of errors against the schema, too, which is not theirs.
    if served.wants_data(caller) and not done.is_error:
        answer["structuredContent"] = done.data
    return answer


def described(tool: Tool, with_data: bool = False) -> Answer:
    """Return a tool in the form of `tools/list`; `with_data` adds the schema of the data in its answers."""
    hints = tool.annotations
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        **({"outputSchema": tool.output_schema} if with_data else {}),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
        **({"_meta": _AT_ONCE} if tool.name == _FIRST else {}),
    }
