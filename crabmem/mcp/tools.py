"""The tools of memory in the protocol."""

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request

from ..tools.tool import Tool as OurTool
from ..tools.toolbox import Toolbox
from .served import Context, Served, in_thread, refuse_cursor

#: Claude Code shows a model only the names of tools until it asks for more, except those with this.
_AT_ONCE = {"anthropic/alwaysLoad": True}
_FIRST = "recall"
_YES = ("1", "true")


class Tools:
    """Answers requests about tools."""

    def __init__(self, served: Served) -> None:
        self._served = served

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        """List all tools; they fit on one page."""
        refuse_cursor(params)
        wants_data = self._wants_data(context)
        return ListToolsResult(tools=[to_protocol(tool, wants_data) for tool in self._served.tools])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Call a tool. What the caller did wrong is an answer too, unless there is no such tool."""
        if params.name not in self._served.names:
            there = ", ".join(tool.name for tool in self._served.tools)
            raise MCPError(INVALID_PARAMS, f"no tool named: {params.name} (there are: {there})")
        memory = self._served.memory_for(context)
        done = await in_thread(memory, Toolbox(memory).call, params.name, params.arguments or {}, self._served.names)
        # Some clients check the data of errors against the schema, too, which is not theirs.
        data = done.data if self._wants_data(context) and not done.is_error else None
        return CallToolResult(content=[TextContent(text=done.text)], structured_content=data, is_error=done.is_error)

    def _wants_data(self, context: Context) -> bool:
        """Whether the client wants data, by how the server was started or by `?data=1` in its address.

        Hosts of models show those the data instead of the text, or both.
        """
        asked = context.request.query_params.get("data") if isinstance(context.request, Request) else None
        return self._served.gives_data if asked is None else asked in _YES


def to_protocol(tool: OurTool, with_data: bool = False) -> Tool:
    """A tool as the protocol describes it; `with_data` with the schema of the data in its answers."""
    hints = tool.annotations
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema if with_data else None,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
        _meta=_AT_ONCE if tool.name == _FIRST else None,
    )
