"""`crabmem import`: remembers what people have already, in one commit, and says what became of each thing."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ..errors import AlreadyThere, CrabmemError
from ..operations import facts as facts_operations
from ..results import Saved
from ..session.session import Session
from ..text.entry import Fact
from .base import Failure, as_json, bar, opened, plain, show, tell, warn

if TYPE_CHECKING:
    from ..importers.base import Found, Skipped, Source, Tree

#: Where something stood, and what became of it: what was saved, or why it was not.
Done: TypeAlias = "tuple[str, Saved | Skipped | CrabmemError]"
_STATES = ("made", "replaced", "unchanged", "skipped")
# What a dry run says of those that it changes nothing of.
_WOULD = {"made": "would make", "replaced": "would replace"}
# So many lines say the same reason, before only their number is said.
_TOLD = 5


@dataclass(frozen=True)
class Import:
    """What came of an import."""

    place: str
    kind: str
    items: tuple[Done, ...]
    dry_run: bool

    @property
    def counts(self) -> Counter[str]:
        """How many were made, replaced, the same, skipped, and failed."""
        return Counter(_state(item) for _, item in self.items)

    @property
    def commit(self) -> str | None:
        """The commit that was made; None when nothing changed."""
        return next((item.commit for _, item in self.items if isinstance(item, Saved) and item.commit), None)


class _WithKinds(click.Command):
    """Says in its help what can be imported, which only then has to be loaded."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ..importers.recognition import sources

        with formatter.section("Kinds, recognised by their look or named with --from"):
            formatter.write_dl([(source.name, source.about) for source in sources()])


@click.command("import", cls=_WithKinds)
@click.argument("place", metavar="DIR|FILE|-", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--from", "kind", metavar="KIND", help="Whose memory it is.  [default: as it looks]")
@click.option("-t", "--tag", "tags", multiple=True, help="A label that every fact gets; may be repeated.")
@click.option("--replace", is_flag=True, help="Also facts that are there by that name and say something else.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("-q", "--quiet", is_flag=True, help="Name only what was not taken, and sum up.")
@as_json
@click.pass_context
def import_(
    ctx: click.Context,
    place: Path,
    kind: str | None,
    tags: tuple[str, ...],
    replace: bool,
    dry_run: bool,
    quiet: bool,
    json_wanted: bool,
) -> None:
    """Remember what you have already, in one commit: notes, or the memory of another program. Twice is harmless.

    Nothing is overwritten, and nothing in DIR is changed; each thing that is not taken is named with the reason.
    A fact is called by the `name` or `title` in its file, else by its first heading, else by the file's name; those
    of the same name are told apart by their paths. All else in a file's frontmatter stays as it is written there,
    comments and dates too: the commit is of today. The key `imported-from` says the path of the file that a fact came
    from, so that a later import of that file finds the fact again, whatever it is called by then. A file that was
    renamed or moved is a new one, and its fact a second one unless name and text are the same; a fact that you forgot
    is made again while its file is there. Exit status 1 when something could not be taken.

    \b
    crabmem import ~/notes --dry-run
    crabmem import ~/.claude/projects/-home-me-shop/memory
    curl … | crabmem import - --from mem0
    """
    from ..importers.facts import prepare
    from ..importers.recognition import source_called, source_of
    from ..importers.tree import tree_at, tree_of

    memory = opened(ctx)
    named = source_called(kind) if kind else None
    if str(place) == "-":
        data = sys.stdin.buffer.read()
        tree = tree_of(data, named.endings) if named else tree_of(data)
    else:
        tree = tree_at(place, memory.root)
    source = named or source_of(tree)
    found = prepare(_read(source, tree), tags, _named_place(place))
    if not found:
        raise Failure(
            f"there is {f'nothing of {kind}' if kind else 'no Markdown or text file'} in {_called(str(place))}"
        )
    facts = [item.what for item in found if isinstance(item.what, Fact)]
    name = "stdin" if str(place) == "-" else place.resolve().name
    with bar("writing") as progress:
        saved = facts_operations.remember_all(memory, facts, name, dry_run, replace, progress=progress)
    done = Import(str(place), source.name, _done(found, saved), dry_run)
    lines = list(import_lines(done, quiet))
    if json_wanted or lines:
        show(json_wanted, import_data(done), lambda: "\n".join(lines))
    warn(f"{where}: {words}" for where, item in done.items if isinstance(item, Saved) for words in item.warnings)
    _conclude(done, json_wanted)


def take_in(memory: Session, places: "Sequence[Path]", dry_run: bool, source: str | None = None) -> Import:
    """Remember what a host keeps at some places, folders of one kind, in one commit. Nothing there changes.

    Facts of one name are told apart by the folder each is from. `source` says whose files they are, as `import --from`
    does; None leaves that to their looks.
    """
    from ..importers.facts import prepare
    from ..importers.recognition import source_called, source_of
    from ..importers.tree import tree_at

    named = source_called(source) if source else None
    base = places[0].parent.parent if places[0].is_dir() else places[0].parent
    found: list[Found] = []
    for place in places:
        tree = tree_at(place, memory.root)
        inside = f"{place.relative_to(base).as_posix()}/" if place.is_dir() else ""
        found += [item._replace(where=inside + item.where) for item in (named or source_of(tree)).facts(tree)]
    items = prepare(found, (), _named_place(base))
    facts = [item.what for item in items if isinstance(item.what, Fact)]
    saved = facts_operations.remember_all(memory, facts, base.name, dry_run)
    return Import(str(base), "folder", _done(items, saved), dry_run)


def _named_place(place: Path) -> str:
    """What a file's path is told from: the folder with its whole path, from `~` on where that is yours.

    "" for standard input, which has no place.
    """
    if str(place) == "-":
        return ""
    whole, home = place.resolve(), Path.home().resolve()
    folder = whole if whole.is_dir() else whole.parent
    text = f"~/{folder.relative_to(home).as_posix()}" if folder.is_relative_to(home) else folder.as_posix()
    return text.removesuffix("/.").removesuffix("/")


def _called(place: str) -> str:
    return "standard input" if place == "-" else place


def _read(source: "Source", tree: "Tree") -> "list[Found]":
    """What there is; a bar shows how far it is."""
    reading = source.facts(tree)
    with click.progressbar(
        reading, len(tree.files), "reading", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as found:
        return list(found)


def _done(found: "Sequence[Found]", saved: Sequence[Saved | CrabmemError]) -> tuple[Done, ...]:
    results = iter(saved)
    return tuple((item.where, next(results) if isinstance(item.what, Fact) else item.what) for item in found)


def _conclude(done: Import, json_wanted: bool) -> None:
    """Sum up for the person; a Failure when something could not be taken."""
    counts = done.counts
    if not json_wanted:
        words = summary(done)
        kind = "" if done.kind == "folder" else f"read as {done.kind}: "
        tell(f"{kind}{words or 'nothing made'}{'; nothing was written' if done.dry_run else ''}")
        if any(isinstance(item, AlreadyThere) for _, item in done.items):
            tell("what is there and says something else stays; --replace takes these, too")
    if counts["failed"]:
        things = "files" if Path(done.place).is_dir() else "things"
        words = f"{counts['failed']} of {len(done.items)} {things} in {_called(done.place)} could not be taken"
        raise Failure(" ".join(words.split()))


def summary(done: Import) -> str:
    """How many were made, replaced, unchanged and skipped; "" for none."""
    counts = done.counts
    return ", ".join(_summed(counts[state], state, done.dry_run) for state in _STATES if counts[state])


def _summed(count: int, state: str, dry_run: bool) -> str:
    """How many came to a state, or would."""
    return f"{_WOULD[state]} {count}" if dry_run and state in _WOULD else f"{count} {state}"


def _state(item: "Saved | Skipped | CrabmemError") -> str:
    if isinstance(item, Saved):
        return "made" if item.created else "replaced" if item.diff else "unchanged"
    return "failed" if isinstance(item, CrabmemError) and not isinstance(item, AlreadyThere) else "skipped"


def _reason(item: "Skipped | CrabmemError") -> str:
    return str(item) if isinstance(item, CrabmemError) else item.reason


def import_lines(done: Import, quiet: bool) -> Iterator[str]:
    """A line for each thing, or each that was not taken; of those that were skipped for the same reason, the first."""
    width = max(map(len, _WOULD.values())) if done.dry_run else max(map(len, _STATES))
    times = Counter[str]()
    for where, item in done.items:
        state = _state(item)
        what = item.entry.name if isinstance(item, Saved) else _reason(item)
        times[what] += state == "skipped"
        if (state != "skipped" or times[what] <= _TOLD) and not (quiet and isinstance(item, Saved)):
            word = _WOULD.get(state, state) if done.dry_run else state
            yield f"{word:{width}}  {plain(' '.join(f'{where}: {what}'.split()))}"
    yield from (
        f"{'skipped':{width}}  {count - _TOLD} more: {plain(what)}" for what, count in times.items() if count > _TOLD
    )


def import_data(done: Import) -> dict[str, Any]:
    files = [{"file": where, "state": _state(item), **_details(item)} for where, item in done.items]
    return {"from": done.place, "kind": done.kind, "commit": done.commit, "dry_run": done.dry_run, "files": files}


def _details(item: "Saved | Skipped | CrabmemError") -> dict[str, Any]:
    if not isinstance(item, Saved):
        return {"reason": _reason(item)}
    return {"name": item.entry.name, "slug": item.entry.slug, "path": item.path, "diff": item.diff}


COMMANDS = (import_,)
