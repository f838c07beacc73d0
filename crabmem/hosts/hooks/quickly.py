"""`before_turn` in a fresh process, when nothing has changed since the last one.

Looks at every file, as any recall does, and loads no more than the search needs. All else is left to `Memory`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from ...disk import fs, state
from ...disk.turns import Turns
from ...errors import CrabmemError
from ...quick import as_kept
from ...recall.auto_recall import Speaker
from ...recall.entries import Entries
from ...text.entry import Entry, decode, parse_entry, parse_note
from ...text.templates import template
from ...workspace.layout import ORDINARY
from ...workspace.settings import Settings
from ...workspace.workspace import Workspace


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
        speaker = Speaker(Turns(workspace.private / state.TURNS), session)
        entries = Entries(index=index, read=partial(_entry, workspace.root))
        said = speaker.injection(message, entries, rules.auto_recall, rules.language, _prompt(workspace))
        if not claim():
            return ""
        speaker.record(said, now)
        return said.text
    except (OSError, CrabmemError):
        return None


def _entry(root: Path, path: str) -> Entry:
    """The entry, or the daily note, in a file."""
    with fs.inside(root, path) as spot:
        data = fs.read(spot)[0]
    return parse_note(path, data) if ORDINARY.is_note(path) else parse_entry(path, data)


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
