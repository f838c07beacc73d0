"""How good an answer is, from the places alone at which what was wanted came. Pure.

`gains` says of each hit, best first, how much of what is wanted it brings: 1 or 0 where every wanted thing is
one entry. `ideal` are the gains of the best order there could be; they add up to all that is wanted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from math import log2

_DEPTH = 10


@dataclass(frozen=True)
class Figures:
    """The figures of one answer, or the means of many: each from 0 to 1, and more is better."""

    #: As people call them, and JSON does (`results.json_of`).
    JSON = ("r@1=r1", "r@5=r5", "r@10=r10", "mrr", "ndcg@10=ndcg10")

    r1: float
    r5: float
    r10: float
    mrr: float
    ndcg10: float

    def by_name(self) -> dict[str, float]:
        """The figures by the names that people know them by, lower case."""
        return dict(zip(NAMES, astuple(self), strict=True))


NAMES = ("r@1", "r@5", "r@10", "mrr", "ndcg@10")


def figures(gains: Sequence[int], ideal: Sequence[int]) -> Figures:
    """All figures of one answer."""
    r1, r5, r10 = (recall(gains, sum(ideal), depth) for depth in (1, 5, 10))
    return Figures(r1, r5, r10, reciprocal_rank(gains), ndcg(gains, ideal))


def mean(each: Iterable[Figures]) -> Figures:
    """The means over answers; nothing is asked, nothing is found."""
    columns = list(zip(*map(astuple, each), strict=True))
    return Figures(*(sum(column) / len(column) for column in columns)) if columns else Figures(0, 0, 0, 0, 0)


def recall(gains: Sequence[int], wanted: int, depth: int) -> float:
    """R@k, the share of what is wanted that is among the first k (Manning, Raghavan, Schütze: Introduction to
    Information Retrieval, 2008, section 8.3): 1/n at most for k = 1 where n entries are wanted."""
    return sum(gains[:depth]) / wanted


def reciprocal_rank(gains: Sequence[int]) -> float:
    """1 over the place of the first hit that is wanted, 0 without one; its mean is MRR (Voorhees: The TREC-8
    Question Answering Track Report, 1999)."""
    return next((1 / place for place, gain in enumerate(gains, start=1) if gain), 0.0)


def ndcg(gains: Sequence[int], ideal: Sequence[int]) -> float:
    """nDCG@10, the sum of gain / log2(place + 1) over the first ten, divided by that of the best order there
    could be (Järvelin, Kekäläinen: Cumulated Gain-Based Evaluation of IR Techniques, TOIS 20(4), 2002; with the
    discount of Burges et al., ICML 2005, which also the first places differ by)."""
    return _discounted(gains) / _discounted(ideal)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains[:_DEPTH], start=1))
