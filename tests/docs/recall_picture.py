"""The picture of what recall finds, drawn from the table in `docs/recall.md`."""

import re
from html import escape

from .pages import DOCS

_WIDTH, _LEFT, _BAR, _GAP, _TOP = 820, 350, 20, 26, 40
_COLOURS = ("#3b82f6", "#8a8f98")
_STYLE = "text { font: 13px system-ui, sans-serif; fill: #8a8f98 } .title { font-weight: 600 }"
_FULL = _WIDTH - _LEFT - 60


def figures() -> dict[str, tuple[float, float]]:
    """What was asked, and the R@10 of crabmem and of bm25s."""
    page = (DOCS / "recall.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d\.\d+) \| (\d\.\d+) \|$", page, re.MULTILINE)
    return {name.strip(): (float(ours), float(theirs)) for name, ours, theirs in rows}


def picture() -> str:
    """Two bars for each set of questions."""
    found = figures()
    height = _TOP + len(found) * (2 * _BAR + _GAP)
    parts = [
        f'<text class="title" x="{_LEFT}" y="20" style="fill: {_COLOURS[0]}">crabmem</text>',
        f'<text class="title" x="{_LEFT + 90}" y="20">bm25s as it comes</text>',
    ]
    for number, (name, pair) in enumerate(found.items()):
        y = _TOP + number * (2 * _BAR + _GAP)
        parts.append(f'<text x="{_LEFT - 12}" y="{y + _BAR + 4}" text-anchor="end">{escape(name)}</text>')
        for each, (value, colour) in enumerate(zip(pair, _COLOURS, strict=True)):
            wide = value * _FULL
            top = y + each * _BAR
            parts.append(f'<rect x="{_LEFT}" y="{top}" width="{wide:.0f}" height="{_BAR - 3}" rx="2" fill="{colour}"/>')
            parts.append(f'<text x="{_LEFT + wide + 8:.0f}" y="{top + 13}">{value:.3f}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="The share of answers among the first ten hits, of crabmem and of bm25s">\n'
        f"<style>{_STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )
