"""TOML that people write: read as a type, and errors that name the key and what it could be."""

import difflib
import re
from collections.abc import Sequence
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from .edit import BOM
from .errors import InvalidSettings

T = TypeVar("T", bound=msgspec.Struct)
_PLACE = re.compile(r"at (?:`key` in )?`\$\.?([^`]*)`\Z")


def read(text: str, file: str, kind: type[T]) -> T:
    """What `text` says, as a value of `kind`; `file` is named in errors.

    Raises:
        InvalidSettings: not TOML, an unknown key, or a value of the wrong kind.
    """
    try:
        return msgspec.toml.decode(text.removeprefix(BOM), type=kind)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{file}: {_reason(str(error), kind)}") from None
    except RecursionError:
        raise InvalidSettings(f"{file} is not TOML that we read: it is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InvalidSettings(f"{file} is not TOML: {error}") from None


def struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The type of table that values of a type are or hold; None for plain ones."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next((found for each in get_args(hint) if (found := struct_in(each))), None)


def _reason(message: str, kind: type[msgspec.Struct]) -> str:
    """msgspec's message in words of a file, with the nearest known key or value."""
    found = _PLACE.search(message)
    place = found[1] if found else ""
    if message.startswith("Invalid enum value"):
        return f"{message.replace('`$.', '`')}; {_instead(message.split(chr(39))[1], _values(kind, place))}"
    unknown = message.partition("unknown field `")[2].partition("`")[0]
    if not unknown:
        told = re.sub(r"Object missing required field (`[^`]*`)", r"\1 is missing", message)
        return told.replace("`$.", "`").replace("Object", "the file")
    known = _table_at(kind, _keys(place)).__struct_fields__
    return f"unknown setting `{'.'.join([*filter(None, [place]), unknown])}`; {_instead(unknown, known)}"


def _keys(place: str) -> list[str]:
    """The keys on the way to a place, as `part[0].kinds`; which of several tables it is says nothing of its type."""
    return re.sub(r"\[[^\[\]]*\]", "", place).split(".") if place else []


def _table_at(kind: type[msgspec.Struct], keys: Sequence[str]) -> type[msgspec.Struct]:
    for key in keys:
        kind = struct_in(get_type_hints(kind)[key]) or kind
    return kind


def _values(kind: type[msgspec.Struct], place: str) -> tuple[str, ...]:
    """What may be said at a place."""
    *tables, key = _keys(place)
    hint = get_type_hints(_table_at(kind, tables))[key]
    while not all(isinstance(value, str) for value in get_args(hint)):
        hint = get_args(hint)[0]
    return get_args(hint)


def _instead(unknown: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(unknown, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
