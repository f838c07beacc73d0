"""`crabmem confirm`: has a fact hold until a later day."""

import click

from ...operations import facts
from ...results import json_of
from ...session.scopes import scope_in
from ..app import open_session, verb
from ..completing import complete_names
from ..input import LINE
from ..options import json_option
from ..output import plain, show


@verb(after="leave")
@click.argument("name", shell_complete=complete_names)
@click.option("--until", "day", metavar="DAY", type=LINE, help="The last day on which it surely holds, as 2026-12-31.")
@json_option
def confirm(name: str, day: str | None, json_wanted: bool) -> None:
    """Say that a fact is still true: its `stale_after` becomes a later day.

    Without --until it holds as many days again as it was given when that day was written, or 90.

    \b
    crabmem confirm "Parking permit"
    crabmem confirm "Parking permit" --until 2027-06-30
    """
    memory = open_session()
    done, scope = facts.confirm(memory, name, day), scope_in(memory, name)
    called = plain(done.entry.name) + (f", in {scope}" if scope else "")
    said = f"{'waits' if done.proposal else 'confirmed'}: {called}, until {done.entry.stale_after}"
    show(json_wanted, json_of(done) | {"stale_after": done.entry.stale_after}, lambda: said)
