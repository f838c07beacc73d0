"""Times as people write them."""

import re
from datetime import date, datetime, timedelta, tzinfo

# Characters of a date without a time.
_DATE = len("2024-02-28")
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6}) ?(m|min|h|d|w)")
#: The longest span that is taken.
LONGEST_SPAN = timedelta(days=366)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: The words for a day of the week; of a group with its name.
WEEKDAY = rf"(?:last|on) ({'|'.join(_WEEKDAYS)})"
_SHORT = re.compile(rf"(\d+) ?({'|'.join(_UNITS)}) ago")


def parse_time(text: str, now: datetime, is_end: bool = False) -> datetime | None:
    """The time `text` means: ISO 8601, in the zone of `now` where it names none, or "2 days ago"; None when neither.

    A date alone, "today" or "last Tuesday" is the beginning of that day, or with `is_end` its last moment.
    """
    text = text.strip()
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        day = _day(text.lower(), now.date())
        if day is None:
            return _relative(text, now)
        text, when = "", datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    if is_end and len(text) <= _DATE:
        when = when.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return when if when.tzinfo else when.replace(tzinfo=now.tzinfo)


def local(time: datetime, zone: tzinfo | None = None) -> datetime:
    """`time` in `zone`, or in the zone of this machine; unchanged where that is no zone, or where a calendar ends."""
    try:
        return time.astimezone(zone)
    except (ValueError, OverflowError):  # TZ is more than a day away
        return time


def iso_day(text: str) -> date | None:
    """The day that `text` is, as 2026-12-31; None for all else, also for a day in another form of ISO 8601."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None


def last_weekday(name: str, today: date) -> date:
    """The newest day before `today` of this name: on a Tuesday, "tuesday" is a week ago."""
    return today - timedelta(days=(today.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1)


def span_in(text: str) -> timedelta | None:
    """How long `text` means: 30m, 2h, 3d, 1w; None for all else, and for what is longer than a year."""
    found = _SPAN.fullmatch(text.strip())
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    return span if timedelta() < span <= LONGEST_SPAN else None


def _day(text: str, today: date) -> date | None:
    if text == "today":
        return today
    found = re.fullmatch(WEEKDAY, text)
    return last_weekday(found[1], today) if found else None


def _relative(text: str, now: datetime) -> datetime | None:
    from dulwich.approxidate import parse_relative_time  # late: it takes longer to load than a write takes

    try:
        return now - timedelta(seconds=parse_relative_time("1 day ago" if text == "yesterday" else _in_words(text)))
    except (ValueError, OverflowError):
        return None


def _in_words(text: str) -> str:
    """`3h ago` as `3 hours ago`."""
    found = _SHORT.fullmatch(text)
    return f"{found[1]} {_UNITS[found[2]]} ago" if found else text
