"""Which facts are used: known beside the index, and lost without harm; then all count as used alike."""

import os
from contextlib import suppress

from ..disk import state
from ..errors import CrabmemError
from ..results import Recall
from ..session.session import Session
from ..text.slug import name_key


def count_uses_by_name(session: Session, found: Recall) -> None:
    """Count a use of the facts that were found because they were asked for by name.

    Nothing is counted for what recall finds else: what is found often would be found ever more often.
    """
    key = name_key(found.query)
    asked = (hit.entry for hit in found if key in map(name_key, (hit.entry.name, *hit.entry.aliases)))
    session.engine.uses.add([entry.path for entry in asked], session.engine.clock())


def forget_gone(session: Session) -> None:
    """Forget how what is gone was used; no failure, as what removed it is done, and the next time does it too."""
    engine = session.engine
    with suppress(CrabmemError):
        if os.path.exists(engine.workspace.private / state.USES):
            engine.uses.keep(session.look(lambda now: list(now.whole.entries.paths)))


def follow_rename(session: Session, old: str, new: str) -> None:
    """Have a fact that moved from `old` to `new` keep its uses; no failure, as for `forget_gone`."""
    with suppress(CrabmemError):
        if old != new and os.path.exists(session.engine.workspace.private / state.USES):
            session.engine.uses.move(old, new)
