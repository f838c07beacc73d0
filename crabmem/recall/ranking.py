"""Recall: from a question to the entries that answer it, why they do, and how much of each fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

from ..errors import InvalidArguments
from ..results import FileHit, Hit, Match, Recall, SourceState
from ..search import Index, Ranked, tokens
from ..search.index import Term
from ..search.query import Phrase, Query, parse_query, terms_of
from ..text.entry import MAX_LABELS, Entry
from ..text.hashes import short
from ..text.limits import MAX_LIMIT, MAX_QUERY
from ..text.passages import blocks_with, passage
from ..text.quoting import BETWEEN, hit_text
from ..text.slug import name_key
from ..text.sources import SOURCES
from ..text.values import replace, value
from .entries import EntrySource, PathFilter
from .labels import ALIAS, NAME, fields, keys_within
from .passages import Span, parts_of

#: Ranks by words: at most so many.
WordSearch = Callable[[int | None], list[Ranked]]
#: Ranks by more, given how to search, how many there may be and which fit; and says what troubled it.
Ranking = Callable[[WordSearch, int, PathFilter | None], tuple[list[Ranked], str]]

#: Tells the day it is.
Today = Callable[[], "date"]
#: Tells how the sources of an entry stand.
SourcesOf = Callable[["Entry"], "tuple[SourceState, ...]"]

#: So much of a daily note is shown: the part that answers, not the whole day.
NOTED = 700
# Less of a text, and of its content, tells nothing.
_LEAST = 200
_LEAST_CONTENT = 80


@value
class Question:
    """What is asked.

    `language` is whose endings the words lose. `factor` is what the score of what is found at a path is multiplied
    by; None for all scores as they are. `budget` is how many characters the answer may have as text, None for all.
    `today` tells on which day hits are stale or not; None where none is. `sources` tells how those of a hit stand.
    """

    query: str
    limit: int
    tags: tuple[str, ...] = ()
    language: str = "english"
    budget: int | None = None
    explain: bool = False
    factor: Callable[[str], float] | None = None
    today: Today | None = None
    sources: SourcesOf | None = None


def check_question(query: str, limit: int | None, tags: Sequence[str], budget: int | None = None) -> None:
    """Refuse what cannot be asked.

    Raises:
        InvalidArguments: the message says what is wrong.
    """
    if not query.strip():
        raise InvalidArguments("the question is empty")
    if len(query) > MAX_QUERY:
        raise InvalidArguments(f"the query has {len(query)} characters; at most {MAX_QUERY} fit: ask with fewer words")
    for name, number in (("limit", limit), ("budget", budget)):
        if number is not None and number < 1:
            raise InvalidArguments(f"{name} must be at least 1, not {number}")
    if limit is not None and limit > MAX_LIMIT:
        raise InvalidArguments(f"limit must be at most {MAX_LIMIT}, not {limit}")
    if len(tags) > MAX_LABELS:
        raise InvalidArguments(f"tags: at most {MAX_LABELS}, not {len(tags)}")


def path_filter(
    source: EntrySource, fits: PathFilter | None, namespace: tuple[str, ...], where: Callable[[Entry], bool] | None
) -> PathFilter | None:
    """What also fits a namespace, and of whose entry `where` says so; then no daily note does."""
    checks = [fits] if fits else []
    if namespace:
        checks.append(keys_within(source.index, namespace, source.notes).__contains__)
    elif where:
        checks.append(lambda path: path not in source.notes)
    if where:
        checks.append(lambda path: where(source.at(path)))
    return _all(checks)


def recall_from(
    source: EntrySource, question: Question, fits: PathFilter | None = None, ranking: Ranking | None = None
) -> Recall:
    """The entries of `source` that answer the question, have all its tags and phrases and fit, best first.

    Call `check_question` before. They share a word with the question, unless `ranking` finds others. A question of
    words that say nothing finds what is called just that: `The Who`. Phrases that no entry has are words.

    Daily notes are among them, each with the passage that answers. They have no tags: a question with some finds none.

    Raises:
        Busy: a file of one changes at this moment.
    """
    query = parse_query(question.query)
    words = terms_of(query, source.index, question.language)

    def found(phrases: Sequence[str]) -> tuple[list[Hit], str]:
        return _hits(source, question, words, query.text, _acceptance(source, question, phrases, fits), ranking)

    hits, trouble = found(query.phrases)
    unsaid = () if hits else query.phrases
    if unsaid:
        hits, trouble = found(())
    hits = with_staleness(hits, question.today, question.sources)
    if question.explain:
        hits = _with_matches(hits, source.index, query, words, question.language)
    if any(hit.entry.is_note for hit in hits):
        worth, language = worth_of(words, source.index), question.language
        hits = [
            replace(hit, passage=note_passage(hit.entry, worth, language)) if hit.entry.is_note else hit for hit in hits
        ]
    kept = tuple(hits)
    if question.budget is not None:
        ranked = ranked_passages(hits, source.index, words)
        kept = fit_to_budget(hits, question.budget, worth_of(words, source.index), question.language, text_of, ranked)
    left_out = tuple(hit.entry.name for hit in hits[len(kept) :])
    return Recall(
        query=question.query,
        hits=kept,
        searched=len(source.index) - len(source.notes),
        unreadable=len(source.unreadable),
        has_words=bool(words),
        is_filtered=bool(question.tags or fits),
        left_out=left_out,
        unsaid=unsaid,
        trouble=trouble,
        notes=0 if question.tags else len(source.notes),
    )


def _hits(
    source: EntrySource,
    question: Question,
    words: Sequence[Term],
    text: str,
    accept: PathFilter | None,
    ranking: Ranking | None,
) -> tuple[list[Hit], str]:
    """The entries that share one of `words`, or without any are called `text`; and what troubled the ranking."""

    def by_words(limit: int | None) -> list[Ranked]:
        return _rank_by_words(source, words, question, accept, limit)

    wanted = question.limit
    ranked, trouble = ranking(by_words, wanted, accept) if ranking else (by_words(wanted), "")
    hits = [
        Hit(source.at(found.key), found.score, by_meaning=found.by_meaning if question.explain else None)
        for found in ranked
    ]
    if words:
        return hits, trouble
    called = [entry for entry in _entries_called(source, text) if accept is None or accept(entry.path)]
    others = [hit for hit in hits if hit.entry not in called]
    return [*(Hit(entry, 0.0) for entry in called), *others][: question.limit], trouble


def ranked_passages(hits: Sequence[Hit], index: Index, words: Sequence[Term]) -> dict[str, Span]:
    """Where the passage stands that counts for a hit, by the paths of those that do not count as a whole."""
    several = {hit.entry.path: parts for hit in hits if len(parts := parts_of(hit.entry.content)) > 1}
    best = index.best_passages(list(index.terms_for(words)), list(several)) if several else []
    counting = {path: several[path][at] for path, at in zip(several, best, strict=True)}
    return {path: part for path, part in counting.items() if part}


def with_staleness(hits: list[Hit], today: Today | None, sources: SourcesOf | None = None) -> list[Hit]:
    """The hits, with since when each is stale that is so `today`, which is asked only where one names a day, and how
    the `sources` stand of each that names some."""
    if sources:
        hits = [replace(hit, sources=sources(hit.entry)) if SOURCES in hit.entry.keys else hit for hit in hits]
    days = [hit.entry.stale_after for hit in hits]
    if today is None or not any(days):
        return hits
    now = today().isoformat()
    return [replace(hit, stale_since=day) if day and day < now else hit for hit, day in zip(hits, days, strict=True)]


def note_passage(note: Entry, worth: Mapping[str, float], language: str) -> str:
    """What of a daily note holds the words that were asked for, by what they are worth."""
    return blocks_with(note.content, worth, lambda piece: tokens(piece, language), NOTED)


def _entries_called(source: EntrySource, name: str) -> list[Entry]:
    """The entries that are called `name`, then those that have it as an alias."""
    key = name_key(name)
    named = {entry.path: entry for label in (NAME, ALIAS) for entry in source.having(label + key)}
    return list(named.values())


def worth_of(words: Sequence[Term], index: Index) -> dict[str, float]:
    """What the words that stand in texts count, for those that were asked for."""
    # Once for each term, not for each of its forms: `a*` has thousands.
    worth = {word: index.idf(word) for word in index.terms_for(words)}
    return {form: idf for word, idf in worth.items() for form in index.forms(word)}


def _acceptance(
    source: EntrySource, question: Question, phrases: Sequence[str], fits: PathFilter | None
) -> PathFilter | None:
    """What tells whether the entry at a path may be found; what is quick to tell first. None when any may."""
    checks = [] if fits is None else [fits]
    for phrase in filter(None, (Phrase(text, question.language) for text in phrases)):
        checks += [phrase.may_be_in(source.index).__contains__, _says(source, phrase)]
    if question.tags:
        tags = {name_key(tag.removeprefix("#")) for tag in question.tags}
        checks.append(lambda path: tags <= set(map(name_key, source.at(path).labels)))
    return _all(checks)


def _all(checks: Sequence[PathFilter]) -> PathFilter | None:
    return (lambda path: all(check(path) for check in checks)) if checks else None


def _says(source: EntrySource, phrase: Phrase) -> PathFilter:
    def is_in(path: str) -> bool:
        entry = source.at(path)
        return phrase.is_in((entry.name, entry.description, entry.content, *entry.aliases, *entry.tags))

    return is_in


def _rank_by_words(
    source: EntrySource, words: Sequence[Term], question: Question, accept: PathFilter | None, limit: int | None
) -> list[Ranked]:
    index, factor = source.index, question.factor
    if factor is None:
        return index.search(words, limit, accept)
    found = [Ranked(each.key, each.score * factor(each.key)) for each in index.search(words, None, accept)]
    return sorted(found, key=lambda each: (-each.score, each.key))[:limit]


@value
class _Sought:
    """A term that is searched, what was typed for it, and all words that count as it."""

    term: Term
    typed: str
    forms: frozenset[str]


def _with_matches(hits: Sequence[Hit], index: Index, query: Query, words: Sequence[Term], language: str) -> list[Hit]:
    """The hits with what each word of the question found in each field, and its part of the score before any boost."""
    typed, meant = _typed_words(query, index, language), index.terms_for(words)
    forms = {term: index.forms(term) for term in meant}
    terms = [_Sought(term, typed.get(word, forms[term][0]), frozenset(forms[term])) for term, word in meant.items()]
    scores = index.explained(list(meant), [hit.entry.path for hit in hits])
    ranked = ranked_passages(hits, index, words)
    return [
        _with_match(hit, ranked.get(hit.entry.path), terms, added, language)
        for hit, added in zip(hits, scores, strict=True)
    ]


def _with_match(
    hit: Hit, span: Span | None, terms: Sequence[_Sought], added: Mapping[Term, float], language: str
) -> Hit:
    """The hit with what its words found in what counts of it, and with the lines of a passage."""
    content, matches = hit.entry.content, tuple(_matches(fields(hit.entry, language, span), terms, added))
    lines = (content.count("\n", 0, span[0]) + 1, content.count("\n", 0, span[1] - 1) + 1) if span else None
    return replace(hit, matches=matches, lines=lines)


def _matches(
    words: Mapping[str, Sequence[str]], terms: Sequence[_Sought], added: Mapping[Term, float]
) -> Iterator[Match]:
    """The fields of an entry in whose `words` each term stands, with their parts of what it `added` to the score."""
    counts = {name: Counter(held) for name, held in words.items()}
    for each in terms:
        times = {name: sum(held[form] for form in held.keys() & each.forms) for name, held in counts.items()}
        for name, here in times.items():
            if here and each.term in added:
                yield Match(each.typed, name, added[each.term] * here / sum(times.values()))


def _typed_words(query: Query, index: Index, language: str) -> dict[Term, str]:
    """What was typed for each of the words that are searched."""
    found: dict[Term, str] = {}
    words = [(word, Query(word)) for word in query.text.split()]
    for typed, part in [*words, *((f"{prefix}*", Query("", (prefix,))) for prefix in query.prefixes)]:
        for term in terms_of(part, index, language):
            found.setdefault(term, typed)
    return found


def fit_to_budget(
    hits: Sequence[Hit],
    budget: int,
    worth: Mapping[str, float],
    language: str,
    text: Callable[[Hit, str], str],
    ranked: Mapping[str, Span] | None = None,
) -> tuple[Hit, ...]:
    """The hits whose texts fit `budget` characters, the best first; of what is longer than half of it and what
    the others leave, a passage.

    `worth` says what the words that a passage should hold count, `text` what is shown of a hit with such content,
    `ranked` where the passage stands that it was found for, by path. The first is always among them. With even shares
    instead, a third less of the evidence in sessions of chats was shown.
    """
    lengths = [len(text(hit, hit.shown)) + len(BETWEEN) for hit in hits]
    total = left = budget + len(BETWEEN)
    kept, needed = list[Hit](), sum(lengths)
    for hit, length in zip(hits, lengths, strict=True):
        others = needed - length
        room = min(left, max(total // 2, total - others))
        part = hit.passage
        if length > room:
            frame = length - len(hit.shown)
            if kept and room < max(_LEAST, frame + _LEAST_CONTENT):
                break
            around = ranked.get(hit.entry.path) if ranked else None
            content, characters = hit.entry.content, max(0, room - frame)
            part = passage(content, worth, lambda piece: tokens(piece, language), characters, around)
        kept.append(replace(hit, passage=part))
        left -= len(text(kept[-1], kept[-1].shown)) + len(BETWEEN)
    return tuple(kept)


def text_of(hit: Hit, content: str | None = None) -> str:
    """A hit as a model reads it, or with other `content`; of a fact with the version that a careful write names."""
    entry = hit.entry
    shown = hit.shown if content is None else content
    if entry.is_note:  # whose description says no more than its path, and which only grows
        return hit_text(hit.address, entry.name, "", shown)
    return hit_text(hit.address, entry.name, entry.description, shown, short(entry.version), hit.caveat)


def passage_text(hit: FileHit) -> str:
    """A passage of a session, or of a text elsewhere, as a model reads it."""
    return hit_text(hit.path, hit.title, "", hit.snippet)
