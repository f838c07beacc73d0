"""An edit from outside until it is found, against a rebuild of everything; and opening a large workspace."""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from crabmem import Memory
from crabmem.workspace.layout import ORDINARY

from ..bench import Bench, in_child
from ..corpus import index_cache, questions
from ..measure import measure
from ..row import Row, compared, faster, within
from ..timing import Taken, seconds

_COMPARED = 20
_PROCESSES = 5


@measure(10_000)
def change(bench: Bench, entries: int) -> Iterator[Row]:
    """A file edited outside until it is found, against a rebuild of everything."""
    root, bare = bench.settled(bench.corpora.copy(entries, "change")), bench.corpora.bare_copy(entries, "rebuild")
    asked = list(islice(questions(entries), _COMPARED))
    with Memory(root) as memory:
        memory.recall(next(questions(entries)))
        took = [_found_after(memory, (root, bare), number) for number in range(bench.rounds(entries))]
        ours = [{hit.entry.path: hit.score for hit in memory.recall(question, 6)} for question in asked]
    rebuilt = [in_child("first-recall", bare, json.dumps(asked)) for _ in range(bench.many(_PROCESSES, 1))]
    assert not (bare / ".git").exists(), "asking left something behind, and no rebuild is one any more"
    taken = {"crabmem": Taken(tuple(took)), "rebuild": Taken(tuple(each["answered"] for each in rebuilt))}
    state = "the process has recalled before; each edit is in place, and asked for by a word that is new"
    what, target = "an edit of a file until the next `recall` has found it", faster({10_000: 1000})
    yield compared(what, "full rebuild", target, entries, state, taken, is_users=True)
    apart = max(_difference(one, other) for one, other in zip(ours, rebuilt[-1]["scores"], strict=True))
    what, target = "the scores after such edits, relative difference", within({10_000: 1e-6}, "")
    yield Row(what, "those of a rebuild", target, apart, entries, state)


@measure(100_000)
def opening(bench: Bench, entries: int) -> Iterator[Row]:
    """Opening a large workspace in a process that was just started; the files are in the system's memory for all."""
    root, asked, rounds = bench.in_use(entries, "recall"), questions(entries), bench.many(_PROCESSES, 1)
    bare = bench.corpora.bare_copy(entries, "build")
    once = in_child("first-recall", bare, json.dumps([next(asked)]))["answered"]
    bench.corpora.drop(bare)
    loads, answers, reads = [], [], []
    for _ in range(rounds):
        loads.append(in_child("load", index_cache(root))["loaded"])
        answers.append(in_child("first-recall", root, json.dumps([next(asked)]))["answered"])
        reads.append(seconds(lambda: _read_all(root)))
    state = f"the index was kept by another process, nothing changed since; to build it anew takes {once:.3g} s"
    reading, target = Taken(tuple(reads)), faster({100_000: 20})
    for name, times in (("index loaded", loads), ("first recall, every file's status looked at", answers)):
        taken = {"crabmem": Taken(tuple(times)), "reading": reading}
        yield compared(f"open a workspace: {name}", "reading all the files", target, entries, state, taken)


def _found_after(memory: Memory, roots: tuple[Path, ...], number: int) -> float:
    """The seconds of the recall that finds what was just written into an entry, in place."""
    paths = sorted((roots[0] / ORDINARY.entries[0]).iterdir())
    name, word = paths[number * 37 % len(paths)].name, f"novelty{number}"
    for root in roots:
        with open(root / ORDINARY.entries[0] / name, "a") as file:
            file.write(f"And a {word}.\n")
    found: list[str] = []
    took = seconds(lambda: found.extend(hit.entry.path for hit in memory.recall(word, 6)))
    assert found == [f"{ORDINARY.entries[0]}/{name}"], f"recall missed what was written to {name}"
    return took


def _difference(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """How far the scores of two answers are apart, relative to the higher; which of equal ones are named is free."""
    pairs = zip(sorted(one.values()), sorted(other.values()), strict=True)
    apart = [abs(mine - theirs) / max(mine, theirs) for mine, theirs in pairs]
    both = [abs(one[path] - other[path]) / other[path] for path in one.keys() & other.keys()]
    return max([*apart, *both], default=0.0)


def _read_all(root: Path) -> int:
    """Read the bytes of all entries, in the fastest way Python has."""
    total = 0
    for name in os.listdir(root / ORDINARY.entries[0]):
        handle = os.open(root / ORDINARY.entries[0] / name, os.O_RDONLY)
        total += len(os.read(handle, 10_000_000))
        os.close(handle)
    return total
