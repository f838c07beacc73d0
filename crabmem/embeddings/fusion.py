"""Scores of words and of meaning in one. Meaning moves what words found; it drops nothing of it.

The sum is taken over everything that can be found: lists that are cut before they are added, or added by rank, are
worse than words alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .embedder import Array

#: The place at which the first by words stands at the latest.
LAST = 3


def fuse(words: Array, likeness: Array, weight: float, floor: float, limit: int) -> Iterator[tuple[int, float, float]]:
    """The positions of all that is found, best first, scores from 0 to 1 that do not rise, and what meaning adds.

    `words` has the score by words of each position, 0 for none; `likeness` how near it is in meaning, NaN where
    that is not known. All that has a score by words is found, and what has none from `floor` on. The first by
    words is among the first `limit`, whatever it means.
    """
    known = ~np.isnan(likeness)
    usual = float(likeness[known].mean()) if known.any() else 0.0
    near = np.clip(np.where(known, likeness, usual), 0, 1)  # less than nothing in common is no reason against a word
    highest = words.max(initial=0.0)
    by_meaning = weight * near
    scores = by_meaning + (1 - weight) * words / (highest or 1.0)
    found = np.flatnonzero((words > 0) | (known & (likeness >= floor)))
    order = found[np.argsort(-scores[found], kind="stable")].tolist()
    place = min(limit, LAST)
    if highest > 0 and (at := order.index(int(words.argmax()))) >= place:
        order.insert(place - 1, order.pop(at))
    falling = np.maximum.accumulate(scores[order][::-1])[::-1]  # one that was moved up has the score of the next
    return zip(order, falling.tolist(), by_meaning[order].tolist(), strict=True)
