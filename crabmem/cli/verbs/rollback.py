"""`crabmem rollback`: brings files back to how they were."""

import click

from ...operations import revert
from ...results import json_of
from ...text.hashes import short
from ..app import open_session, verb
from ..completing import complete_commits, complete_names
from ..options import dry_run_option, json_option
from ..output import diff_of_commit, show
from ..restoring import done_or_waits, files_restored, yes_really_option


@verb(after="undo")
@click.option(
    "--to",
    "to",
    metavar="WHEN",
    required=True,
    shell_complete=complete_commits,
    help="A commit of `log`, a date, or '2 days ago'.",
)
@click.option("--entry", "name", metavar="NAME", shell_complete=complete_names, help="Only this fact.")
@dry_run_option
@yes_really_option
@json_option
@click.pass_context
def rollback(ctx: click.Context, to: str, name: str | None, dry_run: bool, yes_really: bool, json_wanted: bool) -> None:
    """Bring the files back to how they were, as a new commit. Nothing is erased; `crabmem undo` takes it back.

    `crabmem revert` takes back single commits, and keeps what was done since.

    \b
    crabmem rollback --to '2 days ago' --dry-run
    crabmem rollback --to HEAD~3 --entry "Deploy key"
    """
    memory = open_session(ctx)
    done = revert.rollback(memory, to, name, dry_run=dry_run, even_if_many=yes_really)
    files = files_restored(done, "would restore" if dry_run else "")
    words = done_or_waits(memory, f"{files} {'as of' if done.paths else 'from'} {short(done.to)}")
    show(json_wanted, json_of(done), lambda: f"{words}\n{diff_of_commit(done)}")
