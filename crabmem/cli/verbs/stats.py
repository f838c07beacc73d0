"""`crabmem stats`: how much there is."""

from __future__ import annotations

import click

from ...operations import maintenance
from ...results import Stats, json_of
from ...text.words import counted
from ..app import verb
from ..opening import open_session
from ..options import json_option
from ..output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


@verb(after="Upkeep")
@json_option
@click.pass_context
def stats(ctx: click.Context, json_wanted: bool) -> None:
    """How much there is, and how often it spoke before a turn without being asked.

    \b
    crabmem stats
    """
    found = maintenance.stats(open_session(ctx))
    show(json_wanted, json_of(found), lambda: _figures(found))


def _figures(found: Stats) -> str:
    """The figures for a person."""
    unreadable = f", {counted(found.unreadable, 'file')} unreadable" if found.unreadable else ""
    facts = f"{found.entries:,} fact{'' if found.entries == 1 else 's'}{unreadable}"
    if not found.since:
        return f"{facts}\nno host has asked before a turn yet (`before_turn`)"
    share = found.spoke / found.turns
    return (
        f"{facts}\n{found.turns:,} turns in {found.sessions:,} sessions since {found.since:%Y-%m-%d}: "
        f"spoke before {found.spoke:,} ({share:.0%}), of {found.facts:,} facts in {found.characters:,} characters"
    )
