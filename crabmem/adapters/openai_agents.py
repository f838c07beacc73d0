"""Memory for an agent of OpenAI's Agents SDK: its tools, its instructions, and recall before each message.

notes = AgentMemory(memory)
agent = Agent(name="helper", instructions=notes.instructions("You help."), tools=notes.tools)
Runner.run_sync(agent, "…", run_config=RunConfig(call_model_input_filter=notes.before_call))
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from ..memory import Memory
from ..text.quoting import joined
from . import missing

try:
    from agents import Agent, FunctionTool, RunContextWrapper, Tool, TResponseInputItem
    from agents.run_config import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing("openai_agents", "OpenAI's Agents SDK", "openai-agents") from error

Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


class AgentMemory:
    """The use that an agent makes of one memory. Make one for each conversation, in which no fact is recalled twice."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        #: The facts recalled for each message of the person, by its text; "" for nothing.
        self._recalled: dict[str, str] = {}

    @property
    def tools(self) -> list[Tool]:
        """The tools that the settings allow now. An error in one is an answer to the model, and ends no run."""
        return [
            FunctionTool(
                name=tool.name,
                description=tool.description,
                params_json_schema=dict(tool.input_schema),
                on_invoke_tool=self._caller(tool.name),
                # A strict schema has no optional arguments, and ours have some.
                strict_json_schema=False,
            )
            for tool in self._memory.tools
        ]

    def instructions(self, own: str = "") -> Instructions:
        """Return a function for `Agent(instructions=…)`: at each call it returns the agent's `own` instructions, and
        under them the current identity, overview and guide to memory.
        """

        async def current(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
            return joined((own, await asyncio.to_thread(self._memory.prompt)))

        return current

    async def before_call(self, data: CallModelData[Any]) -> ModelInputData:
        """Put what memory holds on the person's last message before that, as `RunConfig.call_model_input_filter`.

        The history of the run is not changed: each request gets again what was put before its earlier messages.
        """
        given = data.model_data
        last = next((text for item in reversed(given.input) if (text := _message(item))), "")
        if last and last not in self._recalled:
            self._recalled[last] = await asyncio.to_thread(self._memory.before_turn, last)
        items = list[TResponseInputItem]()
        for item in given.input:
            if block := self._recalled.get(_message(item)):
                items.append({"role": "user", "content": block})
            items.append(item)
        return ModelInputData(input=items, instructions=given.instructions)

    def _caller(self, tool: str) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
        async def call(context: ToolContext[Any], arguments: str) -> str:
            return (await asyncio.to_thread(self._memory.call, tool, arguments)).text

        return call


def _message(item: TResponseInputItem) -> str:
    """Return what the person said in this item; "" for any other item."""
    given = cast("Mapping[str, Any]", item)
    if given.get("role") != "user":
        return ""
    content = given.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text") or "" for part in content]
    return "\n".join(part for part in parts if part)
