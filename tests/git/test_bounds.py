"""What somebody else wrote is read within bounds: trees that name one another, deep ones, thousands of references."""

import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import DamagedHistory, SyncError, Untrusted
from crabmem.git.history import History
from crabmem.git.objects import Objects
from crabmem.git.reach import Reach
from crabmem.git.trees import FOLDER, REGULAR, row_of
from crabmem.workspace.workspace import Workspace
from tests.conftest import git
from tests.pace import costing_less_than
from tests.remotes.sides import MAIN, begun
from tests.sync.conftest import crabs

ANNA = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")


def put(root: Path, kind: str, data: bytes) -> str:
    with closing(Objects(root / "objects", root)) as objects:
        oid = objects.put(kind, data)
        objects.store({oid: (kind, data)})
        return oid


def bomb(root: Path, levels: int, width: int, bottom: bytes) -> str:
    """A commit of a tree that has one tree so many times, and so on."""
    tree = put(root, "tree", bottom)
    for _ in range(levels):
        tree = put(root, "tree", b"".join(row_of(b"%04d" % n, FOLDER, tree) for n in range(width)))
    return git(root, *ANNA, "commit-tree", "-m", "bomb", tree).strip()


def pieces(root: Path, commit: str) -> int:
    with closing(Objects(root / "objects")) as objects:
        return len([*Reach(objects, root / "objects").pieces(commit)])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    return tmp_path / "bare.git"


@pytest.mark.parametrize("has_files", [True, False])
def test_a_tree_of_trees_is_taken_once(bare: Path, has_files: bool) -> None:
    bottom = row_of(b"a.md", REGULAR, put(bare, "blob", b"text")) if has_files else b""
    assert pieces(bare, bomb(bare, 10, 10, bottom)) == 12 + has_files


def test_a_tree_without_end_is_refused_in_words(bare: Path, tmp_path: Path) -> None:
    deep, wide = bomb(bare, 3_000, 1, b""), bomb(bare, 10, 10, b"")
    with pytest.raises(DamagedHistory, match="100 folders deep"):
        pieces(bare, deep)
    git(tmp_path, "clone", "-q", "--bare", "bare.git", "here/.git")
    with closing(History(Workspace(tmp_path / "here"))) as history:
        for commit in (deep, wide):
            asks: list[Callable[[], object]] = [
                lambda commit=commit: history.files(commit),  # type: ignore[misc]
                lambda commit=commit: history.items(commit),  # type: ignore[misc]
                lambda commit=commit: history.changes.of(commit),  # type: ignore[misc]
            ]
            for ask in asks:
                with pytest.raises(DamagedHistory, match="no memory's"):
                    ask()


@pytest.mark.parametrize(("levels", "width"), [(10, 10), (3_000, 1)])
def test_a_remote_with_such_trees_costs_no_time_or_memory(tmp_path: Path, levels: int, width: int) -> None:
    side = begun(tmp_path)
    side.push()
    bare = tmp_path / "bare.git"
    tip = bomb(bare, levels, width, row_of(b"a.md", REGULAR, put(bare, "blob", b"text")))
    git(bare, "update-ref", MAIN, tip)
    with costing_less_than(5):
        try:
            side.fetch([tip])
        except SyncError as error:
            assert isinstance(error, Untrusted) and "100 folders deep" in str(error) and levels > 100


def test_of_thousands_of_proposals_a_thousand_are_read_and_the_rest_is_said(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="bot") as memory:
        memory.remember("Luna", "the cat", "A cat.")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    told = "".join(
        f"reset refs/t{n}\nfrom {head}\n\ncommit refs/t{n}\ncommitter a <a@b> {n} +0000\ndata 1\n{n % 10}\n"
        f"M 100644 inline memory/entries/luna.md\ndata {len(str(n))}\n{n}\n\n"
        for n in range(2_500)
    )
    subprocess.run(["git", "-C", str(tmp_path), "fast-import", "--quiet", "--force"], input=told.encode(), check=True)
    made = git(tmp_path, "for-each-ref", "--format=%(objectname)", "refs/t*").split()
    packed = tmp_path / ".git/packed-refs"
    packed.write_text(
        "# pack-refs with: peeled fully-peeled sorted \n"
        + "".join(f"{oid} refs/crabmem/proposals/{oid}\n" for oid in sorted(made))
    )
    for name in (tmp_path / ".git/refs").glob("t[0-9]*"):
        name.unlink()
    with costing_less_than(8):
        assert "1,500 proposals more than the 1,000" in " ".join(crabs(tmp_path, "status").split())
        assert "1,500 proposals more" in crabs(tmp_path, "proposals")
        with Memory(tmp_path, is_person=True) as memory:
            assert any("1,500 proposals more" in each.message for each in memory.doctor())
