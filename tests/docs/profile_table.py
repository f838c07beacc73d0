"""The tables of `docs/profiles.md`: every key that a profile can have, as the code declares them."""

import ast
import json
import re
from collections.abc import Iterator
from inspect import getsource
from typing import Any

import msgspec
from msgspec import inspect

from crabmem.prompt.profile import Profile

from .settings_table import line


def tables() -> str:
    """A table of the keys at the top of a profile's file, and one of those of each table of TOML in it."""
    return "\n\n".join(_tables(inspect.type_info(Profile), ""))


def _tables(kind: inspect.Type, name: str) -> Iterator[str]:
    assert isinstance(kind, inspect.StructType)
    said, types = _said(kind.cls), [(field, _set(field.type)) for field in kind.fields]
    about = (kind.cls.__doc__ or "").partition("\n\n")[0]
    about = re.sub(r", `\[[^`]+\]` in (the file|a profile)|; see [^ ]+(?=\.$)", "", about)
    heading = f"### `{name}`\n\n{line(about)}\n\n" if name else ""
    rows = [
        f"| `{field.encode_name}` | {_default(field)} | {_allowed(type)} | {said[field.name]} |"
        for field, type in types
        if _struct(type) is None
    ]
    yield heading + "\n".join(["| key | default | allowed | what it means |", "|---|---|---|---|", *rows])
    for field, type in types:
        if inner := _struct(type):
            path = f"{name.strip('[]')}.{field.encode_name}".removeprefix(".")
            forms = {inspect.VarTupleType: f"[[{path}]]", inspect.DictType: f"[{path}.KIND]"}
            yield from _tables(inner, forms.get(type.__class__, f"[{path}]"))


def _said(kind: type) -> dict[str, str]:
    """What stands below each field of a class."""
    [declared] = ast.parse(getsource(kind)).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for field, text in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            found[ast.unparse(field.target)] = line(ast.literal_eval(text.value)).removesuffix(".")
    return found


def _set(kind: inspect.Type) -> inspect.Type:
    """A type without the None, or the "", of what need not be set."""
    if isinstance(kind, inspect.UnionType):
        [kind] = (each for each in kind.types if each not in (inspect.NoneType(), inspect.LiteralType(("",))))
    return kind


def _struct(kind: inspect.Type) -> inspect.StructType | None:
    """The struct that a key holds, alone, in a list or by name."""
    if isinstance(kind, inspect.VarTupleType):
        return _struct(kind.item_type)
    if isinstance(kind, inspect.DictType):
        return _struct(kind.value_type)
    return kind if isinstance(kind, inspect.StructType) else None


def _default(field: inspect.Field) -> str:
    if field.required:
        return "needed"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return "" if value is None else f"`{json.dumps(value)}`"


def _allowed(kind: Any) -> str:
    match kind:
        case inspect.BoolType():
            return "`true` `false`"
        case inspect.LiteralType():
            return " ".join(f"`{value}`" for value in kind.values)
        case inspect.IntType() | inspect.FloatType():
            least = f"from {kind.ge:,}" if kind.ge is not None else f"above {kind.gt:,}" if kind.gt is not None else ""
            return f"{least} to {kind.le:,}" if kind.le is not None else least
        case inspect.VarTupleType():
            item = kind.item_type
            return f"some of {_allowed(item)}" if isinstance(item, inspect.LiteralType) else "a list of texts"
        case inspect.DictType():
            return f"numbers by name, {_allowed(kind.value_type)}"
    return "a text"
