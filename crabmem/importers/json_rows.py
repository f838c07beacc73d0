"""The rows (items) of exports in JSON, and how their fields become those of a fact."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ..errors import CrabmemError, InvalidArguments
from ..text.edit import BOM
from ..text.entry import decode
from ..text.words import shortened
from .base import JSON, Found, Skipped, Tree, without_path
from .texts import MAX_SUMMARY

#: Characters of a name.
MAX_NAME = 80
# Characters of a field that goes into a frontmatter. Longer ones, such as embedding vectors, are left out.
_MAX_FIELD = 2_000
_LISTS = ("results", "memories")
#: The place of a row, and its value, or why there is none: a CrabmemError or Skipped.
Row: TypeAlias = tuple[str, Any]


def rows(tree: Tree) -> Iterator[Row]:
    """Yield the rows of all JSON files: the items of a list, the lines of a file in JSON Lines, or the whole value.

    A file or a line that cannot be read gives its error as the value; what lies beside the lists of rows is Skipped.
    """
    for path, error in tree.files.items():
        if error or path.lower().endswith(JSON):
            try:
                yield from [(path, error)] if error else _rows_of_text(path, decode(path, tree.read(path)))
            except CrabmemError as broken:
                yield path, without_path(broken, path)


def _rows_of_text(path: str, text: str) -> Iterator[Row]:
    """Yield the rows of a file: those of the one value that it is, else a value for each line."""
    text = text.removeprefix(BOM)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield from _lines(path, text, error)
        return
    rows = _rows_in(whole)
    yield from ((f"{path}[{number}]", row) for number, row in enumerate(rows)) if rows is not None else [(path, whole)]
    if rows is not None and isinstance(whole, dict):
        taken = ("entities", "relations") if isinstance(whole.get("entities"), list) else ()
        others = {key: value for key, value in whole.items() if key not in taken and value is not rows}
        beside = (key for key, value in others.items() if value and isinstance(value, list | dict))
        yield from ((f"{path}[{key}]", Skipped("it is none of the memories; these alone are taken")) for key in beside)


def _rows_in(whole: Any) -> list[Any] | None:
    """Return the rows in the value of a whole file, a list or one within; None if the value is itself one row.

    Entities and relations of the MCP server `memory` get the `type` that its JSON Lines have.
    """
    if isinstance(whole, list):
        return whole
    if not isinstance(whole, dict):
        return None
    if isinstance(whole.get("entities"), list):
        return [*_with_type(whole, "entities", "entity"), *_with_type(whole, "relations", "relation")]
    return next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), None)


def _with_type(whole: Mapping[str, Any], key: str, kind: str) -> list[Any]:
    rows = whole.get(key)
    return [{"type": kind, **row} if isinstance(row, dict) else row for row in rows] if isinstance(rows, list) else []


def _lines(path: str, text: str, error: Exception) -> Iterator[Row]:
    """Yield the value in each line. If the first line is no JSON, the file was meant as one value: yield `error`."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines or isinstance(_value(lines[0][1]), CrabmemError):
        first = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        yield path, InvalidArguments(f"line {first}: it is not JSON ({_reason(error)})")
        return
    for number, line in lines:
        found = _value(line)
        yield (
            f"{path}:{number}",
            InvalidArguments(f"line {number}: {found}") if isinstance(found, CrabmemError) else found,
        )


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return InvalidArguments(f"it is not JSON ({_reason(error)})")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return error.msg.lower() if isinstance(error, json.JSONDecodeError) else str(error)


def has_rows_with(tree: Tree, *keys: str) -> bool:
    """Whether there is only one file, and its first object has texts under all these keys."""
    found: Iterator[Any] = (row for _, row in rows(tree)) if len(tree.files) == 1 else iter(())
    first: dict[str, Any] = next((row for row in found if isinstance(row, dict)), {})
    return all(isinstance(first.get(key), str) for key in keys)


def other_fields(row: Mapping[str, Any], known: Container[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a row other than `known`, as values for a frontmatter, and the names of those too long for
    it.

    Empty ones are left out of both.
    """
    others = {str(key): _header_value(value) for key, value in row.items() if key not in known}
    said = {key: value for key, value in others.items() if value not in (None, "", [], {})}
    long = [key for key, value in said.items() if len(json.dumps(value)) > _MAX_FIELD]
    return {key: value for key, value in said.items() if key not in long}, long


def _header_value(value: Any) -> Any:
    """Return a value of JSON for a frontmatter, in which everything but lists and objects is text; None for null."""
    if isinstance(value, dict):
        return {str(key): _header_value(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_header_value(each) for each in value if each is not None]
    return value if isinstance(value, str) or value is None else json.dumps(value)


def fields_left_out(where: str, fields: Iterable[str]) -> Iterator[Found]:
    """Yield, as skipped, the fields of the row at `where` that are too long for a frontmatter."""
    return (Found(f"{where}.{field}", Skipped("it is too long for a frontmatter")) for field in fields)


def short_text(value: object) -> str:
    """Return a text or a number as a text of at most `MAX_SUMMARY` characters; "" for anything else."""
    return shortened(str(value), MAX_SUMMARY) if isinstance(value, str | int | float) else ""
