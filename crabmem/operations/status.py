"""How a workspace stands at this moment: what is in it, who wrote last, what is not recorded, what waits."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from ..disk.scan import Scan
from ..errors import CrabmemError, DamagedHistory
from ..results import Commit, Status, UnrecordedEdit
from ..session.init import is_begun
from ..session.locate import agent_folders
from ..session.rules import settings_problem
from ..session.session import Session
from ..text.words import counted, listed
from ..write.losses import Losses
from .adoption import unrecorded_in
from .doctor.past import LEFT_LOCK, position
from .history import commits
from .pause import paused
from .proposals import waiting as waiting_proposals
from .syncing import left_beside, left_words

# Locks that are named.
_NAMED = 3


def status(session: Session) -> Status:
    """How the workspace stands, as far as this session may see it; nothing is changed.

    Checks that take long are left to `doctor`. A damaged history is reported in `odd`, and is no error.
    """
    facts, unreadable, scan = session.look(lambda now: (len(now.entries.paths), len(now.entries.unreadable), now.scan))
    odd = [*filter(None, [_settings_words(session)]), *_left_out(session)]
    last: Commit | None = None
    edits: tuple[UnrecordedEdit, ...] = ()
    held = unrecorded_in(session, scan)
    in_progress, count, since, sync = None, 0, None, None
    try:
        edits = tuple(_edits_of(session, scan, held))
        if session.engine.history.place.exists():
            last = next(commits(session), None)
            in_progress = session.engine.history.branch.in_progress()
            count, since = waiting(session)
            odd += _oddities(session, held)
        if session.engine.allowed.reach(session.root).remote:
            from ..sync.standing import state  # late: most workspaces are on one machine

            sync = state(session)
    except DamagedHistory as error:
        odd.append(str(error))
    return Status(
        root=str(session.root),
        is_begun=is_begun(session),
        profile=session.engine.profile_name,
        facts=facts,
        unreadable=unreadable,
        agents=tuple(folder.name for folder in agent_folders(session.engine.workspace)),
        last=last,
        edits=edits,
        missing=held.count if held else 0,
        proposals=count,
        waiting_since=since,
        in_progress=in_progress,
        odd=tuple(odd),
        sync=sync,
        paused=paused(session),
    )


def edits(session: Session, even_if_many: bool = False) -> tuple[UnrecordedEdit, ...]:
    """Return what `adopt` would record, by path."""
    scan = session.engine.store.scan()
    return tuple(_edits_of(session, scan, None if even_if_many else unrecorded_in(session, scan)))


def _edits_of(session: Session, scan: Scan, held: Losses | None) -> Iterator[UnrecordedEdit]:
    """Yield the files that differ from the newest commit, by path, without `held` losses, which `adopt` leaves out."""
    history, view, kept = session.engine.history, session.view, held.paths if held else ()
    found = session.engine.writer.outside_edits(scan).items()
    outside = {path: file for path, file in found if view.allows(path) and path not in kept}
    known = history.files(history.head_if_any()) if outside else {}
    for path, file in sorted(outside.items()):
        yield UnrecordedEdit(path, "removed" if file is None else "changed" if path in known else "new")


def waiting(session: Session) -> tuple[int, datetime | None]:
    """How many proposals wait for a person, and since when the oldest does; (0, None) for none."""
    history = session.engine.history
    if not (history.place.exists() and history.aside.readable()):
        return 0, None
    found = waiting_proposals(session).all()
    return len(found), found[0].time if found else None


def waiting_words(count: int, since: datetime | None, now: datetime) -> str:
    """A sentence for the person: how many proposals wait, since when, and the command that shows them."""
    days = (now - since).days if since else 0
    when = f", the oldest since {since:%Y-%m-%d} ({counted(days, 'day')})" if since and days > 0 else ", since today"
    return f"{counted(count, 'proposal')} {'waits' if count == 1 else 'wait'} for you{when}: `crabmem review`"


def _settings_words(session: Session) -> str:
    """The fault in the settings, or with those of the person's memory seen beside this one; "" for nothing."""
    try:
        rules = session.engine.settings_now()[0]
        if session.engine.sees_others(rules):
            session.engine.scopes.check_settings(rules)
    except CrabmemError as error:
        return str(error)
    return settings_problem(session)


def _left_out(session: Session) -> Iterator[str]:
    """Yield which files the prompt is without, as they cannot be read; nothing while the settings cannot."""
    from .context import pieces  # late: for most profiles nothing else here loads msgspec

    with suppress(CrabmemError):
        yield from (f"left out of the prompt: {piece.trouble}" for piece in pieces(session) if piece.trouble)


def _oddities(session: Session, held: Losses | None) -> Iterator[str]:
    """Yield what is odd and quickly found, only in a session that sees all files."""
    if not session.view.is_whole:
        return
    if held:
        yield held.words
    if left := session.engine.history.health().left_locks():
        yield f"Git waits for {listed([lock.name for lock in left], _NAMED, 'locks')} in .git, {LEFT_LOCK}"
    if words := session.engine.history.aside.unread():
        yield words
    if session.engine.allowed.reach(session.root).remote and (paths := left_beside(session)):
        yield left_words(paths)
    yield from (finding.message for finding in position(session.engine.history) if finding.level != "info")
