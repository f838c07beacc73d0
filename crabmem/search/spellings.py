"""Words of scripts with spaces: without accents and points, and without the endings of the language they look like.

Where endings are told by their accents, a word has two spellings: its stem without accents, and the stem of
what is typed without them. So both ways of typing meet.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

import Stemmer

from .scripts import latin

_CACHED = 65_536
# Where the letters of a script begin; "" are those of scripts with nothing to remove.
_SCRIPTS = {
    0x0000: "latin", 0x0370: "greek", 0x0400: "cyrillic", 0x0530: "armenian", 0x0590: "hebrew", 0x0600: "arabic",
    0x0700: "", 0x0750: "arabic", 0x0780: "", 0x0900: "devanagari", 0x0980: "", 0x0B80: "tamil", 0x0C00: "",
    0x1E00: "latin", 0x1F00: "greek", 0x2000: "",
}  # fmt: skip
_STARTS = list(_SCRIPTS)
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
_MARKS = [
    *range(0x0300, 0x0370), *range(0x0591, 0x05C8), *range(0x0610, 0x061B), 0x0640, *range(0x064B, 0x0660), 0x0670,
    *range(0x06D6, 0x06EE), 0x00AD, 0x200C, 0x200D, 0x093C,
]  # fmt: skip
_LETTERS = {
    "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n",
    "ё": "е", "ѐ": "е", "ѝ": "и", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ँ": "ं",
    "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ",
}  # fmt: skip
_FOLDED = dict.fromkeys(_MARKS) | {ord(letter): other for letter, other in _LETTERS.items()}
_JOINING = dict.fromkeys([0x00AD, 0x200C, 0x200D])
# Hebrew writes "and", "the", "in", "to", ... with the word after them, and Snowball has no Hebrew.
_HEBREW_BEFORE = "הבלוכמש"
_HEBREW_ENDINGS = ("יימ", "ימ", "ות", "ה", "ת")
_HEBREW_LEAST = 3

_cache: dict[tuple[str, str], tuple[str, ...]] = {}


def spellings(word: str, language: str) -> tuple[str, ...]:
    """What is searched of `word`, NFKC and case folded; usually one, nothing of marks alone."""
    key = word, language
    found = _cache.get(key)
    if found is None:
        if len(_cache) >= _CACHED:
            _cache.clear()
        found = _cache[key] = tuple(dict.fromkeys(filter(None, _spelled(word.translate(_JOINING), language))))
    return found


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
    if "\u0400" <= char < "\u0530" or char.isascii():
        return char
    digit = unicodedata.decimal(char, None)
    return unicodedata.normalize("NFD", char) if digit is None else str(digit)


def _spelled(word: str, language: str) -> list[str]:
    bare = folded(word)
    script = _script(word)
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
    if script == "latin":
        return latin(language)
    languages = _SPOKEN.get(script, ("",))
    return language if language in languages else languages[0]


def _script(word: str) -> str:
    """The one script of the letters of `word`, "" when there are several."""
    found = {_SCRIPTS[_STARTS[bisect_right(_STARTS, ord(char)) - 1]] for char in word if char.isalpha()}
    return found.pop() if len(found) == 1 else ""


def _hebrew(bare: str) -> list[str]:
    """The word, and the word after one or two of the letters that may stand before any, without endings."""
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
