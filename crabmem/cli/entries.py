"""The verbs for single facts."""

import difflib
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

import click

from ..disk import fs
from ..errors import NotFound
from ..operations import facts, setup
from ..operations import recall as recall_operations
from ..operations.last_changed import last_changed
from ..recall.marking import on_terminal
from ..recall.ranking import text_of
from ..results import Hit, Match, json_of
from ..session import beginning
from ..session.session import Session
from ..text.answers import BETWEEN, answer_text
from ..text.entry import Entry, decode
from ..text.hashes import short, version_of
from ..text.quoting import entry_text
from ..text.slug import name_key
from ..text.words import shortened
from .base import (
    LINE,
    TEXT,
    as_json,
    coloured_diff,
    complete_names,
    complete_tags,
    content_of,
    in_colour,
    opened,
    paged,
    plain,
    recorded,
    show,
    tell,
    wanted_of,
    warn,
    words_of,
)
from .editing import edited, edited_by_agent

_WIDTH = 76
_TAG = "Only facts with this tag; may be repeated."


@click.command()
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
@as_json
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
    memory = opened(ctx)
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


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, help="How many facts at most.  [default: recall_limit, 5]")
@click.option("-t", "--tag", "tags", multiple=True, shell_complete=complete_tags, help=_TAG)
@click.option("--since", metavar="REV", help="Only facts changed since a commit, a date, or '2 weeks ago'.")
@click.option("--until", metavar="REV", help="Only facts not changed since then.")
@click.option("--as-of", metavar="REV", help="In memory as it was at a commit, a date, or '3 weeks ago'.")
@click.option("--budget", type=int, metavar="N", help="At most N characters: of long facts the passage that matched.")
@click.option("--explain", is_flag=True, help="Say which words matched where, and what each added to the score.")
@click.option("--blame", is_flag=True, help="Say who wrote each fact when, and whether a person ever did.")
@as_json
@click.pass_context
def recall(
    ctx: click.Context,
    query: tuple[str, ...],
    limit: int | None,
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    as_of: str | None,
    budget: int | None,
    explain: bool,
    blame: bool,
    json_wanted: bool,
) -> None:
    """Search memory; the words of QUERY need no quotes, and - is standard input.

    \b
    crabmem recall where is the deploy key
    crabmem recall 'deploy*'             any word that begins so
    crabmem recall '"the deploy key"'    these words in this order

    \b
    What matches:
      words       whatever their case, accents, and in the workspace's `language` their endings:
                  went is go, children is child; Russian, Greek, Armenian, Arabic, Hindi, Tamil always
      programs    parse_invoice, parseInvoice, ops/deploy.sh: each part, and the whole however it
                  is joined; 3.11 finds 3.11.7; C++
      dates       9 June 2024, June 9th, 2024, 2024-06-09 and 09.06.2024 are one; June 2024 finds it
      no spaces   any part of a sentence in Chinese, Japanese, Korean, Thai, Lao, Khmer, Myanmar
      unknown     a word that no fact has: parts of compounds, bookshelf in "book shelf"
    Not searched: the, what, did, you, …; but I, my, not, no, may are. Not matched: typing errors,
    synonyms, another language (see [vectors] in `crabmem config`).
    """
    asked = words_of(ctx, query)
    memory = opened(ctx)
    found = recall_operations.recall(
        memory, asked, limit, tags, since=since, until=until, budget=budget, explain=explain, as_of=as_of, blame=blame
    )
    language = memory.settings.language
    if sys.stdout.isatty():
        text = BETWEEN.join(_shown(hit, asked, language) + _explained(hit, explain) + _blamed(hit) for hit in found)
    else:  # a program reads this, and often a model what it prints
        text = answer_text([_told(hit) + _explained(hit, explain) for hit in found]) if found.hits else ""
    show(json_wanted, json_of(found), lambda: text)
    if not found.hits and tags:
        _tell_unknown(facts.entries(memory, as_of), tags)
    if found.note and not json_wanted:
        tell(f"no memories found: {found.note}" if not found.hits else found.note)
    if not found.hits and not json_wanted and (files := memory.profile.search.files):
        tell(f"recall finds facts; a tool for agents searches {', '.join(files)}: see `crabmem tools`")


def _shown(hit: Hit, asked: str, language: str) -> str:
    """A hit as a person sees it: as it is, with its file and the words it was found by."""
    text = entry_text(hit.entry.name, hit.entry.description, hit.shown)
    return on_terminal(text, plain(hit.entry.path), asked, language, in_colour(sys.stdout))


def _told(hit: Hit) -> str:
    """A hit as a model reads it; where it comes from is said above what it says itself."""
    heading, source, *rest = text_of(hit).split("\n", 2)
    return "\n".join([heading, source, *filter(None, [_blamed(hit).strip()]), *rest])


def _blamed(hit: Hit) -> str:
    """Where a hit comes from, if that was asked."""
    known = hit.provenance
    if known is None:
        return ""
    told = [
        f"{what} {commit.time:%Y-%m-%d} by {commit.who} in {short(commit.commit)}"
        for what, commit in (("learned", known.learned), ("last changed", known.changed))
        if commit
    ]
    told = told[: 2 if known.learned != known.changed else 1]
    told += [] if known.is_recorded else ["changed on disk since, not recorded yet" if told else "not recorded yet"]
    told += [f"{len(known.authors)} authors"] if len(known.authors) > 1 else []
    told += ["touched by a person" if known.is_confirmed else "never touched by a person"] if known.learned else []
    return "\n\n" + plain("; ".join(told))


def _explained(hit: Hit, explain: bool) -> str:
    """What the score of a hit is made of, a line for each word, the most telling first."""
    if not explain:
        return ""
    fields: dict[str, list[Match]] = {}
    for match in hit.matches:
        fields.setdefault(match.word, []).append(match)
    ordered = sorted(fields.items(), key=lambda item: -sum(match.added for match in item[1]))
    lines = [f"{sum(each.added for each in found):8.3f}  {word}: {_places(found)}" for word, found in ordered]
    return "\n\n" + "\n".join([*lines, f"{hit.score:8.3f}  in all"])


def _places(matches: Sequence[Match]) -> str:
    return ", ".join(f"{match.field} {match.added:.3f}" for match in matches)


@click.command("show")
@click.argument("name", shell_complete=complete_names)
@click.option("--at", metavar="REV", help="As it was at a commit of `log`, at the end of a date, or '2 days ago'.")
@as_json
@click.pass_context
def show_(ctx: click.Context, name: str, at: str | None, json_wanted: bool) -> None:
    """Print one fact, looked up by name, file name or alias."""
    entry = facts.get(opened(ctx), name, at)
    show(json_wanted, json_of(entry), lambda: plain(entry_text(entry.name, entry.description, entry.content)))


@click.command("list")
@click.option("--at", metavar="REV", help="As it was at a commit of `log`, at the end of a date, or '2 days ago'.")
@click.option("-t", "--tag", "wanted", multiple=True, shell_complete=complete_tags, help=_TAG)
@click.option("--since", metavar="REV", help="Only facts changed since a commit, a date, or '2 weeks ago'.")
@click.option("--sort", "order", type=click.Choice(["file", "name", "changed"]), default="file", show_default=True,
    help="By the file's path, by name, or those first that were changed last.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most N facts.")
@as_json
@click.pass_context
def list_(
    ctx: click.Context,
    at: str | None,
    wanted: tuple[str, ...],
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
        raise click.UsageError("--sort changed goes by the files of now; leave out --at")
    memory = opened(ctx)
    entries = facts.entries(memory, at, since=since)
    if wanted:
        _tell_unknown(entries if since is None else facts.entries(memory, at), wanted)
        entries = [entry for entry in entries if _labels(wanted) <= _labels(entry.labels)]
    if order == "name":
        entries = sorted(entries, key=lambda entry: entry.name.casefold())
    elif order == "changed":
        newest = {path: place for place, path in enumerate(last_changed(memory))}
        entries = sorted(entries, key=lambda entry: newest.get(entry.path, len(newest)))
    shown = entries[:limit]
    labels = [plain(memory.layout.label(entry.path)) for entry in shown]
    width = min(max(map(_width, labels), default=0), 40)
    if json_wanted:
        return show(True, json_of(shown), str)
    paged(ctx, (_line(label, entry, width) for label, entry in zip(labels, shown, strict=True)))
    if not shown and beginning.is_begun(memory):
        tell("no fact is like that" if wanted or since else "nothing has been remembered yet")


def _line(label: str, entry: Entry, width: int) -> str:
    about = shortened(plain(f"{entry.name}: {entry.description or entry.content}"), _WIDTH)
    return f"{label}{' ' * (width - _width(label))}  {about}\n"


def _width(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _labels(tags: Iterable[str]) -> set[str]:
    return {tag.casefold() for tag in tags}


def _tell_unknown(entries: Sequence[Entry], tags: Sequence[str]) -> None:
    """Say which of the tags no fact has, with the nearest that one has."""
    known = {tag.casefold(): tag for entry in entries for tag in entry.labels}
    for tag in tags:
        if tag.casefold() not in known:
            near = difflib.get_close_matches(tag.casefold(), known, n=1)
            tell(f"no fact has the tag {tag}{f' (nearest: {known[near[0]]})' if near else ''}")


@click.command("tags")
@as_json
@click.pass_context
def tags_(ctx: click.Context, json_wanted: bool) -> None:
    """List the tags that facts have, and how many have each."""
    memory = opened(ctx)
    spelled: dict[str, str] = {}
    counts = Counter(
        spelled.setdefault(label.casefold(), label) and label.casefold()
        for entry in facts.entries(memory)
        for label in dict.fromkeys(entry.labels)
    )
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    data = [{"tag": spelled[label], "facts": count} for label, count in found]
    if json_wanted:
        return show(True, data, str)
    paged(ctx, (f"{count:6,}  {plain(spelled[label])}\n" for label, count in found))
    if not found and beginning.is_begun(memory):
        tell("no fact has a tag; `crabmem remember NAME -t TAG …` gives one")


@click.command()
@click.argument("name", shell_complete=complete_names)
@click.pass_context
def edit(ctx: click.Context, name: str) -> None:
    """Open one fact in your editor ($VISUAL, $EDITOR), and record what you changed as yours.

    With --agent it is recorded as the agent's.
    """
    memory = opened(ctx)
    entry = facts.get(memory, name)
    file = memory.file(entry.path)
    if not wanted_of(ctx).agent:
        edited(file)
        return recorded(memory, setup.adopt(memory))
    before = fs.read(file)[0]
    text, version = decode(str(file), before), version_of(before)
    done = edited_by_agent(file.name, text, lambda text: facts.rewrite_entry(memory, name, text, version))
    tell(f"recorded: edit: {entry.name}" if done else "nothing changed")
    warn(done.warnings if done else ())


@click.command()
@click.argument("name", shell_complete=complete_names)
@as_json
@click.pass_context
def forget(ctx: click.Context, name: str, json_wanted: bool) -> None:
    """Remove one fact. History still holds it: `crabmem undo` brings it back, and `crabmem purge` erases it."""
    gone = facts.forget(opened(ctx), name)
    show(json_wanted, json_of(gone), lambda: f"forgot: {plain(gone.name)}")


COMMANDS = (remember, recall, show_, list_, tags_, edit, forget)
