"""Where a store of keys and values keeps an entry: under a key in a namespace, which its frontmatter names.

An entry without both is from elsewhere, from a person or a tool: its key is its name, in the namespace `ELSEWHERE`.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from ..errors import InvalidArguments
from .entry import Entry

ELSEWHERE = ("memory",)
# Between the parts of a label; no text of an entry has it.
_BETWEEN = "\0"
_LONGEST_NAME = 200
# Minutes: a hundred years.
_LONGEST_LIFE = 52_560_000


class Slot(NamedTuple):
    """A key in a namespace, exactly as they were given."""

    namespace: tuple[str, ...]
    key: str

    @property
    def label(self) -> str:
        """The slot as one text; no other slot has it."""
        return _BETWEEN.join((*self.namespace, self.key))

    @property
    def name(self) -> str:
        """What to call a fact kept there: `users/ada/coffee`; in `ELSEWHERE` the key alone."""
        parts = (self.key,) if self.namespace == ELSEWHERE else (*self.namespace, self.key)
        shown = "".join(char if char.isprintable() else " " for char in "/".join(parts))
        return " ".join(shown.split())[:_LONGEST_NAME] or "item"

    @property
    def keys(self) -> dict[str, str | Sequence[str] | None]:
        """The frontmatter that says so."""
        return {"namespace": self.namespace, "key": self.key}

    @property
    def mark(self) -> str:
        """What tells this slot from any other, and not what it is called."""
        return self.digest(16)

    def digest(self, digits: int) -> str:
        """So many hex digits that tell this slot from others."""
        return hashlib.sha256(self.label.encode()).hexdigest()[:digits]


def from_label(label: str) -> Slot:
    """The slot with that label."""
    *namespace, key = label.split(_BETWEEN)
    return Slot(tuple(namespace), key)


def label_prefix(namespace: tuple[str, ...]) -> str:
    """What the labels of a namespace and those below it begin with, and no others."""
    return "".join(f"{part}{_BETWEEN}" for part in namespace)


def own_slot(keys: Mapping[str, object]) -> Slot | None:
    """The slot that the frontmatter of an entry names; None when it is from elsewhere."""
    namespace, key = keys.get("namespace"), keys.get("key")
    if not isinstance(namespace, list) or not isinstance(key, str):
        return None
    parts = [part for part in (*namespace, key) if isinstance(part, str) and _BETWEEN not in part]
    return Slot(tuple(parts[:-1]), key) if len(parts) == len(namespace) + 1 else None


def slot_of(entry: Entry) -> Slot:
    """Where an entry is kept."""
    return own_slot(entry.keys) or Slot(ELSEWHERE, entry.name)


def lasting(minutes: float | None) -> str | None:
    """What the frontmatter of an item says that lives so long after it was last put or read; None for one that stays.

    Raises:
        InvalidArguments: nothing lasts so long.
    """
    if minutes is None:
        return None
    if not math.isfinite(minutes) or not 0 <= minutes <= _LONGEST_LIFE:
        raise InvalidArguments(f"a ttl is a number of minutes from 0 to {_LONGEST_LIFE}, not {minutes}")
    return f"{minutes:.12g} minutes"


def life_of(keys: Mapping[str, object]) -> timedelta | None:
    """How long an item lives after it was last put or read, as its frontmatter says; None when it stays."""
    said = keys.get("ttl")
    try:
        minutes = float(said.removesuffix(" minutes") if isinstance(said, str) else "")
    except ValueError:
        return None
    return timedelta(minutes=minutes) if 0 <= minutes <= _LONGEST_LIFE else None


def check_slot(slot: Slot) -> None:
    """Refuse what is no slot.

    Raises:
        InvalidArguments: a part is no text, or holds a NUL.
    """
    for part in (*slot.namespace, slot.key):
        if not isinstance(part, str) or _BETWEEN in part:
            raise InvalidArguments(f"{part!r} cannot be part of a namespace or a key; give a text without NUL")
