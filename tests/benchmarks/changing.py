"""An edit from outside until it is found, against a rebuild of everything; and opening a large workspace."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabmem import Memory
from crabmem.workspace.layout import ORDINARY

from .bench import Bench, in_child
from .corpus import index_cache, queries
from .row import Row, faster, medians, milliseconds, seconds, within

_COMPARED = 20


def rows(bench: Bench) -> Iterator[Row]:
    """The rows about changes and about opening."""
    yield from _change_rows(bench)
    yield from _open_rows(bench)


def _change_rows(bench: Bench) -> Iterator[Row]:
    meant = 10_000
    entries = bench.size(meant)
    root, bare = bench.settled(bench.corpora.copy(entries, "change")), bench.corpora.bare_copy(entries, "rebuild")
    asked = queries(_COMPARED, entries)
    with Memory(root) as memory:
        memory.recall(asked[0])
        took = [_found_after(memory, (root, bare), number) for number in range(bench.rounds(entries))]
        ours = [{hit.entry.path: hit.score for hit in memory.recall(query, 6)} for query in asked]
    rebuilt = [in_child("first-recall", bare, json.dumps(asked)) for _ in range(bench.processes)]
    assert not (bare / ".git").exists(), "asking left something behind, and no rebuild is one any more"
    taken = medians({"found": took, "rebuild": [each["answered"] for each in rebuilt]})
    figures = milliseconds(taken, "found", "rebuild")
    what = "change on disk → found by the next `recall`, 10k"
    yield Row(what, "full rebuild", faster(1000), taken["rebuild"] / taken["found"], entries, meant, figures)
    apart = max(_difference(one, other) for one, other in zip(ours, rebuilt[-1]["scores"], strict=True))
    yield Row("the scores after such changes, 10k", "those of a rebuild", within(1e-6, ""), apart, entries, meant)


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


def _open_rows(bench: Bench) -> Iterator[Row]:
    """Rows about opening with a valid cache, in fresh processes; the files are in the system's memory for all."""
    meant = 100_000
    entries = bench.size(meant)
    root, asked = bench.settled(bench.corpora.copy(entries, "recall")), json.dumps(queries(1, entries))
    in_child("first-recall", root, asked)
    bare = bench.corpora.bare_copy(entries, "build")
    took = {
        "loaded": _loaded(root, bench.processes),
        "answered": [in_child("first-recall", root, asked)["answered"] for _ in range(bench.processes)],
        "reading": [seconds(lambda: _read_all(root)) for _ in range(bench.processes)],
        "building": [in_child("first-recall", bare, asked)["answered"]],
    }
    bench.corpora.drop(bare)
    taken = medians({name: each for name, each in took.items() if each})
    figures = milliseconds(taken, *took)
    what = "open a 100k workspace with a valid index cache"
    for name, told in (("loaded", "index loaded"), ("answered", "first recall, every file's status checked")):
        measured = taken["reading"] / taken[name] if name in taken else None
        yield Row(f"{what}: {told}", "reading all the files", faster(20), measured, entries, meant, figures)


def _loaded(root: Path, rounds: int) -> list[float]:
    """The seconds of each load of the index in a fresh process; none where none is kept."""
    cache = index_cache(root)
    loads = [in_child("load", cache)["loaded"] for _ in range(rounds)] if cache else []
    return [load for load in loads if load is not None]


def _read_all(root: Path) -> int:
    """Read the bytes of all entries, in the fastest way Python has."""
    total = 0
    for name in os.listdir(root / ORDINARY.entries[0]):
        handle = os.open(root / ORDINARY.entries[0] / name, os.O_RDONLY)
        total += len(os.read(handle, 10_000_000))
        os.close(handle)
    return total
