"""The bounded multiplier of log-like files."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.recall.recency import day_of, recency


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-11-20", date(2026, 11, 20)),
        ("2026-11-20-standup", date(2026, 11, 20)),
        ("2026-11-20 standup", date(2026, 11, 20)),
        ("2026-11-201", None),
        ("2026-13-20", None),
        ("2026-11", None),
        ("20261120xx", None),
        ("release-2026-11-20", None),
        ("luna-s-vet", None),
        ("", None),
    ],
)
def test_the_day_of_a_log_is_what_its_name_begins_with(name: str, day: date | None) -> None:
    assert day_of(name) == day


@given(st.integers(-10_000, 10_000), st.floats(0, 1))
def test_the_multiplier_is_bounded(days: int, boost: float) -> None:
    assert 1 <= recency(days, boost) <= 1 + boost


@given(st.integers(0, 3_000), st.floats(0.001, 1))
def test_the_younger_text_is_never_behind(days: int, boost: float) -> None:
    assert recency(days, boost) >= recency(days + 1, boost)


def test_half_the_boost_is_left_after_thirty_days() -> None:
    assert recency(0, 0.5) == 1.5 and recency(30, 0.5) == 1.25 and recency(-1, 0.5) == 1.0
