"""Memory for an agent of the Claude Agent SDK: identity and overview, the tools, and recall before each message.

ClaudeSDKClient(ClaudeMemory(memory).options())

The SDK calls nobody back when a session starts, so what a session begins with is in the system prompt.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from ..api import Memory
from ..errors import CrabmemError, InvalidArguments
from ..prompt import joined
from ..tools import Tool

try:
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        HookCallback,
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
    raise ImportError(
        "crabmem.adapters.claude_agent needs the Claude Agent SDK: pip install 'crabmem[claude-agent-sdk]'"
    ) from error

_SERVER = "crabmem"
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
        return cast(McpServerConfig, {**server, "alwaysLoad": True})

    @property
    def allowed_tools(self) -> list[str]:
        """The names under which the host knows the tools: nobody need be asked before they are used."""
        return [f"mcp__{_SERVER}__{tool.name}" for tool in self._memory.tools]

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """Recall before each message, and a commit for what the host's own tools write into the workspace."""
        recall, record = self._answering(self._recalled), self._answering(self._recorded)
        return {
            "UserPromptSubmit": [HookMatcher(hooks=[recall])],
            "PostToolUse": [HookMatcher(matcher=_WRITERS, hooks=[record])],
            "Stop": [HookMatcher(hooks=[record])],
            "PreCompact": [HookMatcher(hooks=[record])],
        }

    def _recalled(self, given: Mapping[str, Any]) -> HookJSONOutput:
        block = self._memory.before_turn(given["prompt"])
        if not block:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": block}}

    def _recorded(self, given: Mapping[str, Any]) -> HookJSONOutput:
        if self._memory.root.exists():  # to look at memory makes none
            self._memory.adopt()
        return {}

    def _answering(self, answer: Callable[[Mapping[str, Any]], HookJSONOutput]) -> HookCallback:
        """`answer` beside the event loop. What goes wrong in it is told the person, and holds nobody up."""

        async def called(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
            try:
                return await asyncio.to_thread(answer, given)
            except CrabmemError as error:
                return {"systemMessage": f"crabmem: {error}"}

        return called

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
