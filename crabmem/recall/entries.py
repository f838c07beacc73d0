"""Where recall reads from: the entries of a moment, now or at a commit, by their words, labels and paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Protocol

from ..disk.scan import Unusable
from ..disk.stat import BLOB
from ..search import Index
from ..text.entry import Entry
from ..text.values import field, named_value, once
from .labels import NOTE

#: Says of a path whether its entry may be found.
PathFilter = Callable[[str], bool]


class EntrySource(Protocol):
    """What recall asks questions of: `Entries` and the daily notes among them, or `file_search.Sections`."""

    @property
    def index(self) -> Index:
        """Their words and labels."""

    @property
    def notes(self) -> Set[str]:
        """The paths of the daily notes among them."""

    @property
    def unreadable(self) -> Sequence[object]:
        """The files that could not be read as one."""

    @property
    def versions(self) -> Mapping[str, bytes]:
        """The id of the blob of each, in the order of their paths."""

    @property
    def is_past(self) -> bool:
        """Whether they are of another time."""

    def at(self, path: str) -> Entry:
        """The entry, or the note, at a path that the index knows."""

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label, in the order of their paths."""


@named_value
class Entries:
    """The entries of a moment, and the daily notes that are recalled, as far as `index` has them.

    `read` reads the one at a path of the index. `being_written` are entries whose text may be half of one; their files
    are among the `unreadable`.
    """

    index: Index
    read: Callable[[str], Entry] = field(repr=False)
    unreadable: tuple[Unusable, ...] = ()
    being_written: tuple[Entry, ...] = ()
    is_past: bool = False

    @once
    def versions(self) -> dict[str, bytes]:
        """The id of the blob of each entry and note, in the order of their paths."""
        return {path: mark[BLOB] for path, mark in sorted(self.index.marks().items())}

    @once
    def notes(self) -> frozenset[str]:
        """The paths of the daily notes."""
        return frozenset(path for _, path in self.index.pairs(NOTE))

    @once
    def paths(self) -> tuple[str, ...]:
        """The paths of the entries, in order."""
        return tuple(sorted(self.index.marks().keys() - self.notes))

    def at(self, path: str) -> Entry:
        """The entry, or the note, at a path that the index knows."""
        return self.read(path)

    def blob(self, path: str) -> str | None:
        """The id of the blob at a path of the index; None for any other path."""
        mark = self.index.marks().get(path)
        return mark[BLOB].hex() if mark else None

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label, in the order of their paths."""
        return [self.at(path) for path in self.index.labelled(label)]
