"""Two at the same file: an agent that overwrites and a person who saves, and the person's Git beside an agent."""

import os
import random
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import Memory, Unwritable
from tests.conftest import assert_clean, git

ROUNDS = 40
NOTE = "memory/entries/note.md"


def save_in_place(file: Path, text: str) -> None:
    """As editors that truncate the file and write it anew."""
    with file.open("w") as stream:
        stream.write(text)


def save_by_rename(file: Path, text: str) -> None:
    """As editors that write a temporary file and move it over."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text)
    os.replace(temporary, file)


def save_with_backup(file: Path, text: str) -> None:
    """As vim: the old file becomes a backup, and the name is made anew."""
    backup = file.with_name(f"{file.name}~")
    os.replace(file, backup)
    file.write_text(text)
    backup.unlink()


def reachable(root: Path) -> str:
    """Every text that any reference still reaches."""
    return git(root, "log", "--all", "--format=", "-p", "-U0", "--diff-merges=first-parent", "--reverse")


class Agent(threading.Thread):
    """Overwrites one entry again and again until told to stop."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root, self.count, self.stopped = root, 0, threading.Event()

    def run(self) -> None:
        with Memory(self.root, agent="agent") as memory:
            while not self.stopped.is_set():
                with suppress(Unwritable):  # a stash that was put back over a newer text left the marks of a merge
                    memory.remember("note", "what two write", f"agent {self.count} wrote this")
                    self.count += 1

    def wrote_again(self) -> None:
        """Wait for a whole write that began after now."""
        goal = self.count + 2
        while self.count < goal and self.is_alive():
            time.sleep(0.001)


@pytest.mark.parametrize("save", [save_in_place, save_by_rename, save_with_backup])
def test_no_save_of_a_person_is_lost_to_an_overwriting_agent(save: Callable[[Path, str], None], tmp_path: Path) -> None:
    with Memory(tmp_path, agent="agent") as memory:
        memory.remember("note", "what two write", "the beginning")
    agent, chance = Agent(tmp_path), random.Random(1)
    agent.start()
    for number in range(ROUNDS):
        time.sleep(chance.random() * 0.03)
        save(tmp_path / NOTE, f"---\nname: note\n---\n\nperson saved {number:04}\n")
        agent.wrote_again()
    agent.stopped.set()
    agent.join()
    history = reachable(tmp_path)
    assert [number for number in range(ROUNDS) if f"person saved {number:04}" not in history] == []
    assert [number for number in range(agent.count) if f"agent {number} wrote" not in history] == []
    assert_clean(tmp_path)


GIT_STORMS = {
    "commit": ["git add notes.txt && git commit -qm human"],
    "commit -a": ["git commit -qam human"],
    "amend": ["git commit -q --amend --allow-empty -m amended"],
    "checkout": ["git checkout -qB side", "git checkout -qB main"],
    "detach": ["git checkout -q --detach", "git checkout -q main"],
    "reset": ["git reset -q --hard HEAD~1"],
    "stash": ["git stash -qu", "git stash pop -q"],
    "clean": ["git clean -qfd memory"],
    "gc": ["git gc -q"],
    "repack": ["git repack -qad"],
    "gc --prune=now": ["git gc -q --prune=now"],
}


@pytest.mark.parametrize("storm", GIT_STORMS)
def test_every_acknowledged_write_outlives_a_persons_git(storm: str, tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("seed", "the first", "the first")
    agent = Agent(tmp_path)
    agent.start()
    for number in range(15):
        (tmp_path / "notes.txt").write_text(str(number))
        for command in GIT_STORMS[storm]:
            _by_hand(tmp_path, command)
            time.sleep(0.02)
    agent.stopped.set()
    agent.join()
    history = reachable(tmp_path)
    assert agent.count > 3
    assert [number for number in range(agent.count) if f"agent {number} wrote" not in history] == []
    with Memory(tmp_path) as memory:
        memory.remember("after", "the last", "it still works")
        assert memory.get("after").content == "it still works"
    complaints = git(tmp_path, "fsck", "--strict", "--full").splitlines()
    assert [line for line in complaints if "dangling" not in line] == []


def _by_hand(root: Path, command: str) -> None:
    """What a person types; it may fail where the agent was quicker."""
    identity = {f"GIT_{role}_{part}": "human@x" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **identity}
    subprocess.run(command, shell=True, cwd=root, env=environment, capture_output=True)
