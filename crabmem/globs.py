"""Patterns of paths: `*` stands for any letters of one name, `**/` for any folders, `?` for one letter.

One that begins with `!` takes away what it stands for.
"""

import re
from collections.abc import Iterable
from functools import cache

_SIGNS = re.compile(r"(\*\*/|\*|\?)")
_MEANT = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether `path` is one that a pattern stands for, and none takes away."""
    found = [pattern[:1] for pattern in patterns if _expression(pattern.removeprefix("!")).fullmatch(path)]
    return bool(found) and "!" not in found


@cache
def _expression(pattern: str) -> "re.Pattern[str]":
    return re.compile("".join(_MEANT.get(piece) or re.escape(piece) for piece in _SIGNS.split(pattern)), re.DOTALL)
