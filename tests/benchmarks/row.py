"""A row of the table: what was measured, in which state, against whom, and whether that is as it should be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .timing import Taken, rounded

#: In place of a number of entries: for what does not depend on it.
ANY = 0


@dataclass(frozen=True)
class Target:
    """Bounds by number of entries: the figure, of `unit`, is to be at most that much, or at least.

    Without any bound it only says which way the figure is meant.
    """

    limits: Mapping[int, float]
    at_most: bool
    unit: str = "×"

    @property
    def words(self) -> str:
        """The bounds for people: `≥ 4× faster (1k), 6× (10k)`."""
        if not self.limits:
            return "none" if self.at_most else "none; × faster"
        sizes: dict[float, list[int]] = {}
        for entries, limit in sorted(self.limits.items()):
            sizes.setdefault(limit, []).append(entries)
        sign, faster = ("≤ ", "") if self.at_most else ("≥ ", " faster")
        parts = []
        for limit, those in sizes.items():
            parts.append(f"{sign}{limit:,g}{self.unit}{faster}")
            if ANY not in those:
                parts[-1] += f" ({', '.join(map(thousands, those))})"
            sign = faster = ""
        return ", ".join(parts)

    def is_met(self, measured: float, entries: int) -> bool | None:
        """Whether a figure keeps the bound; None where there is none for so many entries."""
        limit = self.limits.get(entries)
        if limit is None:
            return None
        return measured <= limit if self.at_most else measured >= limit


def faster(limits: Mapping[int, float]) -> Target:
    """So many times faster at least."""
    return Target(limits, at_most=False)


def within(limits: Mapping[int, float], unit: str = "×") -> Target:
    """So much at most."""
    return Target(limits, at_most=True, unit=unit)


#: For what is only told: so many times as much.
NO_TARGET = within({})


@dataclass(frozen=True)
class Row:
    """One figure of the table, at one number of entries.

    `measured` is None for what could not be measured; `note` says why, or what to mind. `figures` are further numbers,
    in the unit that their names end in; the first is shown beside the ratio, unless there are times: then ours is.
    """

    what: str
    against: str
    target: Target
    measured: float | None
    entries: int
    state: str
    taken: Mapping[str, Taken] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    #: Whose times are a line of the curve, and how that is called.
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where there is none for so many entries, or no figure."""
        return None if self.measured is None else self.target.is_met(self.measured, self.entries)

    @property
    def cell(self) -> str:
        """The figure as the table has it: the ratio first, and ours beside it."""
        if self.measured is None:
            return "–"
        words = f"{rounded(self.measured)}{self.target.unit}"
        beside = [with_unit(name, value) for name, value in (*self._medians.items(), *self.figures.items())][:1]
        return ", ".join([words + " (missed)" * (self.is_met is False), *beside])

    @property
    def details(self) -> str:
        """All that the figure is made of, and the note."""
        parts = [f"{who} {taken}" for who, taken in self.taken.items()]
        if len(self.taken) == 2:
            low, high = list(self.taken.values())[:: 1 if self.target.at_most else -1]
            for words, one, other in (("minima", low.least, high.least), ("CPU", low.cpu, high.cpu)):
                parts += [f"{words} {rounded(one / other)}×"] if one is not None and other else []
        parts += [f"{name.rpartition(' ')[0]} {with_unit(name, value)}" for name, value in self.figures.items()]
        return "; ".join([*parts, *([self.note] if self.note else [])])

    @property
    def _medians(self) -> dict[str, float]:
        return {f"{who} ms": taken.median * 1000 for who, taken in self.taken.items()}

    def as_data(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "what": self.what, "entries": self.entries, "against": self.against, "state": self.state,
            "target": self.target.words, "measured": self.measured, "is_met": self.is_met,
            "unit": self.target.unit, "note": self.note, "figures": dict(self.figures),
            "taken": {who: taken.as_data() for who, taken in self.taken.items()},
        }  # fmt: skip


def compared(
    what: str,
    against: str,
    target: Target,
    entries: int,
    state: str,
    taken: Mapping[str, Taken],
    *,
    note: str = "",
    lines: Mapping[str, str] | None = None,
) -> Row:
    """A row of the medians of two who were measured by turns, ours first.

    When only we were measured the figure is missing, and `note` should say why.
    """
    measured = None
    if len(taken) == 2:
        ours, theirs = (each.median for each in taken.values())
        measured = ours / theirs if target.at_most else theirs / ours
    return Row(what, against, target, measured, entries, state, taken, {}, note, lines or {})


def thousands(entries: int) -> str:
    """A number of entries as people say it: `10k`."""
    return f"{entries // 1000}k" if entries % 1000 == 0 else f"{entries:,}"


def with_unit(name: str, value: float) -> str:
    """A figure with the unit that its name ends in."""
    unit = name.rpartition(" ")[2]
    return f"{rounded(value)}{'' if unit == '×' else ' '}{unit}"
