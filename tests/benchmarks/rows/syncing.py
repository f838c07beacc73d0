"""Syncing two machines through a bare repository in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from crabmem import Memory
from crabmem.sync.sync import name_remote, sync
from crabmem.workspace.layout import ORDINARY

from ..bench import Bench, crabmem, in_child
from ..measure import measure
from ..row import Row, within
from ..timing import Action, Taken

_CHANGED, _ROUNDS = 1_000, 5


@measure(10_000)
def syncing(bench: Bench, entries: int) -> Iterator[Row]:
    """A sync with nothing to do, beyond what any command takes to start; and one that joins many changed facts."""
    with _person_of_its_own(folder := bench.corpora.folder("sync")):  # an index is believed by who made it
        here, there = bench.in_use(entries, "sync-here"), bench.in_use(entries, "sync-there")
        for root in (here, there):
            with Memory(root, is_person=True) as memory:
                name_remote(memory, f"{folder}/hub.git", "/")
                sync(memory, is_expected=True)
        yield _idle(bench, entries, here)
        yield _joining(bench, entries, here, there)


def _idle(bench: Bench, entries: int, root: Path) -> Row:
    words = {"sync": ("--dir", root, "sync"), "start": ("--version",)}
    actions = {name: Action(partial(crabmem, *each), is_process=True) for name, each in words.items()}
    taken = bench.by_turns(actions, entries)
    beyond = (taken["sync"].median - taken["start"].median) * 1000
    what, state = "`crabmem sync` with nothing to do, beyond its start", "through a bare repository in a folder"
    return Row(what, "`crabmem --version`", within({10_000: 150}, " ms"), beyond, entries, state, taken)


def _joining(bench: Bench, entries: int, here: Path, there: Path) -> Row:
    count = min(_CHANGED, entries // 2)
    took = list[float]()
    for number in range(bench.many(_ROUNDS, 1)):
        _change(there, count // 2, count, f"There {number}.", at_end=False)
        in_child("sync", there)
        _change(here, 0, count, f"Here {number}.", at_end=True)
        took.append(in_child("sync", here)["seconds"])
        in_child("sync", there)
    state = f"each side has changed {count:,} facts and recorded that, half of them the same; through a folder"
    target, taken = within({10_000: 3}, " s"), Taken(tuple(took))
    what = "a sync that joins 1,000 changed facts of each side"
    return Row(what, "the clock", target, taken.median, entries, state, {"crabmem": taken})


def _change(root: Path, first: int, count: int, line: str, at_end: bool) -> None:
    """Add a line to so many entries, and record it."""
    for file in sorted((root / ORDINARY.entries[0]).glob("*.md"))[first : first + count]:
        text = file.read_text()
        file.write_text(f"{text}{line}\n" if at_end else text.replace("\n\n", f"\n\n{line}\n", 1))
    with Memory(root, is_person=True) as memory:
        memory.adopt()


@contextmanager
def _person_of_its_own(folder: Path) -> Iterator[None]:
    """Keep what this person allows on this machine out of it."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = f"{folder}/state"
    try:
        yield
    finally:
        del os.environ["XDG_STATE_HOME"]
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before
