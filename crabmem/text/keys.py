"""Keys of entries that a store of keys and values keeps: a namespace and a name in it, which the frontmatter says.

An entry whose frontmatter names none is from a person or a tool: its key is its name, in `DEFAULT_NAMESPACE`.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from ..errors import InvalidArguments
from .entry import Entry

DEFAULT_NAMESPACE = ("memory",)
# Between the parts of a label; no text of an entry has it.
_BETWEEN = "\0"
_LONGEST_NAME = 200
# Minutes: a hundred years.
_LONGEST_LIFE = 52_560_000


class Key(NamedTuple):
    """A key in a namespace, exactly as both were given."""

    namespace: tuple[str, ...]
    key: str

    @property
    def label(self) -> str:
        """The key as one text, which no other key has."""
        return _BETWEEN.join((*self.namespace, self.key))

    @property
    def name(self) -> str:
        """The name of a fact kept under it: `users/ada/coffee`; in `DEFAULT_NAMESPACE` `coffee`."""
        parts = (self.key,) if self.namespace == DEFAULT_NAMESPACE else (*self.namespace, self.key)
        shown = "".join(char if char.isprintable() else " " for char in "/".join(parts))
        return " ".join(shown.split())[:_LONGEST_NAME] or "item"

    @property
    def keys(self) -> dict[str, str | Sequence[str] | None]:
        """The keys of the frontmatter that name it."""
        return {"namespace": self.namespace, "key": self.key}

    @property
    def mark(self) -> str:
        """A short digest that tells this key from others and does not show it."""
        return self.digest(16)

    def digest(self, digits: int) -> str:
        """The first `digits` hex digits of a digest of the key."""
        import hashlib  # late, as it loads OpenSSL: few keys are asked for it

        return hashlib.sha256(self.label.encode()).hexdigest()[:digits]


def key_with_label(label: str) -> Key:
    """The key with that label."""
    *namespace, key = label.split(_BETWEEN)
    return Key(tuple(namespace), key)


def label_prefix(namespace: tuple[str, ...]) -> str:
    """What the labels of a namespace and those below it begin with, and no others."""
    return "".join(f"{part}{_BETWEEN}" for part in namespace)


def key_in(keys: Mapping[str, object]) -> Key | None:
    """The key that the frontmatter `keys` of an entry name; None where they name none."""
    namespace, key = keys.get("namespace"), keys.get("key")
    if not isinstance(namespace, list) or not isinstance(key, str):
        return None
    parts = [part for part in (*namespace, key) if isinstance(part, str) and _BETWEEN not in part]
    return Key(tuple(parts[:-1]), key) if len(parts) == len(namespace) + 1 else None


def key_of(entry: Entry) -> Key:
    """The key of an entry."""
    return key_in(entry.keys) or Key(DEFAULT_NAMESPACE, entry.name)


def ttl_text(minutes: float | None) -> str | None:
    """The `ttl` of the frontmatter of an item: so long it lives after it was last put or read; None for one that stays.

    Raises:
        InvalidArguments: `minutes` is no number, negative, or more than a hundred years.
    """
    if minutes is None:
        return None
    if not math.isfinite(minutes) or not 0 <= minutes <= _LONGEST_LIFE:
        raise InvalidArguments(f"a ttl is a number of minutes from 0 to {_LONGEST_LIFE}, not {minutes}")
    return f"{minutes:.12g} minutes"


def ttl_of(keys: Mapping[str, object]) -> timedelta | None:
    """The time that an item lives after it was last put or read, as its frontmatter says; None when it stays."""
    ttl = keys.get("ttl")
    try:
        minutes = float(ttl.removesuffix(" minutes") if isinstance(ttl, str) else "")
    except ValueError:
        return None
    return timedelta(minutes=minutes) if 0 <= minutes <= _LONGEST_LIFE else None


def check_key(key: Key) -> None:
    """Check that `key` can be kept.

    Raises:
        InvalidArguments: a part is no text, or holds a NUL.
    """
    for part in (*key.namespace, key.key):
        if not isinstance(part, str) or _BETWEEN in part:
            raise InvalidArguments(f"{part!r} cannot be part of a namespace or a key; give a text without NUL")
