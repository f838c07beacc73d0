"""`crabmem links`: where links between facts lead."""

import click

from ...operations import links as links_operations
from ...results import Links, Reference, json_of
from ...session.scopes import check_is_here
from ...text.words import counted
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show, tell, tell_unreadable

_WIDTH = 40


@verb(after="rename")
@click.argument("name", required=False, shell_complete=complete_names)
@json_option
def links_(name: str | None, json_wanted: bool) -> None:
    """List the [[links]] of a fact, and those to it.

    Without NAME, list all that lead nowhere.

    A link says a file's name, a fact's name or an alias, as [[Luna's vet]] or [[luna-s-vet|the vet]]. In code
    there are none. NAME may be MEMORY.md or Crab.md too.

    \b
    crabmem links                         those that lead nowhere
    crabmem links "Luna's vet"
    """
    memory = open_session()
    check_is_here(memory, name or "", "links")
    found = links_operations.links(memory, name)
    show(json_wanted, json_of(found), lambda: _lines(found))
    tell_unreadable(found.unreadable)
    if not json_wanted:
        nowhere = len(set(found.broken))
        tell(f"{counted(nowhere, 'link')} {'leads' if nowhere == 1 else 'lead'} nowhere")


def _lines(found: Links) -> str:
    """Return a line for each link, once if a text has it several times; without a fact, for each that leads nowhere."""
    if found.path is None:
        return "".join(dict.fromkeys(f"{plain(link.path)}: {_shown_link(link)}\n" for link in found.broken))
    out = (f"out  {_shown_link(link):{_WIDTH}}  {plain(link.to or 'nowhere')}\n" for link in found.out)
    into = (f"in   {_shown_link(link):{_WIDTH}}  {plain(link.path)}\n" for link in found.into)
    return "".join(dict.fromkeys((*out, *into)))


def _shown_link(link: Reference) -> str:
    return plain(f"[[{link.target}]]")
