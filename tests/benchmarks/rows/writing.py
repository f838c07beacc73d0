"""One write against git: in a running process, and as a fresh one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from crabmem import Fact, Memory
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY
from tests.faults.repository import git

from ..bench import Bench, crabmem
from ..corpus import ENVIRONMENT, new_facts, text_of
from ..measure import measure
from ..row import NO_TARGET, Row, compared, faster
from ..timing import Action, with_each

GIT = "`git add && git commit`, same durability"
_SETTINGS = (("core.fsync", "all"), ("core.fsyncMethod", "fsync"), ("gc.auto", "0"), ("maintenance.auto", "false"))
_FLUSHED = "before each write the whole disk is synced, so that nobody pays for what another left unsynced"
_TARGET = faster({1_000: 4, 10_000: 6, 100_000: 5})


@measure(1_000, 10_000, 100_000)
def remember(bench: Bench, entries: int) -> Iterator[Row]:
    """One write in a running process, each by turns in a repository of its own."""
    root = bench.settled(bench.corpora.copy(entries, "remember"))
    with Memory(root, agent="bench") as memory:
        write_one(memory, next(new_facts()))
        actions = {
            "crabmem": with_each(lambda fact: write_one(memory, fact), new_facts(), os.sync),
            "git": by_git(bench, entries),
        }
        taken = bench.by_turns(actions, entries)
    state = f"the process has written before; all entries are in one packed commit but those of this run; {_FLUSHED}"
    what, lines = "`remember` in a running process", {"crabmem": "remember", "git": "git"}
    yield compared(what, GIT, _TARGET, entries, state, taken, lines=lines)


@measure(1_000, 10_000, 100_000)
def remember_fresh(bench: Bench, entries: int) -> Iterator[Row]:
    """One write as a fresh process."""
    root = bench.in_use(entries, "remember-fresh")
    actions = {
        "crabmem": with_each(lambda fact: write_fresh(root, fact), new_facts(), os.sync, is_process=True),
        "git": by_git(bench, entries),
    }
    taken = bench.by_turns(actions, entries)
    bench.corpora.drop(root)
    state = f"the last write was another process's, and recall's index is there; {_FLUSHED}"
    yield compared("`crabmem remember`, fresh process", GIT, NO_TARGET, entries, state, taken)


def write_one(memory: Memory, fact: Fact) -> None:
    """Write a fact through a memory that is open."""
    memory.remember(fact.name, fact.description, fact.content)


def write_fresh(root: Path, fact: Fact) -> None:
    """Write a fact by the command line."""
    crabmem("--dir", root, "--agent", "bench", "remember", fact.name, "-d", fact.description, "-c", fact.content)


def by_git(bench: Bench, entries: int) -> Action:
    """A write as a person's `git` makes it durable."""
    root = bench.corpora.copy(entries, "git")
    for key, value in _SETTINGS:
        git(root, "config", key, value)

    def write(fact: Fact) -> None:
        path = ORDINARY.entry_path(slug_of(fact.name))
        _write_durably(root / path, text_of(fact).encode())
        script = 'git add "$0" && git commit -q -m "$1"'
        subprocess.run(["sh", "-c", script, path, f"remember: {fact.name}"], cwd=root, env=ENVIRONMENT, check=True)

    return with_each(write, new_facts(), os.sync, is_process=True)


def _write_durably(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
