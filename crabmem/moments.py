"""Times as people write them."""

from datetime import datetime

from dulwich.approxidate import parse_approxidate


def moment(text: str, now: datetime) -> datetime | None:
    """The time `text` means: ISO 8601, in the zone of `now` where it names none, or "2 days ago"; None when neither.

    A date alone is the beginning of that day.
    """
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return _relative(text, now)
    return when if when.tzinfo else when.replace(tzinfo=now.tzinfo)


def _relative(text: str, now: datetime) -> datetime | None:
    try:
        return datetime.fromtimestamp(parse_approxidate(text), now.tzinfo)
    except (ValueError, OverflowError, OSError):
        return None
