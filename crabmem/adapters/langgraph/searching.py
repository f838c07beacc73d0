"""The result of a search: first the items that answer its question, then the rest in the order of namespaces and keys.

LangGraph's stores return as many items as are asked for, so that an app can page through all of them with a question.
Items that the app excludes from search come last, without a score.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from langgraph.store.base import SearchOp, get_text_at_path

from ...memory import Memory
from ...operations import keyvalue
from ...search import tokens
from ...text.entry import Entry
from ...text.limits import MAX_LIMIT, MAX_QUERY
from .filters import is_match
from .values import paths_of, value_of
from .vectors import Vectors

Fits = Callable[[Entry], bool]


class Found(NamedTuple):
    """An item, and how well it answers, from 0 to 1; None without a question, or if it is excluded from search."""

    entry: Entry
    score: float | None


def found(memory: Memory, op: SearchOp, vectors: Vectors | None, gone: frozenset[str]) -> list[Found]:
    """Return what a search finds, by words or, with `vectors`, by these. `gone` are the paths of expired items, which
    are left out.

    Raises:
        InvalidArguments: the limit or the offset is negative, or the filter has an unknown operator.
    """
    keyvalue.check_page(op.offset, op.limit)
    namespace, end, where = tuple(op.namespace_prefix), op.offset + op.limit, op.filter

    def fits(entry: Entry) -> bool:
        return entry.path not in gone and (not where or is_match(where, value_of(entry)))

    if not (op.query and op.query.strip()):
        only = fits if where or gone else None
        return [Found(entry, None) for entry in keyvalue.items(memory, namespace, only, op.offset, op.limit)]
    if not op.limit:
        return []
    if vectors:
        ranked = [Found(*each) for each in vectors.ranked(op.query, keyvalue.items(memory, namespace, fits))]
        others: float | None = None
    else:
        ranked, others = _by_words(memory, op.query, namespace, end, fits), 0.0
    return _filled(memory, namespace, end, ranked, others, fits)[op.offset : end]


def _by_words(memory: Memory, query: str, namespace: tuple[str, ...], limit: int, fits: Fits) -> list[Found]:
    """Return what recall finds among the items that are not excluded from search, best first."""
    question, language = query[:MAX_QUERY], memory.settings.language
    words = frozenset(tokens(question, language))

    def is_searched(entry: Entry) -> bool:
        """Whether the question may find an entry. If its item names paths, a text at one of them must share a word."""
        paths = paths_of(entry)
        texts = [text for path in paths or () for text in get_text_at_path(value_of(entry), path)]
        return paths is None or any(not words.isdisjoint(tokens(text, language)) for text in texts)

    answer = memory.recall(
        question,
        min(limit, MAX_LIMIT),
        namespace=namespace,
        where=lambda entry: is_searched(entry) and fits(entry),
    )
    return [Found(hit.entry, score) for hit, score in zip(answer, keyvalue.nearness(answer), strict=True)]


def _filled(
    memory: Memory, namespace: tuple[str, ...], end: int, ranked: Sequence[Found], score: float | None, fits: Fits
) -> list[Found]:
    """Return `ranked`, filled up to `end` with other items that fit: first those with `score`, then, with None, those
    that are excluded from search.
    """
    there, full = {each.entry.path for each in ranked}, list(ranked)

    def others(are_searched: bool) -> list[Entry]:
        def is_one(entry: Entry) -> bool:
            return entry.path not in there and (paths_of(entry) != []) is are_searched and fits(entry)

        return keyvalue.items(memory, namespace, is_one, 0, end - len(full)) if len(full) < end else []

    full += [Found(entry, score) for entry in others(True)]
    full += [Found(entry, None) for entry in others(False)]
    return full
