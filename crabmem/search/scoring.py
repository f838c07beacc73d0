"""BM25 as Lucene scores it, and bm25s with `method="lucene"`.

Every step is in the order in which bm25s takes it, and one for numbers and arrays: so that a score does not
depend, to the last bit, on who reckoned it.
"""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from numpy import float64
    from numpy.typing import NDArray

    Numbers = TypeVar("Numbers", float, NDArray[float64])

K1 = 1.5
B = 0.6


def rarity(documents: int, holding: int) -> float:
    """How much a word says that `holding` of `documents` hold."""
    return log(1 + (documents - holding + 0.5) / (holding + 0.5))


def damping(length: Numbers, average: float) -> Numbers:
    """How much of itself a word has to bring in a document of `length` words."""
    return K1 * ((1 - B) + B * length / average)


def weight(rare: float, count: Numbers, damped: Numbers) -> Numbers:
    """What a word adds to the score of a document that holds it `count` times."""
    return rare * (count / (damped + count))


def count_of(weight: Numbers, rare: Numbers, damped: Numbers) -> Numbers:
    """How often a word is in a document that it adds `weight` to: nearly a whole number."""
    return weight * damped / (rare - weight)
