"""What a tool is made of, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..memory import Memory


@dataclass(frozen=True)
class Result:
    """A tool's answer: `text` for the model, `data` for programs."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False


@dataclass(frozen=True)
class Hints:
    """What a host may assume of a tool, in MCP's terms. No tool of ours reaches beyond the workspace."""

    read_only: bool
    destructive: bool
    idempotent: bool = True
    open_world: bool = False


def _always(memory: Memory) -> bool:
    return True


@dataclass(frozen=True)
class ToolFunction:
    """A function that is a tool: `allowed` says whether a memory offers it now."""

    function: Callable[..., Result]
    hints: Hints
    allowed: Callable[[Memory], bool] = _always

    @property
    def name(self) -> str:
        """The name agents call it by."""
        return self.function.__name__


def with_diff(text: str, diff: str) -> str:
    """`text`, and under it the diff where there is one."""
    return f"{text}\n\n{diff}".rstrip("\n") if diff else text
