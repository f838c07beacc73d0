"""Memory as a store of keys and values sees it: entries by namespace and key. Changes nothing."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice

from .catalog import Listing, kept_at, within
from .entry import Entry
from .hindsight import Hindsight
from .provenance import provenances
from .slots import ELSEWHERE, Slot, check_slot, slot_of
from .stamp import changed_ns
from .store import Scan


class Keyed(Hindsight):
    """Entries by the slot that a store keeps them in; what no store made is in `ELSEWHERE`, by its name."""

    def item(self, slot: Slot) -> Entry | None:
        """The entry that is kept at `slot`; None when there is none."""
        check_slot(slot)
        return self._steadily(lambda: kept_at(self._listing(), slot))

    def items(
        self,
        namespace: tuple[str, ...] = (),
        where: Callable[[Entry], bool] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        """The entries in a namespace and below it, by namespace and key: so many after the first `offset`."""
        end = None if limit is None else offset + limit

        def look() -> list[Entry]:
            listing = self._listing()
            entries = map(listing.at, _ordered(listing, namespace))
            return list(islice(filter(where, entries) if where else entries, offset, end))

        return self._steadily(look)

    def namespaces(self) -> set[tuple[str, ...]]:
        """All namespaces in which something is kept."""
        slots = within(self._steadily(self._listing).index, ())
        return {slot.namespace if slot else ELSEWHERE for slot in slots.values()}

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
    """The paths of the entries in a namespace and below it, by slot."""
    found = within(listing.index, namespace)
    slots = {path: slot or slot_of(listing.at(path)) for path, slot in found.items()}
    return sorted(slots, key=lambda path: (slots[path], path))
