"""What a question asks for: words, words that begin so (`deploy*`), and words in this order (`"deploy key"`).

A phrase has the same words that `tokens` makes, and the stop words that it leaves out. A lone quote or star is text
like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Protocol

from . import identifiers, scripts
from .index import Index, Term
from .scripts import folded, is_paired, normal, spellings
from .tokens import stretches, terms_by_text, tokens

# A question without one of these is words only.
_SIGNS = frozenset('"*“„«')
# The straight quote is the sign for inches too, and of code: it opens after a space, and closes before one.
_PHRASE = r'(?<!\S)"([^"]*)"(?=[.,;:!?]*(?:\s|$))|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_PREFIX = r"(?<![^\s(])([^\s()*]+)\*(?=[.,;:!?)]*(?:\s|$))"
_PLAIN = r"[A-Za-z0-9]+"
_NAMED = rf"(?<![A-Za-z0-9])[A-Za-z](?:\+\+|#)(?=[0-9]*(?![A-Za-z0-9]))|{_PLAIN}"  # c++ is one word of an index
_SHORT_NUMBER = "[0-9]{1,2}"


class Words(Protocol):
    """The words there are, as a question asks for them: those of an `Index`, or of another in its place."""

    def is_held(self, word: str) -> bool:
        """Whether a document has that word."""

    def starting(self, prefix: str) -> list[str]:
        """The words that begin with `prefix`."""


class Query(NamedTuple):
    """A parsed question: `text` for its words, `prefixes` of words, `phrases` that have to be there."""

    text: str
    prefixes: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()


def parse_query(text: str) -> Query:
    """Parse the question `text`."""
    if _SIGNS.isdisjoint(text):
        return Query(text)
    phrases = [next(filter(None, match.groups()), "") for match in re.finditer(_PHRASE, text)]
    phrases = [phrase for phrase in phrases if any(map(str.isalnum, phrase))]
    rest = re.sub(_PHRASE, " ", text)
    prefixes = [match[1] for match in re.finditer(_PREFIX, rest) if _may_begin(match[1])]
    words = re.sub(_PREFIX, lambda match: " " if _may_begin(match[1]) else match[0], rest)
    return Query(" ".join([words, *phrases]).strip(), tuple(dict.fromkeys(prefixes)), tuple(dict.fromkeys(phrases)))


def _may_begin(prefix: str) -> bool:
    """Return whether `prefix` ends in a letter or digit of a script with spaces: in others no words can be told."""
    return _is_of_word(prefix[-1]) and not is_paired(prefix[-1])


def terms_of(question: Query, index: Words, language: str) -> list[Term]:
    """Return the terms to search `index` for.

    A tuple counts as one word: all words that begin with one prefix, or the spellings of a word that is not ASCII.
    """
    spelled = (group for group in _spelled(question.text, language) if isinstance(group, tuple))
    groups = {word: group for group in spelled if any(map(index.is_held, group)) for word in group}
    found: list[Term] = list(dict.fromkeys(groups.get(word, word) for word in tokens(question.text, language)))
    for prefix in question.prefixes:
        found += _beginning(prefix, index, language)
    return found


def _spelled(text: str, language: str) -> Iterator[Term]:
    """Yield the words of `text` that are not all ASCII: each as its spellings, of scripts without spaces the units."""
    for part in [] if text.isascii() else stretches(text):
        for run, units in scripts.runs(part) if not part.isascii() else ():
            yield from units or filter(None, [spellings(run, language)])


def _beginning(prefix: str, index: Words, language: str) -> list[Term]:
    """Return the terms for words that begin with `prefix`: one tuple of them all.

    A prefix of several words, as `user-na`, is sought as one word first. Where none begins with it, the words before
    the last are terms of their own, and the last is the prefix.
    """
    whole = folded(normal(prefix))
    *before, last = "".join(char if _is_of_word(char) else " " for char in whole).split()
    longer = index.starting(whole) if before else []
    group = dict.fromkeys([*(longer or index.starting(last)), *tokens(last, language)])
    return [*([] if longer else tokens(" ".join(before), language)), *([tuple(group)] if group else [])]


def _is_of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


class Phrase:
    """Words that have to stand next to each other, in this order."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language = text, language
        self._row = _row(text, language)

    def __bool__(self) -> bool:
        """Whether there is a word in it."""
        return not self._row.isspace()

    def may_be_in(self, index: Index) -> Collection[str]:
        """Return the keys of the documents to look into: those with all its words; all, if it has only stop words."""
        # Beside other letters, ASCII may be indexed as part of something larger.
        held = ((_parts if piece.isascii() else _spelled)(piece, self._language) for piece in self._text.split())
        words: list[Term] = list(chain.from_iterable(held))
        return set(index.having(words)) if words else index.marks().keys()

    def is_in(self, texts: Iterable[str]) -> bool:
        """Return whether the phrase stands in one of the texts."""
        return any(self._row in _row(text, self._language) for text in texts)


def _parts(text: str, language: str) -> Iterator[str]:
    """Yield the terms that any text with the ASCII phrase `text` has, also where it stands in a longer name.

    Neither the whole of a name is one, nor a number that may be the month or day of a date.
    """
    terms = terms_by_text(language)
    rest, dates = terms.without_dates(text)
    yield from dates
    for word in re.findall(_NAMED, rest):
        found = () if re.fullmatch(_SHORT_NUMBER, word) else terms[word]
        yield from found[:-1] if len(identifiers.names(word)) > 1 else found


def _row(text: str, language: str) -> str:
    """Return the words of `text` in order, each in one form between spaces, so that `in` finds a phrase in a text.

    Scripts without spaces give their units (`scripts.runs`) in place of words.
    """
    row: list[str] = []
    terms = terms_by_text(language)
    for part in [text] if text.isascii() else stretches(text):
        for word in re.findall(_PLAIN, part) if part.isascii() else ():
            *parts, whole = terms[word] or [word.lower()]  # a stop word has no terms, but is part of a phrase
            row += parts or [whole]
        for run, units in scripts.runs(part) if not part.isascii() else ():
            row += units or spellings(run, language)[-1:]  # both ways of typing have the last one
    return f" {' '.join(row)} "
