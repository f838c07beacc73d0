"""A folder that crabmem was taken out of has its files, its history, and nothing of crabmem's."""

from pathlib import Path

import pytest

from crabmem import CrabmemError, Memory
from crabmem.operations import setup
from crabmem.operations.leaving import leave
from crabmem.workspace.layout import FLAT
from tests.conftest import git

NOTES = {"MEMORY.md": b"# Mine\n", "Tea.md": b"Green.\n", "People/Ann.md": b"---\nname: Ann\n---\n\nKnows all.\r\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of notes that was adopted."""
    root = tmp_path / "notes"
    for path, data in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    setup.declare(root, "layout", FLAT.name)
    with Memory(root) as memory:
        setup.init(memory, claim=True, is_seeded=False)
        memory.adopt()
    return root


def files(root: Path) -> dict[str, bytes]:
    """All files but those of `.git`."""
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file() and ".git" not in file.parts
    }


def test_the_files_and_their_history_stay_and_nothing_of_crabmem_does(folder: Path) -> None:
    with Memory(folder, agent="coder") as memory:
        memory.remember("Key", "where the key is", "In the vault.")
    (folder / "Tea.md").write_bytes(b"Black.\n")
    before = files(folder)
    with Memory(folder, is_person=True) as memory:
        assert leave(memory, dry_run=True) == (".git/crabmem", "crabmem.toml") and files(folder) == before
        assert leave(memory) == (".git/crabmem", "crabmem.toml")
    assert files(folder) == {path: data for path, data in before.items() if path != "crabmem.toml"}
    assert files(folder).items() >= {**NOTES, "Tea.md": b"Black.\n"}.items() and len(files(folder)) == 4
    assert not (folder / ".git" / "crabmem").exists()
    assert git(folder, "status", "--porcelain") == "" and git(folder, "fsck", "--strict", "--no-progress") == ""
    assert git(folder, "log", "--format=%s").splitlines()[:3] == ["leave: crabmem", "edit: Tea", "remember: Key"]


def test_the_folder_can_be_taken_up_again(folder: Path) -> None:
    with Memory(folder, is_person=True) as memory:
        leave(memory)
    setup.declare(folder, "layout", FLAT.name, is_meant=True)
    with Memory(folder, is_person=True) as memory:
        setup.init(memory, claim=True, is_seeded=False)
        memory.adopt()
        assert memory.recall("green")[0].entry.path == "Tea.md"
        assert "leave: crabmem" in [commit.subject for commit in memory.log()]


def test_settings_of_the_person_stay(folder: Path) -> None:
    with (folder / "crabmem.toml").open("a") as file:
        file.write('language = "german"\n')
    with Memory(folder, is_person=True) as memory:
        assert leave(memory) == (".git/crabmem",)
    assert "german" in (folder / "crabmem.toml").read_text()


def test_an_agent_cannot_and_nobody_can_while_a_text_waits(folder: Path) -> None:
    with Memory(folder, agent="coder") as memory, pytest.raises(CrabmemError, match="a person takes crabmem out"):
        leave(memory)
    recovered = folder / ".git/crabmem/recovered"
    recovered.mkdir()
    (recovered / "1").write_text("a save")
    with Memory(folder, is_person=True) as memory, pytest.raises(CrabmemError, match="texts wait for you"):
        leave(memory)
    assert (recovered / "1").exists()
