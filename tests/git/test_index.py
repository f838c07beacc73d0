"""Git's index, spliced: as Git reads it, and left alone in every form but the plain one."""

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.git.index import IndexRows, OddIndex, Settled, parse_index
from tests.conftest import assert_clean, git
from tests.faults.repository import complaints

_PATHS = st.lists(st.text(alphabet="ab-.é", min_size=1, max_size=9), unique=True, max_size=12)


@given(_PATHS, _PATHS)
def test_spliced_rows_are_parsed_again(first: list[str], second: list[str]) -> None:
    rows = IndexRows([], [])
    for paths in (first, second):
        wanted: dict[bytes, Settled] = {path.encode(): Settled.file("ab" * 20) for path in paths}
        rows = rows.settled(wanted)
        assert parse_index(rows.raw()).raw() == rows.raw()
    gone = parse_index(rows.raw()).settled({path.encode(): Settled(None) for path in first + second})
    assert gone.raw() == IndexRows([], []).raw()


def test_git_reads_what_was_spliced(memory: Memory) -> None:
    names = ["a", "b" * 3, "x" * 60, "grüße", "z"]
    for name in names:
        memory.remember(name, "d", "x")
    memory.forget("z")
    listed = git(memory.root, "-c", "core.quotepath=off", "ls-files", "--stage", "memory")
    assert len(listed.splitlines()) == 4
    assert git(memory.root, "diff-files") == ""
    assert_clean(memory.root)


def sealed(data: bytes) -> bytes:
    """The bytes with the checksum that belongs to them."""
    return data + hashlib.sha1(data).digest()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"DIRC",
        sealed(struct.pack(">4sLL", b"DIRC", 4, 0)),
        sealed(struct.pack(">4sLL", b"DIRC", 3, 0)),
        sealed(struct.pack(">4sLL", b"DIRC", 2, 1)),
        sealed(struct.pack(">4sLL", b"DIRC", 2, 0) + b"link" + struct.pack(">L", 0)),
        sealed(struct.pack(">4sLL", b"DIRC", 2, 0) + b"TREE" + struct.pack(">L", 9)),
        sealed(struct.pack(">4sLL", b"XXXX", 2, 0)),
        struct.pack(">4sLL", b"DIRC", 2, 0) + bytes(20),
    ],
)
def test_other_forms_are_odd(data: bytes) -> None:
    with pytest.raises(OddIndex):
        parse_index(data)


def test_caches_of_gits_own_are_dropped() -> None:
    data = struct.pack(">4sLL", b"DIRC", 2, 0) + b"TREE" + struct.pack(">L", 3) + b"abc"
    assert parse_index(sealed(data)).raw() == IndexRows([], []).raw()


def _told(*words: str) -> Callable[[Path], object]:
    """Return a function that has Git change the form of an index."""
    return lambda root: git(root, "update-index", *words)


def _conflicted(root: Path) -> None:
    blob = git(root, "rev-parse", "HEAD:memory/entries/luna.md").strip()
    rows = "".join(f"100644 {blob} {stage}\tmemory/entries/fight.md\n" for stage in (1, 2, 3))
    subprocess.run(["git", "-C", str(root), "update-index", "--index-info"], input=rows, text=True, check=True)


def _intended(root: Path) -> None:
    (root / "memory/new.md").write_text("soon\n")
    git(root, "add", "-N", "memory/new.md")


def _without_checksum(root: Path) -> None:
    file = root / ".git/index"
    file.write_bytes(file.read_bytes()[:-20] + bytes(20))


_SURPRISES = {
    "v3": _told("--index-version=3"),
    "v4": _told("--index-version=4"),
    "split": _told("--split-index"),
    "conflict": _conflicted,
    "skip": _told("--skip-worktree", "Crab.md"),
    "assume": _told("--assume-unchanged", "Crab.md"),
    "intent": _intended,
    "untracked": _told("--force-untracked-cache"),
    "no checksum": _without_checksum,
    "none": lambda root: (root / ".git/index").unlink(),
}


@pytest.mark.parametrize("surprise", _SURPRISES.values(), ids=_SURPRISES.keys())
def test_an_index_in_any_form_is_settled_or_left_to_git(tmp_path: Path, surprise: Callable[[Path], object]) -> None:
    """In whatever form the index is, a write is committed, the index stays readable and Git goes on from it."""
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "Thursday")
        surprise(tmp_path)
        commit = memory.remember("Wifi", "guests", "router").commit
        memory.remember("Luna", "dog", "Friday")
    assert git(tmp_path, "show", "HEAD:memory/entries/luna.md").endswith("Friday\n")
    assert commit and complaints(tmp_path) == []
    git(tmp_path, "status")
    git(tmp_path, "read-tree", "HEAD")
    git(tmp_path, "update-index", "-q", "--refresh")
    assert git(tmp_path, "status", "--porcelain", "-uno") == ""


def test_status_stays_quick_for_git(memory: Memory) -> None:
    """The rows carry the status of the files, so that Git need not read them again."""
    memory.remember("Luna", "dog", "Thursday")
    file = memory.root / "memory/entries/luna.md"
    shown = git(memory.root, "ls-files", "--debug", "memory/entries/luna.md")
    status = os.stat(file)
    assert f"size: {status.st_size}" in shown and f"ino: {status.st_ino}" in shown
