"""`before_turn` in a fresh process, when nothing has changed since the last one.

Looks at every file, as any recall does, and loads no more than the search needs. All else is left to `Memory`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ...disk import fs, state
from ...disk.turns import Turns
from ...errors import CrabmemError
from ...quick import as_kept
from ...recall.auto_recall import Speaker
from ...recall.labels import notes_in
from ...search import Index
from ...text.entry import Entry, decode, parse_entry, parse_note
from ...text.templates import template
from ...workspace.layout import ORDINARY
from ...workspace.settings import Settings
from ...workspace.workspace import Workspace


class _Shelf:
    """The entries of an index that is in step with the files."""

    def __init__(self, root: Path, index: Index) -> None:
        self._root = root
        self.index = index
        self.unreadable: Sequence[object] = ()
        self.notes = notes_in(index)

    def at(self, path: str) -> Entry:
        with fs.inside(self._root, path) as spot:
            data = fs.read(spot)[0]
        return parse_note(path, data) if path in self.notes else parse_entry(path, data)

    def having(self, label: str) -> list[Entry]:
        return [self.at(path) for path in self.index.labelled(label)]


def before_turn(
    workspace: Workspace,
    message: str,
    rules: Settings,
    session: str | None,
    now: datetime,
    claim: Callable[[], bool],
    environment: Mapping[str, str],
) -> str | None:
    """What memory says before a turn, "" for nothing; None when the whole of memory has to look.

    `claim` is asked before what is said counts as said.
    """
    if workspace.around or workspace.layout != ORDINARY or workspace.profile:
        return None  # what an agent's own lacks comes from there, and of others nothing is kept so plainly
    try:
        index = as_kept(str(workspace.root), environment, rules.language)
        if index is None:
            return None
        speaker, shelf = Speaker(Turns(workspace.private / state.TURNS), session), _Shelf(workspace.root, index)
        said = speaker.bearing(message, shelf, rules.auto_recall, rules.language, _prompt(workspace))
        if not claim():
            return ""
        speaker.said(said, now)
        return said.text
    except (OSError, CrabmemError):
        return None


def _prompt(workspace: Workspace) -> str:
    """What the model reads anyway."""
    layout = workspace.layout
    return f"{_text(workspace, layout.identity) or template('identity')}\n{_text(workspace, layout.overview)}"


def _text(workspace: Workspace, path: str) -> str:
    """A file; "" where there is none."""
    try:
        with fs.inside(workspace.root, path) as spot:
            return decode(path, fs.read(spot)[0])
    except FileNotFoundError:
        return ""
