"""Plots as SVG of our own, drawn into the page: nothing is loaded, and each has its numbers beside it; and the colour
that an author has there and on every other page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from zlib import crc32

from ..operations.chronicle import OTHERS, Stride
from ..text.values import value

# In units of the picture, which is as wide as there is room.
_WIDTH, _HEIGHT, _GAP = 720, 118, 1.5
# Classes in the style sheet: how many there are for agents, that of the person, that of all other authors together.
_AGENTS, _PERSON, _NOBODY = 10, "by-person", "c5"
# Start value of the CRC-32: the first with which the eight hosts used most get eight different colours.
_START = 13_851


@value
class Bar:
    """A rectangle: its place and size in units of the picture, the class of its colour, and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    words: str


@value
class Plot:
    """A plot, and the same numbers as text.

    `names` is the legend: author, class of the colour, number of commits. `rows` is the table: first day of each
    stretch of time, commits in it, files at its end. `most` is the value of the highest column.
    """

    bars: tuple[Bar, ...]
    names: tuple[tuple[str, str, int], ...]
    rows: tuple[tuple[str, int, int], ...]
    most: int


def colour_of(author: str, is_person: bool) -> str:
    """The class of an author's colour: the same on every page and in every memory. Two agents may have the same one."""
    return _PERSON if is_person else f"by-{crc32(author.encode(errors='replace'), _START) % _AGENTS}"


def columns(strides: Sequence[Stride], people: Collection[str]) -> Plot:
    """Plot commits by stretch of time, stacked by author. `people` are the authors that are persons, not agents."""
    totals = Counter[str]()
    for stride in strides:
        totals.update(stride.writes)
    names = sorted(totals, key=lambda name: (name == OTHERS, -totals[name], name))
    colours = {name: _NOBODY if name == OTHERS else colour_of(name, name in people) for name in names}
    stacks = [
        [(stride.writes[name], colours[name], f"by {name}") for name in names if name in stride.writes]
        for stride in strides
    ]
    return _plot(strides, stacks, _GAP, tuple((name, colours[name], totals[name]) for name in names))


def growth(strides: Sequence[Stride]) -> Plot:
    """Plot the number of files in memory over time."""
    return _plot(strides, [[(stride.files, "c1", "files")] for stride in strides], 0.0)


def _plot(
    strides: Sequence[Stride], stacks: Sequence[Sequence[tuple[int, str, str]]], gap: float,
    names: tuple[tuple[str, str, int], ...] = (),
) -> Plot:  # fmt: skip
    """Draw a column for each stride. Its stack has the parts from the bottom up: value, class of the colour, words."""
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
