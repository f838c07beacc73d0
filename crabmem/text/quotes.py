"""Quotes: the lines by which a text is known where it was copied."""

import re

_DISTINCTIVE = 16
_BULLET = re.compile(r"^[\s>*+#-]+")


def distinctive_lines(data: bytes) -> frozenset[str]:
    """The lines by which a text is known where it was copied: those that are not short."""
    lines = (_BULLET.sub("", line).strip() for line in data.decode("utf-8", "replace").splitlines())
    return frozenset(line for line in lines if len(line) >= _DISTINCTIVE and any(map(str.isalpha, line)))
