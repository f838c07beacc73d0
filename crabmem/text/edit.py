"""Changes of texts that keep their line breaks and byte order mark, and diffs. Pure functions."""

import difflib
import re
from collections.abc import Iterator
from itertools import islice

BOM = "\ufeff"
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKS = ("<<<<<<<", "=======", ">>>>>>>")
_NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(before: str | None, after: str | None, path: str) -> str:
    """The change from `before` to `after` as `git diff` words it; None stands for no file, "" is no change."""
    if before == after:
        return ""
    lines = difflib.unified_diff(
        lines_in(before or ""),
        lines_in(after or ""),
        "/dev/null" if before is None else f"a/{path}",
        "/dev/null" if after is None else f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def lenient_text(data: bytes | None) -> str | None:
    """The text in `data`, a sign in place of what is not UTF-8, as a diff shows it; None for no file."""
    return None if data is None else data.decode("utf-8", "replace")


def newline_of(text: str) -> str:
    """The line break to write beside `text`: "\\r\\n" where its first line ends so, else "\\n"."""
    first = _LINE_BREAK.search(text)
    return "\r\n" if first and first.group() == "\r\n" else "\n"


def in_style_of(text: str, before: str) -> str:
    """`text` with a line break at its end, and with the line breaks and byte order mark of `before`."""
    bare = text.lstrip(BOM)
    ended = bare if not bare or bare.endswith("\n") else bare + "\n"
    mark = BOM if before.startswith(BOM) else ""
    return mark + re.sub(r"\r\n|\n", newline_of(before), ended)


def in_breaks_of(text: str, before: str) -> str:
    """`text` as a part of `before`: with "\\r\\n" where that ends its lines so, else as it is."""
    return text if newline_of(before) == "\n" else re.sub(r"\r\n|\n", "\r\n", text)


def appended(before: str, text: str) -> str:
    """`before`, its last line ended, and `text` after it in its line breaks."""
    ended = before if not before or before.endswith("\n") else before + newline_of(before)
    return ended + in_breaks_of(text, before)


def grown(before: str, after: str) -> str | None:
    """`before`, and after it what `after` has more, in the line breaks of `before`; None where it changes any of it.

    A byte order mark, other line breaks and a missing last one are no change: whoever writes a whole text loses them.
    """
    old, new = (before, after) if after.startswith(before) else (_bare(before), _bare(after))
    if new == old.removesuffix("\n"):
        return before
    return before + in_breaks_of(new[len(old) :], before) if new.startswith(old) else None


def _bare(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")


def lines_in(text: str) -> list[str]:
    """The lines, each with its end; only a line feed ends one, and none begins behind the last."""
    return _LINE.findall(text)


def inserted(before: str, line: int, text: str) -> str:
    """`before` with `text` as lines of their own after line `line` of it, in its line breaks; 0 is the top.

    A line break at the end of `text` is no line. Whether `before` ends with one stays as it was.
    """
    mark, newline = BOM if before.startswith(BOM) else "", newline_of(before)
    lines, own = lines_in(before.removeprefix(mark)), in_breaks_of(text, before).removesuffix(newline)
    is_behind_open_end = 0 < len(lines) <= line and not lines[-1].endswith("\n")
    lines.insert(line, newline + own if is_behind_open_end else own + newline)
    return mark + "".join(lines)


def places_of(piece: str, text: str, most: int) -> str:
    """The numbers of the lines in which `piece` begins, once for each time, also where it overlaps itself.

    After `most` of them an ellipsis.
    """
    found = list(islice(_lines_with(piece, text), most + 1))
    return ", ".join(map(str, found[:most])) + (", …" if len(found) > most else "")


def _lines_with(piece: str, text: str) -> Iterator[int]:
    line, last, at = 1, 0, text.find(piece)
    while at >= 0:
        line += text.count("\n", last, at)
        yield line
        last, at = at, text.find(piece, at + 1)


def is_in_conflict(text: str) -> bool:
    """Whether `text` holds the marks that a merge leaves where it could not decide, one after the other."""
    if _MARKS[0] not in text:
        return False
    at = 0
    for line in text.splitlines():
        if at < len(_MARKS) and line[:7] == _MARKS[at] and line[7:8] in ("", " "):
            at += 1
    return at == len(_MARKS)
