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
    """Record what was changed on disk from outside as a commit of the person; return it, None when nothing was changed.

    In a folder without a history one is begun; then the commit is that of the files that lay there. The loss of too
    many entries at once is recorded only with `even_if_many`; see `unrecorded`. `progress` is called with how many of
    the changed files are stored, and how many there are. Where the actor only proposes, nothing is done.
    """
    history, writer = session.engine.history, session.engine.writer
    if session.actor.proposes:
        return None  # what this agent wrote with tools of its host would be recorded as the person's
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

    Other outside edits are recorded before it, as the person's. Files elsewhere, and files whose history is not kept,
    are passed over. `Crab.md` is recorded, too: it is written already, and can only be taken back. If the write fails,
    the next one still records the files as this agent's, unless they were changed again. None is returned when
    nothing of these files was to be recorded.

    Raises:
        Unwritable: the folder lies in a repository that is not memory's.
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
    """The losses on disk, if they are so many that no write records them before a person confirms them; else None.

    `restore` brings them back; `adopt(even_if_many=True)` records that they are gone.
    """
    return session.look(lambda now: session.engine.writer.lost_outside(now.scan))


def unrecorded_in(session: Session, scan: Scan | None = None) -> Losses | None:
    """Return `unrecorded`, by an earlier `scan` if one is given; None in a session that sees only some files, too, and
    where the history cannot be read."""
    if not session.view.is_whole:
        return None
    with suppress(CrabmemError, OSError):
        return session.engine.writer.lost_outside(scan) if scan else unrecorded(session)
    return None
