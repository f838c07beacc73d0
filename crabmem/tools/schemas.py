"""The JSON Schema of what tools return, made from the types of results and the keys of their JSON."""

import collections.abc
import inspect
import types
from datetime import datetime
from functools import cache
from typing import (
    Any,
    ClassVar,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from ..results import json_keys
from ..text.evaluation import Expectation, Figures

# Names in annotations of results that are imported there only for type checking: `get_type_hints` needs them here.
_NAMES: dict[str, Any] = {
    **vars(collections.abc),
    "Any": Any,
    "ClassVar": ClassVar,
    "Expectation": Expectation,
    "Figures": Figures,
    "Literal": Literal,
    "datetime": datetime,
}


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of the JSON of `kind`, a result or a TypedDict; its root is an object, no reference, as MCP needs."""
    _, parts = msgspec.json.schema_components([_data_type(kind)], ref_template="#/$defs/{name}")
    own = parts.pop(kind.__name__)
    for key in ("title", "description"):  # the tool has a description of its own
        own.pop(key, None)
    return {**own, "$defs": parts} if parts else own


@cache
def _data_type(kind: type) -> type:
    """A TypedDict with the keys that the JSON of `kind` has, and the first paragraph of its docstring.

    The type of a key is found by following the attributes that `json_keys` names for it.
    """
    if is_typeddict(kind):
        keys = {name: _data_hint(hint) for name, hint in _hints(kind).items()}
    else:
        keys = {}
        for name, key in json_keys(kind).items():
            hint: Any = kind
            for attribute in key.attributes:
                hint = _hint_of(hint, attribute)
            keys[name] = NotRequired[_data_hint(_without_none(hint))] if key.is_optional else _data_hint(hint)
    made = TypedDict(kind.__name__, keys)  # type: ignore[misc]
    made.__doc__ = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return made


def _data_hint(hint: Any) -> Any:
    """`hint` with each type of a result in it replaced by the type of its JSON."""
    if isinstance(hint, type) and (is_typeddict(hint) or json_keys(hint)):
        return _data_type(hint)
    if not get_args(hint):
        return hint
    return _with_arguments(hint, tuple(map(_data_hint, get_args(hint))))


def _hints(thing: Any) -> dict[str, Any]:
    return get_type_hints(thing, localns=_NAMES, include_extras=True)


def _hint_of(hint: Any, attribute: str) -> Any:
    """The type that `attribute` has on a value of the type `hint`.

    On a tuple or a union it is looked up in each member type: `tuple[Commit, ...]` and "brief" give a tuple of briefs.
    """
    if isinstance(hint, type) and not get_args(hint):
        found = inspect.getattr_static(hint, attribute, None)
        if isinstance(found, property):
            return _hints(found.fget)["return"]
        return _hints(hint)[attribute]
    inner = tuple(each if each in (..., types.NoneType) else _hint_of(each, attribute) for each in get_args(hint))
    return _with_arguments(hint, inner)


def _with_arguments(hint: Any, arguments: tuple[Any, ...]) -> Any:
    """`hint` with other type arguments: `tuple[A, ...]` and (B, ...) give `tuple[B, ...]`; a Literal stays as it is."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return Union[arguments]  # noqa: UP007  # of a tuple
    if origin is None or origin is Literal:
        return hint
    return origin[arguments if len(arguments) > 1 else arguments[0]]


def _without_none(hint: Any) -> Any:
    kept = tuple(each for each in get_args(hint) if each is not types.NoneType)
    return Union[kept] if get_origin(hint) in (Union, types.UnionType) else hint  # noqa: UP007
