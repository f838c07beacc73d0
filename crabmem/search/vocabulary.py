"""What a word may stand for that no document holds as it is: words it is a part of, and words it is made of.

And what counts as one word although it is several.
"""

from __future__ import annotations

from .scripts import holds, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .index import Holders, Index, Term

# So long is a word at least that others may be made of, and one that others are looked for in.
_PART = 4
_WHOLE = 5
_LONGEST = 60
# What is before another word is at least so long, or it is a prefix and no word.
_BEFORE = 3
# What German and its neighbours put between two words, or leave at the end of one, where stems have lost it.
_LINKS = ("", "s", "n", "e", "en", "er", "es", "ung", "ungs", "heits", "keits")
# So many letters of an ending may be gone more where a word is the last of another, and so many nobody removed.
_LOST = 2
_ENDING = 3


def substitutes(word: str, index: Index) -> list[Term]:
    """What to look for when nobody holds `word`; several words that are one are a tuple."""
    units = [] if word.isascii() else [unit for _, units in runs(word) for unit in units]
    if units:
        return [(unit,) for unit in units if len(units) > 1 and index.is_held(unit)]
    if not _may_be_made(word):
        return []
    longer = [other for other in index.containing(word) if _is_part(word, other) and index.is_held(other)]
    return [tuple(sorted(longer))] if longer else [*(_compound_parts(word, index) or _without_ending(word, index))]


def _may_be_made(word: str) -> bool:
    """Whether `word` is one of letters only, with their marks."""
    is_word = word.isalpha() if word.isascii() else not any(map(str.isdecimal, word))
    return is_word and _WHOLE <= len(word) <= _LONGEST


def _is_part(word: str, longer: str) -> bool:
    """Whether a longer word may be a compound of `word`: what is before it is more than a prefix."""
    return longer.startswith(word) or word in longer[_BEFORE:]


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


def _compound_parts(word: str, index: Index) -> list[str]:
    """Two or more words that `word` is put together of, as few as may be; the first may be one nobody holds."""
    best: list[list[str]] = [[] for _ in range(len(word) + 1)]  # for what is from there on
    for start in range(len(word) - _PART, -1, -1):
        ways = [[part, *best[end]] for part, end in _parts(word, start, index) if best[end] or end == len(word)]
        best[start] = min(ways, key=len, default=[])
    return next((parts for at, parts in enumerate(best) if len(parts) > 1 and not 0 < at < _BEFORE), [])


def _without_ending(word: str, index: Index) -> list[str]:
    """The longest word that `word` is with an ending, in scripts whose endings nobody removed, or too few."""
    parts = [] if word.isascii() else index.starting(word[:_PART])
    begun = [part for part in parts if word.startswith(part) and len(word) - len(part) <= _ENDING]
    return list(filter(index.is_held, sorted(begun, key=len, reverse=True)))[:1]


def _parts(word: str, start: int, index: Index) -> list[tuple[str, int]]:
    """The words that `word` has from `start` on, and where it goes on after each."""
    rest = word[start:]
    begun = [part for part in index.starting(rest[:_PART]) if rest.startswith(part) or part.startswith(rest)]
    parts = [part for part in begun if len(part) < len(word) and index.is_held(part)]
    found = [(part, start + len(part)) for part in parts if rest.startswith(part)]
    last = [(part, len(word)) for part in parts if 0 < len(part) - len(rest) <= _LOST]
    return last + [(part, end + len(link)) for part, end in found for link in _LINKS if word.startswith(link, end)]
