"""Dates, however they are written: 9 June 2024, June 9th, 2024, 2024-06-09, 2024/6/9 and 09.06.2024 are the same words.

Beside the year, the name of the month and the day, these are 2024-06-09 and 2024-06, so that a question for a month
finds its days. What can be read in two ways, as 06/09/2024, is no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from ..text.times import WEEKDAY, last_weekday
from .english import MONTHS

_NAMES = {number: name for name, number in reversed(MONTHS.items())}
_YEAR, _MONTH, _DAY = r"((?:19|20)\d\d)", r"(0?[1-9]|1[0-2])", r"(0?[1-9]|[12]\d|3[01])"
_NUMERIC = rf"(?<!\d)(?:{_YEAR}([-/.]){_MONTH}(?:\2{_DAY})?|{_DAY}([-/.]){_DAY}\6{_YEAR})(?![-/.]?\d)"
_APART, _NTH = "[ \t,./-]+", "(?:st|nd|rd|th)?"
_WRITTEN = rf"(?:(?<!\d){_DAY}{_NTH}(?: of)?{_APART})?\b([A-Za-z]+){_APART}(?:{_DAY}{_NTH}{_APART})?{_YEAR}(?!\d)"

_AGO = rf"\b(?:(today|yesterday)|(\d{{1,3}}) (day|week)s? ago|last (week)|{WEEKDAY})\b"


def days_meant(question: str, today: date) -> Iterator[date]:
    """The days that `yesterday`, `last Tuesday`, `on Monday`, `3 days ago` and `last week` in a question mean."""
    for word, number, unit, week, weekday in re.findall(_AGO, question.lower()):
        if week:
            monday = today - timedelta(days=today.weekday() + 7)
            yield from (monday + timedelta(days=day) for day in range(7))
        elif weekday:
            yield last_weekday(weekday, today)
        else:
            days = int(number) * (7 if unit == "week" else 1) if number else ("today", "yesterday").index(word)
            yield today - timedelta(days=days)


def without_dates(text: str, is_english: bool) -> tuple[str, list[str]]:
    """Return `text` without its dates in numbers, and the words that stand for these.

    The words are the year, the name of the month in English only, the day, and both sortable forms. A date that can be
    read in two ways stays in the text.
    """
    words: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        year, _, month, day, first, joint, second, last = match.groups()
        if first:
            is_day_first = joint == "." or int(first) > 12 or first == second
            year, day, month = (last, first, second) if is_day_first else (last, second, first)
            if int(month) > 12 or not (is_day_first or int(day) > 12):
                return match[0]
        words.extend([year, *([_NAMES[int(month)]] if is_english else []), *([str(int(day))] if day else [])])
        words.extend(_sortable(year, int(month), day))
        return " "

    return re.sub(_NUMERIC, replaced, text), words


def date_words(text: str, terms: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the words to add for dates that `text` has in English words; `terms` has the stems of each word."""
    for before, word, after, year in re.findall(_WRITTEN, text):
        name = "".join(terms[word])
        if name in MONTHS:
            yield from _sortable(year, MONTHS[name], before or after)
            if name != _NAMES[MONTHS[name]]:
                yield _NAMES[MONTHS[name]]


def _sortable(year: str, month: int, day: str) -> Iterator[str]:
    yield f"{year}-{month:02}"
    if day:
        yield f"{year}-{month:02}-{int(day):02}"
