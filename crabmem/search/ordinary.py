"""How much each word of a message tells of what it is about, whatever memory holds: courtesy and talk, nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Final

from . import english, identifiers, ordinary_words, scripts
from .tokens import WORD, terms_by_text

#: What a word of each of the lists tells; any other word tells 1.
NOTHING: Final = 0.0
LITTLE: Final = 0.3
SOME: Final = 0.6
# Of two characters, one of them of a word that tells nothing: mostly one word ends there, and the next one begins.
_BETWEEN = 0.1
# A number of so few digits is in many texts.
_SHORT = 2
_ASCII_WORD = "[A-Za-z0-9]+"
_END = r"(?<=[.!?:;…])\s+|\n|(?<=[。！？])"
_MARKS = frozenset("?？")
# The first words of a question, one of which asks. Words that tell nothing do not count: "could you tell me who".
_BEGINNING = 2
_KANA, _HIRAGANA = ("\u3041", "\u30ff"), ("\u3041", "\u309f")


class Sentence:
    """A sentence of a message, or a part of one behind a colon or on a line of its own.

    `plain` are its words, each once: in small letters and without accents, by what they are. `asks` tells whether it
    is a question: by its marks, or as it begins like one.
    """

    __slots__ = ("asks", "plain", "text")

    def __init__(self, text: str, words: Iterable[str]) -> None:
        self.text = text
        self.plain = {word: _plain(word) for word in words}
        asking, listed = ordinary_words.ASKING, _listed()
        begins = (word for word in self.plain.values() if word in asking or listed.get(word, 1.0) > NOTHING)
        self.asks = not _MARKS.isdisjoint(text) or not asking.isdisjoint(islice(begins, _BEGINNING))


def sentences(text: str) -> list[Sentence]:
    """The sentences of `text` that have words."""
    word = _ASCII_WORD if text.isascii() else WORD
    found = ((part, re.findall(word, part)) for part in dict.fromkeys(re.split(_END, text)))
    return [Sentence(part, words) for part, words in found if words]


def levels(parts: Iterable[Sentence], language: str) -> dict[str, float]:
    """Return how much each term of sentences tells of a topic, from 0 to 1; a compound counts by its parts.

    The terms are stems of `language`, as in the index; each sentence may be in any language.
    """
    words, is_japanese = dict[str, str](), False
    for part in parts:
        words.update(part.plain)
        is_japanese = is_japanese or any(_KANA[0] <= char <= _KANA[1] for char in part.text)
    terms, listed, found = terms_by_text(language), _listed(), dict[str, float]()
    for word, plain in words.items():
        for term, level in _of_word(word, plain, terms, listed, is_japanese):
            found[term] = max(level, found.get(term, NOTHING))
    return found


def _of_word(
    word: str, plain: str, terms: Mapping[str, tuple[str, ...]], listed: Mapping[str, float], is_japanese: bool
) -> Iterator[tuple[str, float]]:
    """The terms of a word and what each tells: of `camelCase` its parts, of scripts without spaces pairs."""
    made = terms[word]
    if not word.isascii():
        for term in made:
            yield term, _level_of_pair(term, is_japanese) if scripts.is_paired(term) else _level(plain, term, listed)
    elif len(made) < 2:
        for term in made:
            yield term, _level(plain, term, listed)
    elif _level(plain, made[-1], listed) < 1.0:  # as `JavaScript` is
        yield made[-1], _level(plain, made[-1], listed)
    else:
        for part in identifiers.names(word)[:-1]:
            for term in terms[part]:
                yield term, _level(part, term, listed)


def _level(word: str, term: str, listed: Mapping[str, float]) -> float:
    """What a word, or what it is a form of, tells; a stem may lack the last letter of its base form."""
    if word.isdigit():
        return LITTLE if len(word) <= _SHORT else 1.0
    if len(word) == 1 and word.isascii():
        return NOTHING
    for form in (word, english.base(word), term, f"{term}e", f"{term[:-1]}y"):
        level = listed.get(form)
        if level is not None:
            return level
    return 1.0


def _level_of_pair(pair: str, is_japanese: bool) -> float:
    """Return how much a pair of characters tells: all, a little or nothing, as none, one or both are ordinary."""
    listed = ordinary_words.JAPANESE if is_japanese else ordinary_words.CHINESE
    said = sum(char in listed or _HIRAGANA[0] <= char <= _HIRAGANA[1] for char in pair)
    return 1.0 if not said else NOTHING if said == len(pair) else _BETWEEN


def _plain(word: str) -> str:
    """A word as it is listed: in small letters, without accents."""
    return word.lower() if word.isascii() else scripts.folded(scripts.normal(word))


@cache
def _listed() -> Mapping[str, float]:
    """Return what each listed word tells: of one language the least, of several languages that of the last list."""
    found = dict[str, float]()
    for lists in ordinary_words.LISTS:
        for words, level in reversed(list(zip(lists, (NOTHING, LITTLE, SOME), strict=True))):
            found.update(dict.fromkeys(words.split(), level))
    return found
