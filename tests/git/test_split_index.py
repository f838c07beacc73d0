"""An index of Git's in another form than the plain one: nothing that was acknowledged leaves the branch by it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.git.index_forms import joined, link_of
from tests.conftest import assert_clean
from tests.examples import examples


def git(root: Path, *words: str) -> str:
    """A Git with `core.splitIndex` in its global settings, which never merges the two parts by itself."""
    always = ("-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=100")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(["git", "-C", str(root), *always, *who, *words], check=True, capture_output=True, text=True)
    return done.stdout


def is_split(root: Path) -> bool:
    return link_of((root / ".git/index").read_bytes()) is not None


def test_facts_stay_in_the_branch_and_on_disk_whatever_a_git_with_a_split_index_does(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="bot") as memory:
        memory.remember("One", "d", "one")
        git(tmp_path, "status")
        (tmp_path / "n.txt").write_text("x\n")
        git(tmp_path, "add", "-f", "n.txt")
        git(tmp_path, "commit", "-qm", "n")
        git(tmp_path, "update-index", "--split-index")
        assert is_split(tmp_path)
        for number in (2, 3, 4):
            memory.remember(f"Fact {number}", "d", f"fact {number}")
        git(tmp_path, "clean", "-fdq")
        git(tmp_path, "commit", "-qam", "mine", "--allow-empty")
        memory.remember("Next", "d", "n")
        assert sorted(entry.name for entry in memory.entries()) == ["Fact 2", "Fact 3", "Fact 4", "Next", "One"]
    assert git(tmp_path, "ls-files", "memory/entries").splitlines() == [
        f"memory/entries/{slug}.md" for slug in ("fact-2", "fact-3", "fact-4", "next", "one")
    ]
    assert_clean(tmp_path)


def test_what_is_staged_in_a_split_index_stays_staged(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="bot") as memory:
        memory.remember("One", "d", "one")
        git(tmp_path, "update-index", "--split-index")
        (tmp_path / "draft.md").write_text("draft\n")
        (tmp_path / "gone.txt").write_text("gone\n")
        git(tmp_path, "add", "-f", "draft.md", "gone.txt")
        git(tmp_path, "rm", "-q", "--cached", "gone.txt")
        assert is_split(tmp_path)
        memory.remember("Two", "d", "two")
    assert not is_split(tmp_path)
    assert "gone.txt" not in git(tmp_path, "ls-files")
    assert git(tmp_path, "diff", "--cached", "--name-only") in ("", "draft.md\n")  # adopted as an outside edit


@given(
    first=st.lists(st.integers(0, 150), max_size=150, unique=True),
    removed=st.lists(st.integers(0, 150), max_size=80),
    changed=st.lists(st.integers(0, 150), max_size=80),
    added=st.lists(st.integers(151, 300), max_size=40, unique=True),
    version=st.sampled_from([2, 3, 4]),
)
@settings(max_examples=examples(12))
def test_two_parts_say_what_git_reads_in_them(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[int],
    removed: list[int],
    changed: list[int],
    added: list[int],
    version: int,
) -> None:
    root = tmp_path_factory.mktemp("split")
    git(root, "init", "-q")
    empty = git(root, "hash-object", "-w", "--stdin").strip()
    (root / "other").write_text("other")
    other = git(root, "hash-object", "-w", "other").strip()

    def stage(rows: list[str]) -> None:
        words = ["git", "-C", str(root), "-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=100"]
        text = "".join(f"{row}\n" for row in rows)
        subprocess.run([*words, "update-index", "--index-info"], input=text, text=True, check=True)

    stage([f"100644 {empty}\tfile-{number}" for number in first])
    git(root, "update-index", f"--index-version={version}", "--split-index")
    stage([f"0 {'0' * 40}\tfile-{number}" for number in removed])
    stage([f"100755 {other}\tfile-{number}" for number in {*changed} & {*first}])
    stage([f"100644 {other}\tfile-{number}" for number in added])
    data = (root / ".git/index").read_bytes()
    listed = git(root, "ls-files", "--stage")
    whole = joined(data, lambda oid: (root / f".git/sharedindex.{oid}").read_bytes())
    if whole is not None:  # with no row at all Git splits nothing
        (root / ".git/index").write_bytes(whole)
    assert git(root, "ls-files", "--stage") == listed


def test_an_index_that_cannot_be_written_is_told_of_at_each_write_and_by_doctor(tmp_path: Path) -> None:
    def plain_git(*words: str) -> None:
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    with Memory(tmp_path, agent="bot") as memory:
        memory.remember("One", "d", "one")
        assert not any(found.path == ".git/index" for found in memory.doctor())
        (tmp_path / "elsewhere/deep").mkdir(parents=True)
        (tmp_path / "elsewhere/deep/x.txt").write_text("x\n")
        plain_git("add", "-f", "elsewhere")
        plain_git("commit", "-qm", "x")
        plain_git("sparse-checkout", "init", "--cone", "--sparse-index")
        plain_git("sparse-checkout", "set", "memory")
        assert b"sdir" in (tmp_path / ".git/index").read_bytes()
        for name in ("Two", "Three"):
            saved = memory.remember(name, "d", "c")
            assert any("next `git commit` would take this back" in words for words in saved.warnings)
        assert any(found.path == ".git/index" for found in memory.doctor())
        plain_git("sparse-checkout", "disable")
        assert memory.remember("Four", "d", "c").warnings == ()
        assert not any(found.path == ".git/index" for found in memory.doctor())
    assert_clean(tmp_path)
