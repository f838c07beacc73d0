"""`crabmem edit`: opens a fact in an editor."""

import click

from ...operations import adoption, facts
from ...session.rules import check_may_write
from ...session.scopes import check_is_here
from ...session.session import Session
from ...text.frontmatter import parts_of
from ..app import open_session, verb
from ..completing import complete_names
from ..editor import edit_copy, edit_file
from ..opening import telling_whole_file
from ..output import plain, tell, tell_recorded, warn

_HEADLESS = "the name and description are gone: is that meant? `crabmem undo` brings them back"


@verb(after="list")
@click.argument("name", shell_complete=complete_names)
def edit(name: str) -> None:
    """Open a fact in your editor, and record what you changed.

    The editor is $VISUAL, else $EDITOR; the change is recorded as yours.

    With --agent it is recorded as the agent's.

    \b
    crabmem edit "Deploy key"
    EDITOR=nano crabmem edit wifi
    """
    memory = open_session()
    check_is_here(memory, name, "edit")
    with telling_whole_file(memory, name):
        entry = facts.get(memory, name)
    file = memory.file(entry.path)
    check_may_write(memory)  # before the editor opens
    had_header = _has_header(memory, entry.path)
    if not memory.actor.is_agent:
        edit_file(file)
        recorded = adoption.adopt(memory)
        tell_recorded(memory, recorded)
        if recorded and not recorded.renamed and memory.read(entry.path) is None:
            return tell(f"{plain(entry.name)} is gone with its file; `crabmem undo` brings it back")
        return warn([_HEADLESS] if had_header and not _has_header(memory, entry.path) else ())
    done = edit_copy(file, lambda text, version: facts.rewrite_entry(memory, name, text, version))
    if not (done and done.proposal and not done.commit):
        tell(f"recorded: edit: {entry.name}" if done else "nothing changed")
    warn(done.warnings if done else ())
    warn([_HEADLESS] if done and done.commit and had_header and not _has_header(memory, entry.path) else ())


def _has_header(memory: Session, path: str) -> bool:
    """Return whether a fact's file says name and description; True also for one that is gone, or no text."""
    data = memory.read(path)
    return data is None or bool(parts_of(data.decode("utf-8", "replace")).header)
