"""What is looked for when no document holds a word as it is, and what counts as one word although it is several."""

from __future__ import annotations

from collections.abc import Sequence

from .scripts import holds, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .index import Holders, Index, Term

# A word of fewer letters is in too many others; what stands before it in one is at least so long, or is a prefix.
_LEAST, _MOST, _BEFORE = 5, 60, 3
# Letters of an ending that no stemmer knows.
_ENDING = 3


def substitutes(word: str, index: Index) -> list[Term]:
    """What to look for when no document holds `word`; words of which any will do are a tuple.

    The words that it is a part of: `versicherung` is in `krankenversicherung`. In scripts whose endings nobody removes,
    else the longest word that it is with an ending; of a pair of units without spaces, those that stand alone.
    """
    units = [] if word.isascii() else [unit for _, units in runs(word) for unit in units]
    if units:
        return [(unit,) for unit in units if len(units) > 1 and index.is_held(unit)]
    if not _LEAST <= len(word) <= _MOST or any(map(str.isdecimal, word)):
        return []
    longer = [other for other in index.containing(word) if other.startswith(word) or word in other[_BEFORE:]]
    if held := tuple(filter(index.is_held, longer)):
        return [held]
    shorter = [] if word.isascii() else [word[:end] for end in range(len(word) - 1, len(word) - _ENDING - 1, -1)]
    found = next(filter(index.is_held, shorter), None)
    return [found] if found else []


def pairs_of(unit: str, index: Index) -> list[str]:
    """`unit`, which pairs of neighbours may hold, and those that do."""
    return [unit, *(pair for pair in index.containing(unit) if pair != unit and holds(pair, unit))]


def merged_holders(words: Sequence[list[Holders]]) -> list[Holders]:
    """The holders of any of several words, with their counts added up; `words` has the holders of each."""
    return [_summed(parts) for parts in zip(*words, strict=True)]


def _summed(parts: Sequence[Holders]) -> Holders:
    counts: dict[int, int] = {}
    for _, _, positions, each in parts:
        for position, count in zip(positions, each, strict=True):
            counts[position] = counts.get(position, 0) + count
    first, lengths, _, _ = parts[0]
    ordered = sorted(counts)
    return first, lengths, ordered, [counts[position] for position in ordered]
