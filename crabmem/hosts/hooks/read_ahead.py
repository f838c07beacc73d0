"""Reads in the background what a hook had no time to read, so that the next hook need not: the first reading of many
entries takes seconds.
"""

from pathlib import Path

from ...disk import fs, state
from ...disk.background import start
from ...workspace.workspace import Workspace


def begin(workspace: Workspace) -> None:
    """Begin to read, in another process. Imports nothing of ours: a late hook may be in the middle of an import."""
    if fs.is_own_folder(workspace.private):
        start("hosts.hooks.read_ahead", workspace.root)


def main(root: str) -> None:
    """Read the workspace at `root`, as the process that `begin` starts; one at a time."""
    from ...disk.lock import WriterLock
    from ...errors import CrabmemError
    from ...operations.maintenance import stats
    from ...session.opening import session_at

    private = Workspace(Path(root)).private
    if not fs.is_own_folder(private):
        return  # somebody took it away since: the lock would begin a repository there
    try:
        with WriterLock(private / state.READING).held(0), session_at(Path(root)) as memory:
            stats(memory)
    except CrabmemError:
        return  # another one reads, or it is what the hook has logged
