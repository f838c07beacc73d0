"""The sources of a fact: lines of a project's files that it rests on, and whether they still stand.

One is kept as `src/a.py:40@3f2a91c0b7d4-9c1d22e01f3a77b2`: file, line, the file's blob as it was seen, and checksums of
the line and of its neighbours. Agents remember in the middle of an edit, so that the blob is mostly in no commit, or a
rebase loses it: with the checksums a line is found again without Git's object store, and told from one that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from zlib import crc32

from .hashes import VERSION_DIGITS, blob_id
from .values import value

#: The key of the frontmatter, which the Open Knowledge Format calls so, too.
SOURCES = "sources"
#: The key that names the project, in a memory that several share.
SOURCES_OF = "sources_of"
MAX_SOURCES = 20
_FORM = r"(.+?)(?::([1-9]\d{0,6}))?(?:@([0-9a-f]{7,40})([+-][0-9a-f]{16})?)?"
_LONGEST = 600
_HALF = 0xFFFF


@value
class Source:
    """A file of a project, or one `line` of it (0: the whole file); `blob` is the beginning of its id, "" for unknown.

    `marks` are the checksums of the line (8 digits), and of the lines with text before and after it (4 digits each),
    behind `-` where no other line of the file said the same, else `+`.
    """

    path: str
    line: int = 0
    blob: str = ""
    marks: str = ""

    @property
    def place(self) -> str:
        """The source without what was seen there."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def text(self) -> str:
        """The source as a header has it."""
        return f"{self.place}@{self.blob}{self.marks}" if self.blob else self.place


def source_in(text: str) -> Source | None:
    """The source that a text is; None for a web address, and what is no single line."""
    found = re.fullmatch(_FORM, text) if len(text) <= _LONGEST and "://" not in text else None
    return Source(found[1], int(found[2] or 0), found[3] or "", found[4] or "") if found else None


def sources_in(keys: Mapping[str, object]) -> tuple[Source, ...]:
    """The sources in a frontmatter: texts, or as the Open Knowledge Format has them."""
    said = keys.get(SOURCES)
    items = said if isinstance(said, list) else [said]
    texts = (each.get("resource") if isinstance(each, dict) else each for each in items[:MAX_SOURCES])
    return tuple(found for text in texts if isinstance(text, str) and (found := source_in(text.strip())))


def seen_source(path: str, line: int, data: bytes) -> Source | None:
    """The source as it is seen in the file's bytes; None where that line has no text."""
    marks = _marks_of(data, line) if line else ""
    return Source(path, line, blob_id(data)[:VERSION_DIGITS], marks) if marks or not line else None


def standing(source: Source, data: bytes | None) -> tuple[str, int]:
    """Return the fate of a source in the file's bytes, "same", "moved", "changed" or "gone", and its line, or 0.

    Of several lines with its checksum, that with the most equal neighbours is it, then the nearest. A line not found is
    gone where its neighbours now stand side by side, else changed. None as `data` is no file.
    """
    if data is None:
        return "gone", 0
    if not (marks := source.marks):
        return "same" if blob_id(data).startswith(source.blob) else "changed", 0
    is_unique, own, around = marks[0] == "-", int(marks[1:9], 16), (int(marks[9:13], 16), int(marks[13:], 16))
    lines, here = data.splitlines(), source.line - 1
    if is_unique and here < len(lines) and crc32(lines[here].strip()) == own:
        return "same", source.line
    sums, best = _sums(lines), (0, -len(lines), -1)
    for at in (at for at, said in enumerate(sums) if said == own):
        kin = sum(map(int.__eq__, _around(sums, at), around))
        if kin or is_unique or at == here:
            best = max(best, (kin, -abs(at - here), at))
    if best[2] >= 0:
        return "same" if best[2] == here else "moved", best[2] + 1
    text = [0, *(said & _HALF for said in sums if said), 0]
    return "gone" if around in pairwise(text) else "changed", 0


def _marks_of(data: bytes, line: int) -> str:
    sums = _sums(data.splitlines())
    if line > len(sums) or not sums[line - 1]:
        return ""
    before, after = _around(sums, line - 1)
    return f"{'-' if sums.count(sums[line - 1]) == 1 else '+'}{sums[line - 1]:08x}{before:04x}{after:04x}"


def _sums(lines: Sequence[bytes]) -> list[int]:
    """The checksum of each line without white space at its ends; 0 for one without text."""
    return [*map(crc32, map(bytes.strip, lines))]


def _around(sums: Sequence[int], at: int) -> tuple[int, int]:
    """The halves of the checksums of the nearest lines with text before and after one; 0 at either end."""
    above, below = (map(sums.__getitem__, each) for each in (range(at - 1, -1, -1), range(at + 1, len(sums))))
    return next(filter(None, above), 0) & _HALF, next(filter(None, below), 0) & _HALF
