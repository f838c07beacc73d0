"""`crabmem remember`: saves one fact."""

import unicodedata

import click

from ...errors import InvalidArguments, NotFound
from ...operations import facts
from ...results import json_of
from ...session.scopes import check_name, scope
from ...session.session import Session
from ...text.commands import command
from ...text.comparison import nearest
from ...text.entry import Entry
from ...text.slug import name_key
from ..app import verb
from ..input import LINE, TEXT, content_of, standard_input
from ..opening import open_session
from ..options import completing, json_option
from ..output import diff_of_commit, plain, show, tell, warn

# Words from which on a lone argument counts as a text, and not as a name. Scripts without spaces have no words
# to count: there it counts as a text if it has more characters than that.
_WORDS, _SIGNS = 3, 8
# Words from which on it counts as a text if options would change a fact too: a name with a typing error has fewer.
_WORDS_OF_NAME = 5
_NO_NAME = "the name is empty"


@verb(after="Facts")
@click.argument("name", metavar="TEXT|NAME", shell_complete=completing("complete_names"))
@click.argument("source", metavar="[-]", required=False)
@click.option("-n", "--name", "new_name", metavar="NEW", type=LINE, help="Another name for it; as `rename`.")
@click.option(
    "-d",
    "--description",
    type=LINE,
    help="One line: the question this fact answers. Stays, if not given.",
)
@click.option("-c", "--content", type=TEXT, help="The fact itself, in Markdown.")
@click.option("--file", shell_complete=completing("complete_files"), help="Read the content from a file.")
@click.option(
    "-a",
    "--alias",
    "aliases",
    type=LINE,
    multiple=True,
    help="Another name it is looked up by; may be repeated. '' alone removes those it has.",
)
@click.option(
    "-t",
    "--tag",
    "tags",
    type=LINE,
    multiple=True,
    shell_complete=completing("complete_tags"),
    help="A label to filter by; may be repeated. '' alone removes those it has.",
)
@click.option(
    "--stale-after",
    metavar="DAY",
    type=LINE,
    help="The last day on which it surely holds, as 2026-12-31; recall says so when it is past. Empty: none.",
)
@click.option(
    "--to",
    metavar="MEMORY",
    shell_complete=completing("complete_scopes"),
    help="Into another memory that is seen here: me, project, team.  [default: the nearest]",
)
@click.option(
    "--source",
    "sources",
    metavar="PATH[:LINE]",
    type=LINE,
    multiple=True,
    shell_complete=completing("complete_files"),
    help="Code of this repository it rests on, from its top; recall says when that is changed. '' alone: none.",
)
@click.option("--no-aliases", is_flag=True, hidden=True)  # as `-a ''` and `-t ''` were said before
@click.option("--no-tags", is_flag=True, hidden=True)
@click.option("--if-version", metavar="V", help="Only if the fact is still this version (`show --json`).")
@json_option
def remember(
    name: str,
    source: str | None,
    new_name: str | None,
    description: str | None,
    content: str | None,
    file: str | None,
    aliases: tuple[str, ...],
    tags: tuple[str, ...],
    stale_after: str | None,
    sources: tuple[str, ...],
    to: str | None,
    no_aliases: bool,
    no_tags: bool,
    if_version: str | None,
    json_wanted: bool,
) -> None:
    """Save a fact: a text alone, or NAME with a content.

    A text alone gets its name and description from what it says.

    The same NAME again replaces its content, and what you leave out stays: the description, aliases, tags, sources and
    the day it is stale after. Without a content -n, -d, -t, -a and the others change the fact called NAME, and its text
    stays.

    \b
    crabmem remember "The deploy key is in the vault, under ops/deploy."
    crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
    crabmem remember "Deploy key" -t ops
    crabmem remember "Retries" -d "how often we retry" -c "Three times." --source src/http.py:40
    pbpaste | crabmem remember "Incident 12" -d "what happened on 3 May" -

    In any one place for a text, - is standard input: -c -, --file - and a last - are the same.
    """
    if source not in (None, "-"):
        way = command("remember", f"{name} {source}", "-d DESC -c TEXT")
        raise click.UsageError(f"a name or a text of several words goes in quotes: {way}")
    is_said = not content is file is source is None
    if name == "-" and is_said:
        raise click.UsageError("the first word is the fact's name, and it cannot be -: remember NAME -d DESC -")
    text = content_of(content, file, source) if is_said else standard_input() if name == "-" else name
    if not text.strip():
        if not is_said and name != "-":
            raise InvalidArguments(_NO_NAME)
        raise click.UsageError("the content is empty. To remove a fact: `crabmem forget NAME`")
    if not name.strip() or (new_name is not None and not new_name.strip()):
        raise InvalidArguments(_NO_NAME)
    no_aliases, aliases = (True, ()) if aliases == ("",) else (no_aliases, aliases)
    no_tags, tags = (True, ()) if tags == ("",) else (no_tags, tags)
    if (aliases and no_aliases) or (tags and no_tags):
        raise click.UsageError("-t '' and -a '' remove all: give them, or others, but not both")
    if description is not None and not description.strip():
        raise click.UsageError("the description is empty: say in a line what the fact is about; left out, it stays")
    is_changed = any((description, aliases, tags, no_aliases, no_tags, sources)) or stale_after is not None
    memory = open_session()
    if ":" in f"{new_name}{name}":
        if is_said or len(name.split()) < _WORDS:
            check_name(memory, name, "`crabmem remember NAME --to {whose}` writes there, with {rest} as the NAME")
        check_name(memory, new_name or "", "-n {rest} --to {whose} writes a new one there, `crabmem move` moves one")
    if to is not None:
        memory = scope(memory, to)
    # Unicode categories: P is punctuation, Z separators, C controls and unassigned.
    is_signs_alone = name.isprintable() and {unicodedata.category(char)[0] for char in name} <= {*"PZC"}
    is_whole = is_said and description is not None and not is_signs_alone  # a look costs as much as the write does
    before = None if name == "-" or is_whole else _called(memory, name, by_other_name=True)
    is_named = before is not None or is_said
    if new_name is not None and (is_said or (before and is_changed)):
        raise click.UsageError("-n goes alone: the rest in a second command, under the new name")
    if before and new_name is not None:
        from ...operations import links  # late, as what follows: it loads YAML, 40 ms, which a new fact needs not
        from .rename import show_renamed

        return show_renamed(links.rename(memory, before.name, new_name, if_version=before.version), json_wanted)
    if not is_named:
        from ...importers.texts import summary, title_of  # late: it loads what reads frontmatter

        if name != "-":
            _check_text(memory, text, is_changed and new_name is None)
        name, before = new_name or title_of(text), None
        if (other := _called(memory, name)) and other.content.strip() != text.strip():
            raise click.UsageError(
                f'there is a fact called {name} already: -n NAME names this one, -c "…" replaces that'
            )
        description = description or (other.description if other else summary(text) or name)
    elif before:
        if not (is_said or is_changed):
            raise click.UsageError(f"what should {before.name} say? -c TEXT, --file FILE, or - to read it")
        name, text = before.path, text if is_said else before.content
        if description is None:
            description, if_version = before.description, if_version or before.version
    elif is_signs_alone:
        raise InvalidArguments(f"the name {name} is signs alone; give the fact a name with a letter or a digit")
    elif description is None:
        raise click.UsageError(f"there is no fact called {name} yet: give -d DESC, a line that says what it is about")
    saved = facts.remember(
        memory,
        name,
        description,
        text,
        aliases=() if no_aliases else aliases or None,
        tags=() if no_tags else tags or None,
        stale_after=stale_after,
        sources=sources or None,
        if_version=if_version,
    )
    said = "remembered" if saved.commit or not saved.proposal else "waits"
    state = "" if saved.commit or saved.proposal else " (it said so already)"
    diff = "" if saved.created else diff_of_commit(saved)
    where = f", in {to}" if to else ""
    show(json_wanted, json_of(saved), lambda: f"{said}: {plain(saved.entry.name)}{where}{state}\n{diff}")
    warn(saved.warnings)
    if not is_named and saved.created and not json_wanted:
        way = plain(command("remember", saved.entry.name, "-n NAME"))
        tell(f"named after what it says; `{way}` renames it, -d DESC describes it")
    if saved.like and not json_wanted:
        way = plain(command("forget", saved.entry.name))
        tell(f"nearly the same as {plain(saved.like.name)}. To keep one: `{way}`")


def _called(memory: Session, name: str, by_other_name: bool = False) -> Entry | None:
    """Return the fact whose name is `name`, `by_other_name` also by alias, file name or path; None if there is none."""
    try:
        entry = facts.get(memory, name)
    except NotFound:
        return None
    return entry if not entry.is_note and (by_other_name or name_key(entry.name) == name_key(name)) else None


def _check_text(memory: Session, text: str, is_change: bool) -> None:
    """Refuse a text that is so short that a name is likely meant, of a fact that does not exist.

    With `is_change`, options would change a fact called so: then longer texts are refused too, as they may be a name
    with a typing error.

    Raises:
        UsageError: the text is too short; the message offers the nearest name.
    """
    if len(text.split()) >= (_WORDS_OF_NAME if is_change else _WORDS) or (not text.isascii() and len(text) > _SIGNS):
        return
    near = nearest(text, (entry.name for entry in facts.entries(memory)))
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise click.UsageError(
        f"there is no fact called {text}.{hint} For a new one: -c TEXT, --file FILE, or - to read it"
    )
