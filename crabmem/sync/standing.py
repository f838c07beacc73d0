"""How syncing stands, as far as this machine knows. Asks no remote, and loads nothing that reaches one."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta

from ..errors import CrabmemError
from ..git.commits import JOINING
from ..git.history import History
from ..git.refs import PURGED
from ..recall.labels import NAME
from ..remotes.address import parse_address
from ..results import SyncState
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.slug import spelled
from ..text.values import replace
from .auto import next_unasked
from .record import Record

#: The reference that says where the remote's branch was seen last.
TRACKED = "refs/remotes/origin/"
# A failure that lasts so long is told to a person who does not ask.
_LONG = timedelta(days=1)


def state(session: Session) -> SyncState:
    """Return what was synced when, what waits, and when it is tried again; asks no remote."""
    engine = session.engine
    history, url = engine.history, engine.allowed.reach(session.root).remote
    if not url:
        return SyncState(None)
    head = history.head_if_any()
    seen = history.tracked(f"{TRACKED}{branch(session)}") if head else None
    ahead, behind = (len(lacking(history, *each)) for each in ((seen, head), (head, seen)))
    record = Record(engine)
    found = record.state(parse_address(url, session.root).shown, ahead, behind)
    return replace(
        found,
        waiting=sum(is_of_sync(history, each) for each in history.aside.readable()),
        next_try=_next_unasked(session),
        shows_purged=found.succeeded is not None and (history.tracked(PURGED) or "") != record.purged(),
    )


def trouble(found: SyncState, now: datetime) -> str:
    """Return what a person is told who does not ask; "" for nothing.

    That is that the remote shows what was purged, that a purge waits for them, or that syncing fails for more than
    a day, and why.
    """
    purged = f"{found.remote} shows what was purged here until the next `crabmem sync`" if found.shows_purged else ""
    if found.purge_waits:
        return f"not synced: {found.error}: `crabmem sync` asks you, `crabmem sync --yes` takes it in"
    if found.failing_since is None or now - found.failing_since < _LONG:
        return purged
    since = f"{found.failing_since:%Y-%m-%d %H:%M}"
    failing = f"memory is not synced with {found.remote} since {since}: {found.error}; `crabmem sync` tries again"
    return "\n".join(filter(None, [failing, purged]))


def branch(session: Session) -> str:
    """Return the name of the branch that memory is on."""
    return session.engine.history.branch.short_name()


def lacking(history: History, tip: str | None, other: str | None) -> list[str]:
    """Return the commits of `other` that `tip` does not stand on, newest first; None has none."""
    return history.commits_since([tip] if tip else [], other) if other else []


def is_of_sync(history: History, commit: str) -> bool:
    """Return whether a commit beside the branch is a text that waits since two machines were joined; a purge may have
    left nothing of it."""
    with suppress(CrabmemError):
        return history.commit(commit, with_paths=False).tool == JOINING and bool(history.changes.of(commit))
    return False


def doubled(session: Session, paths: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the names that several facts have, and their paths, where one of `paths` is among these.

    Nothing can be saved under such a name before one of them is renamed.
    """

    def look(now: Snapshot) -> dict[str, tuple[str, ...]]:
        keys, found = now.entries.index.pairs(NAME), dict[str, list[str]]()
        for key, path in keys:
            found.setdefault(key, []).append(path)
        several = [
            path for same in found.values() if len(same) > 1 and not set(same).isdisjoint(paths) for path in same
        ]
        named = dict[str, list[str]]()
        for path in sorted(several):
            named.setdefault(spelled(now.entries.at(path).name), []).append(path)
        return {name: tuple(same) for name, same in named.items() if len(same) > 1}

    return session.look(look)


def _next_unasked(session: Session) -> datetime | None:
    with suppress(CrabmemError):  # settings that cannot be read are told of elsewhere
        return next_unasked(session)
    return None
