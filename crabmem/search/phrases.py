"""Whether the words of a phrase stand together in a text: the same words as `tokens` has, and those it leaves out."""

from __future__ import annotations

import re
from functools import lru_cache

from . import scripts
from .spellings import spellings
from .tokens import stretches, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from .index import Index, Wanted

    # The words of a text in order, each with all its spellings.
    Steps = list[frozenset[str]]

_PLAIN = r"[A-Za-z0-9]+"
_KEPT = 65_536
_LONGEST_KEPT = 64


class Phrase:
    """Words that have to stand next to each other, in this order."""

    def __init__(self, text: str, language: str) -> None:
        self._steps, self._language = _steps(text, language), language
        # What stands between other letters may be indexed as part of something larger.
        plain = " ".join(filter(str.isascii, text.split()))
        self._indexed = [*_each(tokens(plain, language)), *(step for step in self._steps if not _is_plain(step))]

    def __bool__(self) -> bool:
        """Whether there is a word in it."""
        return bool(self._steps)

    def may_be_in(self, index: Index) -> Collection[str]:
        """The keys of the documents that have its words, in whatever order."""
        words: list[Wanted] = [tuple(sorted(step)) if len(step) > 1 else next(iter(step)) for step in self._indexed]
        return set(index.having(words)) if words else index.marks().keys()

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether it stands in one of the texts."""
        return any(_hold(_steps(text, self._language), self._steps) for text in texts)


def _hold(steps: Steps, wanted: Steps) -> bool:
    starts = range(len(steps) - len(wanted) + 1)
    return any(all(steps[at + on] & step for on, step in enumerate(wanted)) for at in starts)


def _is_plain(step: frozenset[str]) -> bool:
    return all(map(str.isascii, step))


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
    for part in stretches(piece, scripts.latin(language) == "english"):
        for word in re.findall(_PLAIN, part) if part.isascii() else ():
            yield from _each(tokens(word, language) or [word.lower()])  # what says nothing is said, too
        for run, units in scripts.runs(part) if not part.isascii() else ():
            yield from _each(units) if units else [frozenset(spellings(run, language))]


def _each(words: Iterable[str]) -> Iterator[frozenset[str]]:
    return (frozenset([word]) for word in words)
