"""Times as people write them."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem.text.times import parse_time
from tests.examples import examples

TOKYO = timezone(timedelta(hours=9))
# Neither today nor the zone of the machine: only what is handed in may count.
NOW = datetime(2024, 3, 1, 12, 30, tzinfo=TOKYO)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2024-02-28", datetime(2024, 2, 28, tzinfo=TOKYO)),
        (" 2024-02-28\n", datetime(2024, 2, 28, tzinfo=TOKYO)),
        ("2024-02-28 09:15", datetime(2024, 2, 28, 9, 15, tzinfo=TOKYO)),
        ("2024-02-28T09:15:30", datetime(2024, 2, 28, 9, 15, 30, tzinfo=TOKYO)),
        ("2024-02-28T09:15Z", datetime(2024, 2, 28, 18, 15, tzinfo=TOKYO)),
        ("2024-02-28T09:15-05:00", datetime(2024, 2, 28, 23, 15, tzinfo=TOKYO)),
    ],
)
def test_a_written_time_is_meant_in_the_zone_of_now(text: str, when: datetime) -> None:
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("2 days ago", timedelta(days=2)),
        ("2.weeks.ago", timedelta(weeks=2)),
        ("90 minutes ago", timedelta(minutes=90)),
        (" 1 hour ago ", timedelta(hours=1)),
        ("yesterday", timedelta(days=1)),
        ("today", timedelta(hours=12, minutes=30)),
    ],
)
def test_a_relative_time_counts_from_now(text: str, ago: timedelta) -> None:
    assert parse_time(text, NOW) == NOW - ago


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "soon",
        "2 blue moons ago",
        "days ago",
        "2024-02-30",
        "2024-13-01",
        "HEAD~2",
        "2024",
        "42",
        "Friday",
        "last Freitag",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text, NOW) is None


@given(st.text() | st.from_regex(r"-?[0-9]{1,30}( |\.)(second|day|year)s?( |\.)ago", fullmatch=True))
@example("9" * 5_000)
@example("9" * 30 + " years ago")
@settings(max_examples=examples(300))
def test_any_text_is_a_time_in_a_zone_or_none(text: str) -> None:
    when = parse_time(text, NOW)

    assert when is None or when.tzinfo is not None


@pytest.mark.parametrize("text", ["2024-02-28", " 20240228 "])
def test_as_of_a_day_is_its_end(text: str) -> None:
    assert parse_time(text, NOW, is_end=True) == datetime(2024, 2, 28, 23, 59, 59, 999_999, tzinfo=TOKYO)
    assert parse_time("today", NOW, is_end=True) == NOW.replace(hour=23, minute=59, second=59, microsecond=999_999)


@pytest.mark.parametrize(
    ("text", "day"), [("last Thursday", 29), ("on thursday", 29), ("Last Friday", 23), ("on Saturday", 24)]
)
def test_a_day_of_the_week_is_the_last_one_before_today(text: str, day: int) -> None:
    """Today is a Friday."""
    assert parse_time(text, NOW) == datetime(2024, 2, day, tzinfo=TOKYO)
    assert parse_time(text, NOW, is_end=True) == datetime(2024, 2, day, 23, 59, 59, 999_999, tzinfo=TOKYO)


@pytest.mark.parametrize("text", ["2024-02-28 09", "2024-02-28T09:15", "2 days ago", "yesterday"])
def test_a_time_is_no_day(text: str) -> None:
    assert parse_time(text, NOW, is_end=True) == parse_time(text, NOW)


@pytest.mark.parametrize(
    ("text", "ago"), [("3h ago", timedelta(hours=3)), ("90 min ago", timedelta(minutes=90)), ("2d ago", timedelta(2))]
)
def test_units_may_be_short(text: str, ago: timedelta) -> None:
    assert parse_time(text, NOW) == NOW - ago
