"""Derived files: whole or absent, gone with a purge, and believed only where this user began to keep them."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import state
from crabmem.disk.derived import Cache, are_ours, load, packed, save
from crabmem.disk.user_state import key_in, state_folder
from crabmem.search.segment import counted_postings, numbers, segment_of, texts
from tests import forked


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", agent="a") as memory:
        memory.remember("Vet", "where the vet is", "In the old town.")
    for file in (tmp_path / "memory").rglob("*.md"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    time.sleep(2.6)  # their status changed just now
    with Memory(tmp_path / "memory") as memory:
        memory.recall("vet")
    return tmp_path / "memory"


def is_believed(root: Path) -> bool:
    key = key_in(state_folder(os.environ) or "")
    return key is not None and are_ours(root / ".git/crabmem", key)


def test_what_this_user_keeps_is_believed_and_a_copy_of_it_is_not(root: Path, tmp_path: Path) -> None:
    assert is_believed(root)
    shutil.copytree(root, tmp_path / "copy")
    assert not is_believed(tmp_path / "copy")


def test_caches_of_another_user_go_when_the_memory_is_opened(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / ".git/crabmem/index/commits").write_bytes(b"a stranger's")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another home"))
    with Memory(root) as memory:
        assert not (root / ".git/crabmem/index/commits").exists()
        assert [hit.entry.name for hit in memory.recall("vet")] == ["Vet"]
    assert is_believed(root)


def lie(root: Path, key: str) -> None:
    """Put an index in place in which `key` stands twice, once as a document that counts no more."""
    folder = root / ".git/crabmem/index"
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink() if file.is_file() and file.name != "owner" else None
    postings = [*counted_postings(enumerate([["vet"]] * 2)), *counted_postings([])]
    sections = [
        *texts([key, key]),
        ("B", bytes(200)),
        numbers([]),
        numbers([1, 1]),
        *postings,
        ("B", b""),
        numbers([1]),
    ]
    (folder / "base").write_bytes(bytes(segment_of(sections).data))


@pytest.mark.parametrize("is_copied", [True, False], ids=["a copy", "in place"])
def test_no_index_has_a_file_outside_read(root: Path, tmp_path: Path, is_copied: bool) -> None:
    with Memory(tmp_path / "other") as memory:
        memory.remember("Wifi", "the vet network", "password 4711")
    for entry in (root / "memory/entries").iterdir():
        entry.unlink()
    lie(root, f"{'../' * 20}{tmp_path}/other/memory/entries/wifi.md".replace("//", "/"))
    if is_copied:
        root = Path(shutil.copytree(root, tmp_path / "copy"))
    for words in (["recall", "vet"], ["recall", "vet", "--json"]):
        command = [*forked.COMMAND, "--dir", str(root), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert "4711" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr or not is_copied


@pytest.fixture
def private(tmp_path: Path) -> Path:
    (tmp_path / ".git/crabmem").mkdir(parents=True)
    return tmp_path / ".git/crabmem"


def keep(cache: Cache, text: bytes = b"words") -> bool:
    return cache.keep(lambda file: save(file, packed("test 1", text)))


def test_what_is_whole_and_of_that_form_is_read(private: Path) -> None:
    cache = Cache(private, state.VECTORS)
    assert load(cache.place, "test 1") is None
    assert keep(cache)
    assert bytes(load(cache.place, "test 1") or b"") == b"words"
    assert load(cache.place, "test 2") is None
    data = cache.place.read_bytes()
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]):
            cache.place.write_bytes(damaged)
            assert load(cache.place, "test 1") is None


def test_what_a_purge_made_untrue_is_not_kept_before_its_holder_forgot_it(private: Path) -> None:
    cache, other = Cache(private, state.VECTORS), Cache(private, state.SECTIONS)
    (private / state.PURGES).write_bytes(b".")
    assert not keep(cache) and not cache.place.exists()
    assert cache.renew() and not cache.renew()
    assert keep(cache)
    assert other.renew()


def test_what_a_purge_comes_upon_is_taken_away_again(private: Path) -> None:
    cache = Cache(private, state.VECTORS)

    def write(file: Path) -> None:
        save(file, packed("test 1", b"words"))
        (private / state.PURGES).write_bytes(b".")

    assert not cache.keep(write) and not cache.place.exists()
    assert cache.renew()


def test_nothing_is_kept_where_nothing_of_ours_is(tmp_path: Path) -> None:
    assert not keep(Cache(tmp_path / ".git/crabmem", state.VECTORS))
    assert not list(tmp_path.iterdir())


def test_a_state_folder_in_the_workspace_is_nobodys(root: Path) -> None:
    """A key in it may have come along with the rest."""
    assert state_folder({"XDG_STATE_HOME": str(root / "state")}, root) is None
    assert state_folder({"HOME": str(root)}, root) is None
    assert state_folder({"HOME": str(root.parent)}, root) == root.parent / ".local/state/crabmem"


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_nothing_is_kept_where_a_link_leads(tmp_path: Path, depth: int) -> None:
    """Be it the file, its folder, or one above up to Git's."""
    outside, place = tmp_path / "outside", tmp_path / "memory/.git/crabmem/index/headers"
    outside.mkdir()
    link = (place, *place.parents)[depth]
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "headers" if depth == 0 else outside)
    save(place, packed("of a test", b"what is kept"))
    assert list(outside.rglob("*")) == [] and link.is_symlink()
