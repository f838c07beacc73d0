"""A purge that dies at any instant leaves the old history or the new one, and the next command says which.

At each call, and with errors instead of deaths, `tests/faults/crashes` does so.
"""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.git.repository import left_of_purge
from crabmem.operations import maintenance
from crabmem.session.opening import local_time
from crabmem.write.actor import Actor
from tests import long_history
from tests.conftest import assert_clean
from tests.faults.repository import complaints, traces
from tests.opening import opened_with
from tests.operations.test_purge import blobs

SECRET = "HUNTER2SECRET"
_POINTS = 16


class Died(BaseException):
    """What a process does not outlive."""


class Death:
    """Stands before every change of the disk: from the one with the number `at` on none is made any more."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def __call__(self, operation: str, path: str) -> None:
        self.count += 1
        if self.count >= self.at:
            raise Died(f"{operation} {path}")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that says a secret everywhere, part of it packed and part of it loose."""
    root = tmp_path_factory.mktemp("purge") / "memory"
    with Memory(root, agent="coder") as memory:
        memory.remember(f"About {SECRET}", "what it is", f"It is {SECRET}.")
        memory.write_overview(f"The key is {SECRET}.\n")
        memory.remember("Wifi", "how to get online", "Ask.")
        maintenance.compact(memory)
        memory.remember("Vault", "where keys are", f"{SECRET}\nor nowhere.")
        memory.forget(f"About {SECRET}")
        memory.recall("vault")
    return root


def dying(root: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Purge, and die at a change of the disk; how many there were."""
    return dying_at(root, at, monkeypatch, lambda memory: memory.purge(text=SECRET))


def dying_at(root: Path, at: int, monkeypatch: pytest.MonkeyPatch, work: Callable[[Memory], object]) -> int:
    memory, death = opened_with(root, Actor(), local_time, environment=os.environ), Death(at)
    with monkeypatch.context() as patched, suppress(Died):
        patched.setattr(fs, "before", death)
        work(memory)
    # The threads of a process that dies die with it: one that brings writes to the disk would meet the next death.
    memory.engine.upkeep.close()
    memory.engine.history.close()
    return death.count


def assert_old_or_new(root: Path, old: set[str]) -> bool:
    """Whether the history is the new one; it is one of the two, in a repository that is whole and can be written."""
    assert not (root / ".git").exists() or complaints(root) == []
    with Memory(root, agent="next") as memory:
        assert left_of_purge(root) == []
        is_new = not traces(root, "HUNTER2", "hunter2")
        assert is_new or old <= blobs(root)
        said = [line for line in memory.engine.writer.repairs() if "purge" in line]
        assert all(("new one" if is_new else "old one") in line for line in said)
        memory.remember("After", "written after the crash", "It works.")
        assert [found for found in memory.doctor() if found.level == "error"] == []
        memory.purge(pattern=SECRET) if not is_new else None
    assert traces(root, "HUNTER2", "hunter2") == []
    assert_clean(root)
    return is_new


def test_a_death_while_a_death_is_mended_does_no_harm(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, old, ends = tmp_path / "memory", blobs(original), set[bool]()
    shutil.copytree(original, tmp_path / "whole")
    count = dying(tmp_path / "whole", 1_000_000, monkeypatch)
    for at in (*range(1, count, count // _POINTS), count - 1):  # the new history is there for the last few alone
        shutil.copytree(original, root)
        dying(root, at, monkeypatch)
        for again in range(1, 40, 9):
            dying_at(root, again, monkeypatch, lambda memory: memory.engine.recover())
        ends.add(assert_old_or_new(root, old))
        shutil.rmtree(root)
    assert ends == {True, False}


def killed(big: Path, folder: Path, times: int) -> None:
    """Purge a long history in a process of its own, and kill it, again and again."""
    old, chance = blobs(big), random.Random(7)
    took = 0.0
    for number in range(times + 1):
        root = folder / "memory"
        shutil.copytree(big, root)
        began = time.monotonic()
        child = os.fork()
        if not child:
            try:
                Memory(root).purge(text=SECRET)
            finally:
                os._exit(0)
        if number:
            time.sleep(chance.uniform(0, took))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        took = took or time.monotonic() - began
        assert_old_or_new(root, old)
        shutil.rmtree(root)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_kill_at_any_moment_leaves_a_whole_repository(tmp_path: Path) -> None:
    long_history.built(tmp_path / "big", 620, 50, SECRET)
    killed(tmp_path / "big", tmp_path, 2)
