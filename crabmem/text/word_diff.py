"""A unified diff taken apart, with the words that differ within its lines. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, islice
from operator import attrgetter

import msgspec

from .comparison import Change, changes

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Letters of scripts without spaces are words of their own.
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]|\w+|\s|[^\w\s]")
# Texts that have less in common are two texts. Nobody reads single words in more words, or in more lines, than that.
_ALIKE = 0.35
_MOST = 4_000
# What stands around words that differ, by the sign of the line.
_MARKED = {"-": ("[-", "-]"), "+": ("{+", "+}")}

#: A piece of a line, and whether it differs.
Piece = tuple[str, bool]


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line of a diff: its sign ("+", "-", " ", or "@" for lines left out), its numbers in both texts, its pieces."""

    sign: str
    old: int | None
    new: int | None
    pieces: tuple[Piece, ...]


class FileDiff(msgspec.Struct, frozen=True):
    """What differs in one file: where it was and is, None for no file there."""

    before: str | None
    after: str | None
    lines: tuple[Line, ...]

    @property
    def path(self) -> str:
        """Where the file is, or was."""
        return self.after or self.before or ""


def files_in(diff: str, with_words: bool = True) -> list[FileDiff]:
    """The files of a unified diff as `unified_diff` makes it, with the words that differ marked, or without."""
    lines, found, at = diff.split("\n"), list[FileDiff](), 0
    while at < len(lines):
        if not (lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        names = (lines[at][4:].rstrip("\t"), lines[at + 1][4:].rstrip("\t"))
        before, after = (None if name == "/dev/null" else name[2:] for name in names)
        at, own = at + 2, list[Line]()
        while at < len(lines) and (head := _HUNK.match(lines[at])):
            at, hunk = _hunk(lines, at + 1, head)
            own += [Line("@", None, None, ())] if own else []
            own += _with_words(hunk) if with_words and at <= _MOST else hunk
        found.append(FileDiff(before, after, tuple(own)))
    return found


def worded(diff: str) -> str:
    """A unified diff with the words marked that differ in changed lines, `[-so-]` and `{+so+}` as `git diff` does."""
    lines = list[str]()
    for file in files_in(diff):
        lines += [f"--- {file.before or '/dev/null'}", f"+++ {file.after or '/dev/null'}"]
        for line in file.lines:
            is_part = not all(differs for _, differs in line.pieces)
            begin, end = _MARKED.get(line.sign, ("", "")) if is_part else ("", "")
            said = "".join(f"{begin}{text}{end}" if differs else text for text, differs in line.pieces)
            lines.append("@@" if line.sign == "@" else f"{line.sign}{said}")
    return "\n".join(lines)


def _hunk(lines: Sequence[str], at: int, head: re.Match[str]) -> tuple[int, list[Line]]:
    """The lines of a hunk, and where it ends: how many it has its head says."""
    old, new = int(head[1]), int(head[3])
    end, last = old + int(head[2] or 1), new + int(head[4] or 1)
    found = list[Line]()
    while at < len(lines) and (old < end or new < last or lines[at].startswith("\\")):
        sign, text = lines[at][:1] or " ", lines[at][1:]
        at += 1
        if sign == "\\":
            continue
        is_old, is_new = sign in " -", sign in " +"
        found.append(Line(sign, old if is_old else None, new if is_new else None, ((text, False),)))
        old, new = old + is_old, new + is_new
    return at, found


def _with_words(lines: Sequence[Line]) -> list[Line]:
    """Return the lines; where added ones follow removed ones, with the words marked that differ."""
    runs, found = [list(run) for _, run in groupby(lines, key=attrgetter("sign"))], list[Line]()
    for at, run in enumerate(runs):
        if run[0].sign == "-" and at + 1 < len(runs) and runs[at + 1][0].sign == "+":
            run, runs[at + 1] = _mark_words(run, runs[at + 1])
        found += run
    return found


def _mark_words(old: list[Line], new: list[Line]) -> tuple[list[Line], list[Line]]:
    """Mark the words that differ; lines that are too long, or have too little in common, are returned as they are."""
    before, after = map(_words, (old, new))
    if max(len(before), len(after)) > _MOST:
        return old, new
    olds, news, at, same = list[Piece](), list[Piece](), 0, 0
    for start, end, first, last in [*changes(before, after), Change(len(before), len(before), len(after), len(after))]:
        alike = "".join(before[at:start])
        olds += (alike, False), ("".join(before[start:end]), True)
        news += (alike, False), ("".join(after[first:last]), True)
        at, same = end, same + start - at
    is_alike = 2 * same >= _ALIKE * (len(before) + len(after))
    return (_split_at_lines(old, olds), _split_at_lines(new, news)) if is_alike else (old, new)


def _words(lines: Sequence[Line]) -> list[str]:
    """Return the words of lines, at most `_MOST` + 1: enough to see that they are too many to compare."""
    return [found[0] for found in islice(_WORD.finditer("\n".join(line.pieces[0][0] for line in lines)), _MOST + 1)]


def _split_at_lines(lines: Sequence[Line], pieces: Sequence[Piece]) -> list[Line]:
    """The lines with the pieces of all of them, parted where a line ends."""
    rows: list[list[Piece]] = [[]]
    for text, differs in pieces:
        first, *others = text.split("\n")
        rows[-1].append((first, differs))
        rows += [[(other, differs)] for other in others]
    return [
        Line(line.sign, line.old, line.new, tuple(piece for piece in row if piece[0]))
        for line, row in zip(lines, rows, strict=True)
    ]
