"""`crabmem tags`: the tags that facts have."""

from collections import Counter

import click

from ...operations import reading
from ...session.init import is_begun
from ..app import open_session, verb
from ..options import json_option
from ..output import paged, plain, show, tell, tell_unreadable


@verb(after="list")
@json_option
@click.pass_context
def tags_(ctx: click.Context, json_wanted: bool) -> None:
    """List the tags that facts have, and how many have each.

    \b
    crabmem tags
    crabmem list --tag ops                 the facts that have one
    """
    memory = open_session(ctx)
    entries, unreadable = reading.headers_and_unreadable(memory)
    tell_unreadable(unreadable)
    spelled: dict[str, str] = {}
    counts = Counter(
        spelled.setdefault(label.casefold(), label) and label.casefold()
        for entry in entries
        for label in dict.fromkeys(entry.labels)
    )
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    data = [{"tag": spelled[label], "facts": count} for label, count in found]
    if json_wanted:
        return show(True, data, str)
    paged(ctx, (f"{count:6,}  {plain(spelled[label])}\n" for label, count in found))
    if not found and (entries or not unreadable) and is_begun(memory):
        tell("no fact has a tag; `crabmem remember NAME -t TAG …` gives one")
