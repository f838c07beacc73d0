"""Memory as a store of keys and values sees it: entries by namespace and key. Changes nothing."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice

from .catalog import NAME, Listing, kept_at, within
from .entry import Entry
from .hindsight import Hindsight
from .provenance import provenances
from .slots import ELSEWHERE, Slot, check_slot
from .stamp import changed_ns
from .store import Scan


class Keyed(Hindsight):
    """Entries by the slot that a store keeps them in; what no store made is in `ELSEWHERE`, by its name."""

    def item(self, slot: Slot) -> Entry | None:
        """The entry that is kept at `slot`; None when there is none."""
        check_slot(slot)
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

    def namespaces(self) -> set[tuple[str, ...]]:
        """All namespaces in which something is kept."""
        listing = self._steadily(self._listing)
        slots = within(listing.index, (), listing.notes)
        return {slot.namespace if slot else ELSEWHERE for path, slot in slots.items() if self._sees(path)}

    def times(self, entries: Sequence[Entry]) -> list[tuple[datetime, datetime]]:
        """When each of `entries` was learned and last changed: by history, and by the disk for what it lacks."""
        scan = self._store.scan()
        known = provenances([entry.path for entry in entries], self._history, scan)
        found = []
        for entry in entries:
            origin = known[entry.path]
            changed = origin.changed.time if origin.changed and origin.is_recorded else self._touched(scan, entry.path)
            found.append((origin.learned.time if origin.learned else changed, changed))
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
    places = {path: slot.namespace if slot else ELSEWHERE for path, slot in slots.items()}
    return sorted(slots, key=lambda path: (places[path], keys[path], path))
