"""`crabmem list`: the facts there are, a line each."""

import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat

import click

from ...operations import adoption, reading
from ...operations.last_changed import last_changed_seen
from ...recall.headers import Header
from ...results import json_of
from ...session.init import is_begun
from ...session.session import Session
from ...text.entry import Entry
from ...text.words import shortened
from ..app import verb
from ..opening import open_session
from ..options import as_of_option, json_option, limit_option, tag_option, when_option
from ..output import (
    coloured,
    day,
    exit_failed,
    in_colour,
    paged,
    plain,
    show,
    tell,
    tell_no_match,
    tell_unknown_tags,
    tell_unreadable,
    warn,
)

_WIDTH = 76
# Characters of the tags of a fact.
_TAGS = 24


@verb(after="show")
@as_of_option
@tag_option
@when_option("--since", "Only facts changed since a commit, a date, or '2 weeks ago'.")
@click.option("--sort", "order", type=click.Choice(["file", "name", "changed"]), default="file", show_default=True,
    help="By the file's path, by name, or those first that were changed last.")  # fmt: skip
@click.option("-r", "--reverse", is_flag=True, help="The other way round.")
@limit_option("At most N facts.")
@click.option("--tags", "is_tags", is_flag=True, help="Only their tags, and how many facts have each.")
@click.option("-l", "--long", "is_long", is_flag=True, help="With the day of the last change, and tags.")
@json_option
def list_(
    as_of: str | None,
    tags: tuple[str, ...],
    since: str | None,
    order: str,
    reverse: bool,
    limit: int | None,
    is_tags: bool,
    is_long: bool,
    json_wanted: bool,
) -> None:
    """List facts, each with its file, name and description.

    Exit status 1 when none has the tag, or was changed since then.

    \b
    crabmem list --tag ops
    crabmem list --tags
    crabmem list --long --since '1 week ago' --sort changed -n 20
    """
    if as_of and (is_long or order == "changed"):
        raise click.UsageError("--long and --sort changed go by the files of now; leave out --as-of")
    memory = open_session()
    entries: Sequence[Entry | Header]
    if as_of or json_wanted:
        entries, unreadable = reading.entries_and_unreadable(memory, as_of, since=since)
    else:
        entries, unreadable = reading.headers_and_unreadable(memory, since=since)
    tell_unreadable(unreadable)
    entries = [*entries, *reading.seen_beside(memory, as_of, since=since)]
    if tags:
        tell_unknown_tags(entries if since is None else reading.entries(memory, as_of), tags)
        entries = [entry for entry in entries if _labels(tags) <= _labels(entry.labels)]
    changed = last_changed_seen(memory) if is_long or order == "changed" else {}
    if order == "name":
        entries = sorted(entries, key=lambda entry: entry.name.casefold())
    elif order == "changed":
        newest = {path: place for place, path in enumerate(changed)}
        entries = sorted(entries, key=lambda entry: newest.get(entry.path, len(newest)))
    shown = (entries[::-1] if reverse else entries)[:limit]
    if is_tags:
        return _show_tags(shown, unreadable, json_wanted, has_tag=bool(tags))
    if json_wanted:
        data = json_of(shown)
        if is_long:
            data = [each | {"changed": json_of(changed.get(each["path"]))} for each in data]
        show(True, {"facts": data, "unreadable": unreadable}, str)
    else:
        paged(_lines(memory, shown, changed if is_long else None))
    held = None if as_of else adoption.unrecorded_in(memory)
    if held and not json_wanted:
        warn([held.words])
    if shown or held or not is_begun(memory):
        return
    if tags or since:
        tell_no_match("no fact matches")
    elif not (unreadable or json_wanted):  # else nobody knows
        tell("this memory is empty")


def _show_tags(entries: Sequence[Entry | Header], unreadable: int, json_wanted: bool, has_tag: bool) -> None:
    """Print the tags of facts, the most used ones first. Upper and lower case count as one tag.

    `has_tag`: only facts with a certain tag are listed; exit with status 1 if there are none.
    """
    spelled: dict[str, str] = {}  # each tag as it is spelled where it comes first
    counts = Counter(
        label
        for entry in entries
        for label in {spelled.setdefault(each.casefold(), each).casefold() for each in entry.labels}
    )
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if json_wanted:
        return show(True, {"tags": [{"tag": spelled[label], "facts": count} for label, count in found]}, str)
    paged((f"{count:6,}  {plain(spelled[label])}\n" for label, count in found))
    if has_tag and not found:
        exit_failed()  # `tell_unknown_tags` has told which tag no fact has
    if not found and (entries or not unreadable):
        tell("no fact has a tag; `crabmem remember NAME -t TAG` gives one")


def _lines(memory: Session, entries: Sequence[Entry | Header], changed: Mapping[str, datetime] | None) -> Iterator[str]:
    """Yield the facts in columns. `changed` has the last change of each path, for the long form; None for the short."""
    # Decided once: `plain` and `coloured` would ask the system for each of thousands of facts.
    clean = plain if sys.stdout.isatty() or in_colour(sys.stdout) else str
    paint = coloured if in_colour(sys.stdout) else _uncoloured
    labels = [clean(memory.layout.label(entry.path)) for entry in entries]
    widths = list(map(_width, labels))
    width = min(max(widths, default=0), 40)
    more = iter(_more(entries, changed, clean, paint)) if changed is not None else repeat("")
    for label, own, entry in zip(labels, widths, entries, strict=True):
        about = shortened(clean(f"{entry.name}: {entry.about}"), _WIDTH)
        yield f"{paint(label, 'cyan')}{' ' * (width - own)}  {next(more)}{about}\n"


def _more(
    entries: Sequence[Entry | Header],
    changed: Mapping[str, datetime],
    clean: Callable[[str], str],
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield the additional columns of the long form: the day of the last change, and the tags if any fact has some."""
    tags = [shortened(clean(",".join(entry.labels)), _TAGS) for entry in entries]
    width = max(map(_width, tags), default=0)
    for entry, own in zip(entries, tags, strict=True):
        changed_on = day(changed[entry.path]) if entry.path in changed else " " * 10
        column = f"{paint(own, 'magenta') if own else ''}{' ' * (width - _width(own) + 2)}" if width else ""
        yield f"{paint(changed_on, 'green')}  {column}"


def _uncoloured(text: str, colour: str) -> str:
    return text


def _width(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _labels(tags: Iterable[str]) -> set[str]:
    return {tag.casefold() for tag in tags}
