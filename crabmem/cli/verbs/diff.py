"""`crabmem diff`: what changed between two moments."""

import shlex

import click

from ...operations import history
from ...session.scopes import check_is_here
from ..app import open_session, verb
from ..completing import complete_commits, complete_names
from ..options import Renamed, json_option
from ..output import coloured_diff, paged, show, tell


@verb(after="log")
@click.argument("since", required=False, shell_complete=complete_commits)
@click.argument("until", required=False, shell_complete=complete_commits)
@click.option(
    "--fact",
    "name",
    cls=Renamed,
    former=["--entry"],
    metavar="NAME",
    shell_complete=complete_names,
    help="Only of this fact.",
)
@json_option
def diff(since: str | None, until: str | None, name: str | None, json_wanted: bool) -> None:
    """Show what changed between two moments.

    Without arguments: edits of yours that are not recorded yet. With SINCE (a commit, or a time such
    as '2 days ago'): from then to the files as they are; with UNTIL: to that moment.

    \b
    crabmem diff                          what you edited since the last commit
    crabmem diff '2 days ago'
    crabmem diff HEAD~3 HEAD~1 --fact "Deploy key"
    """
    memory = open_session()
    check_is_here(memory, name or "", "diff --fact", shlex.join(filter(None, (since, until))))
    text = history.diff(memory, since, until, name)
    if json_wanted:
        return show(True, {"since": since, "until": until, "diff": text}, str)
    paged([coloured_diff(text)])
    if not text:
        tell("no changes")
