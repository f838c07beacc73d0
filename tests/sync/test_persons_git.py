"""A person uses Git beside sync: pull, rebase, a forge's merge. The next sync goes on, and what Git marked waits."""

import subprocess
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import Busy
from tests.conftest import git

from .conftest import Two, crab, synced

_MINE = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")


def all_have(names: set[str], *machines: Memory) -> None:
    """Sync until all have the same, which are these facts, and nothing is wrong."""
    for memory in (*machines, *machines):
        synced(memory)
    assert len({git(memory.root, "rev-parse", "HEAD^{tree}") for memory in machines}) == 1
    for memory in machines:
        assert {entry.name for entry in memory.entries()} == names
        assert not git(memory.root, "status", "--short")
        assert not git(memory.root, "fsck", "--strict", "--no-dangling")
        assert not [each for each in memory.doctor() if each.level == "error"]


def diverged(two: Two) -> None:
    """Have each machine know a fact more; that of the second is at the remote."""
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    other.remember("Key", "where", "In the vault.")
    synced(other)


@pytest.mark.parametrize("way", [("--no-rebase", "--no-edit"), ("--rebase",)])
def test_after_a_pull_of_the_persons_sync_goes_on(two: Two, way: tuple[str, ...]) -> None:
    diverged(two)
    git(two[0].root, *_MINE, "pull", "-q", *way, "origin", "main")
    all_have({"Luna", "Tea", "Key"}, *two)


def test_after_a_push_of_the_persons_sync_goes_on(two: Two) -> None:
    one, _ = two
    one.remember("Tea", "hot", "With milk.")
    git(one.root, "push", "-q", "origin", "main")
    all_have({"Luna", "Tea"}, *two)


@pytest.mark.parametrize("way", [("merge", "-q", "--no-ff", "-m", "Merge pull request"), ("merge", "-q", "--squash")])
def test_after_a_merge_on_the_forges_page_sync_goes_on(
    two: Two, hub: Path, tmp_path: Path, way: tuple[str, ...]
) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(hub), str(work))
    git(work, "checkout", "-q", "-b", "proposed")
    (work / "memory/entries/tea.md").write_text("---\nname: Tea\ndescription: hot\n---\n\nWith milk.\n")
    git(work, "add", "-A")
    git(work, *_MINE, "commit", "-qm", "tea")
    git(work, "checkout", "-q", "main")
    git(work, *_MINE, *way, "proposed")
    if "--squash" in way:
        git(work, *_MINE, "commit", "-qm", "Squashed")
    git(work, "push", "-q", "origin", "main")
    two[0].remember("Key", "where", "In the vault.")
    all_have({"Luna", "Tea", "Key"}, *two)


def test_while_a_rebase_of_the_persons_is_under_way_sync_waits(two: Two) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    synced(other)
    with pytest.raises(subprocess.CalledProcessError):
        git(one.root, *_MINE, "pull", "-q", "--rebase", "origin", "main")
    with pytest.raises(Busy, match="a rebase of yours is under way"):
        synced(one)
    git(one.root, "rebase", "--abort")
    assert synced(one).disputed == ("memory/entries/luna.md",)


def test_marks_that_git_left_and_a_person_committed_are_recalled_nowhere_and_decided_on_either_machine(
    two: Two,
) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    synced(other)
    with pytest.raises(subprocess.CalledProcessError):
        git(one.root, *_MINE, "pull", "-q", "--no-rebase", "origin", "main")
    git(one.root, *_MINE, "commit", "-qam", "as it is")
    for memory in (one, other):
        synced(memory)
        assert not memory.recall("cat").hits
        assert "memory/entries/luna.md" in crab(memory.root, "review", "resolve").stdout
    crab(other.root, "review", "resolve", "Luna", "--theirs")
    all_have({"Luna"}, *two)
    assert one.get("Luna").content == "A cat.\nTwelve years old."
