"""Counts of uses of facts. They are kept outside of memory and lost without harm: then all count as used alike."""

import os
from contextlib import suppress

from ..disk import state
from ..errors import CrabmemError
from ..results import Recall
from ..session.session import Session
from ..text.slug import name_key


def count_uses_by_name(session: Session, found: Recall) -> None:
    """Count a use of each fact in `found` whose name or alias is the whole query.

    Other hits do not count: facts that are found often would be found more and more often.
    """
    key = name_key(found.query)
    asked = (hit.entry for hit in found if key in map(name_key, (hit.entry.name, *hit.entry.aliases)))
    session.engine.uses.add([entry.path for entry in asked], session.engine.clock())


def forget_gone(session: Session) -> None:
    """Remove the counts of facts that are gone. Errors are ignored: the next removal of a fact tries again."""
    engine = session.engine
    with suppress(CrabmemError):
        if os.path.exists(engine.workspace.private / state.USES):
            engine.uses.keep(session.look(lambda now: list(now.whole.entries.paths)))


def follow_rename(session: Session, old: str, new: str) -> None:
    """Move the counts of a fact from the path `old` to `new`. Errors are ignored, as in `forget_gone`."""
    with suppress(CrabmemError):
        if old != new and os.path.exists(session.engine.workspace.private / state.USES):
            session.engine.uses.move(old, new)
