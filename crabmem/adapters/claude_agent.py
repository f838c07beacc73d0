"""Memory for an agent of the Claude Agent SDK: identity and overview, the tools, and recall before each message.

ClaudeSDKClient(ClaudeMemory(memory).options())

The SDK has no hook for the start of a session, so what other hosts are told then is in the system prompt.
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
# A pattern for the host's own tools that write files, possibly those of the workspace.
_WRITERS = "Write|Edit|MultiEdit|NotebookEdit"


class ClaudeMemory:
    """What an agent needs of one memory: everything at once as `options`, or piece by piece."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def options(self, base: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Return `base` with memory added to its system prompt, servers, allowed tools and hooks. All of `base` stays.

        Raises:
            InvalidArguments: the system prompt or the servers of `base` are in a file.
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
        """A new MCP server in this process with the tools that the settings allow now."""
        server = create_sdk_mcp_server(_SERVER, tools=[self._offered(tool) for tool in self._memory.tools])
        # Without `alwaysLoad` a model sees only the names of the tools until it asks for more.
        return cast("McpServerConfig", {**server, "alwaysLoad": True})

    @property
    def allowed_tools(self) -> list[str]:
        """The host's names of the tools, for its list of tools that need no permission."""
        return [f"mcp__{_SERVER}__{tool.name}" for tool in self._memory.tools]

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """Hooks that answer the events of a session as `crabmem hook` does.

        They recall before each message, give a subagent the overview, commit what the host's own tools write into the
        workspace, and ask for one more turn when much was said and nothing stored.
        """
        usual = [HookMatcher(hooks=[self._respond])]
        writing = [HookMatcher(matcher=_WRITERS, hooks=[self._respond])]
        reading: dict[HookEvent, list[HookMatcher]] = {"UserPromptSubmit": usual, "SubagentStart": usual}
        return {**reading, "PostToolUse": writing, "Stop": usual, "PreCompact": usual}

    async def _respond(self, given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        """Answer an event, on a thread beside the event loop. An error is shown to the person; the session goes on."""
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
        """Return a tool of ours as one of the SDK's; a call runs on a thread beside the event loop."""

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
    """Return the agent's own system prompt, in any form that the SDK takes, with memory's under it.

    Raises:
        InvalidArguments: the system prompt is in a file.
    """
    if own is None or isinstance(own, str):
        return joined((own or "", prompt))
    key = {"preset": "append", "custom": "prompt"}.get(own["type"])
    if key is None:
        raise InvalidArguments("system_prompt is in a file; give its text, so that memory's can be put under it")
    return {**own, key: joined((own.get(key, ""), prompt))}
