"""Memory as a store of keys and values sees it: entries by namespace and key. Changes nothing."""

from collections.abc import Callable, Container, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from ..disk.stat import changed_ns
from ..disk.store import Scan
from ..recall.catalog import LIFE, NAME, Listing, kept_at, within
from ..text.entry import Entry
from ..text.keys import DEFAULT_NAMESPACE, Key, check_key, key_in
from .looking_back import Hindsight

if TYPE_CHECKING:
    from ..embeddings.embedder import Array, Embedder


class Keyed(Hindsight):
    """Entries by the slot that a store keeps them in; what no store made is in `DEFAULT_NAMESPACE`, by its name."""

    def item(self, slot: Key) -> Entry | None:
        """The entry that is kept at `slot`; None when there is none."""
        check_key(slot)
        entry = self._steadily(lambda: kept_at(self._listing(), slot))
        return entry if entry and self._sees(entry.path) else None

    def items(
        self,
        namespace: tuple[str, ...] = (),
        where: Callable[[Entry], bool] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        """The entries in a namespace and below it, so many after the first `offset`: by namespace and key, which
        of those from elsewhere is their name without regard to case.
        """
        end = None if limit is None else offset + limit

        def look() -> list[Entry]:
            listing = self._listing()
            paths = list(filter(self._sees, _ordered(listing, namespace)))
            if where is None:
                return list(map(listing.at, paths[offset:end]))
            return list(islice(filter(where, map(listing.at, paths)), offset, end))

        return self._steadily(look)

    def namespaces(self, without: Container[str] = ()) -> set[tuple[str, ...]]:
        """All namespaces in which something is kept, at another path than those to be left out."""
        listing = self._steadily(self._listing)
        slots = within(listing.index, (), listing.notes)
        there = ((path, slot) for path, slot in slots.items() if path not in without and self._sees(path))
        return {slot.namespace if slot else DEFAULT_NAMESPACE for _, slot in there}

    def expired(self) -> frozenset[str]:
        """The paths of items whose life is over; they are there until `sweep` removes them."""
        return frozenset(self._steadily(lambda: self._expired(self._listing())))

    def prolong(self, slots: Iterable[Key]) -> None:
        """Have the lives of what is in these slots begin anew, where they end at all. No file of memory changes."""
        self._reads.add([slot.mark for slot in slots], self._clock())

    def nearness(self, scores: Iterable[float]) -> list[float]:
        """Scores of hits of `recall`, in order, from 0 to 1."""
        if self._meaning.is_wanted(self.settings.vectors):
            return [min(max(score, 0.0), 1.0) for score in scores]
        return [score / (1 + score) for score in scores]

    def vectors_of(self, embedder: "Embedder", texts: Sequence[str]) -> "Array":
        """The vectors that `embedder` makes of texts, of unit length; kept, so that it need not make them again.

        Raises:
            EmbedderFailed: it cannot.
        """
        return self._item_vectors.of(embedder, texts)

    def _expired(self, listing: Listing) -> dict[str, Key]:
        """The slots of these items, by path."""
        lives = {path: float(label.removeprefix(LIFE)) for label, path in listing.index.pairs(LIFE)}
        if not lives:
            return {}
        slots = {path: slot for path in lives if self._sees(path) and (slot := key_in(listing.at(path).keys))}
        read = self._reads.known()
        now = self._clock()

        def is_over(path: str, since: datetime | None) -> bool:
            return since is None or since + timedelta(seconds=lives[path]) <= now

        # A change counts as well: what was just put may not be among the reads yet, and a person's edit never is.
        seeming = [listing.at(path) for path, slot in slots.items() if is_over(path, read.get(slot.mark))]
        changed = zip(seeming, self.times(seeming), strict=True)
        return {entry.path: slots[entry.path] for entry, (_, last) in changed if is_over(entry.path, last)}

    def times(self, entries: Sequence[Entry]) -> list[tuple[datetime, datetime]]:
        """When each of `entries` was learned and last changed: by history, and by the disk for what it lacks.

        To the microsecond what `keep` wrote and what is not recorded yet, to the second what others wrote; a change
        is never before what it changed.
        """
        if not entries:
            return []
        scan, has_begun = self._store.scan(), self._history.exists()
        written = self._history.writers([entry.path for entry in entries])
        head = self._history.files(self._history.head()) if has_begun else {}
        found = []
        for path in (entry.path for entry in entries):
            times = [commit.time for commit in written[path]]
            if not times or head.get(path) != scan.blob(path):
                times.insert(0, self._touched(scan, path))
            found.append((times[-1], max(times)))
        return found

    def _touched(self, scan: Scan, path: str) -> datetime:
        """When a file was changed on disk; now, when it is gone meanwhile."""
        file = scan.files.get(path)
        return datetime.fromtimestamp(changed_ns(file.mark) / 1e9, UTC) if file else self._clock()


def _ordered(listing: Listing, namespace: tuple[str, ...]) -> list[str]:
    """The paths of the entries in a namespace and below it, by slot. No file is read for that."""
    slots = within(listing.index, namespace, listing.notes)
    names = listing.index.pairs(NAME) if None in slots.values() else ()
    called = {path: label.removeprefix(NAME) for label, path in names}
    keys = {path: slot.key if slot else called[path] for path, slot in slots.items()}
    places = {path: slot.namespace if slot else DEFAULT_NAMESPACE for path, slot in slots.items()}
    return sorted(slots, key=lambda path: (places[path], keys[path], path))
