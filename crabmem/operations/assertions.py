"""What a person says memory must answer, in a sentence: `where is the vet must return Luna's vet`."""

import re
from dataclasses import dataclass

from ..errors import InvalidArguments
from ..results import Recall
from ..text.slug import name_key

_SENTENCE = re.compile(r"(?P<query>.*\S)\s++must\s++(?P<never>not\s++)?return\s++(?P<name>\S.*)", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """That the entry called `name` is, or is not, in the answer to `query`."""

    query: str
    name: str
    is_wanted: bool

    def holds(self, answer: Recall) -> bool:
        """Whether it is so."""
        key = name_key(self.name)
        called = (name for hit in answer for name in (hit.entry.name, hit.entry.slug, *hit.entry.aliases))
        return (key in map(name_key, called)) == self.is_wanted


def parsed(text: str) -> Claim:
    """The claim in a sentence: QUERY must return NAME, or QUERY must not return NAME.

    Raises:
        InvalidArguments: it is no such sentence.
    """
    found = _SENTENCE.fullmatch(text.strip())
    if not found:
        raise InvalidArguments(f"{text}: say QUERY must return NAME, or QUERY must not return NAME")
    return Claim(found["query"], found["name"], not found["never"])
