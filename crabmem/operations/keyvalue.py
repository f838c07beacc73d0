"""Memory as a store of keys and values: entries by the namespace and key at which a store keeps them.

Entries that no store made are in `DEFAULT_NAMESPACE`, with their names as keys.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import InvalidArguments
from ..git.commits import TIME, Note
from ..recall.labels import LIFE, NAME, keys_within
from ..recall.names import entry_with_key
from ..results import Recall
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.entry import Entry, Fact, checked
from ..text.keys import DEFAULT_NAMESPACE, Key, check_key, key_in
from ..text.values import replace
from ..text.words import counted
from ..write.draft import Draft
from ..write.losses import LEAST
from .last_changed import changed_beside, last_changed_in
from .plan import Plan

if TYPE_CHECKING:
    from ..embeddings.embedder import Array, Embedder


def item(session: Session, key: Key) -> Entry | None:
    """The entry that is kept at `key`; None when there is none."""
    check_key(key)
    return session.look(lambda now: entry_with_key(now.listing, key))


def items(
    session: Session,
    namespace: tuple[str, ...] = (),
    where: Callable[[Entry], bool] | None = None,
    offset: int = 0,
    limit: int | None = None,
) -> list[Entry]:
    """The entries in a namespace and below it that `where` accepts, sorted by namespace and key.

    At most `limit` are returned (None: all), after the first `offset`. The key of an entry that no store made is its
    name, without regard to case.

    Raises:
        InvalidArguments: `offset` or `limit` is negative.
    """
    check_page(offset, limit)
    end = None if limit is None else offset + limit

    def read(now: Snapshot) -> list[Entry]:
        paths = _paths_by_key(now, namespace)
        if where is None:
            return list(map(now.entries.at, paths[offset:end]))
        return list(islice(filter(where, map(now.entries.at, paths)), offset, end))

    return session.look(read)


def check_page(offset: int, limit: int | None) -> None:
    """Refuse a page that cannot be.

    Raises:
        InvalidArguments: one of them is negative.
    """
    if offset < 0 or (limit is not None and limit < 0):
        raise InvalidArguments(f"limit and offset must be at least 0, not {limit} and {offset}")


def namespaces(session: Session, without: Container[str] = ()) -> set[tuple[str, ...]]:
    """All namespaces that hold an entry; the entries at the paths `without` do not count."""
    keys = session.look(lambda now: keys_within(now.entries.index, (), now.entries.notes))
    return {key.namespace if key else DEFAULT_NAMESPACE for path, key in keys.items() if path not in without}


def expired(session: Session) -> frozenset[str]:
    """The paths of items whose life is over; they are there until `sweep` removes them."""
    return frozenset(session.look(partial(_expired, session)))


def prolong(session: Session, keys: Iterable[Key]) -> None:
    """Note that the items at these keys were read just now: a limited life begins anew. No file of memory changes."""
    session.engine.reads.add([key.mark for key in keys], session.engine.clock())


def nearness(found: Recall) -> list[float]:
    """Map the scores of hits to 0 … 1 in the same order: clipped if meaning ranked them, else score / (1 + score)."""
    scores = [hit.score for hit in found]
    if found.is_by_meaning:  # settings do not tell: an embedder may fail
        return [min(max(score, 0.0), 1.0) for score in scores]
    return [score / (1 + score) for score in scores]


def vectors_of(session: Session, embedder: "Embedder", texts: Sequence[str]) -> "Array":
    """Return the vectors that `embedder` makes of texts, of unit length. They are kept, so that none is made twice.

    Raises:
        EmbedderFailed: the embedder cannot make them.
    """
    return session.engine.item_vectors.of(embedder, texts)


def keep(session: Session, items: Mapping[Key, Fact | None]) -> str | None:
    """Save facts at their keys, and remove the items at keys with None, in one commit. Return the commit's id; None if
    nothing was to be done, or it waits for a person.

    An item that is there keeps its name. A new fact whose name another one has gets a digest of its key behind it.

    Raises: as `remember`.
    """
    for key in items:
        check_key(key)
    facts = {key: fact and checked(replace(fact, keys={**fact.keys, **key.keys})) for key, fact in items.items()}
    if not any(facts.values()) and not any(item(session, key) for key in facts):
        return None
    screen = rules.screen(session, *(fact.words for fact in facts.values() if fact))

    def decide(now: Snapshot) -> Draft[None]:
        plan = Plan(now, screen)
        names = [(fact, plan.keep(key, fact)) for key, fact in facts.items()]
        note = _note(session, [(fact is None, name) for fact, name in names if name])
        note = replace(note, trailers=(*note.trailers, (TIME, session.engine.clock().isoformat())))
        # The caller named each item to remove: a few are no accident, even if they are most of a small memory.
        return Draft(plan.files, note, None, even_if_many=list(facts.values()).count(None) < LEAST)

    return session.write(decide).commit


def sweep(session: Session) -> int:
    """Remove the items whose life is over, in one commit; return how many. History keeps them, as forgotten facts.

    Raises: as `remember`.
    """
    known = session.look(partial(_expired, session))
    if not known:
        return 0

    def decide(now: Snapshot) -> Draft[None]:
        gone = _expired(session, now)
        note = rules.note(session, "store", f"{counted(len(gone), 'expired fact')} removed")
        return Draft(dict.fromkeys(gone), note, None, even_if_many=True)  # the program that put them set their lives

    removed = {path for path, data in session.write(decide).after.items() if data is None}
    session.engine.reads.tidy({key.mark for path, key in known.items() if path in removed})
    return len(removed)


def times(session: Session, entries: Sequence[Entry]) -> list[tuple[datetime, datetime]]:
    """When each of `entries` was learned and last changed: by history, and by the disk for unrecorded changes.

    Times of commits by `keep`, and of unrecorded changes, are exact to the microsecond, others to the second. The
    time of the last change is never before the first.
    """

    def read(now: Snapshot) -> list[tuple[datetime, datetime]]:
        paths = [entry.path for entry in entries]
        beside, written = changed_beside(session, now, paths), session.engine.history.writers(paths)
        moments = [[*filter(None, [beside.get(path)]), *(each.time for each in written[path])] for path in paths]
        return [(each[-1], max(each)) for each in moments]

    return session.look(read)


def _expired(session: Session, now: Snapshot) -> dict[str, Key]:
    """The items whose life is over, key by path: neither read nor changed for so many seconds as their life has."""
    lives = {path: float(label.removeprefix(LIFE)) for label, path in now.entries.index.pairs(LIFE)}
    if not lives:
        return {}
    keys = {path: key for path in lives if (key := key_in(now.entries.at(path).keys))}
    read, moment = session.engine.reads.known(), session.engine.clock()

    def is_over(path: str, since: datetime | None) -> bool:
        return since is None or since + timedelta(seconds=lives[path]) <= moment

    # A change counts, too: an item just put may not be among the reads yet, and a person's edit never is.
    seeming = [path for path, key in keys.items() if is_over(path, read.get(key.mark))]
    changed = last_changed_in(session, now, seeming)
    return {path: keys[path] for path in seeming if is_over(path, changed[path])}


def _note(session: Session, names: Sequence[tuple[bool, str]]) -> Note:
    """The message of a commit that saves and removes facts: pairs of "is removed" and name. One alone is named."""
    if len(names) == 1:
        [(is_gone, name)] = names
        return rules.note(session, "forget" if is_gone else "remember", name)
    gone = sum(is_gone for is_gone, _ in names)
    parts = (f"{counted(len(names) - gone, 'fact')} saved", f"{gone} removed" if gone else "")
    return rules.note(session, "store", ", ".join(filter(None, parts)))


def _paths_by_key(now: Snapshot, namespace: tuple[str, ...]) -> list[str]:
    """The paths of the entries in a namespace and below it, sorted by key. Asks the index alone, and reads no file."""
    keys = keys_within(now.entries.index, namespace, now.entries.notes)
    names = now.entries.index.pairs(NAME) if None in keys.values() else ()
    called = {path: label.removeprefix(NAME) for label, path in names}
    whole = {path: key or Key(DEFAULT_NAMESPACE, called[path]) for path, key in keys.items()}
    return sorted(whole, key=lambda path: (whole[path], path))
