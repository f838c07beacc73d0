"""The write path with several processes at once; what it does under faults is in `tests/faults`."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

from crabmem import Memory
from tests.conftest import assert_clean, git


def _write_for_ever(root: Path, number: int, acknowledged: Path) -> None:
    with Memory(root, agent=f"agent {number}") as memory, acknowledged.open("a", buffering=1) as said:
        for count in range(100_000):
            text = f"writer {number} wrote {os.getpid()} {count}"
            memory.remember(f"fact {number} {count % 5}", "what is written", text)
            said.write(f"{text}\n")


def _acknowledged(folder: Path) -> list[str]:
    """What the writers said they had written; a line that was cut short was not said."""
    lines = [line for file in folder.iterdir() for line in file.read_text().splitlines(keepends=True)]
    return [line.rstrip("\n") for line in lines if line.endswith("\n")]


def test_acknowledged_writes_outlive_random_kills(tmp_path: Path) -> None:
    root, said = tmp_path / "memory", tmp_path / "said"
    said.mkdir()
    with Memory(root) as memory:
        memory.init()
    context = multiprocessing.get_context("spawn")
    for turn in range(6):
        words = [(root, number, said / f"{turn}-{number}") for number in range(3)]
        writers = [context.Process(target=_write_for_ever, args=each) for each in words]
        before = len(_acknowledged(said))
        for writer in writers:
            writer.start()
        while len(_acknowledged(said)) == before:
            time.sleep(0.01)
        time.sleep(0.3 + 0.07 * turn)
        for writer in writers:
            os.kill(writer.pid or 0, signal.SIGKILL)
            writer.join()
    acknowledged = _acknowledged(said)
    with Memory(root) as memory:
        memory.remember("after", "the last", "it still works")
        authors = {commit.author for commit in memory.log()}
    history = git(root, "log", "--format=", "-p", "-U0")
    assert len(acknowledged) > 30
    assert [text for text in acknowledged if text not in history] == []
    assert "person" not in authors, "a write of ours was taken for the person's"
    assert list((root / ".git").rglob("*.lock")) == []
    assert_clean(root)


def _write_some(root: Path, number: int, count: int) -> None:
    with Memory(root, agent=f"agent {number}") as memory:
        for each in range(count):
            memory.remember(f"fact {number} {each}", "what is written", f"{number} {each}")


def test_eight_processes_lose_nothing_and_touch_only_their_own_files(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_some, args=(tmp_path, number, 12)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    with Memory(tmp_path) as memory:
        commits = [commit for commit in memory.log() if commit.tool == "remember"]
        assert len(memory.entries()) == len(commits) == 96
        assert {len(commit.paths) for commit in commits} == {1}
    assert_clean(tmp_path)
