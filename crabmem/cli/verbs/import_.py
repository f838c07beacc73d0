"""`crabmem import`: remembers what people have already, in one commit, and says what became of each thing."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ...errors import AlreadyThere
from ...importers.base import Found, Skipped, Source, Tree
from ...importers.facts import if_wanted, prepare
from ...importers.recognition import source_called, source_of, sources
from ...importers.texts import facts_of_sections, is_instructions
from ...importers.tree import tree_at, tree_of
from ...operations import facts as facts_operations
from ...operations import files, reading
from ...results import Saved
from ...session.session import Session
from ...text.entry import Fact, decode
from ...text.values import replace as replaced
from ...text.words import listed
from ..app import open_session, verb
from ..completing import complete_sources, complete_tags
from ..importing import Import, import_data, import_lines, import_summary, outcomes, place_name, shown_place
from ..options import NonEmptyPath, global_options, json_option
from ..output import Failure, can_ask, progress_bar, show, tell, warn

_SECTIONS = ("facts", "overview", "whole")


class _WithKinds(click.Command):
    """Lists the kinds of memory that can be imported at the end of its help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Kinds, recognised by their look or named with --from"):
            formatter.write_dl([(source.name, source.about) for source in sources()])


def _not_blank(value: str) -> str:
    """Check a value of --only: an empty one, as from an unset shell variable, would select every fact."""
    if not value.strip():
        raise click.BadParameter("it is empty; leave --only out to take all")
    return value


@verb(after="links", cls=_WithKinds)
@click.argument("place", metavar="DIR|FILE|-", type=NonEmptyPath(allow_dash=True, path_type=Path))
@click.option(
    "--from",
    "kind",
    metavar="KIND",
    shell_complete=complete_sources,
    help="Whose memory it is.  [default: as it looks]",
)
@click.option(
    "-t",
    "--tag",
    "tags",
    multiple=True,
    shell_complete=complete_tags,
    help="A label that every fact gets; may be repeated.",
)
@click.option(
    "--sections",
    type=click.Choice(_SECTIONS),
    help="What CLAUDE.md, AGENTS.md and GEMINI.md become: a fact for each heading, part of the overview, or one fact.  "
    "[default: asks; else facts]",
)
@click.option(
    "--only",
    "only",
    multiple=True,
    type=_not_blank,
    metavar="NAME|N",
    help="Only facts with this in their name, a pattern such as 'trip*', or number N in its list; may be repeated.",
)
@click.option("--replace", is_flag=True, help="Also facts that are there by that name and say something else.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
def import_(
    place: Path,
    kind: str | None,
    tags: tuple[str, ...],
    sections: str | None,
    only: tuple[str, ...],
    replace: bool,
    dry_run: bool,
    json_wanted: bool,
) -> None:
    """Take in notes, or the memory of another program.

    All of it in one commit. Twice is harmless.

    Nothing is overwritten, and nothing in DIR is changed; each thing that is not taken is named with the reason. What
    lies in folders lies in folders of these names here. A CLAUDE.md with headings is taken apart, see --sections.
    A fact is called by the `name` or `title` in its file, else by its first heading, else by the file's name; those
    of the same name are told apart by their paths. Files of other kinds, and names with a leading dot, are passed over,
    and named. All else in a file's frontmatter stays as it is written there,
    comments and dates too: the commit is of today. The key `imported-from` says the path of the file that a fact came
    from, so that a later import of that file finds the fact again, whatever it is called by then; it is not taken from
    a file, nor from an export, which would choose what it stands for. A file that was
    renamed or moved is a new one, and its fact a second one unless name and text are the same; a fact that you forgot
    is made again while its file is there. Exit status 1 when nothing of it could be taken.

    \b
    crabmem import ~/notes --dry-run
    crabmem import ~/.claude/projects/-home-me-shop/memory
    crabmem import ~/Downloads/chatgpt-export.zip --only 'trip*' --only 12
    curl … | crabmem import - --from mem0
    """
    memory = open_session()
    named = source_called(kind) if kind else None
    if str(place) == "-":
        data = sys.stdin.buffer.read()
        tree = tree_of(data, named.endings) if named else tree_of(data)
    else:
        tree = tree_at(place, memory.root)
    source = named or source_of(tree)
    read = _read(source, tree)
    told = [item for item in read if source.name == "folder" and is_instructions(item, tree)]
    way = (sections or _ask_what_becomes(told)) if told else "whole"
    read = [each for item in read for each in (_take_apart(item, tree, way) if item in told else [item])]
    found = prepare([*read, *source.passed_over(tree, read)], tags, place_name(place))
    origins = {item.what.origin for item in found if isinstance(item.what, Fact)}
    if only:
        found = [if_wanted(item, only) for item in found]
    if not read:
        raise Failure(
            f"there is {f'nothing of {kind}' if kind else 'no Markdown or text file'} in {shown_place(str(place))}"
        )
    facts = [item.what for item in found if isinstance(item.what, Fact)]
    name = "stdin" if str(place) == "-" else place.resolve().name
    with progress_bar("writing") as progress:
        saved = facts_operations.remember_all(memory, facts, name, dry_run, replace, progress=progress)
    if way == "overview" and not dry_run:
        _add_to_overview(memory, [decode(item.where, tree.read(item.where)).strip() for item in told])
    done = Import(str(place), source.name, outcomes(found, saved), dry_run)
    lines = list(import_lines(done, global_options().quiet))
    if json_wanted or lines:
        show(json_wanted, import_data(done), lambda: "\n".join(lines))
    warn(f"{where}: {words}" for where, item in done.items if isinstance(item, Saved) for words in item.warnings)
    if replace:
        warn(_left_behind(memory, origins))
    _conclude(done, json_wanted)
    # Facts that are there already count as taken: the same import a second time is no failure.
    if way != "overview" and all(isinstance(item, Skipped) for _, item in done.items):
        where = shown_place(done.place)
        if origins:  # but none that --only names
            raise Failure(
                f"no fact in {where} has {' or '.join(only)} in its name; `--dry-run` without --only lists them"
            )
        raise Failure(f"nothing in {where} could be taken; each is named above, with the reason")


def _ask_what_becomes(told: list[Found]) -> str:
    """Ask what files such as CLAUDE.md become, and return one of `_SECTIONS`; without a terminal "facts"."""
    if not can_ask():
        return "facts"
    names = listed([item.where for item in told], 3)
    question = f"{names}: a fact for each heading, part of the overview (always in the prompt), or one fact?"
    return str(click.prompt(question, type=click.Choice(_SECTIONS), default="facts", err=True))


def _take_apart(item: Found, tree: Tree, way: str) -> list[Found]:
    """Return what a file such as CLAUDE.md becomes, by the choice `way`.

    For "whole" it is one fact, for "overview" none, as its text is added to the overview later; else it is a fact for
    each heading, in the folder that the file lies in.
    """
    fact = item.what
    assert isinstance(fact, Fact)
    if way == "whole":
        return [item]
    if way == "overview":
        return [item._replace(what=Skipped("it goes into the overview"))]
    found = facts_of_sections(item.where, tree.read(item.where), fact)
    return [
        each._replace(what=replaced(each.what, folder=fact.folder)) if isinstance(each.what, Fact) else each
        for each in found
    ]


def _add_to_overview(memory: Session, texts: list[str]) -> None:
    """Append texts to the overview, except those that it contains already; tell how to undo that."""
    before = files.overview(memory)
    new = [text for text in texts if text not in before.text]
    if new:
        text = "\n\n".join(filter(None, [before.text.strip(), *new]))
        warn(files.write_overview(memory, f"{text}\n", before.version).warnings)
        tell(f"{memory.layout.overview} updated: `crabmem undo` takes that back")


def _left_behind(memory: Session, origins: set[str]) -> Iterator[str]:
    """Yield words on each entry that was imported as a part of a file of `origins`, and is none of them any more."""
    wholes = origins | {origin.rpartition("#")[0] for origin in origins}
    for entry in reading.entries(memory):
        whole = entry.origin.rpartition("#")[0]
        if whole and whole in wholes and entry.origin not in origins:
            way = f"`crabmem forget {shlex.quote(entry.name)}` removes it"
            yield f"{entry.path}: it was imported as a part of its own earlier, and is none now; {way}"


def _read(source: Source, tree: Tree) -> list[Found]:
    reading = source.facts(tree)
    with click.progressbar(
        reading, len(tree.files), "reading", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as found:
        return list(found)


def _conclude(done: Import, json_wanted: bool) -> None:
    """Print a summary of the import.

    Raises:
        Failure: something failed, and all else was skipped.
    """
    counts = done.counts
    if not json_wanted:
        words = import_summary(done)
        kind = "" if done.kind == "folder" else f"read as {done.kind}: "
        tell(f"{kind}{words or 'nothing made'}{'; nothing was written' if done.dry_run else ''}")
        if any(isinstance(item, AlreadyThere) for _, item in done.items):
            tell("what is there and says something else stays; --replace takes these, too")
    if not counts["failed"]:
        return
    things = "files" if Path(done.place).is_dir() else "things"
    words = f"{counts['failed']} of {len(done.items)} {things} in {shown_place(done.place)} could not be taken"
    words = " ".join(words.split())
    if not counts.keys() - {"failed", "skipped"}:  # if some were written, a script must not believe that none were
        raise Failure(words)
    if json_wanted:
        warn([words])
