"""Scores with numpy: from the second question of a process on, or when very many documents share a word."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from .scoring import damping, rarity, weight

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .index import Holders, Wanted

    Array = np.ndarray[Any, Any]
    Weights = tuple[Array, Array]

_KEPT = 2_000_000  # weights: 32 MB
_DENSE = 4
_SMALLEST = 5e-324
_local = threading.local()


class Weighing:
    """The weights of words in one state of an index; those asked for often are kept."""

    def __init__(self, size: int, dead: Collection[int], documents: int, average: float) -> None:
        self._size = size + -size % 4096  # few sizes, so that arrays of zeros are used again
        self._documents, self._average = documents, average
        self._alive = _without(size, dead) if dead else None
        self._kept: dict[Wanted, Weights] = {}
        self._room = _KEPT

    def kept(self, word: Wanted) -> Weights | None:
        """The weights of `word`, when they are still there."""
        return self._kept.get(word)

    def weights(self, word: Wanted, holders: Sequence[Holders]) -> Weights:
        """The positions of the documents that hold `word`, and what it adds to the score of each."""
        pieces = [_arrays(*each) for each in holders]
        positions, counts, lengths = (np.concatenate([piece[at] for piece in pieces]) for at in range(3))
        if self._alive is not None:
            alive = self._alive[positions]
            positions, counts, lengths = positions[alive], counts[alive], lengths[alive]
        rare = rarity(self._documents, len(positions))
        found = positions, weight(rare, counts, damping(lengths, self._average))
        self._keep(word, found)
        return found

    def _keep(self, word: Wanted, weights: Weights) -> None:
        self._room -= len(weights[0]) + 100
        if self._room < 0:
            self._kept, self._room = {}, _KEPT
        self._kept[word] = weights

    def best(self, words: Sequence[Weights], limit: int) -> dict[int, float]:
        """By position, the `limit` highest scores, all that score like the last of them, and perhaps some below."""
        if not words:
            return {}
        sums = _taken_zeros(self._size)
        for positions, weights in words:
            np.add.at(sums, positions, weights)
        chosen, scores = _candidates([positions for positions, _ in words], sums, limit)
        _local.zeros = sums  # which it is again
        return dict(zip(chosen.tolist(), scores.tolist(), strict=True))


def _candidates(held: Sequence[Array], sums: Array, limit: int) -> Weights:
    """The positions of the best, some perhaps repeatedly, and their scores; `sums` is left as zeros."""
    least = _least(held, sums, limit)
    if sum(map(len, held)) * _DENSE > len(sums):
        chosen, room = np.flatnonzero(sums >= least), limit
        scores = sums[chosen]
        sums.fill(0.0)
    else:
        # A document is among these once for every word that it holds.
        chosen, room = np.concatenate([positions[sums[positions] >= least] for positions in held]), limit * len(held)
        scores = sums[chosen]
        for positions in held:
            sums[positions] = 0.0
    if room >= len(scores):
        return chosen, scores
    best = scores >= _nth(scores, room)
    return chosen[best], scores[best]


def _least(held: Sequence[Array], sums: Array, limit: int) -> float:
    """A score that `limit` documents reach, as near to the true one as the rarest word tells that enough hold."""
    enough = [positions for positions in held if len(positions) >= limit]
    return _nth(sums[min(enough, key=len)], limit) if enough else _SMALLEST


def _nth(scores: Array, at: int) -> float:
    """The score at that place from the highest."""
    return float(np.partition(scores, len(scores) - at)[len(scores) - at])


def _arrays(first: int, lengths: Sequence[int], positions: Sequence[int], counts: Sequence[int]) -> list[Array]:
    own = np.asarray(positions, dtype=np.intp)
    # A whole list would have to be made an array; what is read in place is one.
    taken = np.asarray([lengths[at] for at in positions] if isinstance(lengths, list) else lengths)
    return [own + first, np.asarray(counts), taken if isinstance(lengths, list) else taken[own]]


def _without(size: int, dead: Collection[int]) -> Array:
    alive = np.ones(size, dtype=bool)
    alive[np.fromiter(dead, dtype=np.intp, count=len(dead))] = False
    return alive


def _taken_zeros(size: int) -> Array:
    """An array of zeros that this thread has for itself, until it is put back."""
    zeros: Array | None = _local.__dict__.pop("zeros", None)
    return np.zeros(size) if zeros is None or len(zeros) != size else zeros
