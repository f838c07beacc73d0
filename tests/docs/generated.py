"""What of the documents is made by a script, and how: `python -m tests.docs --write` makes all of it."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from crabmem import __version__
from crabmem.hosts import bundles

from . import (
    command_line,
    host_facts,
    plugin_table,
    profile_table,
    python_reference,
    recall_picture,
    session_picture,
    settings_table,
    tool_schemas,
)
from .marks import with_marked
from .pages import DOCS, ROOT
from .pages import GENERATED as MARK
from .sessions import steady


def _whole(page: Callable[[], str]) -> Callable[[], str]:
    return lambda: f"{MARK}\n\n{page()}"


def _part(file: Path, name: str, made: Callable[[], str]) -> Callable[[], str]:
    return lambda: with_marked(file, name, made())


#: The text of each file as it should be.
GENERATED: Mapping[Path, Callable[[], str]] = {
    DOCS / "command-line.md": _whole(command_line.page),
    DOCS / "tools.md": _whole(tool_schemas.page),
    DOCS / "python.md": _whole(python_reference.page),
    DOCS / "settings.md": _part(DOCS / "settings.md", "settings", settings_table.table),
    DOCS / "profiles.md": _part(DOCS / "profiles.md", "profile", profile_table.tables),
    **{page: _part(page, "facts", partial(host_facts.facts, host)) for page, host in host_facts.all_facts().items()},
    DOCS / "hosts" / "servers.md": _part(DOCS / "hosts" / "servers.md", "servers", host_facts.table),
    DOCS / "hosts" / "README.md": _part(DOCS / "hosts" / "README.md", "plugins", plugin_table.table),
    **{ROOT / path: data.decode for path, data in bundles.marketplace(__version__).items()},
    ROOT / "server.json": lambda: bundles.registry_entry(plugin_table.registry_name(), __version__).decode(),
    DOCS / "pictures" / "session.svg": session_picture.picture,
    DOCS / "pictures" / "recall.svg": recall_picture.picture,
}


def stale() -> list[Path]:
    """The files that differ from what would be made of them now."""
    return [file for file, made in GENERATED.items() if not _is_as_made(file, made())]


def _is_as_made(file: Path, made: str) -> bool:
    return file.exists() and (file.read_text("utf-8") == made or steady(file.read_text("utf-8")) == steady(made))
