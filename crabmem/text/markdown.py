"""Markdown: which lines are code, and what stands under a heading. Pure functions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ..errors import InvalidArguments
from .edit import BOM

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6}+)(?![^ \t])(?P<title>.*)$")
# A fence may stand in a quotation or an item of a list.
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<marks>`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r"[ \t>]*(?P<marks>`{3,}|~{3,})[ \t]*$")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_NEW = "##"


def code_lines(lines: Iterable[str]) -> Iterator[bool]:
    """For each line, with or without its end, whether it is code: in a fenced block, fences included, or indented."""
    return (code is not None for code in _code(lines))


def without_fenced(text: str) -> str:
    """`text` in its lines and length, with spaces for what stands in fenced blocks and for their fences."""
    lines = text.split("\n")
    codes = zip(lines, _code(lines), strict=True)
    return "\n".join(" " * len(line) if code == "fenced" else line for line, code in codes)


def _code(lines: Iterable[str]) -> Iterator[Literal["fenced", "indented"] | None]:
    """Yield for each line which kind of code it is; None for text.

    Indented lines are code only behind a blank line or code, and in no list, where they continue an item.
    """
    fence, in_list, after_blank, in_code = "", False, True, False
    for line in lines:
        bare = line.rstrip("\r\n")
        if fence:
            end = _FENCE_END.match(bare)
            fence = "" if end and end["marks"].startswith(fence) else fence
            after_blank = True
            yield "fenced"
            continue
        in_code = bool(_INDENTED.match(bare)) and not in_list and (after_blank or in_code)
        opened = None if in_code else _FENCE.match(bare)
        fence = opened["marks"] if opened else ""
        yield "fenced" if opened else "indented" if in_code else None
        in_list = bool(_ITEM.match(bare)) or (in_list and (not bare.strip() or bare[:1] in " \t"))
        after_blank = not bare.strip()


def with_section(text: str, section: str, body: str) -> str:
    """`text` with `body` as all that stands under the heading `section`, below which other headings may be.

    A heading is found without regard to case and its marks; where there is none it comes at the end. One that `body`
    begins with itself is not there twice. Lines end in a line feed, and all others stay as they are.

    Raises:
        InvalidArguments: `section` is no heading, or there are several; or `body` is blank.
    """
    title = _title_of(section)
    lines = text.lstrip(BOM).replace("\r\n", "\n").split("\n")
    every = list(headings(lines))
    found = [(at, depth) for at, depth, other in every if other.casefold() == title.casefold()]
    if len(found) > 1:
        places = ", ".join(str(at + 1) for at, _ in found)
        raise InvalidArguments(f"there are {len(found)} headings {title}, at lines {places}; name one that is alone")
    if not found:
        above = "\n".join(lines).rstrip("\n")
        return "\n".join([*([above, ""] if above else []), f"{_NEW} {title}", "", *_bare(body, title), ""])
    [(start, depth)] = found
    end = next((at for at, other, _ in every if at > start and other <= depth), len(lines))
    return "\n".join([*lines[: start + 1], "", *_bare(body, title), "", *lines[end:]])


def _title_of(section: str) -> str:
    """What a heading is called, however it was given."""
    line = section.strip()
    found = _HEADING.match(line) if line.startswith("#") else None
    title = _bare_title(found["title"]) if found else line
    if not title or "\n" in title or "\r" in title:
        raise InvalidArguments("the section is the text of a heading, on one line")
    return title


def headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Line, from 0 on, depth and title of each heading; what stands in a block of code is none."""
    for at, (line, is_code) in enumerate(zip(lines, code_lines(lines), strict=True)):
        heading = None if is_code else _HEADING.match(line)
        if heading:
            yield at, len(heading["marks"]), _bare_title(heading["title"])


def is_heading(line: str) -> bool:
    """Whether a line is a heading where it stands in no block of code."""
    return bool(_HEADING.match(line))


def _bare_title(title: str) -> str:
    """What stands after the marks of a heading, without the marks that may close it."""
    whole = title.strip(" \t")
    bare = whole.rstrip("#")
    return bare.rstrip(" \t") if bare[-1:] in ("", " ", "\t") else whole


def _bare(body: str, title: str) -> list[str]:
    """The lines of `body` without a heading of that title at its beginning, and without blank ones around."""
    lines = body.replace("\r\n", "\n").strip("\n").split("\n")
    first = next(headings(lines[:1]), None)
    rest = lines[1:] if first and first[2].casefold() == title.casefold() else lines
    if not any(map(str.strip, rest)):
        raise InvalidArguments(f"nothing would stand under the heading {title}; say what shall")
    return "\n".join(rest).strip("\n").split("\n")
