"""`crabmem record`: commits what a person edited."""

from ...errors import Disabled
from ...operations import adoption
from ...operations.status import edits as edits_of
from ...results import Commit, UnrecordedEdit, json_of
from ...session.session import Session
from ...text.words import counted
from ..app import open_session, verb
from ..options import dry_run_option, json_option, yes_if_many_option
from ..output import Failure, plain, progress_bar, show, tell, tell_recorded


@verb(after="confirm")
@yes_if_many_option
@dry_run_option
@json_option
def record(yes_really: bool, dry_run: bool, json_wanted: bool) -> None:
    """Record your edits now; otherwise the next write does.

    Nobody can tell who wrote what lies on disk, so it is recorded as yours, with --agent too.

    When ten facts or more, and more than a third, are gone from disk, or all of fewer than ten (but more than one),
    nothing records that before you say so here with --yes-really; `crabmem restore` brings them back.

    \b
    crabmem record
    crabmem record --dry-run       which of your edits are not recorded yet
    """
    memory = open_session()
    if memory.actor.proposes:  # what lies on disk is recorded as the person's
        raise Disabled("a session that only proposes records nothing; leave out --propose")
    if dry_run:
        edits = edits_of(memory, even_if_many=yes_really)
        show(json_wanted, {"commit": None, "edits": json_of(edits)}, lambda: "\n".join(map(_edit, edits)))
        if not json_wanted:
            tell(f"would record {counted(len(edits), 'file')}" if edits else "nothing changed")
        return None if yes_really else fail_if_unrecorded(memory)
    with progress_bar("recording") as progress:
        commit = adoption.adopt(memory, yes_really, progress)
    report(memory, commit, {}, json_wanted)
    fail_if_unrecorded(memory)


def _edit(edit: UnrecordedEdit) -> str:
    return f"{edit.state:8} {plain(edit.path)}"


def report(memory: Session, commit: Commit | None, about: dict[str, object], json_wanted: bool) -> None:
    """Print what was recorded; as JSON, `about` is added to it."""
    if json_wanted:
        show(json_wanted, {**about, "commit": json_of(commit) if commit else None}, str)
    else:
        tell_recorded(memory, commit)


def fail_if_unrecorded(memory: Session) -> None:
    """Raise Failure if a loss was not recorded, as nobody said that it is meant."""
    if held := adoption.unrecorded(memory):
        raise Failure(str(held.error))
