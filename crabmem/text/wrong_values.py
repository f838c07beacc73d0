"""What is wrong with a value that a person wrote, in their words: made of msgspec's message and of the value. Pure."""

from __future__ import annotations

import re
from typing import Any

from .words import shortened

_CALLED = {
    "int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false", "array": "a list",
    "object": "a table",
}  # fmt: skip
_PLACE = re.compile(r"at (?:`key` in )?`\$\.?([^`]*)`\Z")
_EXPECTED = re.compile(r"Expected `([^`]*)`(?: (>=|<=|>|<) (\S+)| of length (>=|<=) (\d+)|( matching regex))?")
_BOUNDS = {">=": "of at least", "<=": "of at most", ">": "above", "<": "below"}
_STEP = re.compile(r"\[(\d+)\]|\[\.\.\.\]|([^.\[\]]+)")
#: Where the path in a message leads nowhere that is known.
UNKNOWN = object()
# Characters of a value that are shown.
_SHOWN = 60


def place_in(message: str) -> str:
    """Where a message says that the value is, as `part[0].kinds`; "" for the whole."""
    found = _PLACE.search(message)
    return found[1] if found else ""


def value_at(data: Any, place: str) -> Any:
    """The value at a place such as `part[0].kinds` in plain data; `UNKNOWN` where the place does not say which."""
    for step in _STEP.finditer(place):
        index, key = step.groups()
        try:
            data = data[int(index)] if index else data[key]
        except (LookupError, TypeError):
            return UNKNOWN
    return data


def wrong_value(message: str, place: str, value: Any) -> str:
    """The words for a value that is of another type, too large or too small; "" where `message` says something else."""
    found = _EXPECTED.match(message)
    if found is None:
        return ""
    types, bound, least, length, count, is_odd = found.groups()
    if is_odd:
        return f"{place} cannot be {shown(value)}"
    wanted = " or ".join(_CALLED.get(each, each) for each in types.split(" | ") if each != "null")
    if length:
        unit = " characters" if types == "str" else ""
        has = "" if value is UNKNOWN else f", and has {len(value):,}"
        return f"{place} must be {wanted} {_BOUNDS[length]} {int(count):,}{unit}{has}"
    limit = f" {_BOUNDS[bound]} {float(least):,.12g}" if bound else ""
    return f"{place} must be {wanted}{limit}" + ("" if value is UNKNOWN else f", and is {shown(value)}")


def shown(value: Any) -> str:
    """A value as one would write it; of a list or a table, that it is one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(shortened(value, _SHOWN))
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else str(value)
