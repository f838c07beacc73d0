"""Entries read from the bytes of files, with a cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from ..disk.fork_lock import Guard
from ..text.entry import Entry, parse_entry, parse_note
from ..text.hashes import VERSION_DIGITS
from ..workspace.layout import Layout

# Entries in the cache, and characters of their contents. First in, first out: a use in between does not count.
_PARSED, _PARSED_CHARACTERS = 4_096, 8_000_000


class EntryReader:
    """Reads the entries and daily notes of one workspace, and caches those that it read last."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._parsed: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self._parsed_characters = 0
        self._guard = Guard()

    def read(self, path: str, blob: str, data: Callable[[], bytes]) -> Entry:
        """The entry at a path whose bytes have the id `blob`; `data` reads them, unless the entry is kept.

        Raises:
            Unreadable: it is no whole text.
        """
        found = self._parsed.get((path, blob))
        if found is None:
            is_note, version = self._layout.is_note(path), blob[:VERSION_DIGITS]
            found = parse_note(path, data()) if is_note else parse_entry(path, data(), version)
            self._keep(path, blob, found)
        return found

    def _keep(self, path: str, blob: str, entry: Entry) -> None:
        with self._guard:
            if (path, blob) not in self._parsed:
                self._parsed[path, blob] = entry
                self._parsed_characters += len(entry.content)
            while len(self._parsed) > _PARSED or self._parsed_characters > _PARSED_CHARACTERS:
                _, oldest = self._parsed.popitem(last=False)
                self._parsed_characters -= len(oldest.content)
