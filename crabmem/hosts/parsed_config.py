"""A config as a value: its text, the data in it, and changes of the text that keep every other byte."""

import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from ..errors import BadConfig
from ..text import jsonc, toml_edit, yaml_edit
from ..text.jsonc import Path, at
from .host import Format

TEXT: Path = ("text",)


class _Editor(Protocol):
    """A module of `text` that parses a format, and changes a text of it in place."""

    def parse(self, text: str, /) -> object: ...
    def put(self, text: str, path: Path, value: object, /) -> str: ...
    def drop(self, text: str, path: Path, /) -> str: ...


_EDITORS: dict[Format, _Editor] = {"json": jsonc, "jsonc": jsonc, "toml": toml_edit, "yaml": yaml_edit}
_TOO_ODD = "it is written in a way that cannot be changed safely; change it by hand"


@dataclass(frozen=True)
class ParsedConfig:
    """A text and its data. Each change gives another one, parsed again and compared with what was meant."""

    format: Format
    text: str
    data: dict[str, Any]

    def put(self, path: Path, value: object) -> "ParsedConfig":
        """With `value` at `path`; a number one past the end appends."""
        try:
            return self._checked(_put(self.format, self.text, path, value), _with(self.data, path, value))
        except BadConfig as error:
            if self.format != "yaml":
                raise
            where = ".".join(map(str, path[:-1]))
            raise BadConfig(f"{error}: below {where} goes `{path[-1]}: {yaml_edit.flat(value)}`") from None

    def drop(self, path: Path) -> "ParsedConfig":
        """Without what is at `path`."""
        return self._checked(_drop(self.format, self.text, path), _with(self.data, path, None))

    def _checked(self, text: str, meant: object) -> "ParsedConfig":
        try:
            changed = parse(self.format, text)
        except BadConfig:
            raise BadConfig(_TOO_ODD) from None
        if changed.data != meant and (self.format != "toml" or _without_empty(changed.data) != _without_empty(meant)):
            raise BadConfig(_TOO_ODD)
        return changed


def parse(format: Format, text: str) -> ParsedConfig:
    """Parse `text`; a blank one has no data.

    Raises:
        BadConfig: it is not of that format; the message begins with the line.
    """
    data = _parse(format, text) if text.strip() else {}
    if not isinstance(data, dict):
        raise BadConfig("line 1: it is not an object with names in it")
    return ParsedConfig(format, text, data)


def _parse(format: Format, text: str) -> object:
    if format == "text":
        return {TEXT[0]: text}
    return jsonc.parse(text, strict=True) if format == "json" else _EDITORS[format].parse(text)


def _put(format: Format, text: str, path: Path, value: object) -> str:
    if format == "text":
        return str(value)
    is_blank_json = format in ("json", "jsonc") and not text.strip()
    return _EDITORS[format].put("{}\n" if is_blank_json else text, path, value)


def _drop(format: Format, text: str, path: Path) -> str:
    return "" if format == "text" else _EDITORS[format].drop(text, path)


def _without_empty(value: object) -> object:
    """`value` without empty tables, which TOML need not write."""
    if isinstance(value, dict):
        kept = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in ({}, [])}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


def _with(data: dict[str, Any], path: Path, value: object) -> object:
    """`data` with `value` at `path`, or without what is there for None."""
    changed = copy.deepcopy(data)
    here: Any = changed
    for key, following in pairwise(path):
        if isinstance(here, list) and key == len(here):
            here.append([] if isinstance(following, int) else {})
        elif isinstance(here, dict):
            here.setdefault(key, [] if isinstance(following, int) else {})
        here = at(here, (key,))
    # The text may say it otherwise than it is read, as YAML that names a key twice.
    if not isinstance(here, list if isinstance(path[-1], int) else dict):
        raise BadConfig(_TOO_ODD)
    _set(here, path[-1], value)
    return changed


def _set(here: Any, key: str | int, value: object) -> None:
    if value is None:
        del here[key]
    elif isinstance(here, list) and key == len(here):
        here.append(value)
    else:
        here[key] = copy.deepcopy(value)
