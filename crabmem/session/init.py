"""How a workspace begins: its history, and the files that its profile has one begin with.

The operation `init`; it lies here because the first write begins a workspace, too.
"""

from __future__ import annotations

import os

from ..disk import fs
from ..errors import CrabmemError, Disabled, Unwritable
from ..results import CREATOR, Begun
from ..text.entry import decode
from ..workspace.layout import AGENTS, SETTINGS
from ..write.actor import ITSELF
from ..write.draft import Draft
from .locate import workspace_at
from .rules import check_may_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..disk.scan import Scan
    from ..git.commits import Note
    from ..recall.catalog import Progress
    from .session import Session


def init(
    session: Session,
    claim: bool = False,
    is_seeded: bool = True,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Begun:
    """Make the workspace, with the files with which its profile begins one. Do nothing if there is one already.

    With `claim`, also in an ordinary repository that holds no memory yet. Without `is_seeded` no file is made.
    With `dry_run` nothing is written, and the answer says what would be. `progress` is called with how many of the
    files that are there already were stored.
    """
    if session.engine.history.ownership.holds_memory():
        return Begun(str(session.root), False, None, (), ())
    from ..git.commits import Note, identity  # late, as all that only who writes needs

    note = Note("init: a new memory", identity(CREATOR))
    return init_with(session, lambda scan: seeds(session, scan) if is_seeded else {}, note, claim, dry_run, progress)


def init_with(
    session: Session,
    files_for: Callable[[Scan], Mapping[str, bytes]],
    note: Note,
    claim: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Begun:
    """Write what `files_for` makes of the files there are: settings, and other files where nothing stands.

    That is the first commit where there is none. The other arguments are those of `init`.
    """
    from ..git import repository

    history, store, writer = session.engine.history, session.engine.store, session.engine.writer
    is_new = not history.place.exists()
    check_may_write(session)

    def decide(scan: Scan) -> Draft[list[str]]:
        files = dict(files_for(scan))
        if session.layout.is_guest:
            from ..prompt.seeding import with_setting  # late: few writes seed anything

            text = decode(SETTINGS, files.get(SETTINGS, scan.data(SETTINGS) or b""))
            files[SETTINGS] = with_setting(text, "layout", session.layout.name).encode()
        there = [path for path in files if path != SETTINGS and os.path.lexists(session.file(path))]
        return Draft({path: data for path, data in files.items() if path not in there}, note, there)

    if session.actor.proposes:
        raise Disabled("a session that only proposes begins no memory; leave out --propose")
    if claim and not is_new and not history.ownership.holds_memory():
        history.ownership.claim(dry_run)
    around = session.engine.workspace.around if is_new else None
    within = around if around and fs.is_own_folder(around / ".git") else None
    is_guests = within and workspace_at(within, None, session.engine.allowed).layout.is_guest
    if is_guests and any(session.root.glob("*")):
        words = f"{session.root} has files of the project, and an agent's memory would lie there"
        raise Unwritable(f"{words}; name the agent otherwise")
    if dry_run:
        scan = store.scan()
        draft = decide(scan)
        paths = tuple(path for path, data in draft.changes.items() if data != scan.data(path))
        return Begun(str(session.root), is_new, None, paths, tuple(draft.result))
    if within:
        repository.exclude(within / ".git", f"/{AGENTS}/{session.root.name}/\n", (f"/{AGENTS}/\n",))
    writer.record_ahead(progress or (lambda done, total: None))
    done = writer.write(decide, ITSELF)
    paths = tuple(path for path, data in done.after.items() if data != done.before[path])
    return Begun(str(session.root), is_new, done.commit, paths, tuple(done.result))


def seeds(session: Session, scan: Scan, name: str = "", description: str = "") -> dict[str, bytes]:
    """The files with which the profile begins this workspace, by path; without those that somebody has removed."""
    from ..prompt import seeding  # late: few writes seed anything

    if not session.layout.is_seeded:
        return {}
    history, head = session.engine.history, session.timeline.head()
    is_new = not (scan.files.keys() | history.files(head).keys()) - {SETTINGS}
    about = {"name": name or session.root.name, "description": description}
    found = seeding.seeds(session.profile, session.layout, session.engine.parent() is not None, is_new, about)

    def was_there(path: str) -> bool:
        return head is not None and next(history.commits(path=path), None) is not None

    return {path: text.encode() for path, text in found.items() if path in scan.files or not was_there(path)}


def is_begun(session: Session) -> bool:
    """Whether there is a memory in this folder: a history of ours, or files that would be kept in one."""
    try:
        private = session.engine.workspace.private_folder
        return fs.is_own_folder(private) or bool(session.look(lambda now: now.whole.files))
    except (CrabmemError, OSError):  # something is there, and whoever needs it says what is wrong with it
        return True
