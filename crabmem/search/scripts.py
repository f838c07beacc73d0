"""Words that are not all ASCII: what each script makes of them, from letters with accents to scripts without spaces.

Of scripts without spaces the pairs of neighbours are searched: so whatever part of a text is asked for, its
pairs are among those of the text. Words of scripts with spaces are searched without accents and points, and without the
endings of the language that they look like. Where endings are told by their accents, a word has two spellings: its stem
without accents, and the stem of what is typed without them. So both ways of typing meet.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer

#: Marks that belong to the letter before them, where `\w` would end the word, and what only joins letters:
#: for a class of `re`. All of the basic plane; letters between them are in it too, which does no harm.
MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
    "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84"
    "\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d\u180f-\u193b"
    "\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2"
    "\u1cd4-\u1dff\u200c\u200d\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099\u309a\ua66f\ua674-\ua67d\ua69e-\ua6f1"
    "\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1"
    "\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed\ufb1e\ufe20-\ufe2f"
)
# Han, Kana, Bopomofo and Hangul: a unit is a character.
_CHARACTERS = (
    "\u1100-\u11ff\u3005-\u3007\u3031-\u3035\u303b\u303c\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Thai, Lao, Myanmar and Khmer: a unit is a consonant with all that is written around it.
_CLUSTERED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
#: Letters of scripts whose words nothing separates, searched in pairs.
PAIRED = _CHARACTERS + _CLUSTERED
# Words that sort before it begin with no such letter: most need no further look.
_FIRST_PAIRED = "\u0e01"
# Vowels written before the consonant they follow; what stacks a consonant upon another; what stands around one.
_BEFORE = "\u0e40-\u0e44\u0ec0-\u0ec4"
_STACKING = "\u1039\u17d2"
_AROUND = (
    "\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecd\u102b-\u1038\u103a-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d1\u17d3\u17dd\uaa7b-\uaa7d"
)
_BASE = f"[^{_BEFORE}{_STACKING}{_AROUND}]"
_CLUSTER = f"[{_BEFORE}]{{0,8}}+{_BASE}(?:[{_STACKING}]{_BASE})*[{_STACKING}{_AROUND}]*|."
_RUN = f"(?P<characters>[{_CHARACTERS}]+)|(?P<clustered>[{_CLUSTERED}]+)|[^{PAIRED}]+"
# Languages whose letters are not Latin: in their texts, words in Latin letters are code and names, taken as English.
_ELSEWHERE = {"arabic", "armenian", "greek", "hindi", "nepali", "persian", "russian", "tamil", "yiddish"}

_CACHED = 65_536
# Where the letters of a script begin; "" are those of scripts with nothing to remove.
_SCRIPT_STARTS_AT = {
    0x0000: "latin", 0x0370: "greek", 0x0400: "cyrillic", 0x0530: "armenian", 0x0590: "hebrew", 0x0600: "arabic",
    0x0700: "", 0x0750: "arabic", 0x0780: "", 0x0900: "devanagari", 0x0980: "", 0x0B80: "tamil", 0x0C00: "",
    0x1E00: "latin", 0x1F00: "greek", 0x2000: "",
}  # fmt: skip
_STARTS = list(_SCRIPT_STARTS_AT)
# The languages of a script that have a stemmer; the first is meant when the settings name another.
_SPOKEN = {
    "cyrillic": ("russian", "serbian"),
    "armenian": ("armenian",),
    "arabic": ("arabic", "persian"),
    "devanagari": ("hindi", "nepali"),
    "greek": ("greek",),
    "hebrew": ("", "yiddish"),
    "tamil": ("tamil",),
}
_PLAIN = ("english", "porter")
# Accents; Hebrew points; signs for short vowels and joining of Arabic; what only joins or parts letters.
_ACCENTS = [
    *range(0x0300, 0x0370), *range(0x0591, 0x05C8), *range(0x0610, 0x061B), 0x0640, *range(0x064B, 0x0660), 0x0670,
    *range(0x06D6, 0x06EE), 0x00AD, 0x200C, 0x200D, 0x093C,
]  # fmt: skip
_LETTERS = {
    "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n",
    "ё": "е", "ѐ": "е", "ѝ": "и", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ँ": "ं",
    "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ",
}  # fmt: skip
# As German is typed without them: Snowball's stemmer of German knows that, where no other rule does.
_UMLAUTS = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}
_FOLDED = dict.fromkeys(_ACCENTS) | {ord(letter): other for letter, other in _LETTERS.items()}
_JOINING = dict.fromkeys([0x00AD, 0x200C, 0x200D])
# Hebrew writes "and", "the", "in", "to", ... with the word after them, and Snowball has no Hebrew.
_HEBREW_BEFORE = "הבלוכמש"
_HEBREW_ENDINGS = ("יימ", "ימ", "ות", "ה", "ת")
_HEBREW_LEAST = 3


def latin(language: str) -> str:
    """Return the language of the stemmer for words in Latin letters, in a workspace of `language`."""
    return "english" if language in _ELSEWHERE else language


def terms(word: str, language: str) -> Iterator[str]:
    """The terms of a run of letters, marks and digits that is not all ASCII, given in NFKC and case folded."""
    for run, units in runs(word):
        if len(units) > 1:
            yield from map("".join, pairwise(units))
        else:
            yield from units or spellings(run, language)


def runs(word: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the runs of a word, each of one kind of script, with its units: none in a script that has spaces.

    A unit is a character, or a consonant with the signs around it.
    """
    for match in _compiled(_RUN).finditer(word):
        run = match[0]
        if match["clustered"]:
            yield run, _compiled(_CLUSTER).findall(run)
        else:
            yield run, list(run) if match["characters"] else []


def is_unit(word: str) -> bool:
    """Whether `word` is one unit of a script that is searched in pairs, so that pairs may hold it."""
    return word >= _FIRST_PAIRED and [units for _, units in runs(word)] == [[word]]


def is_paired(term: str) -> bool:
    """Whether a term is of a script that is searched in pairs."""
    return term >= _FIRST_PAIRED and any(units for _, units in runs(term))


def holds(pair: str, unit: str) -> bool:
    """Whether a pair of units has `unit` as one of them."""
    return any(unit in units for _, units in runs(pair))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(_CACHED)
def spellings(word: str, language: str) -> tuple[str, ...]:
    """Return the spellings under which `word`, in NFKC and case folded, is searched: usually one, none for marks alone.

    The last one is shared by both ways of typing, with accents and without.
    """
    return tuple(dict.fromkeys(filter(None, _spelled(word.translate(_JOINING), language))))


def normal(text: str) -> str:
    """`text` in the one form that words are compared in: NFKC, case folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def folded(word: str) -> str:
    """`word` without accents and points, its letters and digits those that are typed most easily.

    й is another letter than и, and signs for vowels that a word cannot do without stay.
    """
    apart = "".join(_apart(char) for char in word)
    return unicodedata.normalize("NFC", apart.translate(_FOLDED))


def _apart(char: str) -> str:
    """Return a letter and its accents one by one, a digit as ASCII; Cyrillic stays, where й is no и with an accent."""
    if "\u0400" <= char < "\u0530" or char.isascii():
        return char
    digit = unicodedata.decimal(char, None)
    return unicodedata.normalize("NFD", char) if digit is None else str(digit)


def _spelled(word: str, language: str) -> list[str]:
    """Return the stem of a word, and that of the word typed without accents; English stems have no accents at all.

    In an English workspace, or one without a stemmer, ä, ö and ü are also spelled ae, oe and ue.
    """
    bare = folded(word)
    script = _script(word)
    if script == "latin" and language in (*_PLAIN, "none") and (typed := word.translate(_UMLAUTS)) != word:
        return [*_spelled(bare, language), *_spelled(folded(typed), language)]
    if language == "none":
        return [bare]
    if script == "hebrew" and language != "yiddish":
        return _hebrew(bare)
    spoken = _spoken(script, language)
    if not spoken:
        return [bare]
    stem = Stemmer.Stemmer(spoken).stemWord  # not made for threads, and made at once
    return [stem(bare)] if spoken in _PLAIN else [folded(stem(word)), folded(stem(bare))]


def _spoken(script: str, language: str) -> str:
    """Return the stemmer's language for a script: the workspace's if written so, else the script's first, or ""."""
    if script == "latin":
        return latin(language)
    languages = _SPOKEN.get(script, ("",))
    return language if language in languages else languages[0]


def _script(word: str) -> str:
    """The one script of the letters of `word`, "" when there are several."""
    found = {_SCRIPT_STARTS_AT[_STARTS[bisect_right(_STARTS, ord(char)) - 1]] for char in word if char.isalpha()}
    return found.pop() if len(found) == 1 else ""


def _hebrew(bare: str) -> list[str]:
    """Return the word, and the word without one or two of the particles that are written with it; endings removed."""
    words = [bare]
    for word in (bare[1:], bare[2:]):
        if len(word) < _HEBREW_LEAST or bare[len(bare) - len(word) - 1] not in _HEBREW_BEFORE:
            break
        words.append(word)
    return [_without_ending(word) for word in words]


def _without_ending(word: str) -> str:
    for ending in _HEBREW_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _HEBREW_LEAST:
            return word[: -len(ending)]
    return word
