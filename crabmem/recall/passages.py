"""Passages: the parts of a long text that are ranked, each for itself, and the text as a whole. The best one counts.

So a long text stands beside short ones, whose lengths are like those of its passages.
"""

from __future__ import annotations

Span = tuple[int, int]
#: None for the whole.
Part = Span | None


# In characters. A text of at most `_SHORT` has no passages; neighbours in a longer one share `_OVERLAP`. Of sizes from
# 400 to 1,200 these found most in the tuned halves of thirteen sets: in chats, 1,200 lost 4 points of R@10.
_SHORT, _SIZE, _OVERLAP = 1_200, 600, 150
# The words of a longer text are too far apart to count together: as a whole, too, no half of any of twelve sets found
# more than half a question more or less, and an index of texts of 8,000 characters was 1.4 times as large.
_WHOLE = 6_000
# So far before an even cut a line may end instead, or a word.
_LINE, _WORD = 120, 60


def parts_of(text: str) -> list[Part]:
    """What of `text` is ranked: a short one as a whole, a very long one by its passages, one between them by both."""
    passages = _passages(text) if len(text) > _SHORT else []
    return [*([None] if len(text) <= _WHOLE else []), *passages]


def part_of(text: str, part: Part) -> str:
    """That part of `text`."""
    return text if part is None else text[part[0] : part[1]]


def _passages(text: str) -> list[Span]:
    """Where the passages of a long `text` begin and end, cut at lines or between words.

    They are about as long as each other: a short rest would be found before all others for a name or a description.
    """
    count = -(-(len(text) - _OVERLAP) // (_SIZE - _OVERLAP))
    step = (len(text) - _OVERLAP) / count
    starts = [_cut(text, round(step * at)) for at in range(count)]
    ends = [_cut(text, round(step * at) + _OVERLAP) for at in range(1, count)]
    return list(zip(starts, [*ends, len(text)], strict=True))


def _cut(text: str, at: int) -> int:
    """The last good place for a cut that is not far before `at`."""
    for sign, reach in (("\n", _LINE), (" ", _WORD)):
        found = text.rfind(sign, max(0, at - reach), at)
        if found >= 0:
            return found + 1
    return at
