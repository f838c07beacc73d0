"""What a stranger's repository says of other files, or stands for, is not believed."""

import zlib
from pathlib import Path

import pytest
from dulwich.objects import ObjectID

from crabmem import DamagedHistory, Memory
from crabmem.disk import state
from crabmem.git import objects, trees
from crabmem.git.objects import Objects, oid_of
from crabmem.git.refs import Refs
from crabmem.git.repository import remotes
from crabmem.git.store import Disk
from crabmem.git.trees import Trees
from tests.conftest import git


def test_no_object_of_another_repository_is_read(tmp_path: Path) -> None:
    with Memory(tmp_path / "theirs") as theirs, Memory(tmp_path / "ours") as ours:
        theirs.remember("Luna", "the cat", "Nobody's business.")
        ours.remember("Luna", "the cat", "A cat.")
    head = git(tmp_path / "theirs", "rev-parse", "HEAD").strip()
    folder = tmp_path / "ours/.git/objects"
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/alternates").write_text(f"{tmp_path / 'theirs/.git/objects'}\n")
    assert git(tmp_path / "ours", "cat-file", "-t", head) == "commit\n"  # Git reads it
    assert not Disk(str(folder)).contains_loose(ObjectID(head.encode()))
    assert list(Disk(str(folder)).alternates) == []
    with pytest.raises(DamagedHistory):
        Objects(folder).raw(head)


def test_no_file_that_settings_include_is_read(tmp_path: Path) -> None:
    (tmp_path / "more").write_text('[remote "more"]\n\turl = https://evil.example/x.git\n')
    (tmp_path / "config").write_text(f'[include]\n\tpath = {tmp_path / "more"}\n[remote "own"]\n\turl = /srv/x.git\n')
    assert git(tmp_path, "config", "--file", "config", "--includes", "remote.more.url")  # Git reads it
    assert remotes(tmp_path) == {"own": "/srv/x.git"}


def test_an_object_that_stands_for_more_than_is_read_is_not_inflated() -> None:
    bomb = zlib.compress(b"blob %d\0" % objects.LARGEST + bytes(objects.LARGEST), 1)
    with pytest.raises(ValueError):
        objects._unpacked(bomb)


def test_a_tree_of_trees_is_not_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few rows that stand for thousands of files."""
    monkeypatch.setattr(trees, "MOST_FILES", 100)
    Memory(tmp_path).remember("Luna", "the cat", "A cat.")
    found = Objects(tmp_path / ".git/objects", tmp_path / state.FOLDER / state.TEMPORARY)
    row, mode = bytes.fromhex(oid_of("blob", b"")), b"100644"
    for _ in range(3):
        tree = b"".join(b"%s %d\0%s" % (mode, number, row) for number in range(10))
        found.store({oid_of("tree", tree): ("tree", tree)})
        row, mode = bytes.fromhex(oid_of("tree", tree)), b"40000"
    with pytest.raises(DamagedHistory, match="more than 100 files"):
        Trees(found).files(row.hex())


def test_a_reference_that_somebody_moved_meanwhile_is_left_to_them(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "the cat", "A cat.")
        memory.remember("Luna", "the cat", "A dog.")
    new, old = git(tmp_path, "rev-parse", "HEAD", "HEAD~1").split()
    refs = Refs(tmp_path / ".git", tmp_path / state.FOLDER / state.TEMPORARY)
    assert not refs.swap("refs/heads/main", old, "1" * 40) and refs.read("refs/heads/main") == new
    assert not refs.swap("refs/heads/main", None, "1" * 40) and refs.read("refs/heads/main") == new
    assert refs.swap("refs/heads/main", new, old) and refs.read("refs/heads/main") == old
