"""The filter `--tag` of verbs that look for facts."""

import difflib
from collections.abc import Sequence

import click

from ..text.entry import Entry
from .completing import complete_tags
from .output import tell

tag_option = click.option(
    "-t", "--tag", "tags", multiple=True, shell_complete=complete_tags,
    help="Only facts with this tag; may be repeated.",
)  # fmt: skip


def tell_unknown_tags(entries: Sequence[Entry], tags: Sequence[str]) -> None:
    """Say which of the tags no fact has, with the nearest that one has."""
    known = {tag.casefold(): tag for entry in entries for tag in entry.labels}
    for tag in tags:
        if tag.casefold() not in known:
            near = difflib.get_close_matches(tag.casefold(), known, n=1)
            tell(f"no fact has the tag {tag}{f' (nearest: {known[near[0]]})' if near else ''}")
