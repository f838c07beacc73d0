"""`crabmem restore`: brings lost facts back to disk, or files to how they were."""

import click

from ...operations import revert
from ...results import Restored, json_of
from ...session.scopes import check_is_here, command_for
from ...session.session import Session
from ...text.commands import command
from ...text.hashes import short
from ...text.words import counted
from ..app import open_session, verb
from ..completing import complete_names
from ..options import dry_run_option, json_option, when_option, yes_if_many_option
from ..output import diff_of_commit, plain, show


@verb(after="undo")
@click.argument("name", required=False, shell_complete=complete_names)
@when_option("--to", "How it was at a commit of `log`, a date, or '2 days ago'.")
@dry_run_option
@yes_if_many_option
@json_option
def restore(name: str | None, to: str | None, dry_run: bool, yes_really: bool, json_wanted: bool) -> None:
    """Bring back lost facts, or with --to files as they were.

    Without arguments it brings back the facts that are gone from disk and that nobody forgot. With --to it brings all
    files, or the fact NAME, back to how they were, as a new commit. Nothing is erased; `crabmem undo` takes it back.

    \b
    crabmem restore --dry-run
    crabmem restore --to '2 days ago' --dry-run
    crabmem restore "Deploy key" --to HEAD~3
    """
    memory = open_session()
    check_is_here(memory, name or "", "restore", "--to WHEN")
    if name is not None and to is None:
        listed = command("log", name, program=command_for(memory))
        raise click.UsageError(f"say as of when: crabmem restore NAME --to WHEN; `{listed}` lists its commits")
    if to is None:
        done = revert.restore(memory, dry_run=dry_run)
        verb = "would restore" if dry_run else "restored"
        words = f"{verb} {counted(len(done.paths), 'file')}" if done.paths else "nothing is missing"
        told = done_or_waits(memory, words)
        return show(json_wanted, json_of(done), lambda: "\n".join([told, *(f"  {plain(path)}" for path in done.paths)]))
    done = revert.rollback(memory, to, name, dry_run=dry_run, even_if_many=yes_really)
    files = files_restored(done, "would restore" if dry_run else "")
    words = done_or_waits(memory, f"{files} {'as of' if done.paths else 'from'} {short(done.to)}")
    show(json_wanted, json_of(done), lambda: f"{words}\n{diff_of_commit(done)}")


def done_or_waits(memory: Session, words: str) -> str:
    """Return `words`, or "waits" if all of the session's writes wait for the person; the verb's end tells which."""
    return "waits" if memory.withheld and not memory.has_written else words


def files_restored(done: Restored, would: str = "") -> str:
    """The numbers of files restored and deleted, in words."""
    brought = len(done.paths) - len(done.removed)
    told = [
        *([f"{would or 'restored'} {counted(brought, 'file')}"] if brought else []),
        *([f"{'delete' if would else 'deleted'} {counted(len(done.removed), 'file')}"] if done.removed else []),
    ]
    return " and ".join(told) or "nothing differs"
