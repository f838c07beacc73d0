"""TOML that people write: read as a type, and errors that name the key and what it could be."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from ..errors import InvalidSettings
from . import comparison
from .edit import BOM
from .structs import converted
from .wrong_values import place_in, value_at, wrong_value

T = TypeVar("T", bound=msgspec.Struct)
#: Settings and profiles of more characters are not read; our own profiles have a few thousand.
MOST_TEXT = 64_000
#: A key or the header of a table has no more parts than so many dots part.
MOST_DOTS = 8
#: A text or a comment in TOML. A quote that is never closed goes to the end, or is none: no end is sought twice. Three
#: quotes that close may have two more before them, which belong to the text.
QUOTED = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?(?:\"{3,5}+|\\?\Z)|'{3}.*?(?:'{3,5}+|\Z)|"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?|#[^\n]*""",
    re.DOTALL,
)
_UNKNOWN = "unknown setting"
_TIMES = (datetime, date, time)  # which TOML has, and msgspec reads as they are
_UNKNOWN_FIELD = re.compile("unknown field `([^`]*)`")
_MISSING = re.compile("missing required field `([^`]*)`")
_DEEP = re.compile(rf"\.(?:[ \t]*+[A-Za-z0-9_-]++[ \t]*+\.){{{MOST_DOTS}}}")


def read(text: str, file: str, kind: type[T]) -> T:
    """What `text` says, as a value of `kind`; `file` is named in errors.

    Raises:
        InvalidSettings: not TOML, an unknown key, a value of the wrong kind, or more than settings need.
    """
    check_extent(text, file)
    try:
        return converted(msgspec.toml.decode(text.removeprefix(BOM)), kind, _TIMES, str_keys=True)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{file}: {_reason(str(error), kind, text.removeprefix(BOM))}") from None
    except RecursionError:
        raise InvalidSettings(f"{file} is not TOML that we read: it is nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:  # a number of thousands of digits is a ValueError
        raise InvalidSettings(f"{file} is not TOML: {error}") from None


def read_known(text: str, file: str, kind: type[T]) -> tuple[T, str]:
    """What `text` says with keys that `kind` knows, and what is wrong with the others; "" when there are none.

    Raises:
        InvalidSettings: as `read`, but for unknown keys.
    """
    try:
        return read(text, file, kind), ""
    except InvalidSettings as error:
        problem = str(error)
        if _UNKNOWN not in problem:
            raise
    try:
        known = _known(msgspec.toml.decode(text.removeprefix(BOM)), kind)
        return converted(known, kind, _TIMES, str_keys=True), problem
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError, RecursionError):
        raise InvalidSettings(problem) from None


def _known(table: Any, kind: type[msgspec.Struct]) -> Any:
    """A table without the keys that `kind` does not know, tables in it likewise."""
    if not isinstance(table, dict):
        return table
    kinds = {key: struct_in(hint) for key, hint in get_type_hints(kind).items()}
    return {
        key: _known(value, inner) if (inner := kinds[key]) else value for key, value in table.items() if key in kinds
    }


def check_extent(text: str, file: str) -> None:
    """Refuse settings that would take long to read: a stranger may have written them.

    Raises:
        InvalidSettings: the text has more than `MOST_TEXT` characters, or a key in it more than `MOST_DOTS` dots.
    """
    if len(text) > MOST_TEXT:
        raise InvalidSettings(f"{file} has {len(text):,} characters; at most {MOST_TEXT:,} are read, so shorten it")
    if line := deep_line(text):
        raise InvalidSettings(f"{file}, line {line}: a key has more than {MOST_DOTS} dots; no setting is so deep")


def deep_line(text: str) -> int:
    """The number of the first line with a key of more than `MOST_DOTS` dots, 0 for none.

    To parse a key takes time and memory in proportion to the square of its parts.
    """
    if text.count(".") <= MOST_DOTS:
        return 0
    found = _DEEP.search(without_quoted(text))
    return text.count("\n", 0, found.start()) + 1 if found else 0


def without_quoted(text: str) -> str:
    """`text` in its lines and length, with `_` for what stands in quotes and `#` for comments."""
    return QUOTED.sub(lambda found: re.sub(r"[^\n]", "#" if found[0][0] == "#" else "_", found[0]), text)


def struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The type of table that values of a type are or hold; None for plain ones."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next((found for each in get_args(hint) if (found := struct_in(each))), None)


def _reason(message: str, kind: type[msgspec.Struct], text: str) -> str:
    """msgspec's message in words of a file, with the nearest known key or value; `text` is what the file says."""
    place, data = place_in(message), msgspec.toml.decode(text)
    if message.startswith("Invalid enum value"):
        value = value_at(data, place)
        value = value if isinstance(value, str) else message.split("'")[1]  # a key, or a value of one that is not named
        words = f"{place} cannot have the key" if " at `key` in " in message else f"{place} cannot be"
        return f"{words} {value!r}; {nearest(value, _possible_values(kind, place))}"
    if words := wrong_value(message, place or "the file", value_at(data, place)):
        return words
    unknown, missing = _UNKNOWN_FIELD.search(message), _MISSING.search(message)
    if missing:
        return f"`{_joined(place, missing[1])}` is missing"
    if not unknown:
        return message.partition(" - at `")[0]
    known = _table_at(kind, _keys(place)).__struct_fields__
    return f"{_UNKNOWN} `{_joined(place, unknown[1])}`; {nearest(unknown[1], known)}"


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _keys(place: str) -> list[str]:
    """The keys on the way to a place, as `part[0].kinds`; which of several tables it is says nothing of its type."""
    return re.sub(r"\[[^\[\]]*\]", "", place).split(".") if place else []


def _table_at(kind: type[msgspec.Struct], keys: Sequence[str]) -> type[msgspec.Struct]:
    for key in keys:
        kind = struct_in(get_type_hints(kind)[key]) or kind
    return kind


def _possible_values(kind: type[msgspec.Struct], place: str) -> tuple[str, ...]:
    """Return the texts that a setting of literals can be, and "a number" where it can be one, too."""
    *tables, key = _keys(place)
    hint, more = get_type_hints(_table_at(kind, tables))[key], list[str]()
    while not all(isinstance(value, str) for value in get_args(hint)):
        more += ["a number"] if int in get_args(hint) else []
        hint = get_args(hint)[0]
    return (*get_args(hint), *more)


def nearest(unknown: str, known: Sequence[str]) -> str:
    """The words after an unknown key or value: the known one that is most like it, or else all that are known."""
    near = comparison.nearest(unknown, known)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
