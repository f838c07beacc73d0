"""Reads a memory in the background after a hook was too late, so that the next hook finds it read.

The first reading of many entries takes seconds, and a hook has less.
"""

from pathlib import Path

from ...disk import fs, state
from ...disk.background import start
from ...workspace.workspace import Workspace


def begin(workspace: Workspace) -> None:
    """Begin to read in another process. Must import nothing of ours: the deadline may interrupt an import half-way."""
    if fs.is_own_folder(workspace.private):
        start("hosts.hooks.read_ahead", workspace.root)


def main(root: str) -> None:
    """Read the workspace at `root`, in the process that `begin` starts; do nothing if another process reads it."""
    from ...disk.lock import WriterLock
    from ...errors import CrabmemError
    from ...operations.maintenance import stats
    from ...session.opening import session_at

    private = Workspace(Path(root)).private
    if not fs.is_own_folder(private):
        return  # it was removed meanwhile, and the lock would make the folder again
    try:
        with WriterLock(private / state.READING).held(0), session_at(Path(root)) as memory:
            stats(memory)
    except CrabmemError:
        return  # another process reads, or the error is the one that the hook has logged
