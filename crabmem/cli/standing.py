"""How syncing stands, and a pause, in words, for the verbs that say so."""

from ..results import Paused, SyncState
from ..text.words import counted
from .output import minute, plain


def standing(state: SyncState) -> list[str]:
    """Return how syncing stands, in lines; the first names the remote, or says that there is none."""
    if state.remote is None:
        return ["syncs with nothing: `crabmem sync --to URL` names a remote"]
    behind = f", {counted(state.behind, 'commit')} to take in" if state.behind else ""
    lines = [f"syncs with {plain(state.remote)}: {counted(state.ahead, 'commit')} to send{behind}"]
    lines.append(f"last done {minute(state.succeeded)}" if state.succeeded else "never done yet")
    if state.error and state.failing_since:
        lines.append(f"fails since {minute(state.failing_since)}: {plain(state.error)}")
    if state.error and state.next_try:
        lines.append(f"tried again unasked from {minute(state.next_try)} on")
    if state.shows_purged:
        lines.append("it shows what was purged here until the next `crabmem sync`")
    if state.waiting:
        lines.append(f"{counted(state.waiting, 'text')} of other machines to decide on: `crabmem review resolve`")
    return lines


def paused_words(found: Paused) -> str:
    """Until when memory is paused, and what agents keep."""
    until = f"until {minute(found.until)}" if found.until else "until `crabmem resume`"
    return f"paused {until}: no auto-recall, no reminders, {'agents keep their tools' if found.tools else 'no tools'}"
