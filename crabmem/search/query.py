"""What a question asks for: words, words that begin so (`deploy*`), and words in this order (`"deploy key"`).

What does not look like one of these, as a lone quote or star, is text like any other.
"""

from __future__ import annotations

from . import SIGNS
from .scripts import is_paired
from .tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .index import Index, Wanted

# The straight quote is the sign for inches too, and of code: it opens after a space, and closes before one.
_PHRASE = r'(?<!\S)"([^"]*)"(?=[.,;:!?]*(?:\s|$))|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_PREFIX = r"(?<![^\s(])([^\s()*]+)\*(?=[.,;:!?)]*(?:\s|$))"


class Query:
    """What is asked: `text` for its words, `prefixes` of words, `phrases` that have to be there."""

    __slots__ = ("phrases", "prefixes", "text")

    def __init__(self, text: str, prefixes: tuple[str, ...] = (), phrases: tuple[str, ...] = ()) -> None:
        self.text = text
        self.prefixes = prefixes
        self.phrases = phrases


def asked(text: str) -> Query:
    """The query in `text`."""
    if SIGNS.isdisjoint(text):
        return Query(text)
    import re

    phrases = [next(filter(None, match.groups()), "") for match in re.finditer(_PHRASE, text)]
    phrases = [phrase for phrase in phrases if any(map(str.isalnum, phrase))]
    rest = re.sub(_PHRASE, " ", text)
    prefixes = [match[1] for match in re.finditer(_PREFIX, rest) if _may_begin(match[1])]
    words = re.sub(_PREFIX, lambda match: " " if _may_begin(match[1]) else match[0], rest)
    return Query(" ".join([words, *phrases]).strip(), tuple(dict.fromkeys(prefixes)), tuple(dict.fromkeys(phrases)))


def _may_begin(prefix: str) -> bool:
    """Whether words may begin with `prefix`, in scripts that have words."""
    return _is_of_word(prefix[-1]) and not is_paired(prefix[-1])


def wanted(question: Query, index: Index, language: str) -> list[Wanted]:
    """What to search `index` for; all words that begin with the same prefix count as one."""
    found: list[Wanted] = [*tokens(question.text, language)]
    for prefix in question.prefixes:
        found += _beginning(prefix, index, language)
    return found


def _beginning(prefix: str, index: Index, language: str) -> list[Wanted]:
    """The words that begin with `prefix`; when it is several that nobody has as one, those before the last as well."""
    from .spellings import folded, normal

    whole = folded(normal(prefix))
    *before, last = "".join(char if _is_of_word(char) else " " for char in whole).split()
    longer = index.starting(whole) if before else []
    group = dict.fromkeys([*(longer or index.starting(last)), *tokens(last, language)])
    return [*([] if longer else tokens(" ".join(before), language)), *([tuple(group)] if group else [])]


def _is_of_word(char: str) -> bool:
    import unicodedata

    return char.isalnum() or unicodedata.category(char)[0] == "M"
