"""How much each word of a message tells of what it is about, whatever memory holds: courtesy and talk, nothing."""

from __future__ import annotations

from . import english, identifiers, scripts
from .tokens import WORD, terms_by_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Final

#: What a word of each of the lists tells; any other word tells 1.
NOTHING: Final = 0.0
LITTLE: Final = 0.3
SOME: Final = 0.6
# Of two characters, one of them of a word that tells nothing: mostly one word ends there, and the next one begins.
_BETWEEN = 0.1
# A number of so few digits is in many texts.
_SHORT = 2
_ASCII_WORD = "[A-Za-z0-9]+"
_END = r"(?<=[.!?:;…])\s+|[\n。！？]"
_MARKS = frozenset("?？")
# A question may begin behind so many other words, as in "hey, so who".
_BEGINNING = 3
_KANA, _HIRAGANA = ("\u3041", "\u30ff"), ("\u3041", "\u309f")

_lists: dict[str, Mapping[str, float]] = {}


def levels(text: str, language: str) -> dict[str, float]:
    """What each term of `text` tells by itself, from 0 to 1; without those that stand for several words together.

    `language` is whose endings the terms lose; each sentence may be in any language.
    """
    is_japanese = any(_KANA[0] <= char <= _KANA[1] for char in text)
    terms, found = terms_by_text(language), dict[str, float]()
    for words in _sentences(text):
        plain = [_plain(word) for word in words]
        lists = [_levels_in(name) for name in _spoken(plain)]
        for word, key in zip(words, plain, strict=True):
            for term, level in _of_word(word, key, terms, lists, is_japanese):
                found[term] = max(level, found.get(term, NOTHING))
    return found


def is_question(text: str) -> bool:
    """Whether `text` asks: by its marks, or as a sentence of it begins like a question."""
    if not _MARKS.isdisjoint(text):
        return True
    from . import ordinary_words

    asking = ordinary_words.ASKING.split()
    return any(_plain(word) in asking for words in _sentences(text) for word in words[:_BEGINNING])


def sentences(text: str) -> list[str]:
    """The sentences of `text`; what stands before a colon, or on a line of its own, is one."""
    import re

    return [part for part in re.split(_END, text) if part]


def _sentences(text: str) -> Iterator[list[str]]:
    """The words of each sentence, each once."""
    import re

    word = _ASCII_WORD if text.isascii() else WORD
    return filter(None, (list(dict.fromkeys(re.findall(word, part))) for part in sentences(text)))


def _of_word(
    word: str, plain: str, terms: Mapping[str, tuple[str, ...]], lists: Sequence[Mapping[str, float]], is_japanese: bool
) -> Iterator[tuple[str, float]]:
    """The terms of a word and what each tells: of `camelCase` its parts, of scripts without spaces pairs."""
    made = terms[word]
    if word.isascii():
        *parts, whole = identifiers.names(word)
        if parts and _level(whole, made[-1], lists) < 1.0:
            parts = [whole]  # as `JavaScript` is
        for part in parts or [whole]:
            for term in terms[part]:
                yield term, _level(part, term, lists)
        return
    for term in made:
        yield term, _level_of_pair(term, is_japanese) if _is_paired(term) else _level(plain, term, lists)


def _level(word: str, term: str, lists: Sequence[Mapping[str, float]]) -> float:
    if word.isdigit():
        return LITTLE if len(word) <= _SHORT else 1.0
    if len(word) == 1 and word.isascii():
        return NOTHING
    return min((_level_in(held, word, term) for held in lists), default=1.0)


def _level_in(held: Mapping[str, float], word: str, term: str) -> float:
    """What a word, or what it is a form of, tells by a list; a stem may lack the last letter of its base form."""
    for form in (word, english.base(word), term, f"{term}e", f"{term[:-1]}y"):
        level = held.get(form)
        if level is not None:
            return level
    return 1.0


def _is_paired(term: str) -> bool:
    return term >= scripts.FIRST_PAIRED and scripts.is_paired(term)


def _level_of_pair(pair: str, is_japanese: bool) -> float:
    from . import ordinary_words

    listed = ordinary_words.JAPANESE if is_japanese else ordinary_words.CHINESE
    said = sum(char in listed or _HIRAGANA[0] <= char <= _HIRAGANA[1] for char in pair)
    return 1.0 if not said else NOTHING if said == len(pair) else _BETWEEN


def _plain(word: str) -> str:
    """A word as it is listed: in small letters, without accents."""
    return word.lower() if word.isascii() else scripts.folded(scripts.normal(word))


def _spoken(words: Sequence[str]) -> list[str]:
    """The lists by which the words are judged: that of courtesy, and of the languages that they seem to be of.

    A language has to have two thirds as many words that tell nothing as that which has the most: `die` and `car` are
    words of several.
    """
    from . import ordinary_words

    counts = {name: sum(_levels_in(name).get(word) == NOTHING for word in words) for name in ordinary_words.LANGUAGES}
    most = max(counts.values())
    return ["courtesy", *(name for name, count in counts.items() if count * 3 >= most * 2)]


def _levels_in(name: str) -> Mapping[str, float]:
    found = _lists.get(name)
    if found is None:
        from . import ordinary_words

        if name == "courtesy":
            found = dict.fromkeys(ordinary_words.COURTESY.split(), NOTHING)
        else:
            nothing, little, some = map(str.split, ordinary_words.LANGUAGES[name])
            found = dict.fromkeys(some, SOME) | dict.fromkeys(little, LITTLE) | dict.fromkeys(nothing, NOTHING)
        _lists[name] = found
    return found
