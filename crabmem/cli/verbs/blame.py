"""`crabmem blame`: who wrote each line of a fact."""

import click

from ...operations import provenance
from ...results import Line, byline, json_of
from ...session.scopes import check_is_here
from ...text.hashes import short
from ...text.words import shortened
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import coloured, day, paged, plain, show

_WHO = 24


@verb(after="diff")
@click.argument("name", shell_complete=complete_names)
@json_option
def blame(name: str, json_wanted: bool) -> None:
    """Show who wrote each line of a fact, and when.

    A star marks a person. NAME may be MEMORY.md or Crab.md too.

    \b
    crabmem blame "Deploy key"
    crabmem blame MEMORY.md
    """
    memory = open_session()
    check_is_here(memory, name, "blame")
    lines = provenance.blame(memory, name)
    if json_wanted:
        return show(True, {"lines": json_of(lines)}, str)
    paged(map(_line, lines))


def _line(line: Line) -> str:
    if line.commit is None or line.time is None:
        return f"{'-' * 8}  {'not recorded yet':{_WHO + 12}}  {plain(line.text)}\n"
    commit = coloured(short(line.commit), "yellow")
    who = shortened(_who(line.author or "", line.session, line.is_person), _WHO)
    return f"{commit}  {day(line.time)}  {plain(who):{_WHO}}  {plain(line.text)}".rstrip() + "\n"


def _who(author: str, session: str | None, is_person: bool) -> str:
    return byline(f"{author}{'*' * is_person}", session)
