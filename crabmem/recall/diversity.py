"""Diversity: what says again what a hit before it says makes room for others. Off unless a profile has `search.mmr`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from ..search import Ranked

#: So many times as many as are wanted are looked at.
CANDIDATES = 4


def diverse(
    found: Sequence[Ranked], words: Callable[[str], Set[str]], share: float, limit: int
) -> list[tuple[Ranked, float]]:
    """The `limit` that maximal marginal relevance chooses of what was `found`, each with how much of it is said before.

    The next is the one for which `share` of its score, of 1 for the best, less the rest of how much it is like one
    that was chosen is the most (Carbonell and Goldstein 1998; `share` is their λ). Two are alike by the share of
    `words` that both have of all that one has (Jaccard).
    """
    highest = max((each.score for each in found), default=0.0)
    if highest <= 0:
        return [(each, 0.0) for each in found[:limit]]
    texts = [words(each.key) for each in found]
    relevance = [share * each.score / highest for each in found]
    said, left = [0.0] * len(found), list(range(len(found)))
    chosen: list[tuple[Ranked, float]] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda at: relevance[at] - (1 - share) * said[at])
        left.remove(best)
        chosen.append((found[best], said[best]))
        for at in left:
            said[at] = max(said[at], _likeness(texts[at], texts[best]))
    return chosen


def _likeness(one: Set[str], other: Set[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
