"""Opening a workspace on this machine: the one place below the faces that knows its clock and its environment."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..errors import CrabmemError
from ..text.times import local
from ..text.values import replace
from ..workspace.settings import Settings
from ..write.actor import PROPOSE, Actor, is_on
from .engine import USUAL, Engine, Options
from .locate import place_meant
from .session import Session

#: Set in a process that answers for others (`standby`): lends a new engine the files and index that are loaded.
lender: Callable[[Engine], None] | None = None


def local_time() -> datetime:
    """The time now, in the zone of this machine; in UTC where that is none that there can be."""
    return local(datetime.now(UTC))


local_time.ns = time.time_ns  # type: ignore[attr-defined]  # a float of seconds is less exact


def engine_at(root: str | os.PathLike[str] | None, options: Options = USUAL) -> Engine:
    """The parts of the workspace in `root`; of None in what the command line would take: $CRABMEM_DIR, else
    `~/.crabmem`, in it the project of $CRABMEM_PROJECT and agent $CRABMEM_WORKSPACE."""
    folder, project, own = (None, None, None) if root is None else (os.fspath(root), "", "")
    options = replace(
        options,
        is_parent_named=options.is_parent_named or root is None,
        is_alone=options.is_alone or is_on("CRABMEM_ONLY_THIS", os.environ),
    )
    place = place_meant(folder, project, own, os.environ, os.path.expanduser("~"))
    engine = Engine(place, local_time, os.environ, options)
    if lender:
        lender(engine)
    return engine


def session_at(root: Path | str, actor: Actor | None = None, kind: str = "main", options: Options = USUAL) -> Session:
    """A session on the workspace in `root`, of nobody unless an `actor` is named. `Memory` has all operations, too,
    and takes longer to load."""
    opened = Session(engine_at(root, options), actor or Actor(), kind)
    recover(opened)
    return opened


def recover(session: Session) -> None:
    """Check who acts in a session that was just opened, and finish what a crash interrupted. With $CRABMEM_PROPOSE all
    that it writes waits for a person: hosts hand that on to their hooks and servers.

    Raises:
        InvalidArguments: the agent is called as the person is, or as crabmem.
    """
    if session.agent:
        from ..text.agent_names import refuse_taken  # late: a person names no agent

        person = Settings().person
        with suppress(CrabmemError, OSError):  # whoever needs the settings says what is wrong with them
            person = session.settings.person
        refuse_taken(session.agent, person)
    if is_on(PROPOSE, os.environ):
        session.actor = replace(session.actor, proposes=True)
    session.engine.recover()
