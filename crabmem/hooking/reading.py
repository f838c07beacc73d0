"""Reads what a hook had no time to read, so that the next one has: the first reading of many entries takes seconds."""

import os
from pathlib import Path

from ..api import Memory
from ..errors import CrabmemError
from ..lock import WriterLock
from ..upkeep import begun
from ..workspace import Workspace


def begin(workspace: Workspace) -> None:
    """Begin to read, in a process of its own."""
    if os.path.isdir(workspace.private):
        begun("hooking.reading", workspace.root)


def main(root: str) -> None:
    """The process that reads; one at a time."""
    try:
        with WriterLock(Workspace(Path(root)).private / "reading").held(0), Memory(root) as memory:
            memory.stats()
    except CrabmemError:
        return  # another one reads, or it is what the hook has told of
