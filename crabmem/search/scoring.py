"""BM25 as Lucene scores it, and bm25s with `method="lucene"`; and the scores of passages, reckoned without numpy.

The first question of a process is answered before numpy is imported; `arrays` has the same with numpy.

Every step is in the order in which bm25s takes it, and one for numbers and arrays: so that a score does not
depend, to the last bit, on who reckoned it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from math import log
from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from .index import Found, Holders

    Numbers = TypeVar("Numbers", float, NDArray[float64])


K1 = 1.5
B = 0.6

# Passages looked at first for each wanted document, and how many times as many if these are of too few documents.
_PASSAGES, _WIDER = 4, 8


def idf(documents: int, holding: int) -> float:
    """The inverse document frequency of a word that `holding` of `documents` hold; a passage is a document here."""
    return log(1 + (documents - holding + 0.5) / (holding + 0.5))


def length_norm(length: Numbers, average: float) -> Numbers:
    """BM25's normalization of length: what is added to the count of a word in a document of `length` words."""
    return K1 * ((1 - B) + B * length / average)


def weight(rare: float, count: Numbers, norm: Numbers) -> Numbers:
    """What a word adds to the score of a document that holds it `count` times."""
    return rare * (count / (norm + count))


def count_of(weight: Numbers, rare: Numbers, norm: Numbers) -> Numbers:
    """How often a word is in a document that it adds `weight` to: nearly a whole number."""
    return weight * norm / (rare - weight)


def scores_of(
    words: Iterable[Sequence[Holders]], dead: Collection[int], documents: int, average: float
) -> dict[int, float]:
    """Return the scores by position of all passages that have one of `words`; each word is given by its holders."""
    found: dict[int, float] = {}
    norm = cache(partial(length_norm, average=average))
    for holders in words:
        alive = [_alive(each, dead) for each in holders] if dead else holders
        rare = idf(documents, sum(len(positions) for _, _, positions, _ in alive))
        for first, lengths, positions, counts in alive:
            for position, count in zip(positions, counts, strict=True):
                at = first + position
                found[at] = found.get(at, 0.0) + weight(rare, count, norm(lengths[position]))
    return found


def by_document(found: Found, first: Callable[[int], int], passages: int) -> Found:
    """Turn the scores of passages into scores of documents: a document has that of its best passage.

    `found` is called with a limit and returns at least the passages that may be among so many best, of `passages` in
    all; `first` returns the position of the document that has a passage.
    """

    def found_documents(limit: int) -> dict[int, float]:
        window = limit * _PASSAGES
        while True:
            scores = found(window)
            # Below this score passages may be missing, so that the best one of a document is not known.
            least = 0.0 if window >= passages or len(scores) < window else sorted(scores.values())[-window]
            best: dict[int, float] = {}
            for position, score in scores.items():
                if score >= least:
                    at = first(position)
                    best[at] = max(score, best.get(at, 0.0))
            if not least or len(best) >= limit:
                return best
            window *= _WIDER

    return found_documents


def best_of(found: dict[int, float], limit: int) -> dict[int, float]:
    """The `limit` highest scores by position, and all that equal the last of them."""
    if limit >= len(found):
        return found
    least = sorted(found.values(), reverse=True)[limit - 1]
    return {position: score for position, score in found.items() if score >= least}


def _alive(holders: Holders, dead: Collection[int]) -> Holders:
    first, lengths, positions, counts = holders
    alive = [at for at, position in enumerate(positions) if first + position not in dead]
    return first, lengths, [positions[at] for at in alive], [counts[at] for at in alive]
