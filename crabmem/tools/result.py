"""What a tool is made of, and what it gives back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import CrabmemError
from ..memory import Memory
from ..results import Changed, Saved


class Refusal(CrabmemError):
    """What a tool does not do, in the words that agents of its family know."""


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
    """A function that is a tool, and its `title` for people.

    `allowed` says whether a memory offers it now.
    """

    function: Callable[..., Result]
    title: str
    hints: Hints
    allowed: Callable[[Memory], bool] = _always

    @property
    def name(self) -> str:
        """The name agents call it by."""
        return self.function.__name__


def told(text: str, done: Changed) -> str:
    """`text`, under it what the write replaced, and what to mind about it."""
    diff = "" if isinstance(done, Saved) and done.created else done.diff
    return warned("\n\n".join(part.rstrip("\n") for part in (text, diff) if part), done.warnings)


def warned(text: str, warnings: Iterable[str]) -> str:
    """`text`, under it what to mind."""
    lines = "\n".join(f"warning: {words}" for words in warnings)
    return f"{text}\n\n{lines}" if lines else text
