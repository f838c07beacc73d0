"""Times as people write them."""

from datetime import datetime, timedelta

from dulwich.approxidate import parse_relative_time


def moment(text: str, now: datetime) -> datetime | None:
    """The time `text` means: ISO 8601, in the zone of `now` where it names none, or "2 days ago"; None when neither.

    A date alone is the beginning of that day.
    """
    text = text.strip()
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return _relative(text, now)
    return when if when.tzinfo else when.replace(tzinfo=now.tzinfo)


def _relative(text: str, now: datetime) -> datetime | None:
    if text == "today":
        return now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return now - timedelta(seconds=parse_relative_time("1 day ago" if text == "yesterday" else text))
    except (ValueError, OverflowError):
        return None
