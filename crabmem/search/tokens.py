"""From text to the words that are searched. One rule for documents and queries."""

from __future__ import annotations

import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
# Marks that belong to the letter before them, where `\w` would end the word: accents, Hebrew and
# Arabic points, the vowel signs of Devanagari and Thai.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e"
_LETTER = rf"[^\W_{_CJK}]"
_SIGN = rf"(?P<sign>(?<!{_LETTER})[a-z](?:\+\+|#)(?!{_LETTER}))"
_TOKEN = rf"{_SIGN}|(?P<cjk>[{_CJK}]+)|(?P<word>{_LETTER}(?:{_LETTER}|[{_MARKS}])*)"
_CACHED_WORDS = 65_536
_ASCII_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}


def tokens(text: str) -> list[str]:
    """The words of `text` in order: NFKC, case folded, English endings removed, CJK in pairs.

    A single CJK character is a word of its own; longer runs give every pair of neighbours.
    """
    if text.isascii() and not _may_hold_signs(text):
        return [_stems[word] for word in text.lower().translate(_ASCII_WORDS).split()]
    return list(_of_any(text))


def _may_hold_signs(text: str) -> bool:
    """Whether something like `c++` or `c#` may be among the words."""
    return "++" in text or ("#" in text and any(before[-1:].isalpha() for before in text.split("#")))


def _of_any(text: str) -> Iterator[str]:
    import unicodedata

    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for match in _token().finditer(folded):
        if match["word"]:
            yield _stems[match["word"]]
        elif match["cjk"]:
            yield from _pairs(match["cjk"])
        else:
            yield match["sign"]


def _token() -> Pattern[str]:
    import re  # takes longer to import than most queries to answer

    return re.compile(_TOKEN)  # which `re` keeps


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


class _Stems(dict[str, str]):
    """Words without their English endings, as they are asked for."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        # A stemmer is not made for threads; what is kept leaves few words to make one for.
        stem = self[word] = str(Stemmer.Stemmer("english").stemWord(word))
        return stem


_stems = _Stems()
