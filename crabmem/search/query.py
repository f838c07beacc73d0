"""What a question asks for: words, words that begin so (`deploy*`), and words in this order (`"deploy key"`).

Words of a phrase are the same that `tokens` has, and those that it leaves out.

What does not look like one of these, as a lone quote or star, is text like any other.
"""

from __future__ import annotations

from functools import lru_cache

from . import SIGNS, scripts
from .scripts import folded, is_paired, normal, spellings
from .tokens import stretches, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from .index import Index, Term

    # The words of a text in order, each with all its spellings.
    Steps = list[frozenset[str]]

# The straight quote is the sign for inches too, and of code: it opens after a space, and closes before one.
_PHRASE = r'(?<!\S)"([^"]*)"(?=[.,;:!?]*(?:\s|$))|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_PREFIX = r"(?<![^\s(])([^\s()*]+)\*(?=[.,;:!?)]*(?:\s|$))"


_PLAIN = r"[A-Za-z0-9]+"
_KEPT = 65_536
_LONGEST_KEPT = 64


class Query:
    """A parsed question: `text` for its words, `prefixes` of words, `phrases` that have to be there."""

    __slots__ = ("phrases", "prefixes", "text")

    def __init__(self, text: str, prefixes: tuple[str, ...] = (), phrases: tuple[str, ...] = ()) -> None:
        self.text = text
        self.prefixes = prefixes
        self.phrases = phrases


def parse_query(text: str) -> Query:
    """Parse the question `text`."""
    if SIGNS.isdisjoint(text):
        return Query(text)
    import re  # late, as a question of words alone needs none

    phrases = [next(filter(None, match.groups()), "") for match in re.finditer(_PHRASE, text)]
    phrases = [phrase for phrase in phrases if any(map(str.isalnum, phrase))]
    rest = re.sub(_PHRASE, " ", text)
    prefixes = [match[1] for match in re.finditer(_PREFIX, rest) if _may_begin(match[1])]
    words = re.sub(_PREFIX, lambda match: " " if _may_begin(match[1]) else match[0], rest)
    return Query(" ".join([words, *phrases]).strip(), tuple(dict.fromkeys(prefixes)), tuple(dict.fromkeys(phrases)))


def _may_begin(prefix: str) -> bool:
    """Whether words may begin with `prefix`, in scripts that have words."""
    return _is_of_word(prefix[-1]) and not is_paired(prefix[-1])


def terms_of(question: Query, index: Index, language: str) -> list[Term]:
    """The terms to search `index` for; all words that begin with the same prefix count as one."""
    found: list[Term] = [*tokens(question.text, language)]
    for prefix in question.prefixes:
        found += _beginning(prefix, index, language)
    return found


def _beginning(prefix: str, index: Index, language: str) -> list[Term]:
    """The words that begin with `prefix`; when it is several that nobody has as one, those before the last as well."""
    whole = folded(normal(prefix))
    *before, last = "".join(char if _is_of_word(char) else " " for char in whole).split()
    longer = index.starting(whole) if before else []
    group = dict.fromkeys([*(longer or index.starting(last)), *tokens(last, language)])
    return [*([] if longer else tokens(" ".join(before), language)), *([tuple(group)] if group else [])]


def _is_of_word(char: str) -> bool:
    import unicodedata

    return char.isalnum() or unicodedata.category(char)[0] == "M"


class Phrase:
    """Words that have to stand next to each other, in this order."""

    def __init__(self, text: str, language: str) -> None:
        self._steps, self._language = _steps(text, language), language
        # What stands between other letters may be indexed as part of something larger.
        plain = " ".join(filter(str.isascii, text.split()))
        self._indexed = [
            *_each(tokens(plain, language)),
            *(step for step in self._steps if not all(map(str.isascii, step))),
        ]

    def __bool__(self) -> bool:
        """Whether there is a word in it."""
        return bool(self._steps)

    def may_be_in(self, index: Index) -> Collection[str]:
        """The keys of the documents that have its words, in whatever order."""
        words: list[Term] = [tuple(sorted(step)) if len(step) > 1 else next(iter(step)) for step in self._indexed]
        return set(index.having(words)) if words else index.marks().keys()

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether it stands in one of the texts."""
        for steps in (_steps(text, self._language) for text in texts):
            starts = range(len(steps) - len(self._steps) + 1)
            if any(all(steps[at + on] & step for on, step in enumerate(self._steps)) for at in starts):
                return True
        return False


def _steps(text: str, language: str) -> Steps:
    return [step for piece in text.split() for step in _kept_steps(piece, language) if step]


def _kept_steps(piece: str, language: str) -> tuple[frozenset[str], ...]:
    """The same as `_steps_of`, kept unless it is long: thousands of texts say the same words."""
    return (_short_steps if len(piece) <= _LONGEST_KEPT else _all_steps)(piece, language)


def _all_steps(piece: str, language: str) -> tuple[frozenset[str], ...]:
    return tuple(_steps_of(piece, language))


_short_steps = lru_cache(_KEPT)(_all_steps)


def _steps_of(piece: str, language: str) -> Iterator[frozenset[str]]:
    """The words of a text without spaces; of scripts that have none, what pairs are made of."""
    import re

    for part in stretches(piece, scripts.latin(language) == "english"):
        for word in re.findall(_PLAIN, part) if part.isascii() else ():
            yield from _each(tokens(word, language) or [word.lower()])  # what says nothing is said, too
        for run, units in scripts.runs(part) if not part.isascii() else ():
            yield from _each(units) if units else [frozenset(spellings(run, language))]


def _each(words: Iterable[str]) -> Iterator[frozenset[str]]:
    return (frozenset([word]) for word in words)
