"""When facts changed: by history, and by the disk where it is not as history has it; and whether within a time."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

from ..disk.stat import changed_ns
from ..errors import NotFound
from ..recall.entries import PathFilter
from ..session.scopes import others, scope
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.addresses import address, parted


def last_changed(session: Session) -> dict[str, datetime]:
    """When each entry last changed, by path, the newest first; one that was only touched or checked out did not."""
    return session.look(lambda now: last_changed_in(session, now, now.entries.paths))


def last_changed_seen(session: Session) -> dict[str, datetime]:
    """The same, with the entries of the other memories that the session sees, each by its address."""
    found = last_changed(session)
    for name, other in others(session).items():
        found |= {address(name, path): when for path, when in last_changed(other).items()}
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def last_changed_in(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When the file at each of `paths` last changed: by history, and by the disk where it is not as that has it."""
    paths = list(paths)
    beside = changed_beside(session, now, paths)
    recorded = {path: now.scan.files[path].blob for path in paths if path not in beside}
    found = beside | {path: commit.time for path, commit in session.engine.history.last_changes(recorded).items()}
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def changed_beside(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When those of `paths` changed on disk that are not there as the newest commit has them."""
    history = session.engine.history
    head = history.files(history.head_if_any())
    beside = (path for path in paths if path not in head or head[path] != now.scan.blob(path))
    return {path: changed_on_disk(session, now, path) for path in beside}


def changed_on_disk(session: Session, now: Snapshot, path: str) -> datetime:
    """When the status of a file changed, as an edit does, and a checkout too; now, when it is gone meanwhile.

    For all facts at once before a conversation, where a walk through history would take too long.
    """
    file = now.scan.files.get(path)
    return datetime.fromtimestamp(changed_ns(file.mark) / 1e9, UTC) if file else session.engine.clock()


def changed_within(session: Session, now: Snapshot, since: str | None, until: str | None) -> PathFilter | None:
    """Tells of a path whether what is there was not yet at `since`, and already at `until`; None for neither.

    What was changed and changed back in between did not change. In a snapshot of a commit, what came after it is not
    known.
    """
    if since is None and until is None:
        return None
    timeline = session.timeline
    before = {} if since is None else timeline.state_since(since, now.commit)
    after = None if until is None else timeline.state_since(until, now.commit, is_end=True)

    def fits(path: str) -> bool:
        own = now.entries.blob(path)
        return before.get(path) != own and (after is None or after.get(path) == own)

    return fits


def changed_within_each(session: Session, now: Snapshot, since: str | None, until: str | None) -> PathFilter:
    """The same of the addresses of several memories, revisions being the session's own; of one without a history
    nothing fits."""
    own, filters = session.engine.scopes.own, dict[str, PathFilter | None]()
    filters[own] = changed_within(session, now, since, until)
    since = since and session.timeline.moment(since, is_end=False)
    until = until and session.timeline.moment(until)
    for name, other in now.others.items():
        with suppress(NotFound):
            filters[name] = changed_within(scope(session, name), other, since, until)

    def fits(address: str) -> bool:
        name, path = parted(address)
        return name in filters and ((within := filters[name]) is None or within(path))

    return fits
