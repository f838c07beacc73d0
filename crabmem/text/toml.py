"""TOML that people write: read as a type, and errors that name the key and what it could be."""

from __future__ import annotations

import re

from ..errors import InvalidSettings
from .edit import BOM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    import msgspec

    T = TypeVar("T", bound=msgspec.Struct)
#: Settings and profiles of more characters are not read; our own profiles have a few thousand.
MOST_TEXT = 64_000
#: A key or the header of a table has no more parts than so many dots part.
MOST_DOTS = 8
# A text or a comment in TOML. A quote that is never closed goes to the end, or is none: no end is sought twice. Three
# quotes that close may have two more before them, which belong to the text.
_QUOTED = r"""\"{3}(?:\\.|[^\\])*?(?:\"{3,5}+|\\?\Z)|'{3}.*?(?:'{3,5}+|\Z)|"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?|#[^\n]*"""
_UNKNOWN = "unknown setting"
_PLACE = r"at (?:`key` in )?`\$\.?([^`]*)`\Z"
_DEEP = rf"\.(?:[ \t]*+[A-Za-z0-9_-]++[ \t]*+\.){{{MOST_DOTS}}}"


def read(text: str, file: str, kind: type[T]) -> T:
    """What `text` says, as a value of `kind`; `file` is named in errors.

    Raises:
        InvalidSettings: not TOML, an unknown key, a value of the wrong kind, or more than settings need.
    """
    return converted(tables_in(text, file), file, kind)


def tables_in(text: str, file: str) -> dict[str, Any]:
    """What `text` says, as plain values; `file` is named in errors.

    Raises:
        InvalidSettings: not TOML, or more than settings need.
    """
    check_extent(text, file)
    import tomllib

    try:
        return tomllib.loads(text.removeprefix(BOM))
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError as error:  # TOML's, and that of a number of thousands of digits
        raise InvalidSettings(f"{file} is not TOML: {error}") from None


def converted(found: dict[str, Any], file: str, kind: type[T]) -> T:
    """Plain values as a value of `kind`; `file` is named in errors.

    Raises:
        InvalidSettings: an unknown key, or a value of the wrong kind.
    """
    import msgspec

    try:
        return msgspec.convert(found, kind, builtin_types=_times(), str_keys=True)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{file}: {_reason(str(error), kind)}") from None
    except RecursionError:
        raise _too_deep(file) from None


def _too_deep(file: str) -> InvalidSettings:
    return InvalidSettings(f"{file} is not TOML that we read: it is nested too deeply")


def _times() -> tuple[type, ...]:
    """What TOML has and JSON has not, which stays as it is."""
    from datetime import date, datetime, time

    return datetime, date, time


def known_in(found: dict[str, Any], file: str, kind: type[T]) -> tuple[T, str]:
    """What plain values say with keys that `kind` knows, and what is wrong with the others; "" when there are none.

    Raises:
        InvalidSettings: as `converted`, but for unknown keys.
    """
    import msgspec

    try:
        return converted(found, file, kind), ""
    except InvalidSettings as error:
        problem = str(error)
        if _UNKNOWN not in problem:
            raise
    try:
        return msgspec.convert(_known(found, kind), kind), problem
    except (msgspec.ValidationError, ValueError, RecursionError):
        raise InvalidSettings(problem) from None


def _known(table: Any, kind: type[msgspec.Struct]) -> Any:
    """A table without the keys that `kind` does not know, tables in it likewise."""
    if not isinstance(table, dict):
        return table
    from typing import get_type_hints

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
    found = re.search(_DEEP, without_quoted(text))
    return text.count("\n", 0, found.start()) + 1 if found else 0


def without_quoted(text: str) -> str:
    """`text` in its lines and length, with `_` for what stands in quotes and `#` for comments."""
    return re.sub(_QUOTED, _hidden, text, flags=re.DOTALL)


def _hidden(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "#" if found[0][0] == "#" else "_", found[0])


def struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The type of table that values of a type are or hold; None for plain ones."""
    from typing import get_args

    import msgspec

    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next((found for each in get_args(hint) if (found := struct_in(each))), None)


def _reason(message: str, kind: type[msgspec.Struct]) -> str:
    """msgspec's message in words of a file, with the nearest known key or value."""
    found = re.search(_PLACE, message)
    place = found[1] if found else ""
    if message.startswith("Invalid enum value"):
        return f"{message.replace('`$.', '`')}; {nearest(message.split(chr(39))[1], _values(kind, place))}"
    unknown = message.partition("unknown field `")[2].partition("`")[0]
    if not unknown:
        words = re.sub(r"Object missing required field (`[^`]*`)", r"\1 is missing", message)
        return words.replace("`$.", "`").replace("Object", "the file")
    known = _table_at(kind, _keys(place)).__struct_fields__
    return f"{_UNKNOWN} `{'.'.join([*filter(None, [place]), unknown])}`; {nearest(unknown, known)}"


def _keys(place: str) -> list[str]:
    """The keys on the way to a place, as `part[0].kinds`; which of several tables it is says nothing of its type."""
    return re.sub(r"\[[^\[\]]*\]", "", place).split(".") if place else []


def _table_at(kind: type[msgspec.Struct], keys: Sequence[str]) -> type[msgspec.Struct]:
    from typing import get_type_hints

    for key in keys:
        kind = struct_in(get_type_hints(kind)[key]) or kind
    return kind


def _values(kind: type[msgspec.Struct], place: str) -> tuple[str, ...]:
    """What may be said at a place."""
    from typing import get_args, get_type_hints

    *tables, key = _keys(place)
    hint = get_type_hints(_table_at(kind, tables))[key]
    while not all(isinstance(value, str) for value in get_args(hint)):
        hint = get_args(hint)[0]
    return get_args(hint)


def nearest(unknown: str, known: Sequence[str]) -> str:
    """The words after an unknown key or value: the known one that is most like it, or else all that are known."""
    import difflib  # late: most keys are known

    near = difflib.get_close_matches(unknown, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
