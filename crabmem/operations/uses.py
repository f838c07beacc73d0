"""Which facts are used: known beside the index, and lost without harm; then all count as used alike."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..disk import state
from ..errors import CrabmemError
from ..results import Recall
from ..session.session import Session
from ..text.entry import Entry
from ..text.slug import name_key


def used(session: Session, names: Iterable[str]) -> None:
    """Count a use of the facts called `names`, for whoever looked one up by name, or built on it.

    Nothing is counted for what recall finds: what is found often would be found ever more often.

    Raises:
        NotFound: there is none of that name.
    """
    from .facts import get

    _count(session, [get(session, name) for name in names])


def used_by_name(session: Session, found: Recall) -> None:
    """Count a use of the facts that were found because they were asked for by name."""
    key = name_key(found.query)
    _count(session, [hit.entry for hit in found if key in map(name_key, (hit.entry.name, *hit.entry.aliases))])


def forget_gone(session: Session) -> None:
    """Forget how what is gone was used; no failure, as what removed it is done, and the next time does it too."""
    engine = session.engine
    with suppress(CrabmemError):
        if os.path.exists(engine.workspace.private / state.USES):
            engine.uses.keep(session.look(lambda now: list(now.whole.paths)))


def follow_rename(session: Session, old: str, new: str) -> None:
    """Have a fact that moved from `old` to `new` keep its uses; no failure, as for `forget_gone`."""
    with suppress(CrabmemError):
        if old != new and os.path.exists(session.engine.workspace.private / state.USES):
            session.engine.uses.move(old, new)


def _count(session: Session, entries: Sequence[Entry]) -> None:
    session.engine.uses.add([entry.path for entry in entries], session.engine.clock())
