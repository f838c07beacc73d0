"""`crabmem remember`: saves one fact."""

from __future__ import annotations

from ...operations import facts
from ...results import json_of
from ..declared import Text, argument, json_option, option, verb
from ..input import content_of
from ..opening import open_session
from ..output import coloured_diff, plain, show, tell, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...session.session import Session
    from ...text.entry import Entry


@verb(after="Facts")
@argument("name", shell_complete="complete_names")
@argument("source", metavar="[-]", required=False)
@option(
    "-d",
    "--description",
    type=Text(is_line=True),
    help="One line: the question this fact answers. Stays, if not given.",
)
@option("-c", "--content", type=Text(is_line=False), help="The fact itself, in Markdown.")
@option("--file", shell_complete="complete_files", help="Read the content from a file.")
@option(
    "-a",
    "--alias",
    "aliases",
    type=Text(is_line=True),
    multiple=True,
    help="Another name it is looked up by; may be repeated.",
)
@option(
    "-t",
    "--tag",
    "tags",
    type=Text(is_line=True),
    multiple=True,
    shell_complete="complete_tags",
    help="A label to filter by; may be repeated.",
)
@option(
    "--stale-after",
    metavar="DAY",
    type=Text(is_line=True),
    help="The last day on which it surely holds, as 2026-12-31; recall says so when it is past. Empty: none.",
)
@option("--no-aliases", is_flag=True, help="Remove the aliases it has.")
@option("--no-tags", is_flag=True, help="Remove the tags it has.")
@option("--if-version", metavar="V", help="Only if the entry is still this version (`show --json`).")
@json_option
def remember(
    ctx: Any,
    name: str,
    source: str | None,
    description: str | None,
    content: str | None,
    file: str | None,
    aliases: tuple[str, ...],
    tags: tuple[str, ...],
    stale_after: str | None,
    no_aliases: bool,
    no_tags: bool,
    if_version: str | None,
    json_wanted: bool,
) -> None:
    """Save one fact; the same NAME again replaces its content.

    What you leave out then stays: the description, aliases, tags and the day it is stale after.

    \b
    crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
    pbpaste | crabmem remember "Incident 12" -d "what happened on 3 May" -

    In any one place for a text, - is standard input: -c -, --file - and a last - are the same.
    """
    if name == "-":
        raise _wrong_usage("the first word is the fact's name, and it cannot be -: remember NAME -d DESC -")
    text = content_of(ctx, content, file, source)
    if not text.strip():
        raise _wrong_usage("the content is empty: say the fact; `crabmem forget NAME` removes one")
    if (aliases and no_aliases) or (tags and no_tags):
        raise _wrong_usage("--no-tags and --no-aliases remove them; -t and -a alone replace those there are")
    memory = open_session(ctx)
    if description is None:
        before = _called(memory, name)
        description, if_version = before.description, if_version or before.version
    elif not description.strip():
        raise _wrong_usage("the description is empty: say in a line what the fact is about; left out, it stays")
    saved = facts.remember(
        memory,
        name,
        description,
        text,
        aliases=() if no_aliases else aliases or None,
        tags=() if no_tags else tags or None,
        stale_after=stale_after,
        if_version=if_version,
    )
    said = "remembered" if saved.commit or not saved.proposal else "waits"
    state = "" if saved.commit or saved.proposal else " (it said so already)"
    diff = "" if saved.created else coloured_diff(saved.diff)
    show(json_wanted, json_of(saved), lambda: f"{said}: {plain(saved.entry.name)}{state}\n{diff}")
    warn(saved.warnings)
    if saved.like and not json_wanted:
        tell(f"like {plain(saved.like.name)}: update it instead? `crabmem show` it, and `crabmem forget` one of them")


def _called(memory: Session, name: str) -> Entry:
    """The fact that is replaced by one of that name.

    Raises:
        UsageError: there is none.
    """
    from ...errors import NotFound
    from ...text.slug import name_key

    try:
        entry = facts.get(memory, name)
        if name_key(entry.name) == name_key(name):  # and not only an alias
            return entry
    except NotFound:
        pass
    raise _wrong_usage(f"there is no fact called {name} yet: give -d DESC, a line that says what it is about")


def _wrong_usage(words: str) -> Exception:
    import click

    return click.UsageError(words)
