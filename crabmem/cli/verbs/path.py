"""`crabmem path`: the folder of the workspace."""

import os

import click

from ...session.locate import project_meant
from ..app import open_session, verb
from ..options import global_options, json_option
from ..output import show, tell


@verb(after="init")
@json_option
@click.pass_context
def path(ctx: click.Context, json_wanted: bool) -> None:
    """Print the folder of the workspace.

    With --project P it is that of the Git repository which folder P is in: of its own, and the same in all of its
    worktrees. It lies among yours, in .projects, and never in the repository, which may be a stranger's. Of a folder in
    no repository it is your workspace.

    \b
    crabmem path --project .
    crabmem --project . install claude-code    every project has a memory of its own
    """
    root, wanted = str(open_session(ctx, tells_place=False).root), global_options(ctx).project
    project = project_meant(wanted, os.environ)
    show(json_wanted, {"path": root, "project": project and project.place}, lambda: root)
    if project and project.problem:
        tell(f"{project.place} has a memory of its own: {project.problem}")
    elif project is None and (wanted or (wanted is None and os.environ.get("CRABMEM_PROJECT"))):
        tell("there is no Git repository there: this is the memory for all that is in none")
