"""A hit of recall as a terminal shows it: with its file, and with the words that were asked for in colour."""

import re
from collections.abc import Callable

from ..search import tokens

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_FOUND, _FAINT, _PLAIN = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"


def on_terminal(text: str, path: str, question: str, language: str = "english", in_colour: bool = True) -> str:
    """`text`, which begins with a heading, with its path on the second line; nothing in either steers a terminal."""
    heading, _, rest = text.partition("\n")
    if not in_colour:
        return f"{heading}\n{path}\n{rest}"
    mark = _marker(question, language)
    return f"{_WORD.sub(mark, heading)}\n{_FAINT}{path}{_PLAIN}\n{_WORD.sub(mark, rest)}"


def _marker(question: str, language: str) -> "Callable[[re.Match[str]], str]":
    """What colours a word when recall would find it by `question`: in any of its forms, or by how it begins."""
    wanted = set(tokens(question.replace("*", " ").replace('"', " "), language))
    beginnings = tuple(word.strip('"').rstrip("*").casefold() for word in question.split() if word.endswith("*"))

    def mark(found: "re.Match[str]") -> str:
        word = found[0]
        begins = bool(beginnings) and word.casefold().startswith(beginnings)
        return f"{_FOUND}{word}{_PLAIN}" if begins or not wanted.isdisjoint(tokens(word, language)) else word

    return mark
