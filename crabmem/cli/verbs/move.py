"""`crabmem move`: moves a fact into another memory that is seen from here."""

import click

from ...operations.moving import move
from ...results import json_of
from ..app import open_session, verb
from ..options import completing, json_option
from ..output import plain, show, tell


@verb(after="rename")
@click.argument("name", shell_complete=completing("complete_names"))
@click.option(
    "--to",
    metavar="MEMORY",
    required=True,
    shell_complete=completing("complete_scopes"),
    help="Where it goes: me, project, or what another is called.",
)
@json_option
def move_(name: str, to: str, json_wanted: bool) -> None:
    """Move a fact into another memory that is seen here.

    From a project's into yours, or back. Its file goes as it is, with a commit on each side, which `crabmem undo` takes
    back together. A fact of another memory is named as recall shows it.

    \b
    crabmem --project . move "Editor" --to me
    crabmem --project . move me:Editor --to project
    """
    done = move(open_session(), name, to)
    show(json_wanted, json_of(done), lambda: f"moved: {plain(done.name)}, to {plain(done.to)}:{plain(done.path)}")
    if done.back and not json_wanted:
        tell(f"`{done.back}` moves it back: `crabmem undo` is about the memory at hand")
