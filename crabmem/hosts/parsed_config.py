"""A config as a value: its text, the data in it, and edits of the text that leave every other byte as it is."""

import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from ..errors import BadConfig
from ..text import jsonc, toml_edit, yaml_edit
from ..text.jsonc import Path, at
from .host import Format

#: The path at which a config of the format "text" has its whole text.
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
    """The text of a config, and its data.

    `put` and `drop` edit the text in place, parse the result, and compare it with what the edit was to give: a text
    that the editors misunderstand is refused rather than damaged.
    """

    format: Format
    text: str
    data: dict[str, Any]

    def put(self, path: Path, value: object) -> "ParsedConfig":
        """Return the config with `value` at `path`; an index one past the end of an array appends.

        Raises:
            BadConfig: the text cannot be edited safely. For YAML the message says what to write by hand.
        """
        try:
            return self._checked(_put(self.format, self.text, path, value), _with(self.data, path, value))
        except BadConfig as error:
            if self.format != "yaml":
                raise
            where = ".".join(map(str, path[:-1]))
            raise BadConfig(f"{error}: below {where} goes `{path[-1]}: {yaml_edit.flat(value)}`") from None

    def drop(self, path: Path) -> "ParsedConfig":
        """Return the config without what is at `path`.

        Raises:
            BadConfig: the text cannot be edited safely.
        """
        return self._checked(_drop(self.format, self.text, path), _with(self.data, path, None))

    def _checked(self, text: str, meant: object) -> "ParsedConfig":
        """Return the config of an edited `text`, whose data must be `meant`; in TOML, but for empty tables.

        Raises:
            BadConfig: the data are others, or `text` cannot be parsed.
        """
        try:
            changed = parse(self.format, text)
        except BadConfig:
            raise BadConfig(_TOO_ODD) from None
        if changed.data != meant and (self.format != "toml" or _without_empty(changed.data) != _without_empty(meant)):
            raise BadConfig(_TOO_ODD)
        return changed


def parse(format: Format, text: str) -> ParsedConfig:
    """Parse `text`; a blank one has the data {}.

    Raises:
        BadConfig: the text is not of this format, or no object; the message begins with the line.
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
    """Return a copy of `data` with `value` at `path`, or without what is there if `value` is None.

    Objects and arrays on the way are made: an array if the next key is a number.

    Raises:
        BadConfig: something else is on the way.
    """
    changed = copy.deepcopy(data)
    here: Any = changed
    for key, following in pairwise(path):
        if isinstance(here, list) and key == len(here):
            here.append([] if isinstance(following, int) else {})
        elif isinstance(here, dict):
            here.setdefault(key, [] if isinstance(following, int) else {})
        here = at(here, (key,))
    # The text may have an object or array here where the data do not, as YAML that names a key twice.
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
