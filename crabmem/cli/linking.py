"""The verbs for names and the links that say them."""

import click

from ..operations import links as links_operations
from ..results import Links, Reference, json_of
from ..text.words import counted
from .base import as_json, coloured_diff, complete_names, dry, opened, plain, show, tell, warn

_WIDTH = 40


@click.command()
@click.argument("old", shell_complete=complete_names)
@click.argument("new")
@click.option("--keep-alias", is_flag=True, help="The old name stays, as an alias.")
@dry
@as_json
@click.pass_context
def rename(ctx: click.Context, old: str, new: str, keep_alias: bool, dry_run: bool, json_wanted: bool) -> None:
    """Give a fact another name, and lead every [[link]] to it there. One commit; history follows.

    \b
    crabmem rename "Luna's vet" "Dr. Moreno" --keep-alias
    """
    done = links_operations.rename(opened(ctx), old, new, keep_alias=keep_alias, dry_run=dry_run)
    verb = "would rename" if dry_run else "renamed"
    words = (
        f"{verb}: {plain(done.before)} to {plain(done.name)}" if done.paths else f"it is called {plain(new)} already"
    )
    show(json_wanted, json_of(done), lambda: f"{words}\n{coloured_diff(done.diff)}")
    warn(f"{path} links to the old name, and an agent may not write it" for path in done.left)


@click.command("links")
@click.argument("name", required=False, shell_complete=complete_names)
@as_json
@click.pass_context
def links_(ctx: click.Context, name: str | None, json_wanted: bool) -> None:
    """Say where the [[links]] of a fact lead, and which lead to it; without NAME, all that lead nowhere.

    A link says a file's name, a fact's name or an alias, as [[Luna's vet]] or [[luna-s-vet|the vet]]. In code
    there are none. NAME may be MEMORY.md or Crab.md too.
    """
    found = links_operations.links(opened(ctx), name)
    show(json_wanted, json_of(found), lambda: _lines(found))
    if not json_wanted:
        nowhere = len(set(found.broken))
        tell(f"{counted(nowhere, 'link')} {'leads' if nowhere == 1 else 'lead'} nowhere")


def _lines(found: Links) -> str:
    """A line for each link; one that stands several times in a text is said once."""
    if found.path is None:
        return "".join(dict.fromkeys(f"{plain(link.path)}: {_said(link)}\n" for link in found.broken))
    out = (f"out  {_said(link):{_WIDTH}}  {plain(link.to or 'nowhere')}\n" for link in found.out)
    into = (f"in   {_said(link):{_WIDTH}}  {plain(link.path)}\n" for link in found.into)
    return "".join(dict.fromkeys((*out, *into)))


def _said(link: Reference) -> str:
    return plain(f"[[{link.target}]]")


COMMANDS = (rename, links_)
