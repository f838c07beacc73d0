"""One write: in a running process and as a fresh one, against git, dulwich and what the disk itself costs."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from dulwich import porcelain

from crabmem import Fact, Memory
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY
from tests.faults.repository import git
from tests.faults.shim import Shim

from .bench import Bench, crabmem
from .corpus import ENVIRONMENT, other_facts, text_of
from .row import NO_SLOWER, Row, by_turns, faster, medians, milliseconds, within

#: Above so many entries dulwich's porcelain takes ten seconds a write.
_MOST_FOR_PORCELAIN = 10_000
_SETTINGS = (("core.fsync", "all"), ("core.fsyncMethod", "fsync"), ("gc.auto", "0"), ("maintenance.auto", "false"))
_WHO = b"bench <bench@example.org>"


def rows(bench: Bench) -> Iterator[Row]:
    """The rows about single writes."""
    taken = {entries: _in_a_process(bench, entries) for entries in bench.sizes}
    yield from _warm_rows(bench, taken)
    yield _fresh_row(bench)


def _warm_rows(bench: Bench, taken: dict[int, dict[str, float]]) -> Iterator[Row]:
    for meant, against, target in (
        (10_000, "git", faster(6)),
        (10_000, "dulwich", faster(30)),
        (10_000, "floor", within(2.5)),
        (100_000, "git", faster(4)),
    ):
        entries = bench.size(meant)
        ours, theirs = taken[entries]["remember"], taken[entries].get(against)
        measured = None if theirs is None else ours / theirs if target.at_most else theirs / ours
        figures = milliseconds(taken[entries], "remember", against)
        what = f"`remember` in a running process, {meant // 1000}k"
        yield Row(what, _AGAINST[against], target, measured, entries, meant, figures)


_AGAINST = {
    "git": "`git add && git commit`, same durability",
    "dulwich": "dulwich `porcelain.add` + `commit`",
    "floor": "floor: the same bytes written, fsynced and hashed",
}


def _in_a_process(bench: Bench, entries: int) -> dict[str, float]:
    """The median seconds of a write, by who does it; each has a repository of its own."""
    bench.say(f"  {entries:,} entries")
    new = new_facts(entries)
    others: dict[str, Callable[[Fact], object]] = {"git": by_git(bench, entries)}
    if entries <= _MOST_FOR_PORCELAIN:
        others["dulwich"] = _by_porcelain(bench, entries)
    with Memory(bench.settled(bench.corpora.copy(entries, "remember")), agent="bench") as memory:
        for _ in range(3):
            remember(memory, next(new))
        floor = _Floor.of(memory, next(new), bench.corpora.folder(f"floor-{entries}"))
        actions: dict[str, Callable[[], object]] = {
            "remember": lambda: remember(memory, next(new)),
            "floor": floor.write,
        }
        actions |= {name: _with_next(action, new) for name, action in others.items()}
        taken = medians(by_turns(actions, bench.rounds(entries)))
    for line in ("remember", "git"):
        bench.point(line, entries, taken[line])
    return taken


def _fresh_row(bench: Bench) -> Row:
    meant = 10_000
    entries = bench.size(meant)
    root, new, git_writes = bench.corpora.copy(entries, "remember"), new_facts(entries), by_git(bench, entries)

    def fresh() -> None:
        fact = next(new)
        crabmem("--dir", root, "--agent", "bench", "remember", fact.name, "-d", fact.description, "-c", fact.content)

    fresh()
    taken = medians(by_turns({"crabmem": fresh, "git": _with_next(git_writes, new)}, bench.rounds(entries)))
    figures = milliseconds(taken, "crabmem", "git")
    what = "`crabmem remember` as a fresh process, 10k"
    return Row(what, _AGAINST["git"], NO_SLOWER, taken["crabmem"] / taken["git"], entries, meant, figures)


_seeds = count(1000)


def new_facts(entries: int) -> Iterator[Fact]:
    """Facts that no workspace has and nobody was given, without end."""
    while True:
        yield from other_facts(200, next(_seeds))


def _with_next(action: Callable[[Fact], object], new: Iterator[Fact]) -> Callable[[], object]:
    return lambda: action(next(new))


def remember(memory: Memory, fact: Fact) -> None:
    """Write a fact through a memory that is open."""
    memory.remember(fact.name, fact.description, fact.content)


def by_git(bench: Bench, entries: int) -> Callable[[Fact], object]:
    """A write as a person's `git` makes it durable, in a repository of its own."""
    root = bench.corpora.copy(entries, "git")
    for key, value in _SETTINGS:
        git(root, "config", key, value)

    def write(fact: Fact) -> None:
        path = ORDINARY.entry_path(slug_of(fact.name))
        _write_durably(root / path, text_of(fact).encode())
        script = 'git add "$0" && git commit -q -m "$1"'
        subprocess.run(["sh", "-c", script, path, f"remember: {fact.name}"], cwd=root, env=ENVIRONMENT, check=True)

    return write


def _by_porcelain(bench: Bench, entries: int) -> Callable[[Fact], object]:
    root = bench.corpora.copy(entries, "porcelain")

    def write(fact: Fact) -> None:
        file = root / ORDINARY.entry_path(slug_of(fact.name))
        file.write_text(text_of(fact))
        porcelain.add(str(root), paths=[str(file)])
        porcelain.commit(str(root), message=b"remember", author=_WHO, committer=_WHO)

    return write


@dataclass(frozen=True)
class _Floor:
    """The least that a write costs: its files, as new ones, each synced once, and a hash over what Git hashes.

    `files` are what one write waits for the disk for: the entry, its objects, references and index. The
    journal, which Git does not ask for, is not among them.
    """

    folder: Path
    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, memory: Memory, fact: Fact, folder: Path) -> "_Floor":
        """What this write is seen to do."""
        with Shim() as shim:
            remember(memory, fact)
        synced = {call.path for call in shim.trace if call.name in ("fsync", "fdatasync")}
        written: dict[str, bytes] = {}
        for call in shim.trace:
            if call.name == "write" and call.path in synced and not call.path.endswith("/crabmem/journal"):
                written[call.path] = written.get(call.path, b"") + call.data
        return cls(folder, tuple((str(number), data) for number, data in enumerate(written.values())))

    def write(self) -> None:
        """Do it once more, under names that are free."""
        for name, data in self.files:
            hashlib.sha1(data, usedforsecurity=False).digest()
            _write_durably(self.folder / f"{name}-{next(_numbers)}", data)


_numbers = count()


def _write_durably(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
