"""Syncing without being asked, where the settings say so: in a process of its own, for which nobody waits.

A host's hook, a server and `crabmem watch` begin it. It never comes sooner than ten seconds after the last one, and
after failures ever later: being offline is normal, and a forge counts how often it is pushed to.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

from ..disk import fs, state
from ..disk.background import start
from ..workspace.workspace import Workspace
from .record import last_try

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.session import Session

# Seconds between two of them at least, and after failures at most.
_LEAST, _MOST = 10.0, 3_600.0
# A pause is longer or shorter by so much of it, by chance: machines that failed at once do not try again at once.
_JITTER = 0.25


def begin(session: Session, after: timedelta = timedelta(0)) -> bool:
    """Begin to sync if it is time; whether it began. `after`: not sooner than so long after the last try."""
    engine = session.engine
    if session.settings.sync.auto == "off" or not engine.allowed.reach(session.root).remote:
        return False
    if not is_due(engine.workspace, engine.clock(), after):
        return False
    return fs.is_own_folder(engine.workspace.private) and start("sync.auto", engine.workspace.root) is not None


def is_due(workspace: Workspace, now: datetime, after: timedelta) -> bool:
    """Return whether the last try, and those that failed, are long enough ago."""
    tried, failures = last_try(workspace.private / state.SYNC)
    if tried is None or tried > now:
        return True
    pause = min(_MOST, _LEAST * 2 ** min(failures, 20)) * (1 + random.uniform(-_JITTER, _JITTER))
    return now - tried >= max(after, timedelta(seconds=max(_LEAST, pause)))


def main(root: str) -> None:
    """Sync the workspace at `root`, as the process that `begin` starts; one at a time."""
    from ..disk.lock import WriterLock
    from ..errors import CrabmemError
    from ..session.opening import session_at
    from ..write.actor import Actor
    from .sync import sync

    try:
        with (
            WriterLock(Workspace(Path(root)).private / state.SYNCING).held(0),
            session_at(Path(root), Actor(None, None, is_person=True)) as session,
        ):
            sync(session)
    except CrabmemError:
        return  # another one syncs, or it is kept for `crabmem sync --status`
