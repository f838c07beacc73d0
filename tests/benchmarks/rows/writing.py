"""One write: in a running process and as a fresh one, against git, dulwich and what the disk itself costs."""

import hashlib
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from dulwich import porcelain

from crabmem import Fact, Memory
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY
from tests.faults.repository import git

from ..bench import Bench, crabmem
from ..corpus import ENVIRONMENT, new_facts, text_of
from ..measure import measure
from ..row import Row, compared, faster, within
from ..timing import Action, with_each

GIT = "`git add && git commit`, same durability"
#: Above so many entries dulwich's porcelain takes ten seconds a write.
_MOST_FOR_PORCELAIN = 10_000
_SETTINGS = (("core.fsync", "all"), ("core.fsyncMethod", "fsync"), ("gc.auto", "0"), ("maintenance.auto", "false"))
_WHO = b"bench <bench@example.org>"
_FLUSHED = "before each write the whole disk is synced, so that nobody pays for what another left unsynced"
_OTHERS = {
    "git": (GIT, faster({1_000: 4, 10_000: 6, 100_000: 5})),
    "dulwich": ("dulwich `porcelain.add` + `commit`, which syncs nothing", faster({10_000: 30})),
    "floor": ("floor: the files Git has of it, each written new, hashed and synced", within({10_000: 2.5})),
}


@measure(1_000, 10_000, 100_000)
def remember(bench: Bench, entries: int) -> Iterator[Row]:
    """One write in a running process, each by turns in a repository of its own."""
    root = bench.settled(bench.corpora.copy(entries, "remember"))
    with Memory(root, agent="bench") as memory:
        write_one(memory, next(new_facts()))
        actions = {"crabmem": with_each(lambda fact: write_one(memory, fact), new_facts(), os.sync)}
        actions |= {"git": by_git(bench, entries), "floor": _floor(root, bench.corpora.folder(f"floor-{entries}"))}
        if entries <= _MOST_FOR_PORCELAIN:
            actions["dulwich"] = _by_porcelain(bench, entries)
        taken = bench.by_turns(actions, entries)
    state = f"the process has written before; all entries are in one packed commit but those of this run; {_FLUSHED}"
    for name in (name for name in _OTHERS if name in taken):
        against, target = _OTHERS[name]
        both = {"crabmem": taken["crabmem"], name: taken[name]}
        what = "`remember` in a running process"
        is_git, lines = name == "git", {"crabmem": "remember", "git": "git"}
        yield compared(what, against, target, entries, state, both, is_users=is_git, lines=lines if is_git else {})


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
    target = within({1_000: 1.3, 10_000: 1.3})
    yield compared("`crabmem remember`, fresh process", GIT, target, entries, state, taken, is_users=True)


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


def _by_porcelain(bench: Bench, entries: int) -> Action:
    root = bench.corpora.copy(entries, "porcelain")

    def write(fact: Fact) -> None:
        file = root / ORDINARY.entry_path(slug_of(fact.name))
        file.write_text(text_of(fact))
        porcelain.add(str(root), paths=[str(file)])
        porcelain.commit(str(root), message=b"remember", author=_WHO, committer=_WHO)

    return with_each(write, new_facts(), os.sync)


def _floor(root: Path, folder: Path) -> Action:
    """The files that Git has of the last write: entry, objects as they are unpacked, index and branch."""
    path, *_ = git(root, "diff", "--name-only", "HEAD~1", "HEAD").splitlines()
    objects = git(root, "rev-list", "--objects", "--no-object-names", "HEAD", "^HEAD~1").split()
    kinds = {each: git(root, "cat-file", "-t", each).strip() for each in objects}
    texts = [git_bytes(root, "cat-file", kind, each) for each, kind in kinds.items()]
    files = [(root / path).read_bytes(), *texts, (root / ".git/index").read_bytes(), b"0" * 41]
    names: Callable[[], int] = itertools.count().__next__

    def write() -> None:
        for data in files:
            hashlib.sha1(data, usedforsecurity=False).digest()
            _write_durably(folder / str(names()), data)

    return Action(write, os.sync)


def git_bytes(root: Path, *words: str) -> bytes:
    """What the `git` command prints."""
    return subprocess.run(["git", *words], cwd=root, env=ENVIRONMENT, check=True, capture_output=True).stdout


def _write_durably(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
