"""An edit from outside until it is found, against a rebuild of everything; and opening a large workspace."""

import os
from collections.abc import Iterator
from pathlib import Path

from crabmem import Memory
from crabmem.workspace.layout import ORDINARY

from ..bench import Bench, in_child
from ..corpus import questions
from ..measure import measure
from ..row import Row, compared, faster
from ..timing import Taken, seconds

_PROCESSES = 5


@measure(10_000)
def change(bench: Bench, entries: int) -> Iterator[Row]:
    """A file edited outside until it is found, against a rebuild of everything."""
    root, bare = bench.settled(bench.corpora.copy(entries, "change")), bench.corpora.bare_copy(entries, "rebuild")
    with Memory(root) as memory:
        memory.recall(next(questions(entries)))
        took = [_found_after(memory, root, number) for number in range(bench.rounds(entries))]
    rebuilt = [in_child("first-recall", bare, next(questions(entries))) for _ in range(bench.many(_PROCESSES, 1))]
    assert not (bare / ".git").exists(), "asking left something behind, and no rebuild is one any more"
    taken = {"crabmem": Taken(tuple(took)), "rebuild": Taken(tuple(each["answered"] for each in rebuilt))}
    state = "the process has recalled before; each edit is in place, and asked for by a word that is new"
    what, target = "an edit of a file until the next `recall` has found it", faster({10_000: 1000})
    yield compared(what, "full rebuild", target, entries, state, taken)


@measure(100_000)
def opening(bench: Bench, entries: int) -> Iterator[Row]:
    """Opening a large workspace in a process that was just started; the files are in the system's memory for all."""
    root, asked, rounds = bench.in_use(entries, "recall"), questions(entries), bench.many(_PROCESSES, 1)
    bare = bench.corpora.bare_copy(entries, "build")
    once = in_child("first-recall", bare, next(asked))["answered"]
    bench.corpora.drop(bare)
    answers, reads = [], []
    for _ in range(rounds):
        answers.append(in_child("first-recall", root, next(asked))["answered"])
        reads.append(seconds(lambda: _read_all(root)))
    state = f"the index was kept by another process, nothing changed since; to build it anew takes {once:.3g} s"
    taken = {"crabmem": Taken(tuple(answers)), "reading": Taken(tuple(reads))}
    what = "open a workspace: first recall, every file's status looked at"
    yield compared(what, "reading all the files", faster({}), entries, state, taken)


def _found_after(memory: Memory, root: Path, number: int) -> float:
    """The seconds of the recall that finds what was just written into an entry, in place."""
    paths = sorted((root / ORDINARY.entries[0]).iterdir())
    name, word = paths[number * 37 % len(paths)].name, f"novelty{number}"
    with open(root / ORDINARY.entries[0] / name, "a") as file:
        file.write(f"And a {word}.\n")
    found: list[str] = []
    took = seconds(lambda: found.extend(hit.entry.path for hit in memory.recall(word, 6)))
    assert found == [f"{ORDINARY.entries[0]}/{name}"], f"recall missed what was written to {name}"
    return took


def _read_all(root: Path) -> int:
    """Read the bytes of all entries, in the fastest way Python has."""
    total = 0
    for name in os.listdir(root / ORDINARY.entries[0]):
        handle = os.open(root / ORDINARY.entries[0] / name, os.O_RDONLY)
        total += len(os.read(handle, 10_000_000))
        os.close(handle)
    return total
