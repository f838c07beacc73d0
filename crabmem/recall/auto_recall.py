"""What memory says of itself before a turn, and when it had better be silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from ..disk.turns import Turn, Turns
from ..results import Hit, Stats
from ..search import tokens
from ..text.entry import Entry
from ..text.hashes import version_of
from ..text.quoting import block, fitting, hit_text
from ..text.templates import template
from ..text.values import replace, value
from ..workspace.settings import AutoRecall
from .confidence import Topic, query_words
from .entries import EntrySource
from .ranking import SourcesOf, Today, fit_to_budget, note_passage, ranked_passages, with_staleness

#: The paths of the entries that are much like a message in meaning, the likest first.
Likest = Callable[[str], Sequence[str]]


# Hits considered for each entry that may be injected; those ranked further behind match too little of the message.
_LOOKED_AT = 4
# Characters below which a text may occur in the prompt by chance, so that its name has to occur, too.
_SHORT = 40


@value
class Injection:
    """What is injected: the hits, and the `text` they make; no hits and "" for silence."""

    hits: tuple[Hit, ...] = ()
    text: str = ""


class Speaker:
    """Chooses what is injected before a turn, each version of an entry once in a session (None: in this process)."""

    def __init__(self, turns: Turns, session: str | None) -> None:
        self._turns, self._session = turns, session
        self._injected = set[str]()

    def injection(
        self,
        message: str,
        source: EntrySource,
        rules: AutoRecall,
        language: str,
        prompt: str,
        again: bool = False,
        today: Today | None = None,
        likest: Likest | None = None,
        sources: SourcesOf | None = None,
    ) -> Injection:
        """The text to inject before a turn on `message`; empty for silence. Call `record` if it is used.

        Left out is what stands in `prompt`, which the model reads anyway, and unless `again` what was injected before
        in this session. `likest` is as in `bearing`.
        """
        known = set() if again else self._injected | (self._turns.versions(self._session) if self._session else set())
        seen = " ".join(prompt.split())
        topic = Topic(message, source.index, rules.words, language)

        def is_new(entry: Entry) -> bool:
            return entry.version not in known and not _is_in(entry, seen)

        about = bearing(topic, source, rules.limit, rules.threshold, language, likest)
        found = (hit for hit, _ in about if is_new(hit.entry))
        told = with_staleness(list(islice(found, rules.limit)), today, sources)
        ranked = ranked_passages(told, source.index, topic.words)
        hits = fit_to_budget(told, rules.characters, topic.worth, language, _text, ranked)
        if not hits:
            return Injection()
        shown = fitting([_text(hit, hit.shown) for hit in hits], rules.characters)
        return Injection(hits, block("recall", f"{template('recall').strip()}\n\n{shown}"))

    def record(self, injected: Injection, when: datetime) -> None:
        """Remember what was injected, so that it is not said again."""
        versions = tuple(hit.entry.version for hit in injected.hits)
        self._injected.update(versions)
        self._turns.add(Turn(when, self._session, versions, len(injected.text)))


def stats_of(entries: int, unreadable: int, turns: Sequence[Turn]) -> Stats:
    """How often memory spoke in these turns."""
    spoke = [turn for turn in turns if turn.versions]
    return Stats(
        entries,
        unreadable,
        len(turns),
        len(spoke),
        sum(len(turn.versions) for turn in spoke),
        sum(turn.characters for turn in spoke),
        len({turn.session for turn in turns if turn.session}),
        turns[0].when if turns else None,
    )


def bearing(
    topic: Topic,
    source: EntrySource,
    limit: int,
    threshold: float,
    language: str,
    likest: Likest | None = None,
) -> Iterator[tuple[Hit, float]]:
    """Yield the hits that are relevant enough to inject, each with its confidence.

    1. Entries whose whole name is in the message, though it is about so much else that their confidence is low.
    2. Hits with a confidence from `threshold` on, in the order of recall. If there is one, the first hit of recall is
       yielded, too, whatever its confidence (unless it is a note). A note counts by its best passage, since words far
       apart in a day do not belong together.
    3. What `likest` finds by meaning. It is called only if the caller takes so many, as it may be slow.

    Nothing for a message of courtesy or talk alone. `limit` is how many the caller takes: it bounds the search.
    """
    if not topic.words:
        return
    ranked = source.index.search(topic.words, limit * _LOOKED_AT)
    named, about = list[tuple[Hit, float]](), list[tuple[Hit, float]]()
    for found, shares in zip(ranked, topic.shares([found.key for found in ranked]), strict=True):
        sure, is_note = topic.confidence(shares), found.key in source.notes
        if is_note and sure < threshold:
            continue  # without a look at its file
        entry = _relevant_part(source, found.key, topic.worth, language)
        if is_note:
            sure = topic.confidence(shares, set(tokens(entry.content, language)))
        elif sure < threshold and topic.has_name_of(entry):
            named.append((Hit(entry, found.score), 1.0))
            continue
        # The first hit of recall comes first, however sure it is, if anything behind it is sure enough.
        if sure >= threshold or (found is ranked[0] and not is_note):
            about.append((Hit(entry, found.score), sure))
    if all(sure < threshold for _, sure in about):
        about.clear()
    yield from named
    yield from about
    told = {hit.entry.path for hit, _ in (*named, *about)} | source.notes
    for path in likest(topic.gist()) if likest else ():
        if path not in told:
            yield Hit(source.at(path), 0.0), threshold


def told_of(
    message: str, source: EntrySource, rules: AutoRecall, language: str, likest: Likest | None = None
) -> list[Hit]:
    """The text that would be injected before `message` as the first of a session, with an empty prompt."""
    topic = Topic(message, source.index, rules.words, language)
    found = bearing(topic, source, rules.limit, rules.threshold, language, likest)
    return [hit for hit, _ in islice(found, rules.limit)]


def best_confidence(message: str, source: EntrySource, rules: AutoRecall, language: str) -> float:
    """The highest confidence in what a message finds, whatever the threshold is; 0 when it finds nothing."""
    topic = Topic(message, source.index, rules.words, language)
    return max((sure for _, sure in bearing(topic, source, rules.limit, 0.0, language)), default=0.0)


def nearest_entry(text: str, source: EntrySource, language: str) -> Entry | None:
    """The entry that `text` finds first; no daily note."""
    found = source.index.search(query_words(text, source.index, language), 1, lambda path: path not in source.notes)
    return source.at(found[0].key) if found else None


def share_of_words(one: str, other: str, language: str) -> float:
    """How many of the words of `one` the other says, as a share."""
    words = set(tokens(one, language))
    return len(words.intersection(tokens(other, language))) / max(1, len(words))


def _relevant_part(source: EntrySource, path: str, worth: Mapping[str, float], language: str) -> Entry:
    """The entry at a path; of a daily note only the passage that is relevant to the message.

    The passage gets a version of its own. A note grows all day, and with the note's version a passage would be injected
    again after each addition.
    """
    entry = source.at(path)
    if not entry.is_note:
        return entry
    part = note_passage(entry, worth, language)
    told = " ".join(part.replace("…", " ").split())  # "…" depends on the text around the passage
    return replace(entry, content=part, version=version_of(told.encode()))


def _text(hit: Hit, content: str) -> str:
    description = "" if hit.entry.is_note else hit.entry.description  # which says no more than the line above
    return hit_text(hit.entry.path, hit.entry.name, description, content, caveat=hit.caveat)


def _is_in(entry: Entry, seen: str) -> bool:
    """Whether the text of an entry stands in `seen`, whose white space is single spaces."""
    text = " ".join(entry.content.strip("…").split())
    return text in seen and (len(text) >= _SHORT or entry.name in seen)
