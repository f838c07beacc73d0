"""Changes of texts that keep their line breaks and byte order mark, and diffs. Pure functions."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ..errors import CrabmemError
from .comparison import Change, changes, lines_in

BOM = "\ufeff"
_MARKS, _BEFORE = ("<<<<<<<", "=======", ">>>>>>>"), "|||||||"
# Line numbers that an error lists, as a model reads it; a short text to replace may stand on every line of a file.
_MOST_LINES = 1_000
_AROUND = 3  # lines that a diff shows before and behind a change
_NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(before: str | None, after: str | None, path: str) -> str:
    """The change from `before` to `after` as `git diff` words it; None stands for no file, "" is no change."""
    if before == after:
        return ""
    old, new = lines_in(before or ""), lines_in(after or "")
    names = "/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}"
    lines = chain.from_iterable(_hunk(old, new, group) for group in _groups(changes(old, new)))
    body = "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)
    return f"--- {names[0]}\n+++ {names[1]}\n{body}" if body else ""


def _groups(found: "Iterable[Change]") -> "Iterator[list[Change]]":
    """Yield runs of changes whose context lines meet: each run is one hunk."""
    group = list[Change]()
    for each in found:
        if group and each.start - group[-1].end > 2 * _AROUND:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _hunk(old: list[str], new: list[str], group: "list[Change]") -> "Iterator[str]":
    """The lines of changes, with those around them, behind the line that says where they stand."""
    at, until = max(0, group[0].start - _AROUND), min(len(old), group[-1].end + _AROUND)
    to, last = group[0].first - (group[0].start - at), group[-1].last + (until - group[-1].end)
    yield f"@@ -{_range(at, until)} +{_range(to, last)} @@\n"
    for each in group:
        yield from (f" {line}" for line in old[at : each.start])
        yield from (f"-{line}" for line in old[each.start : each.end])
        yield from (f"+{line}" for line in new[each.first : each.last])
        at = each.end
    yield from (f" {line}" for line in old[at:until])


def _range(start: int, end: int) -> str:
    """Format a range of lines for a hunk's head: the first line from 1, and the count unless it is one.

    An empty range has the number of the line before it, as in Git.
    """
    return f"{end}" if end - start == 1 else f"{start + (end > start)},{end - start}"


def lenient_text(data: bytes | None) -> str | None:
    """The text in `data`, a sign in place of what is not UTF-8, as a diff shows it; None for no file."""
    return None if data is None else data.decode("utf-8", "replace")


def newline_of(text: str) -> str:
    """The line break to write beside `text`: "\\r\\n" where its first line ends so, else "\\n"."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text.find("\r", 0, at) == at - 1 else "\n"


def in_style_of(text: str, before: str) -> str:
    """`text` with a line break at its end, and with the line breaks and byte order mark of `before`."""
    bare = text.lstrip(BOM)
    ended = bare if not bare or bare.endswith("\n") else bare + "\n"
    mark = BOM if before.startswith(BOM) else ""
    return mark + ended.replace("\r\n", "\n").replace("\n", newline_of(before))


def in_breaks_of(text: str, before: str) -> str:
    """`text` as a part of `before`: with "\\r\\n" where that ends its lines so, else as it is."""
    return text if newline_of(before) == "\n" else text.replace("\r\n", "\n").replace("\n", "\r\n")


def appended(before: str, text: str) -> str:
    """`before`, its last line ended, and `text` after it in its line breaks."""
    ended = before if not before or before.endswith("\n") else before + newline_of(before)
    return ended + in_breaks_of(text, before)


def grown(before: str, after: str) -> str | None:
    """Return `before` with what `after` adds at its end, in its own line breaks; None where `after` changes any of it.

    A byte order mark, line breaks and a missing last one are not compared: programs that write whole texts lose them.
    """
    old, new = (before, after) if after.startswith(before) else (_bare(before), _bare(after))
    if new == old.removesuffix("\n"):
        return before
    return before + in_breaks_of(new[len(old) :], before) if new.startswith(old) else None


def _bare(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")


class NotOnce(CrabmemError):
    """A text to replace is not there, or stands in more than one place.

    `lines` are the numbers of the lines in which it begins, the first thousand of them in words; "" for nowhere.
    """

    def __init__(self, lines: str) -> None:
        where = f"stands in several places, at lines {lines}; give more of it" if lines else "is not there"
        super().__init__(f"the text to replace {where}")
        self.lines = lines


class NoSuchLine(CrabmemError):
    """Text was to be inserted after a line that a text does not have; it has `count` lines."""

    def __init__(self, line: int, count: int) -> None:
        super().__init__(f"there is no line {line}; lines from 0, the top, to {count} can be inserted after")
        self.count = count


def replace_once(text: str, old: str, new: str) -> tuple[str, int]:
    """`text` with `new` in place of `old`, which stands in it once, and the number of the line where that begins.

    "\r\n" and "\n" are one line break: readers do not see how a line ends, and give back what they see. `new` gets the
    line breaks of what it replaces, else those of the text. Every other byte stays.

    Raises:
        NotOnce: `old` is not there, or in more than one place; places may overlap, as those of "aa" in "aaa".
    """
    flat, sought = text.replace("\r\n", "\n"), old.replace("\r\n", "\n")
    places = list(islice(_places(sought, flat), 2))
    if len(places) != 1:
        found = list(islice(_lines_with(sought, flat), _MOST_LINES + 1))
        raise NotOnce(", ".join(map(str, found[:_MOST_LINES])) + (", …" if len(found) > _MOST_LINES else ""))
    [at] = places
    start, end = (_place_in(text, flat, place) for place in (at, at + len(sought)))
    kept = in_breaks_of(new, text[start:end] + text)
    return text[:start] + kept + text[end:], flat.count("\n", 0, at) + 1


def insert_lines(text: str, line: int, new: str) -> str:
    """`text` with `new` as lines of their own after line `line` of it, in its line breaks; 0 is the top.

    A line break at the end of `new` is no line. Whether `text` ends with one stays as it was, and so does every other
    byte; a byte order mark stays at the top. A blank line behind a last line without an end is no more than that end.

    Raises:
        NoSuchLine: `text` has fewer lines.
    """
    mark, newline = BOM if text.startswith(BOM) else "", newline_of(text)
    lines, own = lines_in(text.removeprefix(mark)), in_breaks_of(new, text).removesuffix(newline)
    if not 0 <= line <= len(lines):
        raise NoSuchLine(line, len(lines))
    is_behind_open_end = 0 < len(lines) == line and not lines[-1].endswith("\n")
    lines.insert(line, newline + own if is_behind_open_end else own + newline)
    return mark + "".join(lines)


def _places(piece: str, text: str) -> "Iterator[int]":
    """Where `piece` begins in `text`, also where it overlaps itself."""
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


def _lines_with(piece: str, text: str) -> "Iterator[int]":
    """Yield the number of the line, from 1 on, of each place where `piece` begins in `text`."""
    line, last = 1, 0
    for at in _places(piece, text):
        line += text.count("\n", last, at)
        last = at
        yield line


def _place_in(text: str, flat: str, at: int) -> int:
    """The place in `text` of place `at` of `flat`, which has "\n" where `text` has "\r\n"."""
    line_start = flat.rfind("\n", 0, at) + 1
    following = text.split("\n", flat.count("\n", 0, at))[-1]
    return len(text) - len(following) + at - line_start


def is_in_conflict(text: str) -> bool:
    """Whether `text` holds the marks that a merge leaves where it could not decide, one after the other."""
    if _MARKS[0] not in text:
        return False
    at = 0
    for line in text.splitlines():
        if at < len(_MARKS) and line[:7] == _MARKS[at] and line[7:8] in ("", " "):
            at += 1
    return at == len(_MARKS)


def sides_of_conflict(text: str) -> tuple[str, str] | None:
    """The text as each side of a merge has it, where Git left marks; None where there are none, or not all of them.

    The common ancestor, which Git may write between `|||||||` and `=======`, is in neither.
    """
    # `place`: 0 outside of a conflict, 1 in ours, 2 in the ancestor, 3 in theirs.
    ours, theirs, place, count = list[str](), list[str](), 0, 0
    for line in lines_in(text):
        mark = line[:7] if line[7:8].strip() == "" else ""
        if place == 0 and mark == _MARKS[0]:
            place, count = 1, count + 1
        elif place == 1 and mark == _BEFORE:
            place = 2
        elif place in (1, 2) and mark == _MARKS[1]:
            place = 3
        elif place == 3 and mark == _MARKS[2]:
            place = 0
        else:
            ours += [line] if place in (0, 1) else []
            theirs += [line] if place in (0, 3) else []
    return ("".join(ours), "".join(theirs)) if count and place == 0 else None
