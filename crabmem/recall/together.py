"""The entries of several memories as one source of recall, ranked with one measure of what is rare."""

from __future__ import annotations

from collections.abc import Mapping

from ..disk.scan import Unusable
from ..search.union import Union
from ..text.addresses import address, parted
from ..text.entry import Entry
from ..text.values import once, replace
from .entries import Entries


class Together:
    """An `EntrySource` of `members` by their names. The path of an entry in it is its address."""

    is_past = False

    def __init__(self, members: Mapping[str, Entries]) -> None:
        self._members = members
        self.index = Union({name: entries.index for name, entries in members.items()})

    def is_of(self, members: Mapping[str, Entries]) -> bool:
        """Whether it has just what these have."""
        own = self._members
        return list(own) == list(members) and all(own[name].index is members[name].index for name in own)

    @once
    def notes(self) -> frozenset[str]:
        """The addresses of the daily notes."""
        return frozenset(address(name, path) for name, entries in self._members.items() for path in entries.notes)

    @property
    def unreadable(self) -> list[Unusable]:
        """The files that could not be read as an entry."""
        return [item for entries in self._members.values() for item in entries.unreadable]

    @once
    def versions(self) -> dict[str, bytes]:
        """The id of the blob of each, by its address."""
        return {
            address(name, path): blob
            for name, entries in self._members.items()
            for path, blob in entries.versions.items()
        }

    def at(self, path: str) -> Entry:
        """The entry, or the note, at an address."""
        name, own = parted(path)
        return replace(self._members[name].at(own), path=path)

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label, in the order of their addresses."""
        return [self.at(path) for path in self.index.labelled(label)]
