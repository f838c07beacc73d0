"""Before how many messages of each kind auto-recall speaks, in memories of the sets and of the fixtures.

Messages of a set are its questions, as they are and within openings, and those of other domains; small talk and
instructions are those of `fixtures/messages.toml`. Each half is counted apart (`halves`): questions of a half stand
within openings of that half.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from crabmem.text.spoken_to import Message, opened, parse_messages, parse_openings

from .halves import TUNED, UNTOUCHED, half

_FILE = Path(__file__).parents[2] / "fixtures/messages.toml"
KINDS = ("bare", "opening", "small talk", "instruction", "other domain")
HALVES = (TUNED, UNTOUCHED)
# The normal quantile of a 95 % interval.
_Z = 1.959964

#: How sure auto-recall is of what it would tell before a message.
Sure = Callable[[str], float]


@dataclass(frozen=True)
class Share:
    """How many of how many, with the Wilson score interval of 95 % (Wilson 1927)."""

    spoken: int
    messages: int

    @property
    def value(self) -> float:
        """The share; 0 of none."""
        return self.spoken / max(1, self.messages)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval."""
        if not self.messages:
            return 0.0, 1.0
        n, p = self.messages, self.value
        middle, half_width = p + _Z**2 / (2 * n), _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        low, high = ((middle + sign * half_width) / (1 + _Z**2 / n) for sign in (-1, 1))
        return max(0.0, low), min(1.0, high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.3f} [{low:.2f}, {high:.2f}]"


@dataclass
class Speaking:
    """How sure auto-recall was of the messages of each kind and half."""

    sure: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    #: By half, of each question that was spoken to whether the first fact told is right, and the first recalled.
    first: dict[str, list[tuple[bool, bool]]] = field(default_factory=dict)

    def listen(self, sure: Sure, messages: Mapping[str, Iterable[str]]) -> None:
        """Judge messages, by their kinds, in one memory."""
        for kind, texts in messages.items():
            for text in texts:
                self.sure.setdefault((kind, half(text)), []).append(sure(text))

    def listen_within(self, sure: Sure, questions: Sequence[str], openings: Sequence[str]) -> None:
        """Judge questions within the openings of their half, in turn."""
        for name in HALVES:
            given = [Message(text, True) for text in questions if half(text) == name]
            around = [(text, "") for text in openings if half(text) == name]
            for message in opened(given, around) if around else ():
                self.sure.setdefault(("opening", name), []).append(sure(message.text))

    def compare(self, question: str, told: bool, recalled: bool) -> None:
        """Note whether the fact that is told first, and the one that recall finds first, answers a question."""
        self.first.setdefault(half(question), []).append((told, recalled))

    def right_first(self, name: str) -> tuple[Share, Share]:
        """Before how many of the questions of a half the right fact comes first, and in how many answers of recall."""
        found = self.first.get(name, [])
        told, recalled = (Share(sum(each[at] for each in found), len(found)) for at in (0, 1))
        return told, recalled

    def share(self, kind: str, name: str, threshold: float) -> Share:
        """Before how many of the messages of a kind and half memory speaks."""
        found = self.sure.get((kind, name), [])
        return Share(sum(sure >= threshold for sure in found), len(found))


def own() -> tuple[list[Message], list[str]]:
    """The messages of the fixtures, and what may stand around one."""
    text = _FILE.read_text("utf-8")
    openings = [opening for opening, _ in parse_openings(text, _FILE.name)]
    return parse_messages(text, _FILE.name, with_openings=False), openings


def silent(messages: Iterable[Message]) -> dict[str, list[str]]:
    """The small talk and the instructions among the messages, which are such in any memory."""
    found: dict[str, list[str]] = {"small talk": [], "instruction": []}
    for message in messages:
        kind = message.kind.partition(",")[0]
        if kind in found and not message.workspace:
            found[kind].append(message.text)
    return found


def table(speaking: Mapping[str, Speaking], threshold: float) -> Iterator[tuple[str, ...]]:
    """The shares as lines of cells, the head first."""
    yield f"speaks at {threshold:g} to", "half", *KINDS, "right fact first", "in recall"
    for name, each in speaking.items():
        for part in HALVES:
            shares = (*(each.share(kind, part, threshold) for kind in KINDS), *each.right_first(part))
            yield name, part, *map(str, shares)
