"""Files that a write replaced, kept for a while: an editor that still has one open may yet write to it."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..workspace.layout import Layout
from . import fs


class Displaced:
    """Which temporary file stood at which path, in `file`. Only used under the writer's lock."""

    def __init__(self, file: Path, layout: Layout) -> None:
        self._file = file
        self._layout = layout

    def add(self, paths: Mapping[str, str]) -> None:
        """Note paths by the name of the file that stood there."""
        if paths:
            fs.append(self._file, msgspec.json.encode(paths) + b"\n")

    def all(self) -> dict[str, str]:
        """Every path noted, by name. A line that was cut short is none, nor is a path that is not ours."""
        found: dict[str, str] = {}
        for line in self._lines():
            try:
                found |= msgspec.json.decode(line, type=dict[str, str])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
        return {name: path for name, path in found.items() if self._layout.is_kept(path)}

    def keep(self, paths: Mapping[str, str]) -> None:
        """Forget all but these."""
        fs.hint(self._file, msgspec.json.encode(paths) + b"\n" if paths else b"")

    def _lines(self) -> list[bytes]:
        try:
            return fs.read(self._file)[0].splitlines()
        except FileNotFoundError:
            return []
