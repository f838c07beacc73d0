"""What a measurement says: values, and the helpers that take times."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Seconds = dict[str, list[float]]


@dataclass(frozen=True)
class Target:
    """A bound: a figure of `unit` that is to be at least, or at most, `limit`; `words` tell it to people."""

    words: str
    limit: float
    at_most: bool
    unit: str = "×"

    def is_met(self, measured: float) -> bool:
        """Whether a figure keeps the bound."""
        return measured <= self.limit if self.at_most else measured >= self.limit


def faster(limit: float) -> Target:
    """At least so many times faster."""
    return Target(f"≥ {limit:,g}× faster", limit, at_most=False)


def within(limit: float, unit: str = "×") -> Target:
    """At most so much."""
    return Target(f"≤ {limit:,g}{unit}", limit, at_most=True, unit=unit)


NO_SLOWER = Target("no slower (≤ 1×)", 1, at_most=True)


@dataclass(frozen=True)
class Row:
    """One line of the table. `measured` is None for what does not exist; `note` says why, or what to mind.

    The target is meant for `meant` entries, and was measured at `entries`. `figures` are what the ratio is
    made of, in the unit that their names end in.
    """

    what: str
    against: str
    target: Target
    measured: float | None
    entries: int
    meant: int
    figures: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.measured is None:
            return "not there"
        if self.entries != self.meant:
            return f"at {self.entries:,} only"
        return "met" if self.target.is_met(self.measured) else "missed"

    @property
    def told(self) -> str:
        """The figure for people."""
        return "–" if self.measured is None else f"{rounded(self.measured)}{self.target.unit}"

    @property
    def details(self) -> str:
        """What the figure is made of, and the note."""
        parts = [
            f"{name.rpartition(' ')[0]} {rounded(value)} {name.split()[-1]}" for name, value in self.figures.items()
        ]
        return "; ".join(part for part in (", ".join(parts), self.note) if part)

    def as_data(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "what": self.what, "entries": self.entries, "meant_for": self.meant, "against": self.against,
            "target": self.target.words, "measured": self.measured, "unit": self.target.unit,
            "verdict": self.verdict, "figures": dict(self.figures), "note": self.note,
        }  # fmt: skip


def rounded(value: float) -> str:
    """A figure with the digits that mean something."""
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def by_turns(actions: Mapping[str, Callable[[], object]], rounds: int) -> Seconds:
    """How long each action takes, in rounds of all of them, so that what else the machine does hits all alike."""
    took: Seconds = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            took[name].append(seconds(action))
    return took


def medians(took: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of each."""
    return {name: statistics.median(each) for name, each in took.items()}


def milliseconds(taken: Mapping[str, float], *names: str) -> dict[str, float]:
    """Seconds as figures of a row, those of these names."""
    return {f"{name} ms": taken[name] * 1000 for name in names if name in taken}
