"""Purge an entry, a text or a pattern: the plan, the purge, and whether it still stands anywhere."""

import os
from typing import TYPE_CHECKING

from ..disk import state
from ..results import Purge, Standing
from ..session import rules
from ..session.session import Session
from ..text.values import replace
from .uses import forget_gone

if TYPE_CHECKING:
    from .erasure.purger import Purger


def purge(
    session: Session,
    name: str | None = None,
    *,
    text: str | None = None,
    pattern: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Purge:
    """Erase an entry, a text, or what a regular expression finds, from the files and all of their history.

    Every commit from the first that holds it on gets another id, and loses its signature; all else of it stays. A purge
    cannot be undone. Afterwards every object and file is read: `standing` of the answer says where it still stands.
    With `dry_run` nothing is changed, and the answer says what would be.

    Raises:
        Disabled: an agent asks, and what agents write may have to wait for a person.
        NotFound: there is nothing to purge.
        Unwritable: this history cannot be rewritten alone; or a remote that no sync rewrites has what is purged, and
            `force` is not given.
    """
    session.view.check_whole()
    reach = session.engine.allowed.reach(session.root)
    elsewhere = (*reach.extra_paths, *reach.transcripts)
    if dry_run:
        return replace(_purger(session).plan(name, text, pattern), elsewhere=elsewhere)
    session.engine.upkeep.close()
    rules.check_may_erase(session)
    done = _purger(session).purge(name, text, pattern, force)
    forget_gone(session)
    return replace(done, elsewhere=elsewhere)


def standing(
    session: Session, name: str | None = None, *, text: str | None = None, pattern: str | None = None
) -> Standing:
    """Where an entry, a text, or what a regular expression finds, stands in any object or file; changes nothing."""
    session.view.check_whole()
    return _purger(session).verify(name, text, pattern)


def is_newest(session: Session) -> bool:
    """Return whether the last thing done was a purge, not the newest commit: an undo would take back something else."""
    head = session.timeline.head()
    try:
        purged = os.lstat(session.engine.workspace.private / state.PURGES).st_mtime
    except OSError:
        return False
    return head is not None and session.engine.history.commit(head, with_paths=False).time.timestamp() <= purged


def _purger(session: Session) -> "Purger":
    from .erasure.purger import Purger  # late: it rewrites histories, which few do

    return Purger(session)
