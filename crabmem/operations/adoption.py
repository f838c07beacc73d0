"""Recording what others wrote into a workspace: a person's edits, and files that tools of an agent's host wrote."""

from collections.abc import Iterable
from contextlib import suppress

from ..disk.scan import Scan
from ..errors import CrabmemError
from ..recall.catalog import Progress
from ..results import Commit
from ..session import rules
from ..session.init import init
from ..session.session import Session
from ..write.bylines import kept_paths
from ..write.losses import Losses


def adopt(session: Session, even_if_many: bool = False, progress: Progress | None = None) -> Commit | None:
    """Record what was changed on disk from outside as a commit of the person; None when nothing was.

    In a folder without a history it begins one; then the commit is that of the files that lay there.
    That too many of the entries are gone at once is recorded only with `even_if_many`; see `unrecorded`.
    `progress` is called with how many of the files that were changed are stored.
    """
    history, writer = session.engine.history, session.engine.writer
    if session.actor.proposes:
        return None  # what it wrote by other means would count as the person's
    before = history.head_if_any()
    begun = init(session, progress=progress)
    rules.check_may_write(session)
    writer.record_ahead(progress or (lambda done, total: None))
    after = writer.adopt(even_if_many)
    if after is None or after == before:
        return None
    edits = history.parent(after) if after == begun.commit else after
    return session.view.of_commit(history.commit(edits if edits and edits != before else after))


def adopt_written(session: Session, files: Iterable[str]) -> Commit | None:
    """Record `files` that a tool of the agent's host wrote as a commit of this agent, `write: NAME`.

    What others changed is recorded before it, as the person's. Passed over are files elsewhere, and those whose
    history is not kept. An agent that writes `Crab.md` so cannot be stopped any more: that is recorded, too. When
    this fails, whoever records the files next still says who wrote them, unless they were changed again. None
    when there was nothing of these files to record.

    Raises:
        Unwritable: the folder is in a repository of something else.
    """
    engine = session.engine
    paths = kept_paths(engine.workspace, files)
    before = engine.history.head_if_any()
    if paths:
        rules.check_may_write(session)
    after = engine.writer.adopt_written(paths, session.actor) if paths else None
    made = engine.history.commits(after, before) if after and after != before else ()
    return session.view.of_commit(
        next((each for each in made if each.tool == "write" and not set(paths).isdisjoint(each.paths)), None)
    )


def unrecorded(session: Session) -> Losses | None:
    """What was lost on disk, when it is so many entries that no write records it before it is confirmed.

    `restore` brings them back; `adopt(even_if_many=True)` records that they are gone.
    """
    return session.look(lambda now: session.engine.writer.lost_outside(now.scan))


def unrecorded_in(session: Session, scan: Scan | None = None) -> Losses | None:
    """Return the same for who sees everything, of a `scan` of before; None also where the history cannot be read."""
    if not session.view.is_whole:
        return None
    with suppress(CrabmemError, OSError):
        return session.engine.writer.lost_outside(scan) if scan else unrecorded(session)
    return None
