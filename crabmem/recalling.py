"""Recall: from a question to the entries that answer it, why they do, and how much of each fits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from .bounds import MAX_LIMIT, MAX_QUERY
from .catalog import ALIAS, NAME, fields
from .entry import MAX_LABELS, Entry
from .errors import InvalidArguments
from .passages import passage, shares
from .plain import BETWEEN
from .prompt import entry_text
from .results import Hit, Match, Recall
from .search import Index, Ranked, tokens
from .search.rank import day_of, recency
from .slug import name_key

# Less of a text tells nothing.
_LEAST = 200
_LEAST_CONTENT = 80


class Question(NamedTuple):
    """What is asked.

    `language` is whose endings the words lose. `boost` is how much the score of today's log gains, as a share.
    `budget` is how many characters the answer may have as text, None for all.
    """

    query: str
    limit: int
    today: Callable[[], date]
    tags: tuple[str, ...] = ()
    language: str = "english"
    budget: int | None = None
    explain: bool = False
    boost: float = 0.0


class Shelf(Protocol):
    """Entries that can be searched."""

    @property
    def index(self) -> Index:
        """Their words."""

    def at(self, path: str) -> Entry:
        """The entry at a path that the index knows."""

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label."""

    @property
    def unreadable(self) -> Sequence[object]:
        """The files that could not be read as one."""


#: Says of a path whether its entry may be found.
Fits = Callable[[str], bool]
#: Ranks by words: at most so many.
Search = Callable[[int | None], list[Ranked]]
#: Ranks by more, given how to search, how many there may be and which fit; and says what troubled it.
Ranking = Callable[[Search, int, Fits | None], tuple[list[Ranked], str]]


def check_question(query: str, limit: int | None, tags: Sequence[str], budget: int | None = None) -> None:
    """Refuse what cannot be asked.

    Raises:
        InvalidArguments: the message says what is wrong.
    """
    if not query.strip():
        raise InvalidArguments("the query is blank; ask with the words the memory would use")
    if len(query) > MAX_QUERY:
        raise InvalidArguments(f"the query has {len(query)} characters; at most {MAX_QUERY} fit: ask with fewer words")
    for name, value in (("limit", limit), ("budget", budget)):
        if value is not None and value < 1:
            raise InvalidArguments(f"{name} must be at least 1, not {value}")
    if limit is not None and limit > MAX_LIMIT:
        raise InvalidArguments(f"limit must be at most {MAX_LIMIT}, not {limit}")
    if len(tags) > MAX_LABELS:
        raise InvalidArguments(f"tags: at most {MAX_LABELS}, not {len(tags)}")


def recalled(shelf: Shelf, question: Question, fits: Fits | None = None, ranking: Ranking | None = None) -> Recall:
    """The entries of `shelf` that answer the question, have all its tags and fit, best first.

    They share a word with it, unless `ranking` finds others. A question of words that say nothing finds what is
    called just that: `The Who`.
    """
    words = list(dict.fromkeys(tokens(question.query, question.language)))
    accept = _accepting(shelf, question.tags, fits)
    if ranking is None:
        ranked, trouble = _ranked(shelf.index, words, question, accept, question.limit), ""
    else:
        search = partial(_ranked, shelf.index, words, question, accept)
        ranked, trouble = ranking(search, question.limit, accept)
    hits = [Hit(shelf.at(found.key), found.score) for found in ranked]
    if not words:
        called = [Hit(entry, 0.0) for entry in _called(shelf, question) if accept is None or accept(entry.path)]
        named = {hit.entry.path for hit in called}
        hits = [*called, *(hit for hit in hits if hit.entry.path not in named)][: question.limit]
    if question.explain:
        hits = [replace(hit, matches=_matches(hit.entry, shelf.index, question)) for hit in hits]
    kept = tuple(hits)
    if question.budget is not None:
        worth = {word: shelf.index.rarity(word) for word in words}
        kept = fitted(hits, question.budget, worth, question.language, _text)
    left_out = tuple(hit.entry.name for hit in hits[len(kept) :])
    searched, unreadable = len(shelf.index), len(shelf.unreadable)
    return Recall(question.query, kept, searched, unreadable, bool(words), bool(accept), left_out, trouble)


def _called(shelf: Shelf, question: Question) -> list[Entry]:
    """The entries whose name is the question, then those that have it as an alias."""
    key = name_key(question.query)
    named = {entry.path: entry for label in (NAME, ALIAS) for entry in shelf.having(label + key)}
    return list(named.values())[: question.limit]


def _accepting(shelf: Shelf, tags: Sequence[str], fits: Fits | None) -> Fits | None:
    wanted = {name_key(tag.removeprefix("#")) for tag in tags}

    def has_tags(path: str) -> bool:
        return wanted <= set(map(name_key, shelf.at(path).tags))

    if not wanted:
        return fits
    return has_tags if fits is None else lambda path: fits(path) and has_tags(path)


def _ranked(
    index: Index, words: Sequence[str], question: Question, accept: Fits | None, limit: int | None
) -> list[Ranked]:
    if not question.boost:
        return index.search(words, limit, accept)
    found = index.search(words, None, accept)
    boosted = [Ranked(each.key, each.score * _freshness(each.key, question)) for each in found]
    return sorted(boosted, key=lambda each: (-each.score, each.key))[:limit]


def _freshness(path: str, question: Question) -> float:
    day = day_of(path.rpartition("/")[2].removesuffix(".md"))
    return recency((question.today() - day).days, question.boost) if day else 1.0


def _matches(entry: Entry, index: Index, question: Question) -> tuple[Match, ...]:
    """What each word of the question found in each field, and its part of the score before any boost."""
    asked = _asked(question)
    added = index.explained(list(asked), entry.path)
    counts = {name: Counter(words) for name, words in fields(entry, question.language).items()}
    every = sum(counts.values(), Counter[str]())
    return tuple(
        Match(asked[term], name, score * count[term] / every[term])
        for term, score in added.items()
        for name, count in counts.items()
        if term in count
    )


def _asked(question: Question) -> dict[str, str]:
    """The searched terms, and what was typed for each."""
    typed = {term: word for word in reversed(question.query.split()) for term in tokens(word, question.language)}
    return {term: typed.get(term, term) for term in tokens(question.query, question.language)}


def fitted(
    hits: Sequence[Hit], budget: int, worth: Mapping[str, float], language: str, text: Callable[[Hit, str], str]
) -> tuple[Hit, ...]:
    """The hits whose texts fit `budget` characters, the best first; of what is longer than its share, a passage.

    `worth` says what the words that a passage should hold count, `text` what is shown of a hit with such content.
    The first is always among them.
    """
    lengths = [len(text(hit, hit.entry.content)) + len(BETWEEN) for hit in hits]
    kept: list[Hit] = []
    for hit, length, share in zip(hits, lengths, shares(lengths, budget + len(BETWEEN), _LEAST), strict=False):
        content, room = hit.entry.content, share - (length - len(hit.entry.content))
        if share < length and room < _LEAST_CONTENT and kept:
            break
        part = passage(content, worth, lambda piece: tokens(piece, language), max(0, room)) if share < length else None
        kept.append(replace(hit, passage=part))
    return tuple(kept)


def _text(hit: Hit, content: str) -> str:
    return entry_text(hit.entry.name, hit.entry.description, content)
