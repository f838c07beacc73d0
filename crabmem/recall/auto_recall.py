"""What memory says of itself before a turn, and when it had better be silent."""

from __future__ import annotations

from heapq import nlargest

from ..results import Hit, Stats
from ..search import Index, tokens
from ..text.entry import Entry
from ..text.hashes import version_of
from ..text.limits import MAX_QUERY
from ..text.quoting import block, fitting, hit_text
from ..text.templates import template
from ..text.values import replace, value
from .entries import EntrySource
from .ranking import fit_to_budget, note_passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from datetime import datetime

    from ..disk.turns import Turn, Turns
    from ..workspace.settings import AutoRecall

_TERMS = 64
# A long message is about something else, too: of more words than that a fact cannot be asked to have much.
_TELLING = 6
# Among few entries no word is rare: words count as they would among so many.
_ENTRIES = 100
# A text so short may stand in another by chance.
_SHORT = 40


@value
class Injection:
    """What is injected: the hits, and the `text` they make; no hits and "" for silence."""

    hits: tuple[Hit, ...] = ()
    text: str = ""


class Speaker:
    """Speaks of what bears on a message, once in a session."""

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
    ) -> Injection:
        """What to say before a turn on `message`; `prompt` is what the model reads anyway.

        With `again`, also what was said in this session before.
        """
        known = set() if again else self._injected | (self._turns.versions(self._session) if self._session else set())
        seen = " ".join(prompt.split())
        words = query_words(message, source.index, rules.words, language)
        worth = {word: source.index.idf(word) for word in words}

        def is_new(path: str) -> bool:
            entry = _relevant_part(source, path, worth, language)
            return entry.version not in known and not _is_in(entry, seen)

        ranked = source.index.search(words, rules.limit, is_new)
        found = [Hit(_relevant_part(source, each.key, worth, language), each.score) for each in ranked]
        sure = [hit for hit in found if _confidence_in(hit.entry, source.index, words, language) >= rules.threshold]
        hits = fit_to_budget(sure, rules.characters, worth, language, _text)
        if not hits:
            return Injection()
        shown = fitting([_text(hit, hit.shown) for hit in hits], rules.characters)
        return Injection(hits, block("recall", f"{template('recall').strip()}\n\n{shown}"))

    def record(self, injected: Injection, when: datetime) -> None:
        """Remember what was injected, so that it is not said again."""
        from ..disk.turns import Turn

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


def best_confidence(message: str, source: EntrySource, rules: AutoRecall, language: str) -> float:
    """The confidence of the entry that a message finds first; 0 when it finds none."""
    words = query_words(message, source.index, rules.words, language)
    worth = {word: source.index.idf(word) for word in words}
    found = (_relevant_part(source, each.key, worth, language) for each in source.index.search(words, 1))
    return max((_confidence_in(entry, source.index, words, language) for entry in found), default=0.0)


def nearest_entry(text: str, source: EntrySource, language: str) -> Entry | None:
    """The entry that `text` finds first; no daily note."""

    def is_fact(path: str) -> bool:
        return path not in source.notes

    found = source.index.search(query_words(text, source.index, 0, language), 1, is_fact)
    return source.at(found[0].key) if found else None


def share_of_words(one: str, other: str, language: str) -> float:
    """How many of the words of `one` the other says, as a share."""
    words = set(tokens(one, language))
    return len(words.intersection(tokens(other, language))) / max(1, len(words))


def query_words(message: str, index: Index, first: int, language: str) -> list[str]:
    """The words of a message that are searched: of the `first` that it begins with, or for 0 of all.

    At most the 64 rarest of those that memory knows.
    """
    text = " ".join(message.split()[:first]) if first else message
    if len(text) > MAX_QUERY:  # what was pasted has a beginning and an end, too
        text = f"{text[: MAX_QUERY // 2]} {text[-MAX_QUERY // 2 :]}"
    words = list(dict.fromkeys(tokens(text, language)))
    if len(words) <= _TERMS:
        return words
    known = [word for word in words if index.document_frequency(word)]
    return sorted(known, key=index.idf, reverse=True)[:_TERMS]


def confidence(index: Index, words: Sequence[str], key: str, said: Set[str] | None = None) -> float:
    """How much of what `words` say a document has: its score by the rarities of the six that tell most.

    Below 1 for up to six words, more only for a document that has more than six. Words of which no document
    has any count too: they say that the message is about something else. With `said` the document has only those.
    """
    rarities = {word: index.idf(word, _ENTRIES) for word in words}
    shares = index.shares(words, [key])[0]
    counting = (word for word in shares if said is None or not said.isdisjoint(index.forms(word)))
    held = sum(rarities[word] * shares[word] for word in counting)
    return held / sum(nlargest(_TELLING, rarities.values()))


def _confidence_in(entry: Entry, index: Index, words: Sequence[str], language: str) -> float:
    """The confidence of an entry, of a daily note that of its passage: words far apart in a day are not one matter."""
    said = set(tokens(entry.content, language)) if entry.is_note else None
    return confidence(index, words, entry.path, said)


def _relevant_part(source: EntrySource, path: str, worth: Mapping[str, float], language: str) -> Entry:
    """What may be told of what is at a path: the entry, of a daily note the passage that bears on the message.

    The passage has a version of its own, as a day's note goes on growing: what was said of it is not said again.
    """
    entry = source.at(path)
    if not entry.is_note:
        return entry
    part = note_passage(entry, worth, language)
    told = " ".join(part.replace("…", " ").split())  # of what is around it nothing, marks included
    return replace(entry, content=part, version=version_of(told.encode()))


def _text(hit: Hit, content: str) -> str:
    description = "" if hit.entry.is_note else hit.entry.description  # which says no more than the line above
    return hit_text(hit.entry.path, hit.entry.name, description, content)


def _is_in(entry: Entry, seen: str) -> bool:
    """Whether the text of an entry stands in `seen`, whose white space is single spaces."""
    text = " ".join(entry.content.strip("…").split())
    return text in seen and (len(text) >= _SHORT or entry.name in seen)
