"""Facts as they are read: found by name, and listed."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from ..errors import InvalidArguments, NotFound
from ..recall.headers import Header
from ..recall.names import note_of
from ..session.scopes import addressed, others
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.addresses import address, parted
from ..text.entry import Entry
from ..text.values import replace
from .last_changed import changed_within


def get(session: Session, name: str, at: str | None = None) -> Entry:
    """The entry called `name`, now or as it was at a revision or time; else the daily note that `name` means, whole.

    Raises:
        NotFound: there is no such entry or note.
        Unreadable: no entry has that name, and a file that may be the entry cannot be read.
    """

    def read(now: Snapshot) -> Entry:
        try:
            return now.get(name)
        except NotFound:
            if note := note_of(now.entries, name):
                return note
            raise

    return session.look(read, at)


def get_seen(session: Session, name: str, at: str | None = None) -> Entry:
    """`get`, also from the other memories that the session sees: first its own, then the nearest that has the entry.

    The path of an entry of another memory is an address. `name` may be one, too: `me:Editor`.

    Raises: as `get`.
    """
    one, own = addressed(session, name)
    if one is not session:
        return _with_address(parted(name)[0], get(one, own, _moment(session, at)))
    try:
        return get(session, name, at)
    except NotFound:
        for scope, other in others(session).items():
            with suppress(NotFound):
                return _with_address(scope, get(other, name, _moment(session, at)))
        raise


def seen_beside(session: Session, at: str | None = None, *, since: str | None = None) -> list[Entry]:
    """The entries of the other memories that the session sees, the nearest first, each by its address.

    `at` and `since` are as in `entries`; a revision is one of the session's own memory.
    """
    found: list[Entry] = []
    if seen := others(session):
        at, since = _moment(session, at), _moment(session, since, is_end=False)
    for scope, other in seen.items():
        with suppress(NotFound):  # that memory had not begun at `at`
            found += (_with_address(scope, entry) for entry in entries(other, at, since=since))
    return found


def _moment(session: Session, when: str | None, is_end: bool = True) -> str | None:
    """A revision or time of this memory as a time that other memories understand, too."""
    return None if when is None else session.timeline.moment(when, is_end)


def _with_address(scope: str, entry: Entry) -> Entry:
    return replace(entry, path=address(scope, entry.path))


def entries(session: Session, at: str | None = None, *, since: str | None = None) -> list[Entry]:
    """All entries in the order of their paths, now or as they were at a revision or time.

    With `since`, only those last changed after that revision or time.
    """
    return entries_and_unreadable(session, at, since=since)[0]


def entries_and_unreadable(
    session: Session, at: str | None = None, *, since: str | None = None
) -> tuple[list[Entry], int]:
    """What `entries` returns, and how many files could not be read as one."""

    def read(now: Snapshot) -> tuple[list[Entry], int]:
        fits = changed_within(session, now, since, None)
        found = [now.entries.at(path) for path in now.entries.paths if fits is None or fits(path)]
        return found, len(now.entries.unreadable)

    return session.look(read, at)


def page(session: Session, after: str, limit: int) -> list[Entry]:
    """The first `limit` entries whose paths come after `after`, in the order of their paths; no other is read."""

    def read(now: Snapshot) -> list[Entry]:
        return [now.entries.at(path) for path in islice((path for path in now.entries.paths if path > after), limit)]

    return session.look(read)


def headers_and_unreadable(session: Session, *, since: str | None = None) -> tuple[list[Header], int]:
    """The headers of all present entries in the order of their paths, and how many files could not be read as one.

    Quicker than `entries_and_unreadable`: headers come from a table that is kept.
    """
    headers = session.engine.headers

    def read(now: Snapshot) -> tuple[list[Header], int]:
        fits = changed_within(session, now, since, None)
        return headers.of(now.entries, fits), len(now.entries.unreadable)

    return session.look(read)


def labels_of(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Aliases or tags as they were given; None for none given.

    Raises:
        InvalidArguments: `labels` is one text, which Python would take for a sequence of letters.
    """
    if isinstance(labels, str):
        raise InvalidArguments(f"aliases and tags are lists of texts: give [{labels!r}]")
    return None if labels is None else tuple(labels)


# The path of an entry or file: now, or the last one in the history


def whole_file(now: Snapshot, name: str) -> str | None:
    """The path of MEMORY.md, Crab.md or the settings, where `name` means one; an entry's path means the entry."""
    path = now.layout.whole_file(name)
    is_of_entry = path is not None and now.layout.is_entry(name) and name in now.files
    return None if is_of_entry else path


def path_of(session: Session, name: str) -> str:
    """The path of the entry called `name`, or the last it had in the history; or that of MEMORY.md, Crab.md, settings.

    Raises:
        NotFound: no such entry is or was there that this session may see.
    """
    try:
        path = session.look(lambda now: whole_file(now, name)) or get(session, name).path
    except NotFound:
        last = session.timeline.last_path(name, session.view.allows)
        if last is None or not session.view.allows(last):
            raise
        return last
    if not session.view.allows(path):
        raise NotFound(f"no fact called {name}")
    return path


def path_at(session: Session, name: str, commit: str) -> str:
    """`path_of`; if the history knows no such name, the path of the entry that was called so at `commit`."""
    try:
        return path_of(session, name)
    except NotFound:
        return get(session, name, commit).path
