"""Opening a memory with another clock than this machine's."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from crabmem import Memory
from crabmem.session.engine import Engine, Options
from crabmem.session.session import Session
from crabmem.write.actor import Actor


def opened_with(
    root: Path,
    actor: Actor,
    clock: Callable[[], datetime],
    kind: str = "main",
    environment: Mapping[str, str] | None = None,
    **given: Any,
) -> Memory:
    """A memory for an actor by another clock than this machine's; `given` are its `Options`. Nothing is recovered."""
    memory = object.__new__(Memory)
    Session.__init__(memory, Engine(root, clock, environment, Options(**given)), actor, kind)
    return memory
