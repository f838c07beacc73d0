"""`crabmem note`: adds to the note of the day."""

import click

from ...operations import notes
from ...results import Proposed, json_of
from ..app import open_session, verb
from ..input import words_of
from ..options import json_option
from ..output import plain, show, warn


@verb(after="identity")
@click.argument("text", nargs=-1, required=True, metavar="TEXT|-")
@json_option
def note(text: tuple[str, ...], json_wanted: bool) -> None:
    """Add TEXT to the note of today.

    It stands under the time, and what is there stays; - is standard input.

    \b
    crabmem note Called the vet, Luna is fine
    pbpaste | crabmem note -
    """
    changed = notes.write_note(open_session(), words_of(text))
    state = "waits:" if isinstance(changed, Proposed) else "noted in"
    show(json_wanted, json_of(changed), lambda: f"{state} {plain(changed.path)}")
    warn(changed.warnings)
