"""How a workspace begins, and how what others wrote into it is recorded."""

from collections.abc import Iterable
from pathlib import Path

from ..disk.scan import Scan
from ..git.commits import Note, identity, one_line
from ..recall.catalog import Progress
from ..results import CREATOR, Begun, Commit
from ..session import beginning, rules
from ..session.locate import outside
from ..session.session import Session
from ..text.entry import decode
from ..workspace.layout import SETTINGS
from ..write.bylines import kept_paths
from ..write.losses import Losses


def init(
    session: Session,
    claim: bool = False,
    is_seeded: bool = True,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Begun:
    """Make the workspace, with the files that its profile has one begin with; nothing where there is one.

    With `claim`, also in an ordinary repository that holds no memory yet. Without `is_seeded` no file is made.
    With `dry_run` nothing is written, and the answer says what would be. `progress` is called with how many of the
    files that are there already were stored.
    """
    return beginning.begin(session, claim, is_seeded, dry_run, progress)


def use_profile(session: Session, claim: bool = False, dry_run: bool = False) -> Begun:
    """Have the settings name the profile that this was opened with, and make the files that it begins with.

    All in one commit, which may be the first. Nothing that is there, or once was, is made again. `claim` and
    `dry_run` are as for `init`. A profile that lies outside of the workspace may be read from now on.
    """
    from ..prompt.seeding import with_profile  # late: few writes seed anything

    file = Path(session.engine.profile_name)
    # A file in the workspace goes by its way from there.
    name = (
        file.relative_to(session.root).as_posix() if file.is_relative_to(session.root) else session.engine.profile_name
    )

    def wanted(scan: Scan) -> dict[str, bytes]:
        text = with_profile(decode(SETTINGS, scan.data(SETTINGS) or b""), name)
        return {SETTINGS: text.encode(), **beginning.seeds(session, scan)}

    if not dry_run:
        session.engine.allowed.allow_profile(session.root, outside(session.root, session.engine.profile_name))
    note = Note(f"init: the profile {one_line(name)}", identity(CREATOR))
    return beginning.begin_with(session, wanted, note, claim, dry_run)


def adopt(session: Session, even_if_many: bool = False, progress: Progress | None = None) -> Commit | None:
    """Record what was changed on disk from outside as a commit of the person; None when nothing was.

    In a folder without a history it begins one; then the commit is that of the files that lay there.
    That too many of the entries are gone at once is recorded only with `even_if_many`; see `unrecorded`.
    `progress` is called with how many of the files that were changed are stored.
    """
    history, writer = session.engine.history, session.engine.writer
    before = history.head() if history.exists() else None
    begun = beginning.begin(session, progress=progress)
    rules.check_may_write(session)
    writer.record_ahead(progress or (lambda done, total: None))
    after = writer.adopt(even_if_many)
    if after is None or after == before:
        return None
    edits = history.parent(after) if after == begun.commit else after
    return session.view.of_commit(history.commit(edits if edits and edits != before else after))


def wrote(session: Session, files: Iterable[str]) -> Commit | None:
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
    before = engine.history.head() if engine.history.exists() else None
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
    engine = session.engine
    return session.look(lambda now: engine.writer.unrecorded(now.scan))
