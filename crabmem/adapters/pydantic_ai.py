"""Pydantic AI over a memory: its tools, and the prompt and what was recalled as their instructions.

Agent("openai:gpt-5", toolsets=[MemoryToolset(memory)])
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..memory import Memory
from ..text.quoting import joined
from ..tools.tool import Tool
from . import missing

try:
    from anyio import to_thread
    from pydantic_ai import RunContext, ToolFailed, ToolReturn
    from pydantic_ai.messages import UserContent
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise missing("pydantic_ai", "Pydantic AI", "pydantic-ai") from error

# Tools check their arguments themselves, and say what is wrong with them.
_ANYTHING = SchemaValidator(core_schema.any_schema())


@dataclass
class MemoryToolset(AbstractToolset[Any]):
    """The tools that a memory offers; what goes wrong is an answer that the model reads.

    Instructions are `memory.prompt()` and, unless `recalls` is False, what memory holds that bears on the prompt of
    a run: both as they were when it began.
    """

    memory: Memory
    recalls: bool = True
    name: str = "crabmem"
    instructions: str = ""

    @property
    def id(self) -> str:
        """What tells this toolset from others of an agent."""
        return self.name

    async def for_run(self, ctx: RunContext[Any]) -> "MemoryToolset":
        """The toolset of one run, which knows what to say in it."""
        return replace(self, instructions=await to_thread.run_sync(self._instructions_for, ctx.prompt))

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        """The same in every request of a run."""
        return self.instructions

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools that the settings allow now."""
        return {
            tool.name: ToolsetTool(toolset=self, tool_def=_defined(tool), max_retries=1, args_validator=_ANYTHING)
            for tool in self.memory.tools
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> ToolReturn:
        """Call a tool on a thread. Its data are the metadata of the answer."""
        result = await to_thread.run_sync(self.memory.call, name, tool_args)
        if result.is_error:
            raise ToolFailed(result.text)
        return ToolReturn(result.text, metadata=result.data)

    def _instructions_for(self, prompt: str | Sequence[UserContent] | None) -> str:
        # What earlier runs had in their instructions is in no request of this one.
        recalled = self.memory.before_turn(_text(prompt), again=True) if self.recalls else ""
        return joined((self.memory.prompt(), recalled))


def _text(prompt: str | Sequence[UserContent] | None) -> str:
    parts = [prompt] if isinstance(prompt, str) else prompt or ()
    return "\n".join(part for part in parts if isinstance(part, str))


def _defined(tool: Tool) -> ToolDefinition:
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema)
