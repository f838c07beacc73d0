"""What becomes of a conversation whose window of context fills up: pure rules of when what is due.

A host says how many tokens there are, and keeps one number: in which cycle it stored last. A cycle ends when the
conversation was shortened, however that came about.
"""

from datetime import date
from math import ceil
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..text.templates import fill, template, worth

Share = Annotated[float, Meta(ge=0, le=1)]
#: In the order in which a host does them: what is cut was stored before. `warn` is for the model to read.
Step = Literal["flush", "compact", "prune", "warn"]


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At which shares of the window what happens; 0: never. `flush` stores, `compact` makes a summary of what is
    old, `prune` drops that, `warn` says how full it is.

    With `reserve` or `soft`, tokens, storing begins where no more than these are left of the window. What is old is
    all but the last `keep` groups (a message, with the results of the tools that it calls) or turns (all from one
    message of the user to the next). It is stored as `facts` or as a `note` of the day, unless it has fewer than
    `least` characters; a model is asked about `portion` of them at a time, and about all. `ask` are the words that
    ask for a flush instead of ours, `silent` what a model answers that has nothing to say. {note}, {date}, {silent}
    in `ask` and {percent}, {tokens}, {window} in `warning` stand for these.
    """

    flush: Share = 0.0
    warn: Share = 0.0
    compact: Share = 0.0
    prune: Share = 0.0
    reserve: Annotated[int, Meta(ge=0)] = 0
    soft: Annotated[int, Meta(ge=0)] = 0
    keep: Annotated[int, Meta(ge=1)] = 4
    unit: Literal["group", "turn"] = "group"
    store: Literal["facts", "note"] = "facts"
    least: Annotated[int, Meta(ge=0)] = 200
    portion: Annotated[int, Meta(ge=1_000)] = 30_000
    silent: Annotated[str, Meta(min_length=1)] = "NO_REPLY"
    ask: str = ""
    warning: str = (
        "The context is {percent} % full ({tokens} of {window} tokens). "
        "Store what must outlast this conversation, and come to a close."
    )

    def thresholds(self, size: int) -> dict[Step, int]:
        """From how many tokens on, of a window of `size`, each step is due; a step that never is, is left out."""
        left = size - self.reserve - self.soft if self.reserve or self.soft else _part(size, self.flush)
        shares: dict[Step, float] = {"compact": self.compact, "prune": self.prune, "warn": self.warn}
        found: dict[Step, int] = {"flush": left, **{step: _part(size, share) for step, share in shares.items()}}
        return {step: tokens for step, tokens in found.items() if tokens > 0}

    def due(
        self, tokens: int | None, size: int, cycle: int = 0, flushed: int | None = None, may_store: bool = True
    ) -> tuple[Step, ...]:
        """What is due with `tokens` in the window, None where nobody knows.

        `cycle` is how often the conversation was shortened, `flushed` in which cycle it was stored last: once in each
        is enough. Whoever may not store is not asked to.
        """
        if tokens is None:
            return ()
        reached = tuple(step for step, least in self.thresholds(size).items() if tokens >= least)
        may_flush = may_store and flushed != cycle
        return tuple(step for step in reached if step != "flush" or may_flush)

    def asked(self, note: str, today: date) -> str:
        """What asks a model to store before it is too late; `note` is the path of the note of `today`."""
        values = {"worth": worth(), "note": note, "date": today.isoformat(), "silent": self.silent}
        values["how"] = fill(template(f"filling/{self.store}").strip(), values)
        words = fill(self.ask or template("filling/asked").strip(), values)
        return words if self.silent in words else f"{words}\n\nIf there is nothing to store, answer {self.silent}."

    def warned(self, tokens: int, size: int) -> str:
        """What tells a model how full its window is."""
        percent = str(tokens * 100 // max(size, 1))
        return fill(self.warning, {"percent": percent, "tokens": f"{tokens:,}", "window": f"{size:,}"})

    def is_silent(self, reply: str) -> bool:
        """Whether a reply says that there is nothing to say, and so is for nobody to read."""
        return _bare(reply) in ("", _bare(self.silent))

    def is_nothing(self, reply: str) -> bool:
        """Whether there is nothing to store in a reply that was to say what to store."""
        return self.is_silent(reply) or _bare(reply) == _NOTHING or len(reply.strip()) < _LEAST_REPLY


class Due(msgspec.Struct, frozen=True):
    """What is due of a window: `steps` in their order, and from how many tokens on each is.

    `prompt` is what a turn of its own asks for a flush, `warning` what to put before the model; "" when not due. A
    reply of `silent` to the prompt is for nobody.
    """

    JSON = ("due=steps", "thresholds", "prompt", "warning", "silent")

    steps: tuple[Step, ...]
    thresholds: dict[Step, int]
    prompt: str
    warning: str
    silent: str


def due(
    window: Window,
    tokens: int | None,
    size: int,
    cycle: int,
    flushed: int | None,
    may_store: bool,
    note: str,
    today: date,
) -> Due:
    """What is due, with its words; `note` is the path of the note of `today`."""
    steps = window.due(tokens, size, cycle, flushed, may_store)
    prompt = window.asked(note, today) if "flush" in steps else ""
    warning = window.warned(tokens or 0, size) if "warn" in steps else ""
    return Due(steps, window.thresholds(size), prompt, warning, window.silent)


def _part(size: int, share: float) -> int:
    # 0.58 of 50 is 28.999… to a computer.
    return ceil(round(size * share, 6))


def _bare(reply: str) -> str:
    """A reply without what models put around a word."""
    return reply.strip().strip("`*_\"'.!() \n").casefold()


_NOTHING = "nothing"
_LEAST_REPLY = 10
