"""Syncing without being asked, where the settings say so: in a process of its own, for which nobody waits.

A host's hook, a server and `crabmem watch` begin it. It never comes sooner than ten seconds after the last one, nor
pushes more than six times a minute, and after failures it comes ever later: being offline is normal, and a forge counts
how often it is pushed to. What `[sync] auto` says is asked in this module alone.
"""

from __future__ import annotations

from ..disk import fs, state
from ..disk.background import start
from ..workspace.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:  # every hook at the beginning or end of a session asks, and mostly nothing is to be done
    from datetime import datetime, timedelta

    from ..session.session import Session

# Seconds between two of them at least, and after failures at most.
_LEAST, _MOST = 10.0, 3_600.0
# A pause is longer or shorter by so much of it, by chance: machines that failed at once do not try again at once.
_JITTER = 0.25


def begin(session: Session, in_pause: bool = False) -> bool:
    """Begin to sync if the settings want it now and it is time; return whether it began.

    `in_pause`: edits have paused while a server or `crabmem watch` runs; else an agent's session begins or ends.
    """
    auto, engine = session.settings.sync.auto, session.engine
    if auto == "off" or (in_pause and auto == "session") or not engine.allowed.reach(session.root).remote:
        return False
    from datetime import timedelta

    after = timedelta(minutes=auto if in_pause and isinstance(auto, int) else 0)
    if not is_due(engine.workspace, engine.clock(), after):
        return False
    return fs.is_own_folder(engine.workspace.private) and start("sync.auto", engine.workspace.root) is not None


def is_due(workspace: Workspace, now: datetime, after: timedelta) -> bool:
    """Return whether the pause after the last try is over, and the limit of pushes in a minute leaves room for one."""
    from .record import room_for_pushes

    return next_try(workspace, now, after) is None and room_for_pushes(workspace.private / state.SYNC, now) > 0


def next_unasked(session: Session) -> datetime | None:
    """Return from when on it is tried again; None where the settings do not want that, or it is time already."""
    if session.settings.sync.auto == "off":
        return None
    return next_try(session.engine.workspace, session.engine.clock())


def next_try(workspace: Workspace, now: datetime, after: timedelta | None = None) -> datetime | None:
    """Return when the next sync may begin, at least `after` the last try; None for at once.

    The pause doubles with each failure since the last success, up to an hour.
    """
    import random
    from datetime import timedelta

    from .record import last_try

    tried, failures = last_try(workspace.private / state.SYNC)
    if tried is None or tried > now:
        return None
    # Seeded by the last try, so that the pause is the same at each call: else frequent callers get the shortest one.
    chance = random.Random(f"{workspace.root} {tried.isoformat()}").uniform(-_JITTER, _JITTER)
    pause = timedelta(seconds=max(_LEAST, min(_MOST, _LEAST * 2 ** min(failures, 20)) * (1 + chance)))
    due = tried + max(pause, after or pause)
    return due if due > now else None


def main(root: str) -> None:
    """Sync the workspace at `root`, as the process that `begin` starts; one at a time."""
    from pathlib import Path

    from ..disk.lock import WriterLock
    from ..errors import CrabmemError
    from ..session.opening import session_at
    from ..write.actor import Actor
    from .record import room_for_pushes
    from .sync import sync

    file = Workspace(Path(root)).private / state.SYNC
    try:
        with (
            WriterLock(file.with_name(state.SYNCING)).held(0),
            session_at(Path(root), Actor(None, None, is_person=True)) as session,
        ):
            if rounds := room_for_pushes(file, session.engine.clock()):
                sync(session, rounds=rounds)
    except CrabmemError:
        return  # another one syncs, or it is kept for `crabmem sync --status`
