"""`crabmem rename`: another name for a fact, and for the links to it."""

import click

from ...operations import links
from ...results import Renamed, json_of
from ...session.scopes import scope_in
from ..app import open_session, verb
from ..completing import complete_names
from ..options import dry_run_option, json_option
from ..output import diff_of_commit, plain, show, warn


@verb(after="forget")
@click.argument("old", shell_complete=complete_names)
@click.argument("new")
@click.option("--keep-alias", is_flag=True, help="The old name stays, as an alias.")
@dry_run_option
@json_option
def rename(old: str, new: str, keep_alias: bool, dry_run: bool, json_wanted: bool) -> None:
    """Give a fact another name, and lead [[links]] to it there.

    One commit; history follows.

    \b
    crabmem rename "Luna's vet" "Dr. Moreno" --keep-alias
    """
    memory = open_session()
    done = links.rename(memory, old, new, keep_alias=keep_alias, dry_run=dry_run)
    show_renamed(done, json_wanted, dry_run, scope_in(memory, old))


def show_renamed(done: Renamed, json_wanted: bool, dry_run: bool = False, scope: str | None = None) -> None:
    """Print what became of renaming a fact, and warn of links to the old name that were left.

    `scope` names the memory of the fact, if it is another than the one at hand.
    """
    verb = "would rename" if dry_run else "waits" if done.proposal else "renamed"
    is_new = done.paths or done.proposal
    words = (
        f"{verb}: {plain(done.before)} to {plain(done.name)}" if is_new else f"it is called {plain(done.name)} already"
    )
    where = f", in {scope}" if scope else ""
    show(json_wanted, json_of(done), lambda: f"{words}{where}\n{diff_of_commit(done)}")
    warn(f"{path} links to the old name, and an agent may not write it" for path in done.left)
