"""A write that failed leaves nothing behind in its process, and one that is in the history is never called failed."""

import errno
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crabmem import Busy, CrabmemError, Memory
from crabmem.disk import fs
from crabmem.disk.scan import Scan
from crabmem.git import packing
from crabmem.operations import files, keyvalue, proposals, salient_facts
from crabmem.results import Proposed
from crabmem.text.entry import Fact
from crabmem.text.keys import Key
from crabmem.write.writer import Writer
from tests.conftest import assert_clean, git
from tests.refusing import Refusing, once


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("begun") / "memory"
    with Memory(root, agent="a") as memory:
        memory.remember("One", "d", "text")
    return root


@pytest.fixture
def root(begun: Path, tmp_path: Path) -> Path:
    """A copy of that memory."""
    return Path(shutil.copytree(begun, tmp_path / "memory", symlinks=True))


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def writes(memory: Memory) -> None:
    memory.remember("Two", "d", "two")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.long)])
def test_what_is_on_the_branch_was_never_called_failed(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, stride: int
) -> None:
    """Every change of the disk in a write is refused once, in the short form every fourth.

    An agent repeats a write that it was told had failed.
    """
    outcomes, at = set(), 1 - stride + (code == errno.EIO) * (stride // 2)
    while True:
        at += stride
        root = tmp_path / str(at)
        shutil.copytree(begun, root)
        with Memory(root, agent="server") as memory:
            failing, told = Refusing(once(at), code=code), None
            with monkeypatch.context() as patched:
                patched.setattr(fs, "before", failing)
                try:
                    writes(memory)
                except CrabmemError as error:
                    told = str(error)
            is_made = "remember: Two" in subjects(root)
            assert is_made == (told is None), f"{failing.refused}: made {is_made}, told {told}"
            outcomes.add(is_made)
            memory.remember("Three", "d", "three")
            kept, main = git(root, "rev-parse", "refs/crabmem/keep", "main").split()
            assert kept == main, failing.refused
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


class Failing:
    """From the moment when a write is in the history, opening any file fails, and so do new processes and threads."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.is_done = False
        committed, opened, start = Writer._commit, os.open, threading.Thread.start
        begun = subprocess.Popen.__init__

        def after(writer: Writer, *given: Any) -> str | None:
            commit = committed(writer, *given)
            self.is_done = True
            return commit

        def refused(name: Any, *given: Any, **named: Any) -> Any:
            self._refuse(OSError(errno.EMFILE, "too many open files", os.fspath(name)))
            return opened(name, *given, **named)

        def no_process(process: Any, *given: Any, **named: Any) -> None:
            process._child_created = False  # as its own does first: it is asked for when the object goes
            self._refuse(OSError(errno.EAGAIN, "resource temporarily unavailable"))
            begun(process, *given, **named)

        def no_thread(thread: threading.Thread) -> None:
            self._refuse(RuntimeError("can't start new thread"))
            start(thread)

        patched.setattr(Writer, "_commit", after)
        patched.setattr(os, "open", refused)
        patched.setattr(subprocess.Popen, "__init__", no_process)
        patched.setattr(threading.Thread, "start", no_thread)
        patched.setattr(fs, "before", lambda operation, path: self._refuse(OSError(errno.EMFILE, "too many", path)))

    def _refuse(self, error: Exception) -> None:
        if self.is_done:
            raise error


WRITES: dict[str, Callable[[Memory], object]] = {
    "remember": lambda memory: memory.remember("One", "d", "another"),
    "keep": lambda memory: keyvalue.keep(memory, {Key(("a",), "b"): Fact("New", "d", "text")}),
    "remember_all": lambda memory: memory.remember_all([Fact("New", "d", "text")], "here"),
    "forget": lambda memory: memory.forget("One"),
    "rename": lambda memory: memory.rename("One", "Uno"),
    "write_overview": lambda memory: memory.write_overview("text"),
    "write_identity": lambda memory: memory.write_identity("text"),
    "write_note": lambda memory: memory.write_note("text"),
    "rewrite": lambda memory: files.rewrite(memory, "text", lambda tree: {"entries/two.md": "text"}),
    "undo": lambda memory: memory.undo(),
    "revert": lambda memory: memory.revert("HEAD"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_nothing_that_fails_after_the_commit_makes_a_failure_of_the_write(
    root: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Not reading the settings again, not the work that is begun beside it, not closing."""
    with Memory(root, agent="a") as memory:
        (root / "crabmem.toml").write_text("soul_editable = true\n")
        memory.adopt()
        memory.remember("One", "d", "as it was")
        salient_facts.recall_facts(memory, "text")
    before = len(subjects(root))
    memory = Memory(root, agent="server")
    with monkeypatch.context() as patched:
        patched.setattr(packing, "MOST_OBJECTS", 0)  # a compaction is due
        failing = Failing(patched)
        (root / "crabmem.toml").write_text("soul_editable = true\n")  # too young to be known by its looks
        WRITES[verb](memory)
        memory.close()
        assert failing.is_done
    assert len(subjects(root)) == before + 1
    with Memory(root) as memory:
        memory.remember("Next", "d", "text")
    assert_clean(root)


def test_a_proposal_is_made_even_if_the_settings_are_spoilt_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "crabmem.toml").write_text('soul = "propose"\n')
    between_writes = Writer.between_writes

    def spoilt(writer: Writer, work: Callable[[Scan], object]) -> object:
        done = between_writes(writer, work)
        (root / "crabmem.toml").write_text("soul = \n")
        return done

    with Memory(root, agent="a") as memory:
        monkeypatch.setattr(Writer, "between_writes", spoilt)
        assert isinstance(memory.write_identity("You are kind."), Proposed)


def test_a_proposal_that_was_applied_is_no_failure_where_it_cannot_be_dropped(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "crabmem.toml").write_text('soul = "propose"\n')
    with Memory(root, agent="a") as memory:
        proposed = memory.write_identity("You are kind.")
        assert isinstance(proposed, Proposed)

    def busy(writer: Writer, work: Callable[[Scan], object]) -> object:
        raise Busy("another process has been writing")

    with Memory(root, is_person=True) as memory:
        with monkeypatch.context() as patched:
            patched.setattr(Writer, "between_writes", busy)
            assert proposals.apply_proposal(memory, proposed.proposal.id).commit
        [waiting] = proposals.proposals(memory)
        assert proposals.apply_proposal(memory, waiting.id).commit is None
        assert proposals.proposals(memory) == []


@pytest.mark.parametrize("refused", ["open journal", "fsync journal", "exchange", "link"])
def test_a_full_disk_once_and_a_prune_later_stop_no_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    memory.remember("One", "d", "text")
    operation, _, name = refused.partition(" ")

    full = Refusing(where=lambda what, path: what == operation and path.endswith(name))
    with monkeypatch.context() as patched, pytest.raises(CrabmemError):
        patched.setattr(fs, "before", full)
        memory.remember("One" if operation == "exchange" else "Two", "d", "another text")
    with Memory(memory.root, agent="other") as other:
        for number in range(40):
            other.remember("Other", "d", f"text {number}")
    prune(memory.root)
    for number in range(3):
        memory.remember(f"After {number}", "d", "x")
