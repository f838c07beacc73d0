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
    """The entry called `name`, now or as it was at a revision or time; else the daily note of that day, whole.

    Raises:
        NotFound: there is none.
        Unreadable: there is none, and a file that may be it cannot be read.
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
    """The same, or where there is none that of another memory which the session sees: its path is then an address.

    `name` may be an address, `me:Editor`.

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
        with suppress(NotFound):  # it had not begun
            found += (_with_address(scope, entry) for entry in entries(other, at, since=since))
    return found


def _moment(session: Session, when: str | None, is_end: bool = True) -> str | None:
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
    """The headers of all entries of now in the order of their paths, and how many files could not be read as one.

    As `entries_and_unreadable`, but for what a header does not say.
    """
    headers = session.engine.headers

    def read(now: Snapshot) -> tuple[list[Header], int]:
        fits = changed_within(session, now, since, None)
        return headers.of(now.entries, fits), len(now.entries.unreadable)

    return session.look(read)


def labels_of(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Aliases or tags as they were given; None for none given.

    Raises:
        InvalidArguments: they are one text.
    """
    if isinstance(labels, str):
        raise InvalidArguments(f"aliases and tags are lists of texts: give [{labels!r}]")
    return None if labels is None else tuple(labels)


# Where what is called so lies: now, or when history last knew it


def whole_file(now: Snapshot, name: str) -> str | None:
    """The path of MEMORY.md, Crab.md or the settings, where `name` means one; an entry's path means the entry."""
    path = now.layout.whole_file(name)
    is_of_entry = path is not None and now.layout.is_entry(name) and name in now.files
    return None if is_of_entry else path


def path_of(session: Session, name: str) -> str:
    """Where the entry called `name` is, or was when it was last written about; or MEMORY.md, Crab.md.

    Raises:
        NotFound: there is none, nor ever was, that this session may see.
    """
    try:
        path = session.look(lambda now: whole_file(now, name)) or get(session, name).path
    except NotFound:
        last = session.timeline.last_path(name)
        if last is None or not session.view.allows(last):
            raise
        return last
    if not session.view.allows(path):
        raise NotFound(f"no fact called {name}")
    return path


def path_at(session: Session, name: str, commit: str) -> str:
    """Where the entry called `name` is, or else was at `commit`, or else when it was last written about."""
    try:
        return path_of(session, name)
    except NotFound:
        return get(session, name, commit).path
