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

#: Ranks by words and returns at most that many; None for all.
WordSearch = Callable[[int | None], list[Ranked]]
#: Ranks by meaning, too, given a word search, a limit and a filter; also returns a message, "" if all went well.
Ranking = Callable[[WordSearch, int, PathFilter | None], tuple[list[Ranked], str]]

#: Tells the day it is.
Today = Callable[[], "date"]
#: Returns the state of each source of an entry.
SourcesOf = Callable[["Entry"], "tuple[SourceState, ...]"]

#: Characters shown of a daily note: the part that answers, not the whole day.
NOTED = 700
# Fewer characters of a hit, or of its content, are not worth showing.
_LEAST = 200
_LEAST_CONTENT = 80


@value
class Question:
    """What is asked.

    `language` is the one by which words are stemmed. `factor(path)` multiplies the score of a hit; None leaves scores
    as they are. `budget` bounds the characters of the answer as text; None shows everything. `today` decides which
    hits are stale; None marks none. `sources` returns the state of a hit's sources; None leaves them out.
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
    """A filter for paths that `fits` accepts, whose entry is in `namespace`, and whose entry `where` accepts.

    Daily notes pass only without a namespace and `where`. None if nothing restricts the paths.
    """
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
    """Return the entries that answer the question, have all its tags and phrases and pass `fits`, best first.

    Call `check_question` before. Hits share a word with the question, unless `ranking` finds others by meaning. A
    question of stop words alone finds entries with exactly that name (`The Who`). If no entry has all the phrases,
    they count as words. Daily notes are hits, too, with the passage that answers; with tags none is, as notes have no
    tags.

    Raises:
        Busy: the file of a hit changes at this moment.
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
    is_by_meaning = any(hit.by_meaning is not None for hit in hits)
    if question.explain:
        hits = _with_matches(hits, source.index, query, words, question.language)
    elif is_by_meaning:
        hits = [replace(hit, by_meaning=None) for hit in hits]
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
        is_by_meaning=is_by_meaning,
    )


def _hits(
    source: EntrySource,
    question: Question,
    words: Sequence[Term],
    text: str,
    accept: PathFilter | None,
    ranking: Ranking | None,
) -> tuple[list[Hit], str]:
    """Return the hits for `words`, and the ranking's message. Without words, entries named `text` come first."""

    def by_words(limit: int | None) -> list[Ranked]:
        return _rank_by_words(source, words, question, accept, limit)

    wanted = question.limit
    ranked, trouble = ranking(by_words, wanted, accept) if ranking else (by_words(wanted), "")
    hits = [Hit(source.at(found.key), found.score, by_meaning=found.by_meaning) for found in ranked]
    if words:
        return hits, trouble
    called = [entry for entry in _entries_called(source, text) if accept is None or accept(entry.path)]
    others = [hit for hit in hits if hit.entry not in called]
    return [*(Hit(entry, 0.0) for entry in called), *others][: question.limit], trouble


def ranked_passages(hits: Sequence[Hit], index: Index, words: Sequence[Term]) -> dict[str, Span]:
    """The span of the best passage of each long hit, by path. Hits that score best as a whole are left out."""
    several = {hit.entry.path: parts for hit in hits if len(parts := parts_of(hit.entry.content)) > 1}
    best = index.best_passages(list(index.terms_for(words)), list(several)) if several else []
    counting = {path: several[path][at] for path, at in zip(several, best, strict=True)}
    return {path: part for path, part in counting.items() if part}


def with_staleness(hits: list[Hit], today: Today | None, sources: SourcesOf | None = None) -> list[Hit]:
    """The hits with `stale_since` filled for those that are stale `today`, and the state of their `sources`.

    `today` is called only if a hit names a day. A hit without sources stays as it is.
    """
    if sources:
        hits = [replace(hit, sources=sources(hit.entry)) if SOURCES in hit.entry.keys else hit for hit in hits]
    days = [hit.entry.stale_after for hit in hits]
    if today is None or not any(days):
        return hits
    now = today().isoformat()
    return [replace(hit, stale_since=day) if day and day < now else hit for hit, day in zip(hits, days, strict=True)]


def note_passage(note: Entry, worth: Mapping[str, float], language: str) -> str:
    """The blocks of a daily note that hold the words of the question, weighted by `worth`."""
    return blocks_with(note.content, worth, lambda piece: tokens(piece, language), NOTED)


def _entries_called(source: EntrySource, name: str) -> list[Entry]:
    """The entries that are called `name`, then those that have it as an alias."""
    key = name_key(name)
    named = {entry.path: entry for label in (NAME, ALIAS) for entry in source.having(label + key)}
    return list(named.values())


def worth_of(words: Sequence[Term], index: Index) -> dict[str, float]:
    """The IDF of each word form in texts that matches one of `words`."""
    # Once for each term, not for each of its forms: `a*` has thousands.
    worth = {word: index.idf(word) for word in index.terms_for(words)}
    return {form: idf for word, idf in worth.items() for form in index.forms(word)}


def _acceptance(
    source: EntrySource, question: Question, phrases: Sequence[str], fits: PathFilter | None
) -> PathFilter | None:
    """A filter by `fits`, phrases and tags, the cheap checks first; None if every path is accepted."""
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
    """A filter for entries in which the phrase really stands: reads the entry, the index only has its words."""

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
    """A term that is searched, the word as typed, and all word forms that count as the term."""

    term: Term
    typed: str
    forms: frozenset[str]


def _with_matches(hits: Sequence[Hit], index: Index, query: Query, words: Sequence[Term], language: str) -> list[Hit]:
    """The hits with `matches`: which word of the question was found in which field, and its part of the BM25 score.

    Boosts by freshness or meaning come on top of that score.
    """
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
    """The hit with its `matches`, and with `lines` if a passage counts instead of the whole text."""
    content, matches = hit.entry.content, tuple(_matches(fields(hit.entry, language, span), terms, added))
    lines = (content.count("\n", 0, span[0]) + 1, content.count("\n", 0, span[1] - 1) + 1) if span else None
    return replace(hit, matches=matches, lines=lines)


def _matches(
    words: Mapping[str, Sequence[str]], terms: Sequence[_Sought], added: Mapping[Term, float]
) -> Iterator[Match]:
    """Yield a match for each term and each field that has it; split the term's score over fields by occurrences.

    `words` are those of the entry by field, `added` is what each term added to the score.
    """
    counts = {name: Counter(held) for name, held in words.items()}
    for each in terms:
        times = {name: sum(held[form] for form in held.keys() & each.forms) for name, held in counts.items()}
        for name, here in times.items():
            if here and each.term in added:
                yield Match(each.typed, name, added[each.term] * here / sum(times.values()))


def _typed_words(query: Query, index: Index, language: str) -> dict[Term, str]:
    """The word as typed for each term that is searched, to show instead of a stem."""
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
    """Return the best hits whose texts fit `budget` characters; long ones are cut to a passage.

    A hit is cut if it is longer than both half of the budget and the room that the other hits leave. The first hit is
    always kept. `worth` weights the words that a passage should hold, `text(hit, content)` renders a hit, `ranked` has
    the span by which a hit was found, by path. (Measured: with equal shares for all hits, a third less of the evidence
    in sessions of chats was shown.)
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
    """A hit as a model reads it, or with other `content`; a fact with its version, which a write may name."""
    entry = hit.entry
    shown = hit.shown if content is None else content
    if entry.is_note:  # whose description says no more than its path, and which only grows
        return hit_text(hit.address, entry.name, "", shown)
    return hit_text(hit.address, entry.name, entry.description, shown, short(entry.version), hit.caveat)


def passage_text(hit: FileHit) -> str:
    """A passage of a session, or of a text elsewhere, as a model reads it."""
    return hit_text(hit.path, hit.title, "", hit.snippet)
