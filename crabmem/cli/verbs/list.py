"""`crabmem list`: the facts there are, a line each."""

from __future__ import annotations

import sys

from ...operations import reading
from ...results import json_of
from ...session.init import is_begun
from ...text.words import shortened
from ..declared import OneOf, Whole, json_option, option, tag_option, verb
from ..opening import open_session
from ..output import paged, plain, show, tell, tell_unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ...recall.headers import Header
    from ...text.entry import Entry

_WIDTH = 76


@verb(after="show")
@option("--at", metavar="REV", help="As it was at a commit of `log`, at the end of a date, or '2 days ago'.")
@tag_option
@option("--since", metavar="REV", help="Only facts changed since a commit, a date, or '2 weeks ago'.")
@option("--sort", "order", type=OneOf("file", "name", "changed"), default="file", show_default=True,
    help="By the file's path, by name, or those first that were changed last.")  # fmt: skip
@option("-n", "--limit", type=Whole(1), metavar="N", help="At most N facts.")
@json_option
def list_(
    ctx: Any,
    at: str | None,
    tags: tuple[str, ...],
    since: str | None,
    order: str,
    limit: int | None,
    json_wanted: bool,
) -> None:
    """List facts: file name after the folders it lies in, name and description.

    \b
    crabmem list --tag ops
    crabmem list --since '1 week ago' --sort changed -n 20
    """
    if at and order == "changed":
        import click

        raise click.UsageError("--sort changed goes by the files of now; leave out --at")
    memory = open_session(ctx)
    entries: Sequence[Entry | Header]
    if at or json_wanted:
        entries, unreadable = reading.entries_and_unreadable(memory, at, since=since)
    else:
        entries, unreadable = reading.headers_and_unreadable(memory, since=since)
    tell_unreadable(unreadable)
    if tags:
        from ..tag_filter import tell_unknown_tags

        tell_unknown_tags(entries if since is None else reading.entries(memory, at), tags)
        entries = [entry for entry in entries if _labels(tags) <= _labels(entry.labels)]
    if order == "name":
        entries = sorted(entries, key=lambda entry: entry.name.casefold())
    elif order == "changed":
        from ...operations.last_changed import last_changed

        newest = {path: place for place, path in enumerate(last_changed(memory))}
        entries = sorted(entries, key=lambda entry: newest.get(entry.path, len(newest)))
    shown = entries[:limit]
    clean = plain if sys.stdout.isatty() else str  # asked once: of thousands, each would ask the system
    labels = [clean(memory.layout.label(entry.path)) for entry in shown]
    widths = list(map(_width, labels))
    width = min(max(widths, default=0), 40)
    if json_wanted:
        return show(True, json_of(shown), str)
    columns = zip(labels, widths, shown, strict=True)
    labelled = ((label + " " * (width - own), entry) for label, own, entry in columns)
    paged(ctx, (f"{label}  {shortened(clean(f'{entry.name}: {entry.about}'), _WIDTH)}\n" for label, entry in labelled))
    if shown or not is_begun(memory):
        return
    if tags or since:
        tell("no fact is like that")
    elif not unreadable:  # else nobody knows
        tell("nothing has been remembered yet")


def _width(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _labels(tags: Iterable[str]) -> set[str]:
    return {tag.casefold() for tag in tags}
