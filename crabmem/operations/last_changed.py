"""When facts changed: by history, and by the disk for unrecorded changes; and filters for changes within a time."""

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
    """When each entry last changed, by path, the newest first. Touching or checking out a file is no change."""
    return session.look(lambda now: last_changed_in(session, now, now.entries.paths))


def last_changed_seen(session: Session) -> dict[str, datetime]:
    """`last_changed`, with the entries of the other memories that the session sees, by address."""
    found = last_changed(session)
    for name, other in others(session).items():
        found |= {address(name, path): when for path, when in last_changed(other).items()}
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def last_changed_in(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When the file at each of `paths` last changed, the newest first: by history, or the disk if not recorded."""
    paths = list(paths)
    beside = changed_beside(session, now, paths)
    recorded = {path: now.scan.files[path].blob for path in paths if path not in beside}
    found = beside | {path: commit.time for path, commit in session.engine.history.last_changes(recorded).items()}
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def changed_beside(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When those of `paths` changed on disk that differ from the newest commit; the others are not in the answer."""
    history = session.engine.history
    head = history.files(history.head_if_any())
    beside = (path for path in paths if path not in head or head[path] != now.scan.blob(path))
    return {path: changed_on_disk(session, now, path) for path in beside}


def changed_on_disk(session: Session, now: Snapshot, path: str) -> datetime:
    """When a file changed on disk, by its ctime, which a checkout changes, too; now, if the file is gone meanwhile.

    Used for all facts at once before a conversation, where reading the history would take too long.
    """
    file = now.scan.files.get(path)
    return datetime.fromtimestamp(changed_ns(file.mark) / 1e9, UTC) if file else session.engine.clock()


def changed_within(session: Session, now: Snapshot, since: str | None, until: str | None) -> PathFilter | None:
    """Return a filter of paths whose text is another than at `since`, and the same as at `until`; None without both.

    A text that was changed and changed back did not change. In a snapshot of a commit, both moments are no later than
    that commit.
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
    """`changed_within` for addresses in several memories. Revisions are those of the session's own memory; in another
    one their time counts. An entry of a memory without a history never fits."""
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
