"""Patterns of paths: `*` stands for any letters of one name, `**/` for any folders, `?` for one letter.

One that begins with `!` takes away what it stands for. What stands between two stars is sought once, where it is first:
no pattern, whoever wrote it, keeps a search busy.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Annotated, TypeAlias

from msgspec import Meta

#: Patterns in a file that somebody wrote: no more, and no longer, than are tried on every path in a moment.
Patterns: TypeAlias = Annotated[tuple[Annotated[str, Meta(max_length=300)], ...], Meta(max_length=100)]

_NAME = "[^/]*"
_FOLDERS = f"(?:{_NAME}/)*"


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether `path` is one that a pattern stands for, and none takes away."""
    found = [pattern[:1] for pattern in patterns if _expression(pattern.removeprefix("!")).fullmatch(path)]
    return bool(found) and "!" not in found


def covers(path: str, patterns: Sequence[str]) -> bool:
    """As `matches`, and of a folder that a pattern stands for, all that is below it. Only a pattern that stands for
    `path` itself takes that away."""
    places = list(accumulate(path.split("/"), "{}/{}".format))
    return any(matches(place, (pattern for pattern in patterns if pattern[:1] != "!")) for place in places) and not any(
        _expression(pattern[1:]).fullmatch(path) for pattern in patterns if pattern[:1] == "!"
    )


@lru_cache(maxsize=1_024)
def _expression(pattern: str) -> "re.Pattern[str]":
    *folders, last = pattern.split("/")
    runs: list[list[str]] = [[]]
    for name in folders:
        if name == "**":
            runs.append([])
        else:
            runs[-1].append(f"{_name_expression(name)}/")
    first, *others = ("".join(run) for run in runs)
    return re.compile(first + _sought(f"{_FOLDERS}?", others, _FOLDERS) + _name_expression(last), re.DOTALL)


def _name_expression(pattern: str) -> str:
    first, *others = ("".join("[^/]" if sign == "?" else re.escape(sign) for sign in piece)
                      for piece in re.split(r"\*+", pattern))  # fmt: skip
    return first + _sought(f"{_NAME}?", others, _NAME)


def _sought(least: str, pieces: Sequence[str], most: str) -> str:
    """Pieces in this order, `least` of anything before each, `most` before the last."""
    if not pieces:
        return ""
    return "".join(f"(?>{least}{piece})" for piece in pieces[:-1]) + most + pieces[-1]
