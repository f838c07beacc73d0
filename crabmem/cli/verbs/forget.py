"""`crabmem forget`: removes one fact."""

import sys
from pathlib import Path

import click

from ...operations import facts
from ...results import json_of
from ...session.scopes import addressed, command_for, scope
from ..app import open_session, verb
from ..completing import complete_names
from ..options import json_option
from ..output import plain, show, tell


@verb(after="edit")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_names)
@json_option
def forget(names: tuple[str, ...], json_wanted: bool) -> None:
    """Remove facts; `crabmem undo` brings the last one back.

    History still holds them; `crabmem purge` erases them. A fact of another memory is named as recall shows it, and it
    is undone there: how is said.

    \b
    crabmem forget "Deploy key"
    crabmem --project . forget me:Editor
    """
    memory = open_session()
    meant: dict[tuple[Path, str], str] = {}  # each fact once, found before the first is gone
    for name in names:
        other, own = addressed(memory, name)
        meant.setdefault((other.root, facts.get(other, own).path), name)
    done = [facts.forget(memory, name) for name in meant.values()]
    lines = [
        f"{'waits' if gone.proposal else 'forgot'}: {plain(gone.name)}" + (f", in {gone.scope}" if gone.scope else "")
        for gone in done
    ]
    show(json_wanted, {"facts": json_of(done)}, lambda: "\n".join(lines))
    if json_wanted:
        return
    here = [gone for gone in done if gone.commit and not gone.scope]
    if here and sys.stderr.isatty():
        tell(f"`crabmem undo` brings {'it' if len(done) == 1 else 'the last one'} back")
    for name in dict.fromkeys(gone.scope for gone in done if gone.commit and gone.scope):
        last = [gone.name for gone in done if gone.scope == name][-1]
        tell(plain(f"`{command_for(scope(memory, name))} undo` brings {last} back, in {name}"))
