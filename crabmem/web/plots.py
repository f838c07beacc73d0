"""Plots as SVG of our own, drawn into the page: nothing is loaded, and each has its numbers beside it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..operations.chronicle import OTHERS, Stride
from ..text.values import value

# In units of the picture, which is as wide as there is room.
_WIDTH, _HEIGHT, _GAP = 720, 118, 1.5
_COLOURS = 5


@value
class Bar:
    """A rectangle: where it is, which colour it has, and what it says."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    words: str


@value
class Plot:
    """Bars, the names of their colours with how much each has, and the numbers by day: writes and files.

    `most` is what the highest column says.
    """

    bars: tuple[Bar, ...]
    names: tuple[tuple[str, int, int], ...]
    rows: tuple[tuple[str, int, int], ...]
    most: int


def columns(strides: Sequence[Stride]) -> Plot:
    """Commits by stretch of time, those of each author stacked in a colour of theirs."""
    totals = Counter[str]()
    for stride in strides:
        totals.update(stride.writes)
    names = sorted(totals, key=lambda name: (name == OTHERS, -totals[name], name))
    colours = {name: _COLOURS if name == OTHERS else at for at, name in enumerate(names)}
    stacks = [
        [(stride.writes[name], colours[name], f"by {name}") for name in names if name in stride.writes]
        for stride in strides
    ]
    return _plot(strides, stacks, _GAP, tuple((name, colours[name], totals[name]) for name in names))


def growth(strides: Sequence[Stride]) -> Plot:
    """How many files there were."""
    return _plot(strides, [[(stride.files, 1, "files")] for stride in strides], 0.0)


def _plot(
    strides: Sequence[Stride], stacks: Sequence[Sequence[tuple[int, int, str]]], gap: float,
    names: tuple[tuple[str, int, int], ...] = (),
) -> Plot:  # fmt: skip
    most = max(1, *(sum(count for count, _, _ in stack) for stack in stacks))
    wide, bars = _WIDTH / len(strides), list[Bar]()
    for at, (stride, stack) in enumerate(zip(strides, stacks, strict=True)):
        foot = float(_HEIGHT)
        for count, colour, words in stack:
            high = _HEIGHT * count / most
            foot -= high
            said = f"{stride.begin:%Y-%m-%d}: {count} {words}"
            bars.append(Bar(at * wide, foot, max(1.0, wide - gap), high, colour, said))
    rows = tuple((f"{each.begin:%Y-%m-%d}", sum(each.writes.values()), each.files) for each in strides)
    return Plot(tuple(bars), names, rows, most)
