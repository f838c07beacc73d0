"""Scores with numpy: from the second question of a process on, or when very many documents share a word."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .index import Holders, Term
from .scoring import idf, length_norm, weight

Array = np.ndarray[Any, Any]
Weights = tuple[Array, Array]


_KEPT = 2_000_000  # weights: 32 MB
_SMALLEST = 5e-324  # the smallest number above 0: every score reaches it
_NOTHING = (np.zeros(0, dtype=np.intp),) * 3
# Each thread keeps one array of zeros between questions.
_local = threading.local()


class Weighing:
    """The share of each word in the scores of passages, in one state of an index; kept until they are too many."""

    def __init__(
        self,
        size: int,
        dead: Collection[int],
        passages: int,
        average: float,
        firsts: Iterable[tuple[int, Sequence[int], int]] = (),
    ) -> None:
        """`firsts` are those of `Index._firsts`; without them each passage is a document, and `first` is not called."""
        self._size = size + -size % 1024  # few sizes, so that arrays of zeros are used again
        self._passages, self._average = passages, average
        #: From the position of a passage to that of its document.
        self.first: Callable[[int], int] = _first_of_each(firsts).item
        self._alive = _alive_mask(size, dead) if dead else None
        self._kept: dict[Term, Weights] = {}
        self._room = _KEPT

    def kept(self, word: Term) -> Weights | None:
        """The weights of `word`, when they are still there."""
        return self._kept.get(word)

    def weights(self, word: Term, holders: Sequence[Holders]) -> Weights:
        """Return, and keep, the positions of the passages that hold `word`, and what it adds to the score of each."""
        pieces = [_arrays(*each) for each in holders if len(each[2])] or [_NOTHING]
        if len(pieces) == 1:  # as of most words
            [(positions, counts, lengths)] = pieces
        else:
            positions, counts, lengths = (np.concatenate([piece[at] for piece in pieces]) for at in range(3))
        if self._alive is not None:
            alive = self._alive[positions]
            positions, counts, lengths = positions[alive], counts[alive], lengths[alive]
        rare = idf(self._passages, len(positions))
        found = positions, weight(rare, counts, length_norm(lengths, self._average))
        self._keep(word, found)
        return found

    def _keep(self, word: Term, weights: Weights) -> None:
        self._room -= len(weights[0]) + 100
        if self._room < 0:
            self._kept, self._room = {}, _KEPT
        self._kept[word] = weights

    def best(self, words: Sequence[Weights], limit: int) -> dict[int, float]:
        """By position, the `limit` highest scores, and all that score like the last of them."""
        if not words:
            return {}
        sums = _zeros(self._size)
        for positions, weights in words:
            np.add.at(sums, positions, weights)
        chosen = (sums >= _least(words, sums, limit)).nonzero()[0]
        scores = sums[chosen]
        sums.fill(0.0)
        _local.zeros = sums
        if limit < len(scores):
            enough = scores >= _nth_highest(scores, limit)
            chosen, scores = chosen[enough], scores[enough]
        return dict(zip(chosen.tolist(), scores.tolist(), strict=True))


def _least(words: Sequence[Weights], sums: Array, limit: int) -> float:
    """Return a lower bound of the `limit`-th highest score, so that few scores have to be put in order.

    Of the words that at least `limit` passages hold, the rarest one's passages give it.
    """
    enough = [positions for positions, _ in words if len(positions) >= limit]
    return _nth_highest(sums[min(enough, key=len)], limit) if enough else _SMALLEST


def _nth_highest(scores: Array, at: int) -> float:
    ordered = scores.copy()
    ordered.partition(len(scores) - at)
    return float(ordered[len(scores) - at])


def _arrays(
    first: int, lengths: Sequence[int], positions: Sequence[int], counts: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Return the holders of one part as arrays: positions in the whole index, counts, lengths of these passages."""
    own = np.array(positions, dtype=np.intp)
    # The recent documents have a list, all of which numpy would copy; a segment has memory that it reads in place.
    taken = [lengths[at] for at in positions] if isinstance(lengths, list) else np.asarray(lengths).take(own)
    return own + first if first else own, np.asarray(counts), np.asarray(taken)


def _alive_mask(size: int, dead: Collection[int]) -> Array:
    alive = np.ones(size, dtype=bool)
    alive[np.fromiter(dead, dtype=np.intp, count=len(dead))] = False
    return alive


def _first_of_each(parts: Iterable[tuple[int, Sequence[int], int]]) -> Array:
    """For each passage of all parts the position of the first one of its document."""
    pieces = [np.zeros(0, dtype=np.intp)]
    for start, firsts, size in parts:
        begins = np.asarray(firsts, dtype=np.intp)
        pieces.append(start + np.repeat(begins, np.diff(begins, append=size)))
    return np.concatenate(pieces)


def _zeros(size: int) -> Array:
    """Take this thread's array of zeros, or make one; `Weighing.best` puts it back, cleared."""
    zeros: Array | None = _local.__dict__.pop("zeros", None)
    return np.zeros(size) if zeros is None or len(zeros) != size else zeros
