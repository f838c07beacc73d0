"""JSON as text: as `json.dumps` writes it, without its parser and what that needs, which take longer than a recall."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

try:
    from _json import encode_basestring as _quoted
except ImportError:  # not of every Python
    from json.encoder import py_encode_basestring as _quoted


def as_json(data: Any, indent: int | None = None) -> str:
    """`data`, which is made of dicts, lists, texts, numbers, booleans and None, as JSON, each item on a line of its own
    with `indent`."""
    return "".join(_pieces(data, indent or 0, "" if indent is None else "\n"))


def _pieces(data: Any, indent: int, line: str) -> Iterator[str]:
    if isinstance(data, str):
        yield _quoted(data)
    elif data is None or data is True or data is False:
        yield {None: "null", True: "true", False: "false"}[data]
    elif isinstance(data, int):
        yield int.__repr__(data)
    elif isinstance(data, float):
        yield (
            float.__repr__(data)
            if data - data == 0
            else "NaN"
            if data != data
            else "Infinity"
            if data > 0
            else "-Infinity"
        )
    elif not data:
        yield "{}" if isinstance(data, dict) else "[]"
    else:
        inner = line and line + " " * indent
        is_dict, between = isinstance(data, dict), "," + (inner or " ")
        yield ("{" if is_dict else "[") + inner
        for at, item in enumerate(data):
            yield between if at else ""
            if is_dict:
                yield _quoted(item) + ": "
            yield from _pieces(data[item] if is_dict else item, indent, inner)
        yield line + ("}" if is_dict else "]")
