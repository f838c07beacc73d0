"""Words for people: how many of something, the first of a list, a text on one line. Pure functions."""

from collections.abc import Collection, Iterable
from itertools import islice


def counted(number: int, what: str) -> str:
    """`number` and the noun `what`, in the plural unless it is one: `3 facts`, `2 entries`."""
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("ry") else f"{number} {what}s"


def listed(items: "Collection[str]", most: int, what: str = "") -> str:
    """The first `most` items with commas between, and how many more there are: `a, b and 3 more`.

    With `what`, a noun in the plural, `a, b and 3 more files`.
    """
    rest = len(items) - most
    more = f" and {rest} more{what and f' {what}'}" if rest > 0 else ""
    return ", ".join(islice(items, most)) + more


def enumerated(names: "Iterable[str]") -> str:
    """One name or more with commas between: `a, b and c`."""
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of `text` on one line, with an ellipsis where some are missing."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
