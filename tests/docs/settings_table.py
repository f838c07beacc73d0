"""The table of settings in `docs/settings.md`: names, defaults, bounds and meanings, as the code declares them."""

import json
from typing import Any, Literal, get_args, get_origin

from crabmem.workspace.settings import Settings
from crabmem.workspace.settings_file import _TABLES, _hints


def table() -> str:
    """All settings, those of each table of `crabmem.toml` together."""
    parts = [_rows(Settings, Settings())]
    parts += [
        f"### `[{name}]`\n\n{' '.join((kind.__doc__ or '').split())}\n\n{_rows(kind, kind())}"
        for name, kind in _TABLES.items()
    ]
    return "\n\n".join(parts)


def _rows(kind: type, usual: Any) -> str:
    lines = ["| setting | usually | may be | what it means |", "|---|---|---|---|"]
    for name, hint in _hints(kind).items():
        if name not in _TABLES:
            inner, [meta] = get_args(hint)[0], hint.__metadata__
            value = json.dumps(getattr(usual, name))
            lines.append(f"| `{name}` | `{value}` | {_bounds(inner, meta)} | {_cell(meta.description)} |")
    return "\n".join(lines)


def _bounds(inner: Any, meta: Any) -> str:
    if get_origin(inner) is Literal:
        values = get_args(inner)
        return (
            " ".join(f"`{value}`" for value in values) if len(values) < 8 else "any of Snowball's languages, or `none`"
        )
    if inner is bool:
        return "`true` `false`"
    if inner is str:
        return "a text"
    least = f"from {meta.ge:,}" if meta.ge is not None else f"above {meta.gt:,}" if meta.gt is not None else ""
    most = f"to {meta.le:,}" if meta.le is not None else ""
    return " ".join(filter(None, (least, most))) or "any number"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
