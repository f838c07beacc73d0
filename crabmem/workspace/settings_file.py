"""`crabmem.toml` as a file: from its bytes to settings, and from settings to its text."""

import json
import re
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from ..text import toml
from ..text.entry import decode
from ..text.values import fields_of
from .layout import SETTINGS
from .settings import LANGUAGES, MAX_NAME, Settings

_WIDTH = 24
_TABLES = {name: type(usual) for name, usual in vars(Settings()).items() if fields_of(type(usual))}
# Names that the annotations of settings use. `settings.py` imports them only for type checkers, to load faster.
_NAMES = {"Annotated": Annotated, "Literal": Literal, "Meta": Meta, "Language": Literal[LANGUAGES],
          "Folders": tuple[Annotated[str, Meta(max_length=MAX_NAME)], ...]}  # fmt: skip
_PROFILE = re.compile(r"""^profile[ \t]*=[ \t]*["']([^"'\n]*)["']""", re.MULTILINE)
_LAYOUT = re.compile(r"""^layout[ \t]*=[ \t]*["'](ordinary|flat|project)["']""", re.MULTILINE)


def parsed(data: bytes, file: str) -> tuple[Settings, str]:
    """`settings.read_settings` for a file that is not empty.

    Raises: as `settings.read_settings`.
    """
    found, problem = toml.read_known(decode(SETTINGS, data), file, form_of(Settings))
    made: Settings = _value_of(Settings, found)
    return made, problem


def layout_of_broken(data: bytes) -> tuple[str, str]:
    """The names of profile and layout, found by pattern in settings that are not valid TOML."""
    text = data.decode("utf-8", "replace")
    profile, layout = (pattern.search(text) for pattern in (_PROFILE, _LAYOUT))
    return profile[1] if profile else "", layout[1] if layout else Settings().layout


@cache
def form_of(kind: type) -> type[msgspec.Struct]:
    """A msgspec struct with the fields of `kind`, by which msgspec validates TOML; tables become nested structs.

    The settings themselves are plain values, so that reading defaults does not import msgspec.
    """
    usual, fields = kind(), list[tuple[str, Any, Any]]()
    for name, hint in _hints(kind).items():
        if name in _TABLES:
            table = form_of(hint)
            fields.append((name, table, msgspec.field(default_factory=table)))
        else:
            fields.append((name, hint, getattr(usual, name)))
    checks = {"__post_init__": kind.__post_init__} if hasattr(kind, "__post_init__") else {}
    return msgspec.defstruct(kind.__name__, fields, namespace=checks, frozen=True, forbid_unknown_fields=True)


def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields, with what is said of them."""
    found = get_type_hints(kind, localns=_NAMES, include_extras=True)
    return {name: found[name] for name in fields_of(kind)}


def _value_of(kind: Any, found: Any) -> Any:
    """The value that msgspec has checked."""
    held = {name: getattr(found, name) for name in fields_of(kind)}
    return kind(**{name: _value_of(_TABLES[name], each) if name in _TABLES else each for name, each in held.items()})


def as_dict(settings: Any) -> dict[str, object]:
    """The settings as plain values, the order as documented."""
    return {name: as_dict(each) if name in _TABLES else each for name, each in _items(settings)}


def as_toml(settings: Settings) -> str:
    """The settings as `crabmem.toml` would say them, each with what it means."""
    tables = [f"[{name}]  # {kind.__doc__}\n{_lines(getattr(settings, name))}" for name, kind in _TABLES.items()]
    return "\n".join([_lines(settings), *tables])


def _items(table: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(table, name)) for name in fields_of(type(table))]


def _lines(table: Any) -> str:
    # JSON's texts, numbers and booleans are TOML's too.
    plain = {key: value for key, value in _items(table) if key not in _TABLES}
    texts = {key: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") for key, value in plain.items()}
    hints = _hints(type(table))
    about = {key: hints[key].__metadata__[0].description for key in plain}
    return "".join(f"{f'{key} = {text}'.ljust(_WIDTH)}  # {about[key]}\n" for key, text in texts.items())
