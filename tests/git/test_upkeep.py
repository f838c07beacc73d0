"""Upkeep: writes are on the disk when they pause; a process of its own compacts, once at a time, when it is due."""

import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import background as beside
from crabmem.disk import fs, state
from crabmem.errors import DeniedHistory
from crabmem.git import mend, packing, upkeep
from crabmem.git.redo import Redo
from crabmem.git.upkeep import Upkeep, compact_history
from tests.conftest import git


def loose(root: Path) -> int:
    """How many objects lie loose."""
    return int(git(root, "count-objects").split()[0])


@pytest.fixture
def is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compactions are due after a few writes."""
    monkeypatch.setattr(packing, "MOST_OBJECTS", 20)


@pytest.mark.usefixtures("is_due")
def test_writes_are_compacted_beside_the_work(memory: Memory) -> None:
    for number in range(20):
        memory.remember(f"Fact {number}", "d", "x")
    memory.close()
    assert loose(memory.root) < 80
    assert len(list((memory.root / ".git/objects/pack").glob("*.pack"))) == 1
    assert len(memory.log()) == 21


@pytest.mark.usefixtures("is_due")
def test_work_is_begun_once_at_a_time(memory: Memory) -> None:
    for number in range(6):
        memory.remember(f"Fact {number}", "d", "x")
    looked_after = Upkeep(memory.root, lambda: True)
    looked_after.nudge()
    worker = looked_after._worker
    looked_after.nudge()
    assert looked_after._worker is worker is not None
    looked_after.close()


def test_refused_work_is_not_tried_again_at_once(tmp_path: Path) -> None:
    looked_after = Upkeep(tmp_path, lambda: True)
    looked_after.nudge()
    looked_after.close()
    looked_after.nudge()
    assert looked_after._worker is None


@pytest.mark.usefixtures("is_due")
def test_a_write_is_done_where_no_process_and_no_thread_can_be_begun(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that has as many of them as it may have."""

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr("crabmem.git.upkeep.start", lambda module, root: None)
        patched.setattr(threading.Thread, "start", refused)
        for number in range(10):
            memory.remember(f"Fact {number}", "d", "x")
        assert memory.engine.upkeep._worker is None and memory.engine.history.is_compaction_due()
        memory.close()


def test_upkeep_that_cannot_tell_whether_it_is_due_is_no_failure(tmp_path: Path) -> None:
    def denied() -> bool:
        raise DeniedHistory("permission denied")

    upkeep = Upkeep(tmp_path, denied)
    upkeep.nudge()
    upkeep.close()


def test_nothing_in_the_current_folder_is_run(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.remember("Luna", "d", "x")
    for name in ("dulwich", "crabmem", "hashlib"):
        (memory.root / f"{name}.py").write_text("open('RAN', 'w')")
    monkeypatch.chdir(memory.root)
    upkeep = Upkeep(memory.root, lambda: True)
    upkeep.nudge()
    upkeep.close()
    assert not (memory.root / "RAN").exists()
    for name in ("dulwich", "crabmem", "hashlib"):
        (memory.root / f"{name}.py").unlink()


def test_without_a_python_to_start_a_thread_does_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.remember("Luna", "d", "x")
    memory.remember("Wifi", "d", "x")
    monkeypatch.setattr(sys, "executable", "")
    upkeep = Upkeep(memory.root, lambda: True)
    upkeep.nudge()
    upkeep.close()
    assert list((memory.root / ".git/objects/pack").glob("*.pack"))


def test_process_says_whether_there_was_something_to_do(memory: Memory) -> None:
    memory.remember("Luna", "d", "x")
    memory.remember("Wifi", "d", "x")
    command = [
        sys.executable,
        "-c",
        "import sys; from crabmem.git.upkeep import main; main(sys.argv[1])",
        str(memory.root),
    ]
    assert [subprocess.run(command).returncode for _ in range(2)] == [0, 1]
    assert not compact_history(memory.root)


def test_a_process_that_nobody_waits_for_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that read a folder built to keep it busy took a processor for hours."""
    (tmp_path / "crabmem").mkdir()
    (tmp_path / "crabmem/__init__.py").touch()
    (tmp_path / "crabmem/busy.py").write_text("def main(root):\n    while True:\n        pass\n")
    monkeypatch.setattr(beside, "__file__", str(tmp_path / "crabmem/disk/background.py"))
    monkeypatch.setattr(beside, "_CODE", beside._CODE.replace(str(beside.LONGEST), "1"))
    process = beside.start("busy", tmp_path)
    assert process is not None and process.wait(timeout=30) == 1


def logged(root: Path) -> int:
    """How many commits the redo log has."""
    return len(Redo(root / ".git/crabmem" / state.REDO).moves())


def until(is_so: Callable[[], bool]) -> None:
    """Wait, for at most ten seconds."""
    deadline = time.monotonic() + 10
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert is_so()


def test_what_was_written_is_on_the_disk_once_writes_pause(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "IDLE", 0.3)
    synced = set[str]()
    monkeypatch.setattr(fs, "before", lambda operation, path: synced.add(path) if operation == "fsync" else None)
    for number in range(5):
        memory.remember(f"Fact {number}", "d", "x")
    assert logged(memory.root) >= 5
    until(lambda: logged(memory.root) == 0)
    git_folder = memory.root / ".git"
    objects = git(memory.root, "rev-list", "--objects", "HEAD~5..HEAD").split("\n")
    wanted = {str(git_folder / "objects" / oid[:2] / oid[2:40]) for oid in objects if oid}
    wanted |= {str(git_folder / name) for name in ("refs/heads/main", "refs/heads", "refs/crabmem/keep", "index")}
    assert wanted <= synced
    memory.remember("After", "d", "the next write begins another log")
    assert logged(memory.root) == 1
    until(lambda: logged(memory.root) == 0)


def test_what_a_gc_still_takes_stays_in_the_log(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looked at what is reached before the write, and removes what it found after the write was on the disk."""
    monkeypatch.setattr(mend, "FULL", 0)
    memory.remember("First", "d", "x")
    (memory.root / ".git/gc.pid").write_text(f"{os.getpid()} {platform.node()}")
    for number in range(3):
        memory.remember(f"Fact {number}", "d", "x")
    memory.engine.history.mending.harden_beside()
    assert logged(memory.root) >= 3
    (memory.root / ".git/gc.pid").unlink()
    commit = git(memory.root, "rev-parse", "HEAD~1").strip()
    (memory.root / ".git/objects" / commit[:2] / commit[2:]).unlink()
    memory.engine.history.mending.harden_beside()
    assert logged(memory.root) == 0
    git(memory.root, "fsck", "--strict")


def test_who_closes_at_once_waits_for_nothing_and_leaves_it_to_the_log(memory: Memory) -> None:
    memory.remember("Fact", "d", "x")
    began = time.monotonic()
    memory.close()
    assert time.monotonic() - began < upkeep.IDLE / 2
    assert logged(memory.root) >= 1
    assert compact_history(memory.root)
    assert logged(memory.root) == 0


def test_a_log_that_nobody_brought_to_the_disk_does_not_grow_for_ever(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mend, "FULL", 60_000)
    for number in range(80):
        memory.remember("Fact", "d", f"{number} " * 300)
    assert 0 < logged(memory.root) < 60
    assert (memory.root / ".git/crabmem" / state.REDO).stat().st_size < 140_000
