"""From text to the words that are searched. One rule for documents and queries."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

import Stemmer

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
# Marks that belong to the letter before them, where `\w` would end the word: accents, Hebrew and
# Arabic points, the vowel signs of Devanagari and Thai.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e"
_LETTER = rf"[^\W_{_CJK}]"
_TOKEN = re.compile(
    rf"(?P<sign>(?<!{_LETTER})[a-z](?:\+\+|#)(?!{_LETTER}))|(?P<cjk>[{_CJK}]+)|(?P<word>{_LETTER}(?:{_LETTER}|[{_MARKS}])*)"
)
_CACHED_WORDS = 65_536


def tokens(text: str) -> list[str]:
    """The words of `text` in order: NFKC, case folded, English endings removed, CJK in pairs.

    A single CJK character is a word of its own; longer runs give every pair of neighbours.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    for match in _TOKEN.finditer(folded):
        if match["word"]:
            found.append(_stem(match["word"]))
        elif match["cjk"]:
            found.extend(_pairs(match["cjk"]))
        else:
            found.append(match["sign"])
    return found


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [one + other for one, other in pairwise(run)]


@lru_cache(_CACHED_WORDS)
def _stem(word: str) -> str:
    # A stemmer is not made for threads; the cache leaves few words to make one for.
    return str(Stemmer.Stemmer("english").stemWord(word))
