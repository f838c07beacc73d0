"""What is looked for when no document holds a word as it is, and what counts as one word although it is several."""

from __future__ import annotations

from collections.abc import Sequence

from .scripts import holds, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .index import Holders, Index, Term

# Letters of a word that is sought in longer ones: fewer are in too many. A longer one begins with the word, or has at
# least three letters before it.
_LEAST, _MOST, _BEFORE = 5, 60, 3
# Letters of an ending that no stemmer knows.
_ENDING = 3


def substitutes(word: str, index: Index) -> list[Term]:
    """Return what to look for when no document holds `word`; a tuple counts as one word, and any of it will do.

    These are the longer words that contain it: `krankenversicherung` for `versicherung`. Where there are none, a word
    that is not ASCII is cut by up to three letters, as its script may have endings that no stemmer knows. A pair of
    units of a script without spaces is replaced by those units that a document holds as words.
    """
    units = [] if word.isascii() else [unit for _, units in runs(word) for unit in units]
    if units:
        # In a tuple a unit is that word alone; by itself it would count as every pair with it, too.
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
    """Return `unit`, and the pairs of neighbours in the index that hold it."""
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
