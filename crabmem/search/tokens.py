"""From text to the words that are searched. One rule for documents and queries.

The terms of a piece between two spaces depend on nothing else, so they are cached; only dates in words add to them.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from itertools import chain, groupby, islice

import Stemmer

from . import dates, english, identifiers, scripts

_LETTER = r"[^\W_]"
#: A run of letters and digits with the marks that belong to them: of any script.
WORD = rf"({_LETTER}(?:{_LETTER}|[{scripts.MARKS}])*)"
_SIGN = r"(?<![A-Za-z0-9])([A-Za-z](?:\+\+|#)[0-9]*)(?![A-Za-z0-9])"
_TYPED = {ord(mark): as_ascii for marks, as_ascii in (("‘’ʼ", "'"), ("‐‑", "-")) for mark in marks}
# Groups of digits between single spaces or hyphens, as of a telephone or a bank account.
_GROUPED = r"(?<![\w.,/-])(?:\+(?P<code>[0-9]{1,3})[ -])?[0-9]{1,6}(?:[ -][0-9]{1,6})+(?![\w/-]|[.,][0-9])"
_FEWEST_DIGITS, _MOST_DIGITS = 9, 24
_DIGITS = "0123456789"
_EDGES = "\"'`.,;:!?()[]{}<>*_-"
_CACHED_WORDS = 65_536
_LONGEST_CACHED = 64
# As in Unicode's Stream-Safe Text Format (UAX 15).
_MARKS = 30
# Characters that NFKC may add to a piece: it makes 18 of U+FDFA, and a content of these would be indexed for seconds.
_MORE = 64
_VERSION = 16


def rules(language: str) -> bytes:
    """Return four bytes that identify the rules by which words are made: others when a text would have other words.

    They also change with the weight of a field and the size of a passage. An index with other bytes is of no use.
    """
    return zlib.crc32(f"{_VERSION} {language}".encode()).to_bytes(4, "little")


def tokens(text: str, language: str = "english") -> list[str]:
    """The words of `text` in order: NFKC, case folded, endings of `language` removed ("none": left as they are).

    English is without the words that say nothing, and has irregular forms as their base. What is put together from
    words is all of them and the whole (`identifiers.names`), a date is what `dates` makes of it, and words of other
    scripts are what `scripts.terms` makes of them.
    """
    terms = terms_by_text(language)
    found = list(islice(chain.from_iterable(map(terms.__getitem__, text.split())), 2 * len(text) + _MORE))
    if terms.is_english and _may_hold_year(text) and not english.MONTHS.keys().isdisjoint(found):
        found += dates.date_words(text, terms)
    return [*found, *_joined_digits(terms.without_dates(text)[0])] if any(map(text.__contains__, _DIGITS)) else found


def _joined_digits(text: str) -> Iterator[str]:
    """Yield a long number that is written in groups as one: `+34 600 123 456` with the country's code and without."""
    for match in re.finditer(_GROUPED, text):
        digits = re.sub("[^0-9]", "", match[0])
        if _FEWEST_DIGITS <= len(digits) <= _MOST_DIGITS:
            yield digits
            if match["code"] and len(rest := digits.removeprefix(match["code"])) >= _FEWEST_DIGITS:
                yield rest


class _Terms(dict[str, tuple[str, ...]]):
    """A cache of the terms of texts without spaces; when it is full, the older half is forgotten."""

    def __init__(self, language: str) -> None:
        self._older: dict[str, tuple[str, ...]] = {}
        self._language, self._latin = language, scripts.latin(language)
        self.is_english = self._latin == "english"

    def __missing__(self, text: str) -> tuple[str, ...]:
        found = self._older.get(text)
        if found is None:
            found = self._compute(text)
        if len(self) >= _CACHED_WORDS:
            self._older = self.copy()
            self.clear()
        if len(text) <= _LONGEST_CACHED:
            self[text] = found
        return found

    def _compute(self, text: str) -> tuple[str, ...]:
        word = text.strip(_EDGES)
        if word.isalpha() and word.isascii() and (word.islower() or word[1:].islower()):
            return self._stem(word.lower())  # as of nearly all
        return tuple(self._of_ascii(text) if text.isascii() else self._of_any(text))

    def _stem(self, word: str) -> tuple[str, ...]:
        """Return the stem of a word in small letters; nothing for an English stop word."""
        if self.is_english:
            if word in english.SILENT:
                return ()
            word = english.base(word)
        # A new stemmer each time, as threads must not share one; the cache leaves few words to make one for.
        return (word if self._latin == "none" else str(Stemmer.Stemmer(self._latin, 0).stemWord(word)),)

    def _of_ascii(self, text: str) -> Iterator[str]:
        """Yield the terms of a text without spaces: of dates in numbers, of names such as `c++`, and of all else."""
        text, dates = self.without_dates(text)
        yield from dates
        if "#" in text or "++" in text:
            *signed, text = re.split(_SIGN, text)
            for before, sign in zip(signed[::2], signed[1::2], strict=True):
                yield from self._of_pieces(before)
                yield from _of_sign(sign.lower())
        yield from self._of_pieces(text)

    def without_dates(self, text: str) -> tuple[str, list[str]]:
        """Return `text` without dates in numbers, and their words."""
        if not _may_hold_year(text) or not any(joint in text for joint in "-/."):
            return text, []
        return dates.without_dates(text, self.is_english)

    def _of_pieces(self, text: str) -> Iterator[str]:
        for piece in identifiers.pieces(text):
            yield from chain.from_iterable(map(self._stem, identifiers.names(piece)))

    def _of_any(self, text: str) -> Iterator[str]:
        text, dates = self.without_dates(_composed(text))
        yield from dates
        for piece in stretches(text):
            yield from self[piece] if piece.isascii() else scripts.terms(piece, self._language)


def stretches(text: str) -> Iterator[str]:
    """The words of a text that are not ASCII, composed and case folded, and what is between them, all in ASCII."""
    text, end = _composed(text), 0
    for match in re.finditer(WORD, text):
        if not match[1].isascii():
            yield from _ascii(text[end : match.start()])
            yield unicodedata.normalize("NFKC", match[1].casefold())
            end = match.end()
    yield from _ascii(text[end:])


def _composed(text: str) -> str:
    """`text` in NFKC, joints and apostrophes as they are typed; of marks that stand upon each other the first thirty.

    No language has so many, and putting them in order takes time with the square of their number.
    """
    longest = len(text) * 3 // 2 + _MORE  # dialogues in Chinese hold many …, of which it makes three
    if len(text) > _LONGEST_CACHED and re.search(rf"\W{{{_MARKS + 1}}}", text):  # `\w` matches no mark
        runs = groupby(text, lambda char: unicodedata.combining(char) > 0)
        text = "".join(chain.from_iterable(islice(run, _MARKS if is_mark else None) for is_mark, run in runs))
    return unicodedata.normalize("NFKC", text.translate(_TYPED))[:longest]


def _ascii(text: str) -> list[str]:
    """The pieces between the spaces of a text whose only letters are ASCII."""
    return text.encode("ascii", "replace").decode().split()


def _of_sign(sign: str) -> list[str]:
    """`c++` is one word, `c++17` is c++, 17 and the whole."""
    name = sign.rstrip("0123456789")
    return [name] if name == sign else [name, sign[len(name) :], sign]


def _may_hold_year(text: str) -> bool:
    return "20" in text or "19" in text


_terms: dict[str, _Terms] = {}


def terms_by_text(language: str) -> _Terms:
    """Return the cache from any text without spaces to its terms; there is one for each language."""
    return _terms.get(language) or _terms.setdefault(language, _Terms(language))
