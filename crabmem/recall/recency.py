"""What counts beside words: how old a text is, for those that are a log. Bounded, and off unless asked for."""

from datetime import date

from ..text.times import iso_day

_HALVED = 30


def day_of(path: str) -> date | None:
    """The day that the name of a log-like file begins with, such as `2026-11-20-standup.md`; None for any other."""
    name = path.rpartition("/")[2].removesuffix(".md")
    return None if name[10:11].isalnum() else iso_day(name[:10])


def recency(days: int, boost: float) -> float:
    """What the score of a text of so many days ago is multiplied by: 1 + `boost` today, half the boost every 30 days.

    Never below 1 or above 1 + `boost`; a text of the future is not boosted.
    """
    return 1 + boost * 0.5 ** (days / _HALVED) if days >= 0 else 1.0
