"""Memory for an agent of the Claude Agent SDK: identity and overview, the tools, and recall before each message.

ClaudeSDKClient(ClaudeMemory(memory).options())

The SDK calls nobody back when a session starts, so what a session begins with is in the system prompt.
"""

import asyncio
import json
from dataclasses import replace
from typing import Any, cast

from ..disk.allowed import Allowed
from ..errors import CrabmemError, InvalidArguments
from ..hosts.hooks.events import Call, answer
from ..hosts.hooks.input import parse_input
from ..hosts.host import Json
from ..memory import Memory
from ..session.locate import workspace_at
from ..session.opening import local_time
from ..text.quoting import joined
from ..tools.tool import Tool
from . import missing

try:
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        HookContext,
        HookInput,
        HookJSONOutput,
        HookMatcher,
        SdkMcpTool,
        ToolAnnotations,
        create_sdk_mcp_server,
    )
    from claude_agent_sdk.types import HookEvent, McpServerConfig
except ImportError as error:
    raise missing("claude_agent", "the Claude Agent SDK", "claude-agent-sdk") from error

_SERVER = "crabmem"
_HOST = "claude-code"
# The host's own tools that write files, and may write those of a workspace.
_WRITERS = "Write|Edit|MultiEdit|NotebookEdit"


class ClaudeMemory:
    """What an agent needs of one memory: everything at once as `options`, or piece by piece."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def options(self, base: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """`base` with memory: whatever stands in it stays.

        Raises:
            InvalidArguments: its system prompt or its servers are in a file.
        """
        base = base or ClaudeAgentOptions()
        if not isinstance(base.mcp_servers, dict):
            raise InvalidArguments("mcp_servers names a file; give the servers in a dict, so that memory joins them")
        hooks = {**(base.hooks or {})}
        for event, matchers in self.hooks.items():
            hooks[event] = [*hooks.get(event, []), *matchers]
        return replace(
            base,
            system_prompt=_with(base.system_prompt, self._memory.prompt()),
            mcp_servers={**base.mcp_servers, _SERVER: self.server},
            allowed_tools=[*base.allowed_tools, *self.allowed_tools],
            hooks=hooks,
        )

    @property
    def server(self) -> McpServerConfig:
        """The tools that the settings allow now, as a server in this process."""
        server = create_sdk_mcp_server(_SERVER, tools=[self._offered(tool) for tool in self._memory.tools])
        # Else a model is only shown their names.
        return cast("McpServerConfig", {**server, "alwaysLoad": True})

    @property
    def allowed_tools(self) -> list[str]:
        """The names under which the host knows the tools: nobody need be asked before they are used."""
        return [f"mcp__{_SERVER}__{tool.name}" for tool in self._memory.tools]

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """What the host is answered at the events of a session, as `crabmem hook` answers it.

        Recall before each message, the overview for an agent that is sent out, a commit for what the host's own tools
        write into the workspace, and when much was said and nothing stored, one more turn to store it.
        """
        usual = [HookMatcher(hooks=[self._respond])]
        writing = [HookMatcher(matcher=_WRITERS, hooks=[self._respond])]
        reading: dict[HookEvent, list[HookMatcher]] = {"UserPromptSubmit": usual, "SubagentStart": usual}
        return {**reading, "PostToolUse": writing, "Stop": usual, "PreCompact": usual}

    async def _respond(self, given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        """The answer, made beside the event loop. What goes wrong is shown to the person, and holds nobody up."""
        try:
            return cast("HookJSONOutput", await asyncio.to_thread(self._answer, given))
        except CrabmemError as error:
            return {"systemMessage": f"crabmem: {error}"}

    def _answer(self, given: HookInput) -> Json:
        event = parse_input(json.dumps(given).encode(), host=_HOST)
        agent = self._memory.agent or _HOST
        workspace = workspace_at(self._memory.root, self._memory.engine.profile_name, Allowed({}))
        return answer(Call(workspace, event, agent, event.session, local_time(), kind=self._memory.kind))

    def _offered(self, tool: Tool) -> SdkMcpTool[Any]:
        async def call(arguments: dict[str, Any]) -> dict[str, Any]:
            done = await asyncio.to_thread(self._memory.call, tool.name, arguments)
            return {"content": [{"type": "text", "text": done.text}], "is_error": done.is_error}

        hints = ToolAnnotations(
            readOnlyHint=tool.annotations.read_only,
            destructiveHint=tool.annotations.destructive,
            idempotentHint=tool.annotations.idempotent,
            openWorldHint=tool.annotations.open_world,
        )
        return SdkMcpTool(tool.name, tool.description, tool.input_schema, call, hints)


def _with(own: Any, prompt: str) -> Any:
    """The agent's own system prompt, and memory's under it."""
    if own is None or isinstance(own, str):
        return joined((own or "", prompt))
    key = {"preset": "append", "custom": "prompt"}.get(own["type"])
    if key is None:
        raise InvalidArguments("system_prompt is in a file; give its text, so that memory's can be put under it")
    return {**own, key: joined((own.get(key, ""), prompt))}
