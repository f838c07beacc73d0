"""The budget of a prompt: how much of a text goes into it, all or its head and tail with a mark between.

The mark counts, so that nothing is ever longer than it may be; the file itself is never touched.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from ..text.limits import MAX_PROMPT
from ..text.templates import fill

Share = Annotated[float, Meta(ge=0, le=1)]


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many characters go into a prompt, `[budget]` in a profile. Of what is too long `head` and `tail` stay."""

    part: Annotated[int, Meta(ge=1, le=MAX_PROMPT)] = 262_144
    """Characters of one part."""
    total: Annotated[int, Meta(ge=1, le=MAX_PROMPT)] = 1_048_576
    """Characters of all parts together, without those that have a share."""
    head: Share = 0.7
    """Of a text that is too long its beginning gets so much of the room."""
    tail: Share = 0.2
    """And its end so much."""
    least: Annotated[int, Meta(ge=0)] = 64
    """A part with room for fewer characters is left out."""
    mark: str = "\n\n[...truncated: {kept} of {of} characters of {file}, read it for the rest...]\n\n"
    """Stands where something was cut; {file}, {kept} and {of} are the file and how much of how many characters stay,
    {root} is the folder of the workspace.
    """


def cut(text: str, room: int, budget: Budget, file: str, of: int = 0, root: str = "") -> str:
    """Cut `text` to `room` characters: its head, the mark and its tail. A text that fits is returned as it is.

    "" if there is less room than `budget.least`. `of` is the length of the original if the caller has taken out some of
    its middle already: then a mark is put in even if `text` fits.
    """
    of = max(of, len(text))
    if len(text) <= room and of == len(text):
        return text
    if room < budget.least:
        return ""
    # The longest that the mark can be: it names the number of characters kept, which depends on its own length.
    mark = _mark(budget, file, of, of, root)
    space = room - len(mark)
    if space <= 0:
        return text[:room]
    head, tail = int(room * budget.head), int(room * budget.tail)
    if head + tail > space:
        head = space * head // (head + tail)
        tail = space - head
    tail = min(tail, len(text))
    head = min(head, len(text) - tail)
    return text[:head] + _mark(budget, file, head + tail, of, root) + text[len(text) - tail :]


def _mark(budget: Budget, file: str, kept: int, of: int, root: str) -> str:
    return fill(budget.mark, {"file": file, "kept": str(kept), "of": str(of), "root": root})
