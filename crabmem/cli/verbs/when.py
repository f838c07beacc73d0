"""`crabmem when`: when memory knew something."""

import click

from ...operations import occurrences
from ...results import Sighting, Sightings, json_of
from ...text.hashes import short
from ...text.words import enumerated, shortened
from ..app import open_session, verb
from ..input import words_of
from ..options import json_option
from ..output import coloured, exit_failed, minute, plain, show, tell

_SHOWN = 100
_COLOURS = {"appeared": "green", "changed": "yellow", "vanished": "red"}


@verb(after="blame")
@click.argument("query", nargs=-1, required=True)
@json_option
def when(query: tuple[str, ...], json_wanted: bool) -> None:
    """Show when memory knew something.

    Prints the commits in which it appeared, changed and vanished. Exit status 1 when memory never said it.

    A text that memory ever said word by word is looked for so, any other by its words: all of them in
    one fact. A star marks a person.

    \b
    crabmem when the key lies in the vault
    """
    found = occurrences.when(open_session(), words_of(query))
    show(json_wanted, json_of(found), lambda: "".join(map(_sighting, found.steps)))
    if not json_wanted:
        tell(_today(found))
    if not (found.steps or found.unrecorded):
        exit_failed()


def _sighting(step: Sighting) -> str:
    """Return the commit of a step, what happened to the text in which fact, and the lines that went and came."""
    commit = step.commit
    head = f"{coloured(short(commit.commit), 'yellow')}  {minute(commit.time)}  {plain(commit.who)}"
    what = f"{coloured(step.what, _COLOURS[step.what])} {'from' if step.what == 'vanished' else 'in'}"
    gone = [line for line in step.before if line not in step.after]
    come = [line for line in step.after if line not in step.before]
    lines = [*(f"  - {_shown(line)}\n" for line in gone), *(f"  + {_shown(line)}\n" for line in come)]
    return f"{head}  {what} {plain(step.name)}\n{''.join(lines)}"


def _shown(line: str) -> str:
    return plain(shortened(line.strip(), _SHOWN))


def _today(found: Sightings) -> str:
    """Return where the text is found now, what of that no commit has yet, and whether it was only found by words."""
    if not (found.steps or found.unrecorded):
        return "memory never said that"
    how = "" if found.is_exact else "; nothing said it word by word, these have all its words"
    fresh = ""
    if found.unrecorded:
        which = "" if found.unrecorded == found.now else f": {enumerated(found.unrecorded)}"
        fresh = f" (not recorded yet{which})"
    return (f"today: in {enumerated(found.now)}" if found.now else "today: nowhere") + fresh + how
