"""A write that failed leaves nothing behind in its process, and one that is in the history is never called failed."""

import errno
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Busy, CrabmemError, Memory, fs
from tests.conftest import assert_clean, git


class FailsOnce:
    """Stands before every change of the disk, and refuses the one with the number `at`."""

    def __init__(self, at: int, code: int = errno.ENOSPC) -> None:
        self.at, self.code = at, code
        self.count = 0
        self.failed = ""

    def __call__(self, operation: str, path: str) -> None:
        self.count += 1
        if self.count == self.at:
            self.failed = f"{operation} {path}"
            raise OSError(self.code, "no space left on device", path)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("begun") / "memory"
    with Memory(root, agent="a") as memory:
        memory.remember("One", "d", "text")
    return root


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def writes(memory: Memory) -> None:
    memory.remember("Two", "d", "two")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_what_is_on_the_branch_was_never_called_failed(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Every change of the disk in a write is refused once; an agent repeats a write that it was told had failed."""
    outcomes, at = set(), 0
    while True:
        at += 1
        root = tmp_path / str(at)
        shutil.copytree(begun, root)
        with Memory(root, agent="server") as memory:
            failing, told = FailsOnce(at, code), None
            with monkeypatch.context() as patched:
                patched.setattr(fs, "before", failing)
                try:
                    writes(memory)
                except CrabmemError as error:
                    told = str(error)
            is_made = "remember: Two" in subjects(root)
            assert is_made == (told is None), f"{failing.failed}: made {is_made}, told {told}"
            outcomes.add(is_made)
            memory.remember("Three", "d", "three")
            kept, main = git(root, "rev-parse", "refs/crabmem/keep", "main").split()
            assert kept == main, failing.failed
        assert_clean(root)
        shutil.rmtree(root)
        if failing.count < at:
            break
    assert outcomes == {True, False}
    assert at > 20


def purge(root: Path) -> None:
    with Memory(root) as other:
        other.purge(text="secretZ")


def prune(root: Path) -> None:
    subprocess.run(["git", "-C", str(root), "prune"], check=True)


@pytest.mark.parametrize("take", [purge, prune])
def test_a_process_whose_write_failed_goes_on_after_its_objects_were_taken_away(
    memory: Memory, take: Callable[[Path], None]
) -> None:
    """It looked for them at each write from then on, and called every one of them failed after it was made."""
    memory.remember("One", "d", "text")
    lock = memory.root / ".git/refs/heads/main.lock"
    lock.write_text("")
    with pytest.raises(Busy):
        memory.remember("Fails", "d", "secretZ")
    lock.unlink()
    take(memory.root)
    for number in range(3):
        memory.remember(f"After {number}", "d", "x")
    kept, main = git(memory.root, "rev-parse", "refs/crabmem/keep", "main").split()
    assert kept == main


@pytest.mark.parametrize("refused", ["open journal", "fsync journal", "exchange", "link"])
def test_a_full_disk_once_and_a_prune_later_stop_no_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    memory.remember("One", "d", "text")
    operation, _, name = refused.partition(" ")

    def full(what: str, path: str) -> None:
        if what == operation and path.endswith(name):
            raise OSError(errno.ENOSPC, "no space left on device", path)

    with monkeypatch.context() as patched, pytest.raises(CrabmemError):
        patched.setattr(fs, "before", full)
        memory.remember("One" if operation == "exchange" else "Two", "d", "another text")
    with Memory(memory.root, agent="other") as other:
        for number in range(40):
            other.remember("Other", "d", f"text {number}")
    prune(memory.root)
    for number in range(3):
        memory.remember(f"After {number}", "d", "x")
