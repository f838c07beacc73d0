"""Dates, however they are written: 9 June 2024, June 9th, 2024, 2024-06-09, 2024/6/9 and 09.06.2024 are the same words.

Beside the year, the name of the month and the day, these are 2024-06-09 and 2024-06, so that a question for a month
finds its days. What can be read in two ways, as 06/09/2024, is no date.
"""

from __future__ import annotations

from .english import MONTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from re import Match

_NAMES = {number: name for name, number in reversed(MONTHS.items())}
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR_FIRST = rf"(?P<year>{_YEAR})(?P<joint>[-/.])(?P<month>{_MONTH})(?:(?P=joint)(?P<day>{_DAY})|(?!(?P=joint)?\d))"
_YEAR_LAST = rf"(?P<one>{_DAY})(?P<mark>[-/.])(?P<two>{_DAY})(?P=mark)(?P<last>{_YEAR})"
_NUMERIC = rf"(?<!\d)(?:{_YEAR_FIRST}|{_YEAR_LAST})(?!\d)(?:T(?=\d))?"


def without_dates(text: str, is_english: bool) -> tuple[str, list[str]]:
    """`text` without the dates in numbers, and the words of those; months have names in English only."""
    words: list[str] = []

    def noted(match: Match[str]) -> str:
        date = _read(match)
        if date is None:
            return match[0]
        words.extend(_words_of(*date, is_english))
        return " "

    import re  # takes longer to import than most queries to answer

    return re.sub(_NUMERIC, noted, text), words


def date_words(words: Sequence[str]) -> Iterator[str]:
    """What the dates among English words, in their order, add to those."""
    around = ["", *words, "", ""]
    for at, word in enumerate(around):
        if word in MONTHS:
            yield from _of_month(MONTHS[word], *around[at - 1 : at + 3])


def _of_month(month: int, before: str, word: str, after: str, next_after: str) -> Iterator[str]:
    if _is_day(before) and _is_year(after):
        date = int(after), month, int(before)
    elif _is_day(after) and _is_year(next_after):
        date = int(next_after), month, int(after)
    elif _is_year(after):
        date = int(after), month, 0
    else:
        return
    yield from _sortable(*date)
    if word != _NAMES[month]:
        yield _NAMES[month]


def _is_day(word: str) -> bool:
    return len(word) <= 2 and word.isdigit() and 1 <= int(word) <= 31


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def _read(match: Match[str]) -> tuple[int, int, int] | None:
    """Year, month and day; day 0 for a month, None for what is no date after all."""
    if match["year"]:
        day = int(match["day"] or 0)
        return (int(match["year"]), int(match["month"]), day) if day or match["joint"] == "-" else None
    one, two, year = int(match["one"]), int(match["two"]), int(match["last"])
    if match["mark"] != "." and min(one, two) < max(one, two) <= 12:
        return None
    day, month = (two, one) if match["mark"] != "." and two > 12 else (one, two)
    return (year, month, day) if month <= 12 else None


def _words_of(year: int, month: int, day: int, is_english: bool) -> Iterator[str]:
    yield str(year)
    if is_english:
        yield _NAMES[month]
    if day:
        yield str(day)
    yield from _sortable(year, month, day)


def _sortable(year: int, month: int, day: int) -> Iterator[str]:
    if day:
        yield f"{year}-{month:02}-{day:02}"
    yield f"{year}-{month:02}"
