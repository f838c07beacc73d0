"""A person's own test of recall: questions with the entries that must be found, and figures of how good answers are.

Text in, values out. In the figures `gains` says of each hit, best first, how much of what is wanted it brings: 1 or 0
where every wanted thing is one entry. `ideal` are the gains of the best order there could be; they add up to all that
is wanted.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from math import log2
from typing import Any, TypeVar

import msgspec

from ..errors import InvalidArguments
from .edit import BOM
from .structs import converted
from .toml import MOST_DOTS, deep_line, nearest
from .words import shortened
from .wrong_values import place_in, value_at, wrong_value

S = TypeVar("S", bound=msgspec.Struct)
_SHOWN = 40
# Places that nDCG looks at.
_DEPTH = 10
_EXAMPLE = 'write [[query]], and below it text = "..." and find = ["name of a fact"]'


@dataclass(frozen=True)
class Expectation:
    """A question, and the entries that must be found, each by its name, file name or alias.

    With `first`, one of them must come first. `tags` are asked for with it. `workspace`, where it is given, is the
    name of the only folder in which it makes sense.
    """

    query: str
    find: tuple[str, ...]
    tags: tuple[str, ...] = ()
    first: bool = False
    workspace: str = ""


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question as it may be written; `text` and `query` are the same."""

    text: str = ""
    query: str = ""
    find: str | list[str] = ""
    tags: str | list[str] = ""
    first: bool = False
    workspace: str = ""


def parse_questions(text: str, file: str) -> list[Expectation]:
    """The questions in `text`, which is TOML, or lines of JSON; `file` is named in errors.

    Raises:
        InvalidArguments: there are none, or one cannot be asked; the message says where.
    """
    found = tables(text, file, ("query",), _EXAMPLE)
    if not found:
        raise InvalidArguments(f"{file} has no questions; {_EXAMPLE}")
    return [_question(table, where) for _, where, table in found]


def tables(text: str, file: str, keys: Sequence[str], example: str) -> list[tuple[str, str, Any]]:
    """The tables of a file, which is TOML with lists of tables, or lines of JSON: the key, where it is, the table.

    Lines of JSON are of the first of `keys`. `example` says in errors what may be written.

    Raises:
        InvalidArguments: it is neither, or has other keys; the message says where.
    """
    text = text.removeprefix(BOM)
    if text.lstrip().startswith("{"):
        return [(keys[0], where, table) for where, table in _of_lines(text, file)]
    return list(_of_toml(text, file, keys, example))


def _of_toml(text: str, file: str, keys: Sequence[str], example: str) -> Iterator[tuple[str, str, Any]]:
    """Each table, with its key and where it is."""
    if line := deep_line(text):
        raise InvalidArguments(f"{file}, line {line}: a key has more than {MOST_DOTS} dots; {example}")
    try:
        data = msgspec.toml.decode(text)
    except RecursionError:
        raise InvalidArguments(f"{file} is not TOML that we read: it is nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:  # a number of thousands of digits is a ValueError
        raise InvalidArguments(f"{file} is not TOML: {error}") from None
    if unknown := sorted(data.keys() - set(keys)):
        raise InvalidArguments(f"{file}: unknown key `{unknown[0]}`; {example}")
    for key in keys:
        given = data.get(key, [])
        if not isinstance(given, list):
            raise InvalidArguments(f"{file}: `{key}` is not a list of tables; {example}")
        for number, table in enumerate(given, start=1):
            yield key, f"{file}, {key} {number}", table


def _of_lines(text: str, file: str) -> Iterator[tuple[str, Any]]:
    """The value in each line that is not blank, and where it is."""
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{file}, line {number}"
        try:
            if line.strip():
                yield where, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidArguments(f"{where} is not JSON: {error}") from None


def _question(table: Any, where: str) -> Expectation:
    given = as_struct(table, where, _Given)
    asked = given.text.strip() or given.query.strip()
    if given.text and given.query:
        raise InvalidArguments(f"{where}: `text` and `query` are the same; give one")
    if not asked:
        raise InvalidArguments(f"{where}: no `text`; say what is asked")
    find = texts_in(given.find)
    if not find:
        words = shortened(asked, _SHOWN)
        raise InvalidArguments(f"{where} ({words}): no `find`; name the facts that must be found")
    return Expectation(asked, find, texts_in(given.tags), given.first, given.workspace)


def texts_in(given: str | Sequence[str]) -> tuple[str, ...]:
    """One text or several, without blank ones."""
    return tuple(text for text in ([given] if isinstance(given, str) else given) if text.strip())


def as_struct(table: Any, where: str, kind: type[S]) -> S:
    """A table as a struct.

    Raises:
        InvalidArguments: it is none; the message says `where` it is, and has the nearest known key.
    """
    try:
        return converted(table, kind)
    except msgspec.ValidationError as error:
        message = str(error)
    place = place_in(message)
    if words := wrong_value(message, place or "it", value_at(table, place)):
        raise InvalidArguments(f"{where}: {words}")
    unknown = message.partition("unknown field `")[2].partition("`")[0]
    raise InvalidArguments(f"{where}: unknown key `{unknown}`; {nearest(unknown, kind.__struct_fields__)}")


@dataclass(frozen=True)
class Figures:
    """The figures of one answer, or the means of many: each from 0 to 1, and more is better."""

    #: As people call them, and JSON does (`results.json_of`).
    JSON = ("r@1=r1", "r@5=r5", "r@10=r10", "mrr", "ndcg@10=ndcg10")

    r1: float
    r5: float
    r10: float
    mrr: float
    ndcg10: float

    def by_name(self) -> dict[str, float]:
        """The figures by the names that people know them by, lower case."""
        return dict(zip(FIGURE_NAMES, astuple(self), strict=True))


FIGURE_NAMES = ("r@1", "r@5", "r@10", "mrr", "ndcg@10")


def figures(gains: Sequence[int], ideal: Sequence[int]) -> Figures:
    """All figures of one answer."""
    r1, r5, r10 = (recall(gains, sum(ideal), depth) for depth in (1, 5, 10))
    return Figures(r1, r5, r10, reciprocal_rank(gains), ndcg(gains, ideal))


def mean(each: Iterable[Figures]) -> Figures:
    """Return the means over answers; zeros without any answer."""
    columns = list(zip(*map(astuple, each), strict=True))
    return Figures(*(sum(column) / len(column) for column in columns)) if columns else Figures(0, 0, 0, 0, 0)


def recall(gains: Sequence[int], wanted: int, depth: int) -> float:
    """R@k, the share of what is wanted that is among the first k (Manning, Raghavan, Schütze: Introduction to
    Information Retrieval, 2008, section 8.3): 1/n at most for k = 1 where n entries are wanted."""
    return sum(gains[:depth]) / wanted


def reciprocal_rank(gains: Sequence[int]) -> float:
    """1 over the place of the first hit that is wanted, 0 without one; its mean is MRR (Voorhees: The TREC-8
    Question Answering Track Report, 1999)."""
    return next((1 / place for place, gain in enumerate(gains, start=1) if gain), 0.0)


def ndcg(gains: Sequence[int], ideal: Sequence[int]) -> float:
    """nDCG@10, the sum of gain / log2(place + 1) over the first ten, divided by that of the best order there
    could be (Järvelin, Kekäläinen: Cumulated Gain-Based Evaluation of IR Techniques, TOIS 20(4), 2002; with the
    discount of Burges et al., ICML 2005, which also the first places differ by)."""
    return _discounted(gains) / _discounted(ideal)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains[:_DEPTH], start=1))
