"""`crabmem.toml` as a file: from its bytes to settings, and from settings to its text."""

from __future__ import annotations

import re
from functools import cache
from operator import ge, gt, le

from ..text import toml
from ..text.entry import decode
from ..text.values import fields_of
from . import settings as declared
from .layout import SETTINGS
from .settings import LANGUAGES, AutoRecall, Hooks, Settings, Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import msgspec

_WIDTH = 24
_TABLES: dict[str, type] = {"auto_recall": AutoRecall, "hooks": Hooks, "vectors": Vectors}
_PROFILE = r"""^profile[ \t]*=[ \t]*["']([^"'\n]*)["']"""
_LAYOUT = r"""^layout[ \t]*=[ \t]*["'](ordinary|flat)["']"""
# What a `Meta` may say of a value.
_CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "ge": ge,
    "gt": gt,
    "le": le,
    "max_length": lambda text, most: len(text) <= most,
    "description": lambda value, words: True,
}


def parsed(data: bytes, file: str) -> tuple[Settings, str]:
    """As `settings.read_settings`, of a file that says something.

    Raises: as that.
    """
    found = toml.tables_in(decode(SETTINGS, data), file)
    fitting = _fitting(Settings, found)
    if fitting is not None:
        return fitting, ""
    # What is wrong is told by msgspec, which takes as long to load as all else that reads settings.
    checked, problem = toml.known_in(found, file, form_of(Settings))
    made: Settings = _value_of(Settings, checked)
    return made, problem


class _Subscripted:
    """What stands for a name of `typing` in an annotation: the value of `Literal["a", "b"]` is what is in brackets."""

    def __getitem__(self, inside: Any) -> Any:
        return inside


@cache
def _said(kind: type) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The type of each field, a choice as its words, and what its `Meta` says: read from the annotations themselves, as
    to load `typing` and msgspec takes longer than to read settings."""
    names = {"Annotated": _Subscripted(), "Literal": _Subscripted(), "Meta": dict, "Language": LANGUAGES}
    hints = {name: eval(kind.__annotations__[name], vars(declared), names) for name in fields_of(kind)}
    return {name: (hint, {}) if name in _TABLES else hint for name, hint in hints.items()}


def _fitting(kind: type, found: object) -> Any:
    """A table as a value of that class; None where something in it is not as the annotations say."""
    fields = _said(kind)
    made: dict[str, Any] = {}
    if not isinstance(found, dict) or not found.keys() <= fields.keys():
        return None
    for key, value in found.items():
        hint, about = fields[key]
        made[key] = _fitting(hint, value) if key in _TABLES else value
        if not _is_one(made[key], hint) or not all(_CHECKS[what](value, said) for what, said in about.items()):
            return None
        if hint is float:
            made[key] = float(value)
    try:
        return kind(**made)
    except ValueError:  # values that do not go together
        return None


def _is_one(value: object, hint: Any) -> bool:
    """Whether a value is of a type, or one of some words."""
    if isinstance(hint, tuple):
        return value in hint
    return type(value) is hint or (hint is float and type(value) is int)


def layout_of_broken(data: bytes) -> tuple[str, str]:
    """The names of the profile and the layout in settings of which the rest cannot be read."""
    text = data.decode("utf-8", "replace")
    profile = re.search(_PROFILE, text, re.MULTILINE)
    layout = re.search(_LAYOUT, text, re.MULTILINE)
    return profile[1] if profile else "", layout[1] if layout else Settings().layout


@cache
def form_of(kind: type) -> type[msgspec.Struct]:
    """What msgspec checks values of that class by: the annotations of its fields."""
    import msgspec

    usual = kind()
    fields: list[tuple[str, Any, Any]] = []
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
    from typing import Annotated, Literal, get_type_hints

    from msgspec import Meta

    # What the annotations of settings name, who loads which only to check them.
    names = {"Annotated": Annotated, "Literal": Literal, "Meta": Meta, "Language": Literal[LANGUAGES]}
    found = get_type_hints(kind, localns=names, include_extras=True)
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
    import json

    # JSON's texts, numbers and booleans are TOML's too.
    plain = {key: value for key, value in _items(table) if key not in _TABLES}
    texts = {key: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") for key, value in plain.items()}
    descriptions = _descriptions(type(table))
    return "".join(f"{f'{key} = {text}'.ljust(_WIDTH)}  # {descriptions[key]}\n" for key, text in texts.items())


def _descriptions(table: type) -> dict[str, str]:
    """The description of each setting, tables apart."""
    return {key: about["description"] for key, (_, about) in _said(table).items() if key not in _TABLES}
