"""From text to the words that are searched. One rule for documents and queries."""

from __future__ import annotations

import zlib

import Stemmer

from . import scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

_LETTER = r"[^\W_]"
_SPACED = rf"[^\W_{scripts.PAIRED}]"
_SIGN = rf"(?P<sign>(?<!{_SPACED})[a-z](?:\+\+|#)(?!{_SPACED}))"
_TOKEN = rf"{_SIGN}|(?P<word>{_LETTER}(?:{_LETTER}|[{scripts.MARKS}])*)"
_CACHED_WORDS = 65_536
_VERSION = 2
_ASCII_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}


def rules(language: str) -> bytes:
    """Four bytes that are others when `tokens` would give other words: an index of those is of no use."""
    return zlib.crc32(f"{_VERSION} {language}".encode()).to_bytes(4, "little")


def tokens(text: str, language: str = "english") -> list[str]:
    """The words of `text` in order: NFKC, case folded, endings of `language` removed ("none": left as they are).

    Words of other scripts are what `scripts.terms` makes of them.
    """
    stems = _stems_of(language)
    if text.isascii() and not _may_hold_signs(text):
        return [stems[word] for word in text.lower().translate(_ASCII_WORDS).split()]
    return list(_of_any(text, language))


def _may_hold_signs(text: str) -> bool:
    """Whether something like `c++` or `c#` may be among the words."""
    return "++" in text or ("#" in text and any(before[-1:].isalpha() for before in text.split("#")))


def _of_any(text: str, language: str) -> Iterator[str]:
    import unicodedata

    stems = _stems_of(language)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for match in _token().finditer(folded):
        word = match["word"]
        if not word:
            yield match["sign"]
        elif word.isascii():
            yield stems[word]
        else:
            yield from scripts.terms(word, language)


def _token() -> Pattern[str]:
    import re  # takes longer to import than most queries to answer

    return re.compile(_TOKEN)  # which `re` keeps


class _Stems(dict[str, str]):
    """Words without the endings of a language, as they are asked for."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        # A stemmer is not made for threads; what is kept leaves few words to make one for.
        none = self._language == "none"
        stem = self[word] = word if none else str(Stemmer.Stemmer(self._language).stemWord(word))
        return stem


_stems: dict[str, _Stems] = {}


def _stems_of(language: str) -> _Stems:
    return _stems.get(language) or _stems.setdefault(language, _Stems(language))
