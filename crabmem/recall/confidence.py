"""How sure it is that a message is about an entry: whether memory has reason to speak unasked.

What counts are words that tell what a message is about: neither courtesy nor talk (`search/ordinary.py`), and those
that are rare in memory more. Of ranking this knows what an index says of words alone: `document_frequency`,
`terms_for`, `forms` and `shares`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from heapq import nlargest

from ..search import Index, tokens
from ..search.index import Term
from ..search.ordinary import NOTHING, levels, sentences
from ..search.query import Query, terms_of
from ..search.scoring import idf
from ..text.entry import Entry
from ..text.limits import MAX_QUERY

# Of the words of a message so many are searched for.
_TERMS = 64
# A long message is about something else, too: of more words than that an entry cannot be asked to have much.
_MOST_WORDS = 6
# How much a word tells that is in no list of ordinary words (`search/ordinary.py`).
_UNLISTED = 1.0
# Among few passages no word is rare: words count as among so many. As among 3,000, those of long pages told too little.
_PASSAGES = 12_000
# What a name of one word, and of several in a row, tells at least, that it may stand for its entry.
_LEAST_OF_NAME, _LEAST_OF_NAMES = 0.8, 0.3
# What a message has to tell at least; one that tells less is measured by that. Who asks need not tell as much.
_LEAST_ASKED, _LEAST = 1.0, 2.0


class Topic:
    """The subject of a message: `words` are the terms to search for, `worth` is the IDF of each matching word form."""

    def __init__(self, message: str, index: Index, first: int, language: str) -> None:
        """Weigh the words of `message`, or of its `first` words (0: all), by how rare they are in `index`."""
        text = asked_text(message, first)
        terms = terms_of(Query(text), index, language)
        self._index, self._language = index, language
        #: The words in order between spaces, to find the name of an entry in.
        self._row = f" {' '.join(tokens(text, language))} "
        parts = sentences(text)
        by_word = levels(parts, language)
        self._levels = by_word | {term: by_word.get(term[0], _UNLISTED) for term in terms if isinstance(term, tuple)}
        #: Sentences with at least one word that is not courtesy or talk.
        self._sentences = [part for part in parts if self._is_telling(part.text)]
        said = Query(" ".join(part.text for part in self._sentences))
        self.words = _searched(terms_of(said, index, language), index)
        found = ((term, word, index.document_frequency(term)) for term, word in index.terms_for(self.words).items())
        held = [(term, word, holding) for term, word, holding in found if holding]
        self.worth = {form: idf(index.passages, holding) for term, _, holding in held for form in index.forms(term)}
        many = max(index.passages, _PASSAGES)
        most = idf(many, 0)
        #: The terms that documents hold, each with the word it stands for and how much it tells.
        self._held = {term: (word, self._level(word) * idf(many, holding) / most) for term, word, holding in held}
        weights = self._weights(terms)
        #: The words of the message, and of each of several sentences that asks, with how much they tell together.
        self._parts = [(set(terms), _sum_of(weights.values(), any(part.asks for part in parts)))]
        for part in parts if len(parts) > 1 else ():
            if part.asks:
                words = set(terms_of(Query(part.text), index, language))
                self._parts.append((words, _sum_of([weights[word] for word in words if word in weights], True)))

    def _level(self, word: Term) -> float:
        """How much a word tells by itself, however rare it is in memory: from 0 to 1."""
        return self._levels.get(word, _UNLISTED)

    def _weights(self, words: Sequence[Term]) -> dict[Term, float]:
        """How much each word of the message tells, whether memory holds it or not."""
        weights: dict[Term, float] = {}
        for word, weight in self._held.values():
            weights[word] = max(weight, weights.get(word, 0.0))
        for word in words:
            if word not in weights:  # nobody holds it: then the message is about something else, too
                weights[word] = self._level(word)
        return weights

    def gist(self) -> str:
        """What the message asks, or all it says where it asks nothing; without sentences of courtesy and talk alone."""
        asked = [part.text for part in self._sentences if part.asks]
        return " ".join(asked or [part.text for part in self._sentences])

    def _is_telling(self, text: str) -> bool:
        return any(self._level(word) > NOTHING for word in tokens(text, self._language))

    def shares(self, keys: Sequence[str]) -> list[dict[Term, float]]:
        """For each document, the share (0 to 1) that each of its terms counts there: the input of `confidence`."""
        return self._index.shares(list(self._held), keys)

    def confidence(self, shares: Mapping[Term, float], said: Set[str] | None = None) -> float:
        """The weight of the message's words that a document has, divided by the weight of all of them.

        The same is computed for each question in a message of several sentences; the highest value counts. Usually from
        0 to 1. It may exceed 1 for long messages, since only their weightiest words are in the divisor. `said` limits
        the document to those words, as for a passage of a note.
        """
        found: dict[Term, float] = {}
        for term, share in shares.items():
            if said is None or not said.isdisjoint(self._index.forms(term)):
                word, weight = self._held[term]
                found[word] = max(weight * share, found.get(word, 0.0))
        return max(sum(found[word] for word in found if word in words) / whole for words, whole in self._parts)

    def has_name_of(self, entry: Entry) -> bool:
        """Whether the message says all of the name of an entry, or of an alias, and the name tells something."""
        return any(map(self._says, (entry.name, *entry.aliases)))

    def _says(self, name: str) -> bool:
        row = tokens(name, self._language)
        if not row or f" {' '.join(row)} " not in self._row:
            return False
        return sum(map(self._level, set(row))) >= (_LEAST_OF_NAME if len(row) == 1 else _LEAST_OF_NAMES)


def _sum_of(weights: Iterable[float], asks: bool) -> float:
    """The sum of the highest weights, but at least a minimum: a short message must not be matched by one word."""
    return max(sum(nlargest(_MOST_WORDS, weights)), _LEAST_ASKED if asks else _LEAST)


def query_words(message: str, index: Index, language: str) -> list[Term]:
    """The words of a message to search for: the 64 rarest that memory knows."""
    return _searched(terms_of(Query(asked_text(message, 0)), index, language), index)


def asked_text(message: str, first: int) -> str:
    """What of a message is looked at: its `first` words, or for 0 all; of a very long one its beginning and its end."""
    text = " ".join(message.split()[:first]) if first else message
    return f"{text[: MAX_QUERY // 2]} {text[-MAX_QUERY // 2 :]}" if len(text) > MAX_QUERY else text


def _searched(words: list[Term], index: Index) -> list[Term]:
    if len(words) <= _TERMS:
        return words
    known = [word for word in words if index.document_frequency(word)]
    return sorted(known, key=index.idf, reverse=True)[:_TERMS]
