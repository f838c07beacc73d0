"""Conversion between the values of a store and the facts that hold them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from ...errors import InvalidArguments
from ...text.entry import MAX_DESCRIPTION, Entry, Fact
from ...text.keys import Key, key_in, ttl_text

# Keys under which values have their text. The first of them with a text is taken.
_FIELDS = ("content", "text", "data", "memory")
_OPENING, _CLOSING = "```json\n", "\n```"

Value = Mapping[str, Any]


def fact_of(key: Key, value: Value, index: Sequence[str] | None = None, ttl: float | None = None) -> Fact:
    """Return the fact that holds a value.

    `index` are the paths in the value that are searched: None for the usual ones, [] to exclude it from search. `ttl`
    is how many minutes it lives; None for ever. Key, field, `index` and `ttl` go into the frontmatter; None removes a
    key.

    Raises:
        InvalidArguments: the value is not representable in JSON.
    """
    rest = dict(value)
    field = next((field for field in _FIELDS if _is_text(rest.get(field))), None)
    text = rest.pop(field) if field else ""
    description = rest.pop("description") if _is_line(rest.get("description")) else ""
    content = _joined(text, rest)
    keys = {"field": None if field in (None, _FIELDS[0]) else field, "ttl": ttl_text(ttl), "index": index}
    return Fact(key.name, description, content, keys=keys)


def value_of(entry: Entry) -> dict[str, Any]:
    """Return the value that an entry holds, with a person's edits. If no store made the entry, all content is text."""
    if key_in(entry.keys) is None:
        text, rest = entry.content, dict[str, Any]()
    else:
        text, rest = _parted(entry.content)
    field = str(entry.keys.get("field") or _FIELDS[0])
    found = {field: text} if text else {}
    return found | ({"description": entry.description} if entry.description else {}) | rest


def paths_of(entry: Entry) -> list[str] | None:
    """Return the paths in the value of an entry that are searched: None for the usual ones, [] for no search."""
    paths = entry.keys.get("index") if key_in(entry.keys) else None
    return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else None


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value != ""


def _is_line(value: object) -> bool:
    return _is_text(value) and len(value) <= MAX_DESCRIPTION


def _joined(text: str, rest: Value) -> str:
    """Return a text with a JSON block of the rest behind it.

    Without a rest there is no block, unless the text is empty, or itself ends with a block: then an empty one follows,
    so that `_parted` gives back the same text.
    """
    if text and not rest and _parted(text) == (text, {}):
        return text
    return "\n\n".join(filter(None, (text, f"{_OPENING}{_as_json(rest)}{_CLOSING}")))


def _parted(content: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a content, and the object in the JSON block at its end; without such a block, all and {}."""
    text, opening, block = f"\n\n{content}".rpartition(f"\n\n{_OPENING}")
    if not opening or not block.rstrip().endswith(_CLOSING):
        return content, {}
    try:
        rest = json.loads(block.rstrip().removesuffix(_CLOSING))
    except (ValueError, RecursionError):
        return content, {}
    return (text.removeprefix("\n\n"), rest) if isinstance(rest, dict) else (content, {})


def _as_json(rest: Value) -> str:
    try:
        return json.dumps(rest, ensure_ascii=False, allow_nan=False, indent=2)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArguments(f"a value must be what JSON can say: {error}") from None
