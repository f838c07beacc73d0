"""The fact that says nearly the same as a new one, by words. Prefers to miss a duplicate over naming a wrong one.

A few words of the new fact, the rarest of the longest, lead to candidates, which then are compared word by word. So it
takes less than a millisecond, however many facts there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from heapq import nsmallest

from ..search import Index, tokens
from ..text.entry import Entry
from .entries import Entries

# Words of which it is asked how many facts have each: those of the name first, the longest first, as these are rare.
_ASKED = 24
# The rarest of them, which are looked for, and how many facts may have one of these.
_PROBES, _MOST_HOLDERS = 8, 100
# Facts that are compared, of those that were found.
_CANDIDATES = 3
# Characters of a content: to compare longer ones takes longer than a write may wait.
_LONGEST = 8_000
# Two facts are alike with so large a share of their words in common: of all words, or of names and descriptions. With
# less, among 2,860 abstracts, papers on one matter are named (tests/recall/test_duplicates.py has facts by hand).
_ALIKE, _ALIKE_ABOUT = 0.6, 0.7
# Fewer words in common count as none.
_LEAST = 3


def near_duplicate(new: Entry, entries: Entries, language: str) -> Entry | None:
    """The entry of `entries` that says nearly the same as `new`, and is another; None for none that surely does.

    No daily note, and no item of a store of keys, which a program keeps.
    """
    if len(new.content) > _LONGEST:
        return None
    said = _Words(new, language)
    for path in _candidates(entries.index, said.telling(), new.path):
        other = entries.at(path)
        if other.is_note or "namespace" in other.keys or len(other.content) > _LONGEST:
            continue
        if said.is_like(_Words(other, language)):
            return other
    return None


def _candidates(index: Index, words: list[str], own: str) -> list[str]:
    """The paths that have the most of the rarest `words`, best first; without `own`, the new fact's path."""
    asked = [(index.document_frequency_at_most(word), word) for word in words]
    rarest = nsmallest(_PROBES, [(held, word) for held, word in asked if 0 < held <= _MOST_HOLDERS])
    found = Counter(path for _, word in rarest for path in index.having([word]) if path != own)
    return [path for path, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_CANDIDATES]]


class _Words:
    """Three sets of an entry's words: by name and alias; all these with the description; the whole text."""

    def __init__(self, entry: Entry, language: str) -> None:
        self._names = [frozenset(tokens(name, language)) for name in (entry.name, *entry.aliases)]
        self._about = frozenset(tokens(entry.description, language)).union(*self._names)
        self._all = self._about.union(tokens(entry.content, language))

    def telling(self) -> list[str]:
        """The words that are likely to tell most: of the name, the description, the content, the longest first."""
        parts = self._names[0], self._about - self._names[0], self._all - self._about
        return [word for part in parts for word in sorted(part, key=lambda word: (-len(word), word))][:_ASKED]

    def is_like(self, other: _Words) -> bool:
        """Whether the other is called the same, or has as good as the same words."""
        if any(name in other._names for name in self._names if name):
            return True
        if self._is_of_another(other):
            return False
        return _share(self._all, other._all) >= _ALIKE or _share(self._about, other._about) >= _ALIKE_ABOUT

    def _is_of_another(self, other: _Words) -> bool:
        """Whether the names are alike, yet each has a word that the other entry lacks: Emi's lessons, Jonas's lessons.

        Such facts have most words in common and are about different things.
        """
        one, two = self._names[0], other._names[0]
        return bool(one & two and one - other._all and two - self._all)


def _share(one: Set[str], other: Set[str]) -> float:
    """Which share of their words two texts have in common (Jaccard's); 0 of too few."""
    common = len(one & other)
    return common / len(one | other) if common >= _LEAST else 0.0
