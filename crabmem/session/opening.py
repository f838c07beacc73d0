"""Opening a workspace on this machine: the one place below the faces that knows its clock and its environment."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CrabmemError
from ..recall.catalog import Progress
from ..text.agent_names import refuse_taken
from ..workspace.settings import Settings
from ..workspace.workspace import root_of
from ..write.actor import Actor
from .engine import Engine
from .session import Session

if TYPE_CHECKING:
    from ..embeddings.embedder import Embedder


def local_time() -> datetime:
    """The time now, in the zone of this machine; in UTC where that is none that there can be."""
    try:
        return datetime.now().astimezone()
    except ValueError:  # TZ names a zone that is more than a day away
        return datetime.now(UTC)


def engine_at(
    root: str | os.PathLike[str] | None,
    *,
    soul_editable: bool | None = None,
    progress: Progress | None = None,
    embedder: "Embedder | None" = None,
    profile: str | None = None,
    is_parent_named: bool = False,
) -> Engine:
    """The parts of the workspace in `root`; of None in what the command line would take: $CRABMEM_DIR, else
    `~/.crabmem`, in it agent $CRABMEM_WORKSPACE. The other arguments are those of `Engine`."""
    folder, own = (None, None) if root is None else (os.fspath(root), "")
    return Engine(
        root_of(folder, own, os.environ, Path.home()),
        local_time,
        os.environ,
        soul_editable=soul_editable,
        progress=progress,
        embedder=embedder,
        profile=profile,
        is_parent_named=is_parent_named or root is None,
    )


def session_at(
    root: Path,
    *,
    agent: str | None = None,
    session: str | None = None,
    is_person: bool = False,
    progress: Progress | None = None,
    profile: str | None = None,
    kind: str = "main",
    is_parent_named: bool = False,
) -> Session:
    """A session on the workspace in `root`; the arguments are those of `Memory`, which loads every operation."""
    actor = Actor(agent, session, is_person)
    engine = engine_at(root, progress=progress, profile=profile, is_parent_named=is_parent_named)
    opened = Session(engine, actor, kind)
    recover(opened)
    return opened


def recover(session: Session) -> None:
    """Check who acts in a session that was just opened, and finish what a crash interrupted.

    Raises:
        InvalidArguments: the agent is called as the person is, or as crabmem.
    """
    if session.agent:
        refuse_taken(session.agent, _person_in(session))
    session.engine.recover()


def _person_in(session: Session) -> str:
    """What the settings call the person; the usual name while they cannot be read."""
    try:
        return session.settings.person
    except (CrabmemError, OSError):  # whoever needs the settings says what is wrong with them
        return Settings().person
