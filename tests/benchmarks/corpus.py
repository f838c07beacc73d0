"""What is measured on: made-up facts, workspaces of them, and copies of those to write to.

Words are drawn as in any language, few of them often: 60,000 words, the chance of each about one over its
rank. A file has 730 bytes in the mean, 380 to 1,320 from the 5th to the 95th percentile. The same seed gives
the same facts on every machine.
"""

import gc
import itertools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from crabmem import Fact, Memory
from crabmem.disk import state
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY
from tests.faults.repository import git

_VERSION = 1
_WORDS = 60_000
_FLAT = 2.7
_MEAN_LENGTH, _SPREAD, _SHORTEST = 4.67, 0.46, 12
_NAME, _DESCRIPTION = 5, 9
_IN_NAMES = 3_000
_LINE = 13
#: Nanoseconds after which a file's times are trusted, and some more.
_SETTLED = 3_000_000_000

#: Of the environment of a person's Git: a name, and nobody's settings.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@lru_cache
def _vocabulary() -> tuple[str, ...]:
    """The words, the short ones first, which will be the frequent ones."""
    syllables = ["".join(letters) for letters in product("bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz")]
    shapes = (product(syllables, repeat=count) for count in (1, 2))
    return tuple("".join(parts) for shape in shapes for parts in shape)[:_WORDS]


@lru_cache
def _chances() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    weights = 1 / (np.arange(_WORDS) + _FLAT)
    return np.asarray(np.cumsum(weights) / weights.sum())


@lru_cache
def facts(count: int) -> tuple[Fact, ...]:
    """The facts of a workspace of so count entries."""
    made = other_facts(count, seed=1)
    gc.freeze()  # so that no collection walks them while something is timed
    return made


def other_facts(count: int, seed: int) -> tuple[Fact, ...]:
    """So count facts; those of another seed have other names."""
    random = np.random.default_rng(seed)
    lengths = np.maximum(random.lognormal(_MEAN_LENGTH, _SPREAD, count).astype(int), _SHORTEST)
    names = random.integers(_IN_NAMES, size=(count, _NAME))
    words = [_vocabulary()[at] for at in np.searchsorted(_chances(), random.random(int(lengths.sum())))]
    about = np.searchsorted(_chances(), random.random((count, _DESCRIPTION)))
    ends = np.cumsum(lengths)
    return tuple(
        Fact(f"{_said(names[at]).capitalize()} {seed}-{at}", _said(about[at]), _in_lines(words[end - length : end]))
        for at, (length, end) in enumerate(zip(lengths, ends, strict=True))
    )


def _said(ranks: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> str:
    return " ".join(_vocabulary()[rank] for rank in ranks)


def _in_lines(words: list[str]) -> str:
    lines = (" ".join(words[at : at + _LINE]).capitalize() + "." for at in range(0, len(words), _LINE))
    return "\n".join(lines)


def text_of(fact: Fact) -> str:
    """The file of a fact whose words need no quoting, as crabmem writes it."""
    return f"---\nname: {fact.name}\ndescription: {fact.description}\n---\n\n{fact.content}\n"


_seeds = itertools.count(1000)
_asked: set[str] = set()


def new_facts() -> Iterator[Fact]:
    """Facts that no workspace has and nobody was given, without end."""
    while True:
        yield from other_facts(200, next(_seeds))


def questions(entries: int) -> Iterator[str]:
    """Questions of three to seven words of one entry, without end; nobody is given one that was given before."""
    random = np.random.default_rng(next(_seeds))
    while True:
        words = sorted(set(re.findall("[a-z]+", facts(entries)[random.integers(entries)].content.lower())))
        question = " ".join(random.choice(words, int(random.integers(3, 8)), replace=False))
        if question not in _asked:
            _asked.add(question)
            yield question


class Corpora:
    """Workspaces by their number of entries: made once, kept in `folder`, and copied to `scratch` to be written to."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder = folder
        self._scratch = scratch

    def copy(self, entries: int, label: str) -> Path:
        """A workspace of so many entries, for `label` alone; the same one when asked again."""
        root = self._scratch / f"{label}-{entries}"
        if not root.exists():
            _copied(self._base(entries), root)
            git(root, "update-index", "-q", "--refresh")
            os.sync()  # or whoever syncs a file first waits for the copy
        return root

    def bare_copy(self, entries: int, label: str) -> Path:
        """The files alone, without `.git`: where nothing can have been cached."""
        root = self._scratch / f"{label}-{entries}"
        if not root.exists():
            root.mkdir(parents=True)
            _copied(self._base(entries) / "memory", root / "memory")
        return root

    def folder(self, name: str) -> Path:
        """A new folder beside the copies."""
        folder = self._scratch / name
        folder.mkdir(parents=True)
        return folder

    def drop(self, root: Path) -> None:
        """Remove a copy that nobody needs any more."""
        shutil.rmtree(root, ignore_errors=True)

    def _base(self, entries: int) -> Path:
        root = self._folder / f"workspace-{_VERSION}-{entries}"
        if not root.exists():
            unfinished = root.with_suffix(".part")
            shutil.rmtree(unfinished, ignore_errors=True)
            _make(unfinished, entries)
            unfinished.rename(root)
        return root


def _make(root: Path, entries: int) -> None:
    """A workspace as one has it after a while: all in one commit, and packed."""
    with Memory(root) as memory:
        memory.init()
    (root / ORDINARY.entries[0]).mkdir(parents=True)
    for fact in facts(entries):
        (root / ORDINARY.entry_path(slug_of(fact.name))).write_text(text_of(fact))
    for key, value in (("gc.auto", "0"), ("maintenance.auto", "false")):
        git(root, "config", key, value)
    for words in (["add", "-A"], ["commit", "-q", "-m", "many entries"], ["gc", "-q"]):
        subprocess.run(["git", *words], cwd=root, env=ENVIRONMENT, check=True)


def _copied(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def settled(root: Path) -> Path:
    """`root`, once its youngest entry is old enough for its times to be trusted."""
    with os.scandir(root / ORDINARY.entries[0]) as items:
        youngest = max(item.stat().st_ctime_ns for item in items)
    time.sleep(max(0, youngest + _SETTLED - time.time_ns()) / 1e9)
    return root


def index_cache(root: Path) -> Path:
    """The folder of the index that is derived from the entries and may be deleted."""
    return root / state.FOLDER / state.INDEX


def size_of_entries(root: Path) -> int:
    """The bytes of all entries."""
    with os.scandir(root / ORDINARY.entries[0]) as items:
        return sum(item.stat().st_size for item in items)
