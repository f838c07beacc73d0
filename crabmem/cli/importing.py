"""An import: takes in what other programs remember, and words what became of each thing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import AlreadyThere, CrabmemError
from ..importers.base import Found, Skipped
from ..operations import facts as facts_operations
from ..results import Saved
from ..session.session import Session
from ..text.entry import Fact
from .output import few, plain

#: Where something stood, and what became of it: what was saved, or why it was not.
Done: TypeAlias = tuple[str, Saved | Skipped | CrabmemError]
_STATES = ("made", "replaced", "waiting", "unchanged", "skipped")
# What a dry run says of those that it changes nothing of.
_WOULD = {"made": "would make", "replaced": "would replace"}
# Lines that are shown for one reason; of more, only how many there are.
_TOLD = 5


@dataclass(frozen=True)
class Import:
    """The result of an import, or of a dry run of one.

    `place` is what was imported, `kind` the name of its source (see `importers`).
    """

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


def take_in(memory: Session, places: Sequence[Path], dry_run: bool, source: str | None = None) -> Import:
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
        whose = named or source_of(tree)
        read = list(whose.facts(tree))
        found += [item._replace(where=inside + item.where) for item in (*read, *whose.passed_over(tree, read))]
    items = prepare(found, (), place_name(base))
    facts = [item.what for item in items if isinstance(item.what, Fact)]
    saved = facts_operations.remember_all(memory, facts, base.name, dry_run)
    return Import(str(base), "folder", outcomes(items, saved), dry_run)


def place_name(place: Path) -> str:
    """Return the folder that the paths of imported files are relative to: whole, or from `~` on if it is in the home.

    Return "" for standard input, which has no place.
    """
    if str(place) == "-":
        return ""
    whole, home = place.resolve(), Path.home().resolve()
    folder = whole if whole.is_dir() else whole.parent
    text = f"~/{folder.relative_to(home).as_posix()}" if folder.is_relative_to(home) else folder.as_posix()
    return text.removesuffix("/.").removesuffix("/")


def shown_place(place: str) -> str:
    return "standard input" if place == "-" else place


def outcomes(found: Sequence[Found], saved: Sequence[Saved | CrabmemError]) -> tuple[Done, ...]:
    """Return what became of each find. `saved` has the results for the facts among them, in their order."""
    results = iter(saved)
    return tuple((item.where, next(results) if isinstance(item.what, Fact) else item.what) for item in found)


def import_summary(done: Import) -> str:
    """How many were made, replaced, unchanged and skipped; "" for none."""
    counts = done.counts
    words = [_summed(counts[state], state, done.dry_run) for state in _STATES if counts[state]]
    return ", ".join([*words, *([f"{counts['failed']:,} failed (above)"] if counts["failed"] else [])])


def _summed(count: int, state: str, dry_run: bool) -> str:
    return f"{_WOULD[state]} {count:,}" if dry_run and state in _WOULD else f"{count:,} {state}"


def _state(item: Saved | Skipped | CrabmemError) -> str:
    """Return one of `_STATES`, or "failed". A fact that is there already and says something else counts as skipped."""
    if isinstance(item, Saved) and item.proposal and not item.commit:
        return "waiting"
    if isinstance(item, Saved):
        return "made" if item.created else "replaced" if item.diff else "unchanged"
    return "failed" if isinstance(item, CrabmemError) and not isinstance(item, AlreadyThere) else "skipped"


def _reason(item: Skipped | CrabmemError) -> str:
    return str(item) if isinstance(item, CrabmemError) else item.reason


def import_lines(done: Import, quiet: bool, hint: str = ": -v") -> Iterator[str]:
    """Yield a line for each item, with `quiet` only for those that were not saved; failed ones come last.

    If many items share a state and reason, only the first few are shown, and how many more there are with `hint`, which
    says how to see them. Failed ones are all shown.
    """
    width = max(map(len, _WOULD.values())) if done.dry_run else max(map(len, _STATES))
    groups = dict[tuple[bool, str, str], list[str]]()
    for where, item in done.items:
        state = _state(item)
        if quiet and isinstance(item, Saved):
            continue
        what = item.entry.name if isinstance(item, Saved) else _reason(item)
        why = f": {what}" if state == "skipped" else ""
        groups.setdefault((state == "failed", state, why), []).append(f"{where}: {what}")
    for (is_failed, state, why), alike in sorted(groups.items(), key=lambda group: group[0][0]):
        word = f"{_WOULD.get(state, state) if done.dry_run else state:{width}}  "
        shown = alike if is_failed else few(alike, f"more{why}{hint}", _TOLD if why else None)
        yield from (word + plain(" ".join(line.split())) for line in shown)


def import_data(done: Import) -> dict[str, Any]:
    files = [{"file": where, "state": _state(item), **_details(item)} for where, item in done.items]
    return {"from": done.place, "kind": done.kind, "commit": done.commit, "dry_run": done.dry_run, "files": files}


def _details(item: Saved | Skipped | CrabmemError) -> dict[str, Any]:
    if not isinstance(item, Saved):
        return {"reason": _reason(item)}
    return {"name": item.entry.name, "slug": item.entry.slug, "path": item.path, "diff": item.diff}
