"""YAML as people keep it in settings: a value is put in and taken out at its place in the text, so that all else stays.

The places are those that PyYAML finds. An odd text may come out wrong; the caller reads it again and compares.
"""

import sys
from collections.abc import Iterator
from typing import Any

import yaml

from ..errors import BadConfig
from .jsonc import Path


def parse(text: str) -> object:
    """The value that `text` holds; an empty mapping where it holds none.

    Raises:
        BadConfig: not YAML; the message begins with the line.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadConfig(f"line {line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # What PyYAML itself stumbles over: `2026-13-99`, `!!int ""`, `!!timestamp x`.
        raise BadConfig("line 1: a value in it cannot be read, or it is nested too deeply") from None
    return {} if data is None else data


def put(text: str, path: Path, value: object) -> str:
    """`text` with `value` at `path`, and with the mappings on the way to it.

    Raises:
        BadConfig: something on the way is no mapping.
    """
    here = _root(text)
    holder: Any = None
    for depth, key in enumerate(path):
        if here is not None and here.id != "mapping":
            raise BadConfig(f"line {here.start_mark.line + 1}: {key!r} can only stand in a mapping; change it by hand")
        pair = next((pair for pair in here.value if pair[0].value == key), None) if here else None
        if pair is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _with_key(text, here, holder, str(key), value)
        holder, here = pair
    start = _value_start(text, holder)
    return f"{text[:start]} {flat(value)}{text[_end(text, here) :]}"


def drop(text: str, path: Path) -> str:
    """`text` without the key at `path`, which must be there."""
    here, holder, number = _root(text), None, 0
    for depth, key in enumerate(path):
        number = next(number for number, pair in enumerate(here.value) if pair[0].value == key)
        if depth < len(path) - 1:
            holder, here = here.value[number]
    name, value = here.value[number]
    start, end = name.start_mark.index, _end(text, value)
    if here.flow_style:
        if number + 1 < len(here.value):
            end = here.value[number + 1][0].start_mark.index
        elif number:
            start = _end(text, here.value[number - 1][1])
        return text[:start] + text[end:]
    start, end = text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)
    # The only key of its mapping goes: `{}` takes its place, as a key without a value would be null.
    colon = _value_start(text, holder) if holder and len(here.value) == 1 else start
    return text[:colon] + (" {}" if colon < start else "") + text[colon:start] + text[end:]


def flat(value: object) -> str:
    """`value` on one line, as it may stand anywhere."""
    line = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, sort_keys=False, width=sys.maxsize)
    return line.strip("\n")[1:-1]


def _with_key(text: str, here: Any, holder: Any, key: str, value: object) -> str:
    """`text` with a new key in the mapping `here`: its first, and in the outermost its last."""
    if here and here.flow_style:
        start = here.value[0][0].start_mark.index if here.value else here.start_mark.index + 1
        return f"{text[:start]}{flat(key)}: {flat(value)}{', ' if here.value else ''}{text[start:]}"
    margin = " " * here.value[0][0].start_mark.column if here else ""
    added = "".join(f"{margin}{line}\n" for line in _block(key, value))
    start = text.find("\n", holder.end_mark.index) + 1 if holder else len(text)
    gap = "" if not text[:start] or text[:start].endswith("\n") else "\n"
    added = gap + added
    return text[:start] + (added.replace("\n", "\r\n") if "\r\n" in text else added) + text[start:]


def _block(key: str, value: object) -> Iterator[str]:
    """The lines of a key with its value: each mapping has its own, all else has one."""
    if isinstance(value, dict) and value:
        yield f"{key}:"
        for name, item in value.items():
            yield from (f"  {line}" for line in _block(name, item))
    else:
        yield f"{key}: {flat(value)}"


def _root(text: str) -> Any:
    """The outermost node; None where there is none."""
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _value_start(text: str, key: Any) -> int:
    return text.index(":", key.end_mark.index) + 1


def _end(text: str, node: Any) -> int:
    """Where a node ends; for PyYAML one that is written as a block includes the blank lines and comments after it."""
    if isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    return len(text[: node.end_mark.index].rstrip()) if node.value else int(node.end_mark.index)
