"""`crabmem remember`: saves one fact."""

from contextlib import suppress

import click

from ...errors import NotFound
from ...operations import facts
from ...results import json_of
from ...session.session import Session
from ...text.entry import Entry
from ...text.slug import name_key
from ..app import open_session, verb
from ..input import LINE, TEXT, content_of
from ..options import json_option
from ..output import coloured_diff, plain, show, warn


@verb(after="Facts")
@click.argument("name")
@click.argument("source", metavar="[-]", required=False)
@click.option("-d", "--description", type=LINE, help="One line: the question this fact answers. Stays, if not given.")
@click.option("-c", "--content", type=TEXT, help="The fact itself, in Markdown.")
@click.option("--file", type=click.Path(), help="Read the content from a file.")
@click.option(
    "-a", "--alias", "aliases", type=LINE, multiple=True, help="Another name it is looked up by; may be repeated."
)
@click.option("-t", "--tag", "tags", type=LINE, multiple=True, help="A label to filter by; may be repeated.")
@click.option("--no-aliases", is_flag=True, help="Remove the aliases it has.")
@click.option("--no-tags", is_flag=True, help="Remove the tags it has.")
@click.option("--if-version", metavar="V", help="Only if the entry is still this version (`show --json`).")
@json_option
@click.pass_context
def remember(
    ctx: click.Context,
    name: str,
    source: str | None,
    description: str | None,
    content: str | None,
    file: str | None,
    aliases: tuple[str, ...],
    tags: tuple[str, ...],
    no_aliases: bool,
    no_tags: bool,
    if_version: str | None,
    json_wanted: bool,
) -> None:
    """Save one fact; the same NAME again replaces its content.

    What you leave out then stays: the description, aliases and tags.

    \b
    crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
    pbpaste | crabmem remember "Incident 12" -d "what happened on 3 May" -

    In any one place for a text, - is standard input: -c -, --file - and a last - are the same.
    """
    if name == "-":
        raise click.UsageError("the first word is the fact's name, and it cannot be -: remember NAME -d DESC -")
    text = content_of(ctx, content, file, source)
    if not text.strip():
        raise click.UsageError("the content is empty: say the fact; `crabmem forget NAME` removes one")
    if (aliases and no_aliases) or (tags and no_tags):
        raise click.UsageError("--no-tags and --no-aliases remove them; -t and -a alone replace those there are")
    memory = open_session(ctx)
    if description is None:
        before = _called(memory, name)
        description, if_version = before.description, if_version or before.version
    elif not description.strip():
        raise click.UsageError("the description is empty: say in a line what the fact is about; left out, it stays")
    saved = facts.remember(
        memory,
        name,
        description,
        text,
        aliases=() if no_aliases else aliases or None,
        tags=() if no_tags else tags or None,
        if_version=if_version,
    )
    state = "" if saved.commit else " (it said so already)"
    diff = "" if saved.created else coloured_diff(saved.diff)
    show(json_wanted, json_of(saved), lambda: f"remembered: {plain(saved.entry.name)}{state}\n{diff}")
    warn(saved.warnings)


def _called(memory: Session, name: str) -> Entry:
    """The fact that is replaced by one of that name.

    Raises:
        UsageError: there is none.
    """
    with suppress(NotFound):
        entry = facts.get(memory, name)
        if name_key(entry.name) == name_key(name):  # and not only an alias
            return entry
    raise click.UsageError(f"there is no fact called {name} yet: give -d DESC, a line that says what it is about")
