"""Until when a fact surely holds: the day that `stale_after` in its frontmatter names, as 2026-12-31."""

from collections.abc import Mapping

from ..errors import InvalidArguments
from .times import iso_day
from .words import shortened

#: The key of the frontmatter, which the Open Knowledge Format calls so, too.
STALE_AFTER = "stale_after"
_DAY = len("2026-12-31")
_SHOWN = 80


def stale_after(keys: Mapping[str, object]) -> str:
    """The last day on which a fact with that frontmatter surely holds; "" where none is named, or what is no day."""
    said = keys.get(STALE_AFTER)
    return day_in(said) if said and isinstance(said, str) else ""


def checked_day(text: str) -> str | None:
    """The day that somebody gives, None for "", which is no day.

    Raises:
        InvalidArguments: it is something else.
    """
    if not text.strip():
        return None
    if day := day_in(text):
        return day
    raise InvalidArguments(f"stale_after must be a day such as 2026-12-31, not {shortened(text, _SHOWN)}")


def day_in(text: str) -> str:
    """The day that `text` begins with, where it is a day in ISO 8601, perhaps with a time; else ""."""
    text = text.strip()
    day, rest = text[:_DAY], text[_DAY:]
    return day if rest[:1] in ("", "T", " ") and iso_day(day) else ""
