"""Memory for Pydantic AI, as a toolset: the tools, with the prompt and what was recalled as their instructions.

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

# No check by Pydantic AI: our tools check their arguments themselves, and tell the model what is wrong.
_ANYTHING = SchemaValidator(core_schema.any_schema())


@dataclass
class MemoryToolset(AbstractToolset[Any]):
    """The tools that a memory offers. An error in one is an answer that the model reads.

    The instructions are `memory.prompt()` and, unless `recalls` is False, what memory holds that bears on the prompt of
    a run. Both are made when the run begins (`for_run`), and stay the same in all its requests.
    """

    memory: Memory
    recalls: bool = True
    name: str = "crabmem"
    instructions: str = ""

    @property
    def id(self) -> str:
        """The id of this toolset among those of an agent: its name."""
        return self.name

    async def for_run(self, ctx: RunContext[Any]) -> "MemoryToolset":
        """Return the toolset of one run, with the instructions for its prompt."""
        return replace(self, instructions=await to_thread.run_sync(self._instructions_for, ctx.prompt))

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        """Return the instructions that `for_run` made; "" on a toolset of no run."""
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
        """Call a tool on a thread. The metadata of the answer are the tool's data.

        Raises:
            ToolFailed: the tool failed; its text is for the model.
        """
        result = await to_thread.run_sync(self.memory.call, name, tool_args)
        if result.is_error:
            raise ToolFailed(result.text)
        return ToolReturn(result.text, metadata=result.data)

    def _instructions_for(self, prompt: str | Sequence[UserContent] | None) -> str:
        # `again`: instructions of earlier runs are not in the requests of this one, so facts said there are said again.
        recalled = self.memory.before_turn(_text(prompt), again=True) if self.recalls else ""
        return joined((self.memory.prompt(), recalled))


def _text(prompt: str | Sequence[UserContent] | None) -> str:
    """Return the texts of a prompt, without pictures and the like; "" for None."""
    parts = [prompt] if isinstance(prompt, str) else prompt or ()
    return "\n".join(part for part in parts if isinstance(part, str))


def _defined(tool: Tool) -> ToolDefinition:
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema)
