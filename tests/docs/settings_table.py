"""The table of settings in `docs/settings.md`: names, defaults, bounds and meanings, as the code declares them."""

import json
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta

from crabmem.workspace.settings import LANGUAGES, Settings

#: What the annotations of settings name, which are read by nobody else while crabmem runs.
_NAMES = {
    "Annotated": Annotated,
    "Literal": Literal,
    "Meta": Meta,
    "Language": Literal[LANGUAGES],
    "Folders": tuple[str, ...],
}
_FEW = 8


def table() -> str:
    """All settings, those of each table of `crabmem.toml` together."""
    tables = {name: kind for name, kind in _hints(Settings).items() if get_origin(kind) is not Annotated}
    parts = [_rows(Settings)]
    parts += [f"### `[{name}]`\n\n{line(kind.__doc__ or '')}\n\n{_rows(kind)}" for name, kind in tables.items()]
    return "\n\n".join(parts)


def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns=_NAMES, include_extras=True)


def _rows(kind: type) -> str:
    lines, usual = ["| setting | default | allowed | what it means |", "|---|---|---|---|"], kind()
    for name, hint in _hints(kind).items():
        if get_origin(hint) is Annotated:
            [meta] = hint.__metadata__
            value = json.dumps(getattr(usual, name))
            lines.append(f"| `{name}` | `{value}` | {_bounds(get_args(hint)[0], meta)} | {line(meta.description)} |")
    return "\n".join(lines)


def _bounds(kind: Any, meta: Meta) -> str:
    if get_origin(kind) is Literal:
        values = get_args(kind)
        return (
            " ".join(f"`{value}`" for value in values) if len(values) < _FEW else "a language of Snowball's, or `none`"
        )
    if get_origin(kind) is Union:
        return " or ".join(_bounds(*_bare(each, meta)) for each in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    if kind in (bool, str):
        return "`true` `false`" if kind is bool else "a text"
    least = f"from {meta.ge:,}" if meta.ge is not None else f"above {meta.gt:,}" if meta.gt is not None else ""
    most = f"to {meta.le:,}" if meta.le is not None else ""
    return " ".join(filter(None, (least, most))) or "any number"


def _bare(kind: Any, meta: Meta) -> tuple[Any, Meta]:
    """A type of a union without its bounds, and these; `meta` where it has none."""
    return (get_args(kind)[0], kind.__metadata__[0]) if get_origin(kind) is Annotated else (kind, meta)


def line(text: str) -> str:
    """A text as it stands in a cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
