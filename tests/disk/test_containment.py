"""A profile may have come with a folder of somebody else's: it leads nowhere out of that folder."""

import os
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk.fs import inside
from crabmem.errors import InvalidArguments, InvalidSettings
from crabmem.operations import setup

LAYOUTS = [
    'identity = "../outside.md"', 'identity = "a/../../outside.md"', 'identity = "/etc/outside.md"', 'identity = ""',
    'identity = ".git/x.md"', 'identity = "crabmem.toml"', 'identity = "a\\u0000b.md"', 'identity = "..\\\\outside.md"',
    'identity = "One.md"\noverview = "one.md"', 'overview = "../outside.md"', 'overview = ".git/hooks/x.md"',
    'entries = [".."]', 'entries = ["/tmp"]', 'entries = []', 'entries = ["agents/other/memory"]', 'notes = ".."',
    'notes = ".git/hooks"', 'memory = ".."', 'memory = ".git"', 'memory = "agents"', 'beside = [".."]',
    'beside = [".git"]', 'beside = ["agents"]', 'learnings = "../outside"', 'learnings = ".git/hooks"',
]  # fmt: skip
PARTS = [
    'file = "../outside.md"', 'file = "memory/../../outside.md"', 'file = "/etc/passwd"', 'file = ".git/config"',
    'file = "agents/x/.GIT/config"', 'file = "../../.ssh/id_rsa.md"', 'template = "../../outside"',
    'template = "/etc/outside"', 'file = "x.md"\ndefault = "../outside"', 'words = "x"\ngiven = "../outside.md"',
]  # fmt: skip


@pytest.fixture
def cloned(tmp_path: Path) -> Path:
    """A workspace as it was cloned, which names a profile of its own; what is outside of it is somebody else's."""
    (tmp_path / "outside.md").write_text("Mine.\n")
    root = tmp_path / "cloned"
    root.mkdir()
    (root / "crabmem.toml").write_text('profile = "own.toml"\nsoul_editable = true\n')
    return root


@pytest.mark.parametrize("places", LAYOUTS)
def test_no_place_of_a_layout_is_outside_of_the_workspace(cloned: Path, places: str) -> None:
    (cloned / "own.toml").write_text(f'about = "x"\npart = []\n[layout]\n{places}\n')
    with pytest.raises(InvalidSettings):
        Memory(cloned)


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_a_prompt_is_outside_of_the_workspace(cloned: Path, part: str) -> None:
    (cloned / "own.toml").write_text(f'about = "x"\n[[part]]\n{part}\n')
    with pytest.raises(InvalidSettings, match=r"history does not keep|not in the workspace|has no template"):
        Memory(cloned).prompt()


def test_no_seed_is_a_text_of_the_machine(cloned: Path, tmp_path: Path) -> None:
    (cloned / "own.toml").write_text(
        f'about = "x"\npart = []\n[[seed]]\nfile = "S.md"\ntemplate = "{tmp_path}/outside"'
    )
    with pytest.raises(InvalidSettings, match="has no template"):
        setup.use_profile(Memory(cloned), claim=True)
    assert not (cloned / "S.md").exists()


def test_a_path_with_two_dots_is_nowhere_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for path in ("../x.md", "below/../../x.md", ".."):
        with pytest.raises(NotADirectoryError), inside(tmp_path, path, make=True):
            pass


@pytest.mark.skipif(os.name == "nt", reason="there is no such device")
def test_a_profile_without_end_is_refused(cloned: Path) -> None:
    (cloned / "own.toml").symlink_to("/dev/zero")
    with pytest.raises(InvalidSettings, match="outside of the workspace"):
        Memory(cloned)
    with pytest.raises(InvalidArguments, match="not a regular file"):
        Memory(cloned, profile=str(cloned / "own.toml"))
    (cloned / "own.toml").unlink()
    (cloned / "own.toml").write_text('about = "x"\npart = []\n' + "# much\n" * 200_000)
    with pytest.raises(InvalidArguments, match="larger than 1,000,000 bytes"):
        Memory(cloned)
