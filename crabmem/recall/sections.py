"""Files taken apart into what is searched and shown: paragraphs, chunks of lines, or whole files.

A line ends at a line feed, as editors count them; lines are counted from 1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..text.comparison import lines_in
from ..text.limits import MAX_CHARACTERS, MAX_LIMIT
from ..text.patterns import Patterns
from ..text.values import value


class Recent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a daily note counts more whose day is not long ago."""

    days: Annotated[int, Meta(ge=0)]
    """So many days ago at most."""
    factor: Annotated[float, Meta(gt=0, le=1_000)]
    """Times so much."""


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How files are searched, and what is shown of a hit. Of `recent` the first that fits counts."""

    files: Patterns = ()
    """Patterns of the files; none: there is no such search."""
    unit: Literal["paragraph", "chunk", "file"] = "chunk"
    """What a hit is: a paragraph, some lines, or a whole file."""
    size: Annotated[int, Meta(ge=100)] = 1_600
    """Characters of a chunk."""
    overlap: Annotated[int, Meta(ge=0)] = 320
    """Characters that a chunk shares with the next."""
    results: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 6
    """Hits, when no number is asked for."""
    snippet: Annotated[int, Meta(ge=1, le=MAX_CHARACTERS)] = 700
    """Characters shown of a hit."""
    recent: Annotated[tuple[Recent, ...], Meta(max_length=100)] = ()
    extra_paths: Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(max_length=20)] = ()
    """Of the folders outside of the workspace that `extra_paths` of the settings lists only these, or what lies in
    them; none: all. Others are refused.
    """
    transcripts: bool = False
    """Are the transcripts searched that the settings name?"""
    among: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """Scores are told as among so many sections, where there are fewer."""
    mmr: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Read and passed over. Maximal marginal relevance found fewer answers in every set that was measured."""


@value
class Section:
    """A part of a text, and the lines it begins and ends in."""

    start: int
    end: int
    text: str


def sections_of(text: str, rules: Search) -> list[Section]:
    """The sections of a text, in order; none of one that is blank."""
    lines = lines_in(text)
    if rules.unit == "paragraph":
        return list(_paragraphs(lines))
    if rules.unit == "file":
        return [Section(1, len(lines), text)] if text.strip() else []
    starts = [0, *accumulate(map(len, lines))]
    return [
        Section(bisect_right(starts, start), bisect_left(starts, end), text[start:end])
        for start, end in _chunks(text, starts, rules.size, min(rules.overlap, rules.size // 2))
        if not text[start:end].isspace()
    ]


def age_factor(days: int, recent: Sequence[Recent]) -> float:
    """What counts a note of so many days ago; of the future as much as an old one."""
    return next((each.factor for each in recent if 0 <= days <= each.days), 1.0)


def _paragraphs(lines: Sequence[str]) -> Iterator[Section]:
    """What is between blank lines; a heading begins one."""
    first = 0
    for at, line in enumerate([*lines, ""]):
        if not line.strip() or line.startswith("#"):
            if text := "".join(lines[first:at]).strip("\r\n"):
                yield Section(first + 1, at, text)
            first = at if line.strip() else at + 1


def _chunks(text: str, starts: Sequence[int], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Where chunks begin and end: at lines where that can be, else at white space, else anywhere."""
    start, end = 0, 0
    while end < len(text):
        end = _latest_cut(text, starts, end, min(start + size, len(text)))
        following = _earliest_cut(text, starts, end - overlap, end)
        if following > start or end == len(text):  # else the next one holds all of it
            yield start, end
        start = following


def _latest_cut(text: str, starts: Sequence[int], after: int, most: int) -> int:
    """The last good place for an end behind `after`, up to `most`."""
    line = starts[bisect_right(starts, most) - 1]
    if line > after:
        return line
    return next((at for at in range(most, after, -1) if text[at - 1].isspace()), most)


def _earliest_cut(text: str, starts: Sequence[int], least: int, end: int) -> int:
    """The first good place for a beginning from `least` on, before `end`; the end itself where nothing may overlap."""
    if least == end:
        return end
    line = starts[bisect_left(starts, least)]
    if line < end:
        return line
    return next((at for at in range(max(least, 1), end) if text[at - 1].isspace()), least)
