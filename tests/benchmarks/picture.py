"""The curve: what one write and one recall take by the number of entries, as SVG."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

#: Seconds by number of entries, for each line.
Points: TypeAlias = Mapping[str, Mapping[int, float]]

#: The lines of the curve, by panel, from the slowest down; their colours can be read on light and on dark.
PANELS: Mapping[str, Mapping[str, str]] = {
    "one write": {"git": "#d9822b", "remember": "#3b82f6"},
    "one recall": {"recall, fresh process": "#8b5cf6", "FTS5": "#d9822b", "recall": "#3b82f6"},
}

_WIDTH, _HEIGHT = 940, 380
_PANEL, _LEFT, _TOP, _TALL, _BETWEEN = 300, 64, 48, 268, 128
_GREY = "#8a8f98"
_STYLE = (
    "text { font: 12px system-ui, sans-serif; fill: #8a8f98 } .title { font-weight: 600; font-size: 14px } "
    "polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round }"
)


@dataclass(frozen=True)
class _Scale:
    """Where numbers stand on an axis that counts in powers of ten: `low` to `high` from pixel `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a number."""
        share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low) or 1)
        return self.start + share * (self.end - self.start)

    def powers(self) -> list[float]:
        """The powers of ten on it."""
        return [10.0**power for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]


def picture(points: Points) -> str:
    """The curve as SVG: a panel for writing and one for recalling, both axes in powers of ten."""
    panels = [
        part
        for number, (title, lines) in enumerate(PANELS.items())
        for part in _panel(title, lines, points, _LEFT + number * (_PANEL + _BETWEEN))
    ]
    body = "\n".join(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="milliseconds of a write and of a recall by number of entries">\n'
        f"<style>{_STYLE}</style>\n{body}\n</svg>\n"
    )


def _panel(title: str, colours: Mapping[str, str], points: Points, left: float) -> list[str]:
    lines = {name: {size: took * 1000 for size, took in points[name].items()} for name in colours if name in points}
    times = [took for line in lines.values() for took in line.values()] or [1.0]
    sizes = [size for line in lines.values() for size in line] or [1000]
    across = _Scale(min(sizes), max(*sizes, min(sizes) * 10), left, left + _PANEL)
    up = _Scale(_below(min(times)), _above(max(times)), _TOP + _TALL, _TOP)
    drawn = [part for name, line in lines.items() for part in _line(line, colours[name], across, up)]
    return [
        _text(left, _TOP - 24, title, "start", "title"),
        *_grid(across, up),
        *drawn,
        *_labels({name: line[max(line)] for name, line in lines.items()}, colours, up, left + _PANEL),
        _text(left + _PANEL / 2, _TOP + _TALL + 40, "entries"),
    ]


def _below(value: float) -> float:
    return float(10 ** math.floor(math.log10(value)))


def _above(value: float) -> float:
    return float(10 ** max(math.ceil(math.log10(value)), math.floor(math.log10(value)) + 1))


def _grid(across: _Scale, up: _Scale) -> list[str]:
    rules = [
        f'<line x1="{across.start:.0f}" x2="{across.end:.0f}" y1="{up.at(time):.1f}" y2="{up.at(time):.1f}" '
        f'stroke="{_GREY}" stroke-opacity="0.3"/>'
        for time in up.powers()
    ]
    times = [_text(across.start - 8, up.at(time) + 4, _in_time(time), "end") for time in up.powers()]
    sizes = [_text(across.at(size), up.start + 20, f"{size:,.0f}") for size in across.powers()]
    return [*rules, *times, *sizes]


def _line(line: Mapping[int, float], colour: str, across: _Scale, up: _Scale) -> list[str]:
    spots = [(across.at(size), up.at(took)) for size, took in sorted(line.items())]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots]
    return [f'<polyline points="{path}" stroke="{colour}"/>', *dots]


def _labels(ends: Mapping[str, float], colours: Mapping[str, str], up: _Scale, right: float) -> list[str]:
    """The names of lines beside their ends, moved apart where they would overlap."""
    labels, lowest = [], -math.inf
    for name, took in sorted(ends.items(), key=lambda item: -item[1]):
        lowest = max(up.at(took) + 4, lowest + 15)
        labels.append(
            f'<text x="{right + 10:.0f}" y="{lowest:.1f}" style="fill: {colours[name]}">{escape(name)}</text>'
        )
    return labels


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "axis") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _in_time(milliseconds: float) -> str:
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:g} s"
    return f"{milliseconds:g} ms" if milliseconds >= 1 else f"{milliseconds * 1000:g} µs"
