"""What a crash left is finished unasked only where this user began it: a folder may come from a stranger."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.operations import files as files_operations
from crabmem.operations import maintenance
from crabmem.session.opening import local_time
from crabmem.write.actor import Actor
from tests.conftest import assert_clean
from tests.git.test_purge_crashes import Died
from tests.opening import opened_with


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file below `root` but for caches, which reading may make, and the lock."""
    ours = (".git/crabmem/index", ".git/crabmem/lock", ".git/crabmem/turns", ".git/crabmem/uses")
    files = {file.relative_to(root).as_posix(): file for file in root.rglob("*") if file.is_file()}
    return {path: file.read_bytes() for path, file in files.items() if not path.startswith(ours)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", agent="a") as memory:
        memory.remember("Vet", "where the vet is", "In the old town.")
    return tmp_path / "memory"


def interrupted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of two files that dies when the first is in its place."""
    with Memory(root, agent="a") as memory:
        memory.remember("Fish", "what it eats", "Flakes.")
    dying = opened_with(root, Actor("coder"), local_time, environment=os.environ)

    def before(operation: str, path: str) -> None:
        if operation == "exchange" and path.endswith("vet.md"):
            raise Died

    with monkeypatch.context() as patched, suppress(Died):
        patched.setattr(fs, "before", before)
        files_operations.rewrite(dying, "move", lambda tree: {"entries/fish.md": "fish!\n", "entries/vet.md": "vet!\n"})
    dying.engine.history.close()
    assert (root / ".git/crabmem/journal").stat().st_size


def test_a_write_of_another_user_is_kept_aside_and_writes_go_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(root, monkeypatch)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another home"))
    before = snapshot(root)
    with Memory(root, agent="me") as memory:
        memory.recall("vet")
        assert snapshot(root) == before
        memory.remember("New", "d", "c")
        assert any("the write 'memory: move'" in found.message for found in memory.doctor())
        assert (root / "memory/entries/vet.md").read_text() != "vet!\n"
        maintenance.mend(memory)
        assert (root / "memory/entries/vet.md").read_text() == "vet!\n"
        assert not any("was begun by another user" in found.message for found in memory.doctor())
    assert_clean(root)


def test_a_write_of_this_user_is_finished_by_the_next_command(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(root, monkeypatch)
    with Memory(root):
        assert (root / "memory/entries/vet.md").read_text() == "vet!\n"
    assert_clean(root)


@pytest.mark.parametrize("place", [".git-purging", ".git/crabmem/purging", ".git/crabmem/purging.done"])
def test_what_a_purge_seems_to_have_left_is_removed_and_nothing_that_it_leads_to(
    root: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/precious").write_text("precious\n")
    (root / place).mkdir()
    (root / place / "folder").symlink_to(tmp_path / "mine")
    (root / place / "config").hardlink_to(tmp_path / "mine/precious")
    (root / place / "hooks").mkdir()
    with Memory(root, agent="me") as memory:
        memory.remember("Next", "a write", "It works.")
    assert not (root / place).exists()
    assert [(file.name, file.read_text()) for file in (tmp_path / "mine").iterdir()] == [("precious", "precious\n")]
    (root / ".git-purging").symlink_to(tmp_path / "mine")
    with Memory(root, agent="me") as memory:
        memory.remember("Next", "a write", "It works again.")
    assert not (root / ".git-purging").is_symlink()
    assert (tmp_path / "mine/precious").exists()
    assert_clean(root)
