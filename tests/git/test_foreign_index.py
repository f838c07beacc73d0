"""An index of Git's that crabmem does not write: it is left to Git, and the person is told at each write."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory, Unwritable
from tests.conftest import assert_clean


def git(root: Path, *words: str) -> str:
    """A Git that never merges the two parts of a split index by itself."""
    always = ("-c", "splitIndex.maxPercentChange=100", "-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    return subprocess.run(["git", "-C", str(root), *always, *words], check=True, capture_output=True, text=True).stdout


def _sparse(root: Path) -> None:
    git(root, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(root, "sparse-checkout", "set", "memory")


def _split(root: Path) -> None:
    git(root, "update-index", "--split-index")
    git(root, "update-index", "--chmod=+x", "elsewhere/deep/x.txt")
    git(root, "update-index", "--chmod=-x", "elsewhere/deep/x.txt")


@pytest.mark.parametrize(
    ("make", "mark", "undo"),
    [
        (_sparse, b"sdir", ("sparse-checkout", "disable")),
        (_split, b"link", ("update-index", "--no-split-index")),
    ],
)
def test_an_index_that_cannot_be_written_is_told_of_at_each_write_and_by_doctor(
    tmp_path: Path, make: Callable[[Path], None], mark: bytes, undo: tuple[str, ...]
) -> None:
    with Memory(tmp_path, agent="bot") as memory:
        memory.remember("One", "d", "one")
        assert not any(found.path == ".git/index" for found in memory.doctor())
        (tmp_path / "elsewhere/deep").mkdir(parents=True)
        (tmp_path / "elsewhere/deep/x.txt").write_text("x\n")
        git(tmp_path, "add", "-f", "elsewhere")
        git(tmp_path, "commit", "-qm", "x")
        make(tmp_path)
        before = (tmp_path / ".git/index").read_bytes()
        assert mark in before
        for name in ("Two", "Three"):
            saved = memory.remember(name, "d", "c")
            assert any("next `git commit` would take this back" in words for words in saved.warnings)
        assert (tmp_path / ".git/index").read_bytes() == before
        assert any(found.path == ".git/index" for found in memory.doctor())
        with pytest.raises(Unwritable, match="is split, sparse or in the middle of a merge"):
            memory.purge("Two")
        git(tmp_path, *undo)
        assert memory.remember("Four", "d", "c").warnings == ()
        assert not any(found.path == ".git/index" for found in memory.doctor())
        assert sorted(entry.name for entry in memory.entries()) == ["Four", "One", "Three", "Two"]
    assert_clean(tmp_path)
