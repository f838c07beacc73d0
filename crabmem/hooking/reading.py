"""Reads what a hook had no time to read, so that the next one has: the first reading of many entries takes seconds."""

from pathlib import Path

from ..disk import fs
from ..disk.background import start
from ..workspace.workspace import Workspace


def begin(workspace: Workspace) -> None:
    """Begin to read, in a process of its own. Imports nothing of ours: what is late may be in the middle of that."""
    if fs.is_own_folder(workspace.private):
        start("hooking.reading", workspace.root)


def main(root: str) -> None:
    """The process that reads; one at a time."""
    from ..api import Memory
    from ..disk import state
    from ..disk.lock import WriterLock
    from ..errors import CrabmemError

    try:
        with WriterLock(Workspace(Path(root)).private / state.READING).held(0), Memory(root) as memory:
            memory.stats()
    except CrabmemError:
        return  # another one reads, or it is what the hook has told of
