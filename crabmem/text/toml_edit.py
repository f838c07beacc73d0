"""TOML as people keep it in settings: whole tables are added and taken out as lines, so that all else stays.

tomlkit, which does the rest, gives a comment between two tables to the one above it, and it would go with that.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import BadConfig
from .jsonc import Path, at
from .toml import MOST_DOTS, deep_line, without_quoted

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True)
class _Block:
    """A table as lines: from its header to its last line that says something."""

    path: tuple[str, ...]
    is_element: bool
    start: int
    end: int


def parse(text: str) -> object:
    """The value that `text` holds.

    Raises:
        BadConfig: not TOML, or a key has more dots than we read; the message begins with the line.
    """
    if line := deep_line(text):
        raise BadConfig(f"line {line}: a key has more than {MOST_DOTS} dots, which is not read")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        words = str(error).partition(" (at ")[0]
        raise BadConfig(f"line {found[1] if found else len(text.splitlines())}: {words}") from None
    except (ValueError, RecursionError):
        raise BadConfig("line 1: a number in it is too long, or it is nested too deeply") from None


def put(text: str, path: Path, value: object) -> str:
    """`text` with `value` at `path`: a table, or an element of an array of tables, is added at the end."""
    if isinstance(value, dict) and at(parse(text), path) is None:
        gap = "" if not text or text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
        added = gap + _table(path, value)
        return text + (added.replace("\n", "\r\n") if "\r\n" in text else added)
    return _with_value(text, path, value)


def drop(text: str, path: Path) -> str:
    """`text` without the table, the element or the value at `path`."""
    lines = text.split("\n")
    chosen = list(_blocks_at(_blocks(text), path))
    if not chosen:
        return _with_value(text, path, None)
    for block in reversed(chosen):
        start = block.start
        if start and not lines[start - 1].strip():
            start -= 1
        del lines[start : block.end]
    return "\n".join(lines)


def _blocks_at(blocks: list[_Block], path: Path) -> Iterator[_Block]:
    """The blocks of the table at `path`, and of the tables in it; a number at its end picks one `[[element]]`."""
    names = tuple(key for key in path if isinstance(key, str))
    number = path[-1] if isinstance(path[-1], int) else None
    element = -1  # the number of the `[[element]]` that the blocks are at
    for block in blocks:
        if block.path == names and block.is_element:
            element += 1
        if block.path[: len(names)] == names and number in (None, element):
            yield block


def _blocks(text: str) -> list[_Block]:
    """Return the tables of a text in order; a `[` that begins a line within a value of several lines is no header."""
    blank = without_quoted(text)
    starts, depth = list[int](), 0
    lines = [line.partition("#")[0].strip() for line in blank.split("\n")]
    for number, line in enumerate(lines):
        if not depth and line.startswith("["):
            starts.append(number)
        else:
            depth += sum(map(line.count, "[{")) - sum(map(line.count, "]}"))
    ends = [*starts[1:], len(lines)]
    written = text.split("\n")
    return [_block(written, lines, start, end) for start, end in zip(starts, ends, strict=True)]


def _block(written: list[str], lines: list[str], start: int, end: int) -> _Block:
    while not lines[end - 1]:
        end -= 1
    header = tomllib.loads(written[start].strip())
    path, is_element = list[str](), False
    while header:
        [(name, value)] = header.items()
        is_element = isinstance(value, list)
        path.append(name)
        header = value[0] if is_element else value
    return _Block(tuple(path), is_element, start, end)


def _with_value(text: str, path: Path, value: object) -> str:
    """`text` with another value at `path`, or none there."""
    import tomlkit

    document = tomlkit.parse(text)
    here: Any = document
    for key in path[:-1]:
        here = here.setdefault(key, tomlkit.table(is_super_table=True)) if isinstance(key, str) else here[key]
    if value is None:
        here.pop(path[-1])
    elif isinstance(path[-1], int) and path[-1] == len(here):
        here.append(value)
    else:
        here[path[-1]] = value
    return tomlkit.dumps(document)


def _table(path: Path, value: dict[str, Any]) -> str:
    """A table with its header, each value on a line."""
    header = ".".join(map(_key, (key for key in path if isinstance(key, str))))
    header = f"[[{header}]]" if isinstance(path[-1], int) else f"[{header}]"
    return "".join(f"{line}\n" for line in (header, *(f"{_key(key)} = {_inline(item)}" for key, item in value.items())))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _inline(key)


def _inline(value: object) -> str:
    import tomlkit

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return tomlkit.item(value).as_string()
