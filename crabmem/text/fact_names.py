"""Names and categories of facts that are saved as one text, without either. Pure functions.

A category is a tag; that of a fact is the first of its tags.
"""

import re
from _blake2 import blake2b
from collections.abc import Callable, Sequence
from typing import TypeVar

from .entry import Entry
from .slug import name_key

T = TypeVar("T")

#: How many of the words of a new fact another has to say for the new one to get its category; and, of each other's
#: words, two that say nearly the same.
ALIKE, SAME = 0.7, 0.93
#: So many categories come before all others in an answer.
BEST = 3
_NAME = 120
# A sentence ends where a word of some length does, and another begins: `Dr.` and `e.g.` end none.
_END = re.compile(r"(?<=[^\W\d_]{4})[.!?](?=\s+[^\W_a-z])|[。！？](?=.)")
_LEAST = 12
_MARKS = "#>*-+ \t"


def name_of(content: str) -> str:
    """A name for a fact of which only the words are given: the first sentence of its first line.

    Of a long one the beginning, and a digest of the rest: what begins alike is not the same. Nothing in it is taken
    for a key.
    """
    # Only before it are marks no words: at the end they are of C# and C++.
    line = next((line.lstrip(_MARKS).rstrip() for line in content.splitlines() if line.strip(_MARKS)), "")
    ends = (found.start() for found in _END.finditer(line) if found.start() >= _LEAST)
    shown = line[: next(ends, len(line))]
    sentence = " ".join("".join(char for char in shown if char.isprintable() or char.isspace()).split()).rstrip(".")
    if len(sentence) <= _NAME:
        return sentence
    beginning = sentence[:_NAME].rpartition(" ")[0] or sentence[:_NAME]
    return f"{beginning}… {blake2b(sentence.encode(), digest_size=3).hexdigest()}"


def category_of(entry: Entry) -> str:
    """The category of a fact, which is its first tag; "" without one."""
    return entry.tags[0] if entry.tags else ""


def tags_for(category: str | None, before: Entry | None, like: Entry | None) -> tuple[str, ...] | None:
    """The tags of a fact that is saved in `category`; None leaves those that it had `before`.

    A new fact without a category gets that of the fact `like` it.
    """
    if before and category:
        return (category, *(tag for tag in before.tags[1:] if name_key(tag) != name_key(category)))
    category = category or (category_of(like) if like and not before else "")
    return (category,) if category else None


def by_category(ranked: Sequence[T], category: Callable[[T], str]) -> list[T]:
    """`ranked`, best first, in another order: what is in the three best categories, then all others.

    What has no category is one, so that the best stays the first.
    """
    keys = [name_key(category(each)) for each in ranked]
    best = list(dict.fromkeys(keys))[:BEST]
    return [each for _, each in sorted(zip(keys, ranked, strict=True), key=lambda pair: pair[0] not in best)]
