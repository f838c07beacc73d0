"""Whether auto-recall can tell messages that memory knows something about from all others.

What is looked at is what `auto_recall.threshold` is compared with, and beside it the bare score of the best entry.
Messages of the store's own set are on topic, those of other domains are not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crabmem import Memory
from crabmem.operations import context

#: The share of messages on topic that a threshold has to keep.
KEPT = 0.9

Array = np.ndarray[Any, np.dtype[np.float64]]
#: The best score of a message in a store, and how much of what it says that entry has.
Judge = Callable[[str], tuple[float, float]]


def judge(memory: Memory) -> Judge:
    """How auto-recall looks at a message."""

    def judged(message: str) -> tuple[float, float]:
        return max((hit.score for hit in memory.recall(message, 1)), default=0.0), context.confidence(memory, message)

    return judged


@dataclass
class Heard:
    """What was made of messages on topic and off it: pairs of a score and a share."""

    on: list[tuple[float, float]] = field(default_factory=list)
    off: list[tuple[float, float]] = field(default_factory=list)

    def listen(self, judged: Judge, on: Sequence[str], off: Sequence[str]) -> None:
        """Judge the messages for one store."""
        self.on += map(judged, on)
        self.off += map(judged, off)

    def __add__(self, other: "Heard") -> "Heard":
        return Heard(self.on + other.on, self.off + other.off)


@dataclass(frozen=True)
class Verdict:
    """What a threshold makes of messages: those at or above it are spoken to.

    `auc` is the chance that a message on topic stands above one off it, `auc_of_scores` the same for scores as they
    are. At `threshold` KEPT of those on topic are kept, and `fired` of the others. `kept_at` and `fired_at` are the
    shares at a threshold that was given.
    """

    on: int
    off: int
    auc: float
    auc_of_scores: float
    threshold: float
    fired: float
    kept_at: float
    fired_at: float

    @classmethod
    def of(cls, heard: Heard, given: float) -> "Verdict":
        """What comes of the messages that were heard, with the threshold `given` beside the one found."""
        on, off = shares(heard.on), shares(heard.off)
        threshold = keeping(on)
        auc_of_scores = auc(np.array([best for best, _ in heard.on]), np.array([best for best, _ in heard.off]))
        at = above(on, given), above(off, given)
        return cls(len(on), len(off), auc(on, off), auc_of_scores, threshold, above(off, threshold), *at)


def shares(heard: Sequence[tuple[float, float]]) -> Array:
    """How much of each message was found."""
    return np.array([share for _, share in heard])


def keeping(on: Array, kept: float = KEPT) -> float:
    """The highest threshold that keeps so many of the messages on topic."""
    return float(np.sort(on)[int((1 - kept) * len(on) + 1e-9)])


def above(values: Array, threshold: float) -> float:
    """The share of values that a threshold lets through."""
    return float(np.mean(values >= threshold))


def auc(on: Array, off: Array) -> float:
    """The chance that one of `on` is above one of `off`, a tie being half of that (Mann, Whitney 1947)."""
    ordered = np.sort(off)
    below, not_above = (np.searchsorted(ordered, on, side=side).sum() for side in _SIDES)
    return float(below + not_above) / (2 * len(on) * len(off))


_SIDES: tuple[Any, Any] = ("left", "right")


def table(verdicts: dict[str, Verdict], given: float) -> Iterator[tuple[str, ...]]:
    """The verdicts as lines of cells, the head first."""
    percent = f"keeps {KEPT:.0%} at", "and fires on", f"at {given:.3f} keeps", "and fires on"
    yield "auto-recall", "on topic", "off topic", "AUC", "of scores", *percent
    for name, it in verdicts.items():
        shown = f"{it.auc:.3f}", f"{it.auc_of_scores:.3f}", f"{it.threshold:.3f}"
        yield name, f"{it.on}", f"{it.off}", *shown, *(f"{value:.1%}" for value in (it.fired, it.kept_at, it.fired_at))
