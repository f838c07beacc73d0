"""Compaction: at how many tokens in the context window a conversation is stored, summed up or pruned, or the model
warned. Pure.

The host counts the tokens, and remembers one number: the cycle in which it stored last. A cycle ends whenever the
conversation is shortened.
"""

from datetime import date
from math import ceil
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..text.templates import fill, template, worth
from .budget import Share

#: The steps in the order in which a host does them: it stores messages (`flush`) before it cuts them. `warn` is a text
#: for the model.
Step = Literal["flush", "compact", "prune", "warn"]
# The reply of a model that finds nothing to store; a reply shorter than `_LEAST_REPLY` characters names nothing either.
_NOTHING = "nothing"
_LEAST_REPLY = 10


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a context window is too full, `[window]` in a profile: the share of it from which on each step is due, 0 for
    never.

    Old are all messages but the last `keep`. They are stored unless they have fewer than `least` characters; a model is
    asked about all of them, `portion` characters at a time.
    """

    flush: Share = 0.0
    """What is worth keeping is stored."""
    warn: Share = 0.0
    """The model is told how full the window is."""
    compact: Share = 0.0
    """A summary takes the place of old messages."""
    prune: Share = 0.0
    """Old messages are dropped."""
    reserve: Annotated[int, Meta(ge=0)] = 0
    """Tokens: what is worth keeping is stored when no more than reserve and soft together are left."""
    soft: Annotated[int, Meta(ge=0)] = 0
    """Tokens, as reserve."""
    keep: Annotated[int, Meta(ge=1)] = 4
    """So many of the last units are not old."""
    unit: Literal["group", "turn"] = "group"
    """A message with the results of the tools that it calls, or all from one message of the user to the next."""
    store: Literal["facts", "note"] = "facts"
    """As what old messages are stored."""
    least: Annotated[int, Meta(ge=0)] = 200
    """Fewer characters of old messages are not stored."""
    portion: Annotated[int, Meta(ge=1_000)] = 30_000
    """Characters that a model is asked about at a time."""
    silent: Annotated[str, Meta(min_length=1)] = "NO_REPLY"
    """What a model answers that has nothing to say."""
    ask: str = ""
    """Asks for a flush in place of our words; {note}, {date} and {silent} in it stand for these."""
    warning: str = (
        "The context is {percent} % full ({tokens} of {window} tokens). "
        "Store what must outlast this conversation, and come to a close."
    )
    """What warn says; {percent}, {tokens} and {window} in it stand for these."""

    def thresholds(self, size: int) -> dict[Step, int]:
        """The number of tokens from which each step is due, in a window of `size` tokens, without steps never due.

        `reserve` and `soft` count in place of the share `flush`. A window no larger than these two is never flushed: it
        would be due however little is in it.
        """
        left = size - self.reserve - self.soft if self.reserve or self.soft else _part(size, self.flush)
        shares: dict[Step, float] = {"compact": self.compact, "prune": self.prune, "warn": self.warn}
        found: dict[Step, int] = {"flush": left, **{step: _part(size, share) for step, share in shares.items()}}
        return {step: tokens for step, tokens in found.items() if tokens > 0}

    def due(
        self, tokens: int | None, size: int, cycle: int = 0, flushed: int | None = None, may_store: bool = True
    ) -> tuple[Step, ...]:
        """The steps that are due with `tokens` in a window of `size` tokens; () if `tokens` is None, for unknown.

        `cycle` is how often the conversation was shortened, `flushed` the cycle in which it was last stored: a flush is
        due once in each cycle, and never if the session may not store.
        """
        if tokens is None:
            return ()
        reached = tuple(step for step, least in self.thresholds(size).items() if tokens >= least)
        may_flush = may_store and flushed != cycle
        return tuple(step for step in reached if step != "flush" or may_flush)

    def flush_prompt(self, note: str, today: date) -> str:
        """The prompt that asks a model to store what is worth it; `note` is the path of the note of `today`."""
        values = {"worth": worth(), "note": note, "date": today.isoformat(), "silent": self.silent}
        values["how"] = fill(template(f"filling/{self.store}").strip(), values)
        words = fill(self.ask or template("filling/asked").strip(), values)
        return words if self.silent in words else f"{words}\n\nIf there is nothing to store, answer {self.silent}."

    def warning_text(self, tokens: int, size: int) -> str:
        """The text that tells a model how full its window is."""
        percent = str(tokens * 100 // max(size, 1))
        return fill(self.warning, {"percent": percent, "tokens": f"{tokens:,}", "window": f"{size:,}"})

    def is_silent(self, reply: str) -> bool:
        """Whether a reply only says that there is nothing to say, so that a host need not show it."""
        return _bare(reply) in ("", _bare(self.silent))

    def is_nothing(self, reply: str) -> bool:
        """Whether a reply to the question what to store names nothing."""
        return self.is_silent(reply) or _bare(reply) == _NOTHING or len(reply.strip()) < _LEAST_REPLY


class Due(msgspec.Struct, frozen=True):
    """The `steps` that are due, in their order, and the number of tokens from which on each step is.

    `prompt` asks for a flush in a turn of its own, `warning` is to be put before the model; "" when not due.
    Nobody need read the reply `silent` to the prompt.
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
    """What is due, with the texts for the model. The arguments are those of `Window.due`; `note` is the path of the
    note of `today`."""
    steps = window.due(tokens, size, cycle, flushed, may_store)
    prompt = window.flush_prompt(note, today) if "flush" in steps else ""
    warning = window.warning_text(tokens or 0, size) if "warn" in steps else ""
    return Due(steps, window.thresholds(size), prompt, warning, window.silent)


def _part(size: int, share: float) -> int:
    # Rounded first, as floats are not exact: 0.55 * 100 is 55.00000000000001, and would become 56.
    return ceil(round(size * share, 6))


def _bare(reply: str) -> str:
    """A reply without the signs that models put around a word."""
    return reply.strip().strip("`*_\"'.!() \n").casefold()
