"""Scores without numpy: for the first question of a process, which is answered before numpy is imported."""

from __future__ import annotations

from .scoring import damping, rarity, weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from .index import Holders


def scores(
    words: Iterable[Sequence[Holders]], dead: Collection[int], documents: int, average: float
) -> dict[int, float]:
    """By position, the score of every document that has one of `words`, each given by who holds it."""
    found: dict[int, float] = {}
    damped = _Damped(average)
    for holders in words:
        alive = [_alive(each, dead) for each in holders] if dead else holders
        rare = rarity(documents, sum(len(positions) for _, _, positions, _ in alive))
        for first, lengths, positions, counts in alive:
            for position, count in zip(positions, counts, strict=True):
                at = first + position
                found[at] = found.get(at, 0.0) + weight(rare, count, damped[lengths[position]])
    return found


def best(found: dict[int, float], limit: int) -> dict[int, float]:
    """Those of the `limit` highest scores, and all that score like the last of them."""
    if limit >= len(found):
        return found
    least = sorted(found.values(), reverse=True)[limit - 1]
    return {position: score for position, score in found.items() if score >= least}


def _alive(holders: Holders, dead: Collection[int]) -> Holders:
    first, lengths, positions, counts = holders
    alive = [at for at, position in enumerate(positions) if first + position not in dead]
    return first, lengths, [positions[at] for at in alive], [counts[at] for at in alive]


class _Damped(dict[int, float]):
    """`damping` by length."""

    def __init__(self, average: float) -> None:
        self._average = average

    def __missing__(self, length: int) -> float:
        damped = self[length] = damping(length, self._average)
        return damped
