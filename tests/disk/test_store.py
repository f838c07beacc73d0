"""The files: seen as they are, put in place without losing what stood there."""

import os
import threading
import time
from pathlib import Path

import pytest

from crabmem import Busy, Unreadable, Unwritable
from crabmem.disk import fs
from crabmem.disk.scan import Files, Scan, Unusable
from crabmem.disk.store import Store
from crabmem.workspace.workspace import Workspace

NOTE = "memory/entries/note.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / ".git/crabmem/tmp").mkdir(parents=True)
    (tmp_path / "memory/entries").mkdir(parents=True)
    return Store(Workspace(tmp_path), time.time_ns)


def put(store: Store, path: str, data: bytes | None, expected: bool) -> tuple[bytes | None, str]:
    """Place `data`; what it displaced, and the name the displaced file has now."""
    name = store.temporary_name()
    if data is not None:
        store.stage(name, data)
    return store.place(path, name, data is not None, expected).displaced, name


def test_scan_finds_what_is_kept_and_nothing_else(store: Store, tmp_path: Path) -> None:
    kept = ["Crab.md", "USER.md", "crabmem.toml", "memory/2026-03-01.md", "memory/MEMORY.md", NOTE, "memory/a/b/c.md"]
    other = [
        ".hidden.md",
        "x.txt",
        "memory/.obsidian/x.md",
        "memory/note.md~",
        "memory/.note.md.swp",
        "agents/a/Crab.md",
    ]
    for path in kept + other:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    assert sorted(store.scan().files) == sorted(kept)


def test_edit_of_the_same_size_with_its_time_set_back_is_seen(store: Store, tmp_path: Path) -> None:
    file = tmp_path / NOTE
    file.write_text("one")
    os.utime(file, (1_000_000, 1_000_000))
    store.scan()
    file.write_text("two")
    os.utime(file, (1_000_000, 1_000_000))
    assert store.scan().files[NOTE].data == b"two"


def test_unchanged_files_are_not_read_again(store: Store, tmp_path: Path) -> None:
    late = Store(Workspace(tmp_path), lambda: time.time_ns() + 10_000_000_000)
    (tmp_path / NOTE).write_text("one")
    assert late.scan() is late.scan()


@pytest.mark.parametrize("kind", ["other", "longer", "shorter", "gone", "pipe", "link", "folder"])
def test_a_known_file_that_changes_after_a_look_is_busy_and_never_read_as_it_was(
    store: Store, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / NOTE
    file.write_text("one")
    marks = {NOTE: Store(Workspace(tmp_path), lambda: time.time_ns() + 10_000_000_000).scan().files[NOTE].remembered}
    scan = Store(Workspace(tmp_path), time.time_ns, lambda: marks).scan()
    assert (scan.files[NOTE].data, scan.data(NOTE)) == (None, b"one")

    file.unlink()
    if kind in ("other", "longer", "shorter"):
        file.write_text({"other": "two", "longer": "one more", "shorter": "on"}[kind])
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        (tmp_path / "secret").write_text("secret")
        file.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        file.mkdir()

    with pytest.raises((Busy, Unreadable)):
        scan.data(NOTE)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_regular_file_is_named_and_not_read(store: Store, tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / NOTE).symlink_to(tmp_path / "secret") if kind == "link" else os.mkfifo(tmp_path / NOTE)
    scan = store.scan()
    assert (list(scan.files), [item.path for item in scan.unusable]) == ([], [NOTE])
    with pytest.raises(Unreadable):
        store.read(NOTE)


def test_a_file_that_a_power_cut_left_under_both_names_is_taken_away(store: Store, tmp_path: Path) -> None:
    """A rename of one name of a file to its other name does nothing, and says that all is well."""
    file = tmp_path / NOTE
    file.write_bytes(b"text")
    name = store.temporary_name()
    os.link(file, tmp_path / ".git/crabmem/tmp" / name)
    assert store.place(NOTE, name, False, True).displaced == b"text"
    assert not file.exists() and store.staged(name) == b"text"


def test_files_in_a_folder_that_cannot_be_listed_are_not_taken_for_removed() -> None:
    scan = Scan(Files({}, {}), (Unusable("memory/entries", "the folder cannot be listed"),))
    assert scan.is_hidden("memory/entries/luna.md") and scan.is_hidden("memory/entries")
    assert not scan.is_hidden("memory/entries.md")


def test_linked_folder_is_not_entered(store: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "note.md").write_text("secret")
    (tmp_path / "memory/entries").rmdir()
    (tmp_path / "memory/entries").symlink_to(elsewhere)
    assert dict(store.scan().files) == {}
    with pytest.raises(Unreadable, match="symbolic link"):
        store.read(NOTE)
    with pytest.raises(Unwritable, match="symbolic link"):
        put(store, NOTE, b"mine", True)
    assert (elsewhere / "note.md").read_text() == "secret"


@pytest.mark.parametrize("expected", [False, True])
@pytest.mark.parametrize("there", [None, b"quicker"])
def test_file_appears_whole_and_what_it_displaces_is_not_lost_whether_it_was_expected_or_not(
    store: Store, tmp_path: Path, there: bytes | None, expected: bool
) -> None:
    if there:
        (tmp_path / NOTE).write_bytes(there)
    displaced, name = put(store, NOTE, b"new", expected)
    assert (displaced, (tmp_path / NOTE).read_bytes(), store.staged(name)) == (there, b"new", there)


def test_removed_file_can_be_had_back(store: Store, tmp_path: Path) -> None:
    (tmp_path / NOTE).write_text("old")
    displaced, name = put(store, NOTE, None, expected=True)
    assert (displaced, (tmp_path / NOTE).exists(), store.staged(name)) == (b"old", False, b"old")
    assert put(store, NOTE, None, expected=True)[0] is None


def test_replaced_file_keeps_its_permissions(store: Store, tmp_path: Path) -> None:
    (tmp_path / NOTE).write_text("old")
    (tmp_path / NOTE).chmod(0o640)
    name = store.temporary_name()
    store.stage(name, b"new", store.scan().files[NOTE].stamp.mode & 0o777)
    store.place(NOTE, name, True, True)
    assert (tmp_path / NOTE).stat().st_mode & 0o777 == 0o640


def test_hard_link_to_a_file_elsewhere_is_not_written_through(store: Store, tmp_path: Path) -> None:
    (tmp_path / "Crab.md").write_text("who I am")
    os.link(tmp_path / "Crab.md", tmp_path / NOTE)
    put(store, NOTE, b"new", expected=True)
    assert (tmp_path / "Crab.md").read_text() == "who I am"


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_link_or_folder_in_the_way_is_refused(store: Store, tmp_path: Path, kind: str) -> None:
    (tmp_path / NOTE).mkdir() if kind == "folder" else (tmp_path / NOTE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(Unwritable, match=r"note\.md"):
        put(store, NOTE, b"new", expected=True)
    assert not (tmp_path / "nowhere").exists()


def test_file_that_an_editor_moves_away_and_back_is_never_taken_for_something_else(
    store: Store, tmp_path: Path
) -> None:
    """As vim saves: for a moment the name is gone."""
    stop, file = threading.Event(), tmp_path / NOTE
    file.write_text("one")

    def save() -> None:
        while not stop.is_set():
            os.replace(file, file.with_name("note.md~"))
            file.write_text("one")

    editor = threading.Thread(target=save)
    editor.start()
    try:
        for _ in range(5_000):
            store.check_place(NOTE)
    finally:
        stop.set()
        editor.join()


@pytest.mark.parametrize("data", [b"New.", None], ids=["replaced", "removed"])
def test_a_file_that_became_too_large_to_keep_stays_where_it_is(
    store: Store, tmp_path: Path, data: bytes | None
) -> None:
    saved = b"x" * (fs.MAX_BYTES + 1)
    (tmp_path / NOTE).write_bytes(saved)
    with pytest.raises(OSError, match="larger than"):
        put(store, NOTE, data, expected=True)
    assert (tmp_path / NOTE).read_bytes() == saved
