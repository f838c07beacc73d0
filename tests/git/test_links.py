"""A folder in `.git` that is a link: nothing is written where it leads to."""

from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from crabmem import DamagedHistory, Memory

#: All folders in which a write stores something, and one that is Git's alone.
FOLDERS = [
    "refs", "refs/heads", "refs/crabmem", "objects", "objects/info", "objects/pack", "logs", "logs/refs",
    "logs/refs/heads", "info", "crabmem", "crabmem/tmp", "crabmem/index", "hooks",
]  # fmt: skip
# A link in the place of these is in nobody's way: whoever opens the memory throws the one of the caches away.
_HARMLESS = ("crabmem/index", "hooks")


def moved_out(folder: Path, outside: Path) -> None:
    """Put a link into the place of a folder, which lies outside then."""
    folder.mkdir(parents=True, exist_ok=True)
    outside.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(outside)
    folder.symlink_to(outside)


def seen(outside: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder, with when it was changed."""
    return {
        str(each.relative_to(outside)): (each.lstat().st_mtime_ns, each.read_bytes() if each.is_file() else b"")
        for each in (outside, *outside.rglob("*"))
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory with a commit."""
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Luna", "dog", "Thursday")
    return tmp_path / "notes"


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("name", FOLDERS)
def test_nothing_is_written_where_a_folder_leads_to(root: Path, tmp_path: Path, name: str, is_open: bool) -> None:
    """Be the memory opened before it became a link, or after."""
    outside = tmp_path / "outside" / name
    with Memory(root) as memory:
        if is_open:
            assert memory.recall("dog")
            memory.remember("Luna", "dog", "Friday")
        moved_out(root / ".git" / name, outside)
        before = seen(outside)
        with (
            memory if is_open else Memory(root) as writer,
            nullcontext() if name in _HARMLESS else pytest.raises(DamagedHistory, match="symbolic link"),
            suppress(DamagedHistory) if name == "crabmem/index" else nullcontext(),
        ):
            writer.remember("Wifi", "guests", "on the router")
    assert seen(outside) == before


def test_no_object_is_written_where_its_folder_leads_to(root: Path, tmp_path: Path) -> None:
    """An object's folder is named by the first digits of its id: all of them are links."""
    outside = tmp_path / "outside"
    for number in range(256):
        moved_out(root / ".git/objects" / f"{number:02x}", outside / f"{number:02x}")
    before = seen(outside)
    with Memory(root) as memory, pytest.raises(DamagedHistory, match="symbolic link"):
        memory.remember("Wifi", "guests", "on the router")
    assert seen(outside) == before
