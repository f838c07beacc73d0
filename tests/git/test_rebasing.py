"""What agents write while a person rebases or merges with Git is in memory afterwards, however that ends."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import assert_clean, git
from tests.faults.repository import ANN

PERSON = (*ANN, "-c", "core.editor=true")


def typed(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """What the person types; it may fail, as a rebase with conflicts does."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(root), *PERSON, *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def saved(root: Path, text: str, message: str) -> None:
    """A commit of the person's own, of a file that is no memory."""
    (root / "plan.txt").write_text(text)
    git(root, "add", "plan.txt")
    assert typed(root, "commit", "-qm", message).returncode == 0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in the middle of `git pull --rebase`, stopped by a conflict in a file of the person's own."""
    root, upstream = tmp_path / "memory", tmp_path / "upstream.git"
    with Memory(root, agent="coder") as memory:
        memory.remember("X", "d", "old\n\nline\n\nlast")
        memory.remember("Z", "d", "there from the beginning")
        saved(root, "one\n", "begun")
        git(root, "clone", "-q", "--bare", ".", str(upstream))
        git(root, "remote", "add", "origin", str(upstream))
        saved(root, "ours\n", "ours")
        memory.remember("Local", "d", "written before, here alone")
        other = tmp_path / "other"
        git(tmp_path, "clone", "-q", str(upstream), str(other))
        saved(other, "theirs\n", "theirs")
        git(other, "push", "-q", "origin", "HEAD")
        assert typed(root, "pull", "--rebase", "origin", "main").returncode != 0
        assert (root / ".git/rebase-merge").is_dir()
        yield memory
    assert_clean(root)


def write_meanwhile(memory: Memory) -> None:
    memory.remember("X", "d", "new\n\nline\n\nlast")
    memory.remember("Y", "d", "made meanwhile")


def end(memory: Memory, how: str) -> None:
    if how == "--continue":
        (memory.root / "plan.txt").write_text("both\n")
        git(memory.root, "add", "--all")  # Git does not go on while a tracked file has changes that are not staged
    done = typed(memory.root, "rebase", how)
    assert done.returncode == 0, done.stderr
    assert not (memory.root / ".git/rebase-merge").exists()


def test_what_was_written_on_a_detached_head_is_in_memory_after_the_next_write_on_the_branch(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="coder") as memory:
        memory.remember("X", "d", "old")
        memory.remember("Z", "d", "there from the beginning")
        git(tmp_path, "checkout", "-q", "HEAD~1")
        write_meanwhile(memory)
        assert any("HEAD is detached" in found.message for found in memory.doctor())
        git(tmp_path, "switch", "-q", "main")
        assert any("is not in the files yet" in found.message for found in memory.doctor())
        memory.remember("Next", "d", "after it")
        assert {entry.name for entry in memory.entries()} == {"X", "Y", "Z", "Next"}
        assert memory.get("X").content == "new\n\nline\n\nlast"
        assert not any("is not in the files yet" in found.message for found in memory.doctor())
    assert_clean(tmp_path)


def test_what_was_written_on_a_detached_head_and_got_a_branch_is_not_brought_twice(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="coder") as memory:
        memory.remember("X", "d", "old")
        git(tmp_path, "checkout", "-q", "--detach")
        write_meanwhile(memory)
        git(tmp_path, "switch", "-qc", "kept")
        assert not any("is not in the files yet" in found.message for found in memory.doctor())
        before = git(tmp_path, "rev-parse", "HEAD")
        memory.adopt()
        assert git(tmp_path, "rev-parse", "HEAD") == before
    assert_clean(tmp_path)


@pytest.mark.parametrize("how", ["--abort", "--skip", "--continue"])
def test_what_was_written_during_a_rebase_is_in_memory_after_the_next_write(memory: Memory, how: str) -> None:
    write_meanwhile(memory)
    end(memory, how)
    memory.remember("Next", "d", "after it")
    assert memory.get("X").content == "new\n\nline\n\nlast"
    assert memory.get("Y").content == "made meanwhile"
    assert memory.get("Z").content == "there from the beginning"
    assert memory.get("Local").content == "written before, here alone"
    assert "new\n" in git(memory.root, "show", "HEAD:memory/entries/x.md")
    assert ("during a rebase" in git(memory.root, "log", "--format=%s", "-3")) == (how != "--continue")
    before = git(memory.root, "rev-parse", "HEAD")
    memory.adopt()
    assert git(memory.root, "rev-parse", "HEAD") == before


def test_what_was_forgotten_during_a_rebase_stays_forgotten(memory: Memory) -> None:
    memory.forget("Z")
    end(memory, "--abort")
    memory.adopt()
    assert [entry.name for entry in memory.entries()] == ["Local", "X"]


@pytest.mark.parametrize("how", ["--abort", "--skip"])
def test_the_doctor_says_what_is_not_in_the_files_yet(memory: Memory, how: str) -> None:
    write_meanwhile(memory)
    end(memory, how)
    assert any("the next write brings it back" in found.message for found in memory.doctor())
    memory.adopt()
    assert not any("the next write brings it back" in found.message for found in memory.doctor())


def test_an_edit_of_the_person_in_the_middle_goes_with_the_rebase_that_they_abort(memory: Memory) -> None:
    file = memory.root / "memory/entries/z.md"
    text = file.read_text()
    file.write_text(text.replace("beginning", "middle"))
    write_meanwhile(memory)
    end(memory, "--abort")
    memory.adopt()
    assert file.read_text() == text
    assert memory.get("X").content == "new\n\nline\n\nlast"


def test_what_the_person_changed_elsewhere_in_the_file_since_is_merged(memory: Memory) -> None:
    write_meanwhile(memory)
    end(memory, "--abort")
    file = memory.root / "memory/entries/x.md"
    file.write_text(file.read_text().replace("last", "last, says Ann"))
    memory.adopt()
    assert memory.get("X").content == "new\n\nline\n\nlast, says Ann"


def test_where_both_changed_the_same_lines_the_persons_stay_and_the_other_text_is_named(memory: Memory) -> None:
    write_meanwhile(memory)
    end(memory, "--abort")
    file = memory.root / "memory/entries/x.md"
    file.write_text(file.read_text().replace("old", "Ann's"))
    memory.adopt()
    assert memory.get("X").content == "Ann's\n\nline\n\nlast"
    [said] = [found.message for found in memory.doctor() if "x.md was written during your rebase" in found.message]
    commit = said.partition("--as-of ")[2].split()[0]
    assert memory.get("X", commit).content == "new\n\nline\n\nlast"


def test_a_reset_still_takes_back_what_was_written_before_it(memory: Memory) -> None:
    end(memory, "--abort")
    before = git(memory.root, "rev-parse", "HEAD").strip()
    memory.remember("X", "d", "regretted")
    git(memory.root, "reset", "-q", "--hard", before)
    memory.remember("Next", "d", "after it")
    assert memory.get("X").content == "old\n\nline\n\nlast"


def test_a_reset_after_it_came_back_takes_back_that_too(memory: Memory) -> None:
    write_meanwhile(memory)
    end(memory, "--abort")
    before = git(memory.root, "rev-parse", "HEAD").strip()
    memory.adopt()
    git(memory.root, "reset", "-q", "--hard", before)
    memory.remember("Next", "d", "after it")
    assert memory.get("X").content == "old\n\nline\n\nlast"


@pytest.mark.parametrize("how", ["abort", "continue"])
def test_the_same_holds_for_a_merge(tmp_path: Path, how: str) -> None:
    with Memory(tmp_path / "memory", agent="coder") as memory:
        memory.remember("X", "d", "old")
        saved(memory.root, "one\n", "begun")
        git(memory.root, "checkout", "-qb", "side")
        saved(memory.root, "side\n", "side")
        git(memory.root, "checkout", "-q", "main")
        saved(memory.root, "main\n", "main")
        assert typed(memory.root, "merge", "side").returncode != 0
        memory.remember("X", "d", "new")
        memory.remember("Y", "d", "made meanwhile")
        if how == "continue":
            (memory.root / "plan.txt").write_text("both\n")
            git(memory.root, "add", "--all")
        assert typed(memory.root, "merge", f"--{how}").returncode == 0
        memory.remember("Next", "d", "after it")
        assert [memory.get(name).content for name in ("X", "Y")] == ["new", "made meanwhile"]
    assert_clean(memory.root)


def test_nothing_is_brought_back_that_a_file_from_elsewhere_names(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", agent="coder") as memory:
        memory.remember("X", "d", "old")
        base = git(memory.root, "rev-parse", "HEAD").strip()
        git(memory.root, "checkout", "-qb", "theirs")
        with Memory(tmp_path / "memory", agent="coder") as other:
            git(memory.root, "update-ref", "-d", "refs/crabmem/keep")
            text = other.file("memory/entries/x.md").read_text().replace("old", "planted")
            other.file("memory/entries/x.md").write_text(text)
        assert typed(memory.root, "commit", "-qam", "x\n\nTool: remember").returncode == 0
        planted, blob = git(memory.root, "rev-parse", "HEAD", "HEAD:memory/entries/x.md").split()
        git(memory.root, "checkout", "-q", "main")
        for line in (f"{base} {planted} {base}", f"{blob} {blob} {blob}", "0" * 40 + f" {base} {base}", "\0", ""):
            (memory.root / ".git/crabmem/waiting").write_text(f"{line}\n")
            memory.remember("Y", "d", f"after {len(line)}")
            assert memory.get("X").content == "old"
    assert_clean(memory.root)
