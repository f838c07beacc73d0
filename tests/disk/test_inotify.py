"""Looks that are told what changed find what a look at everything finds."""

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.disk import system
from crabmem.disk.inotify import Inotify
from crabmem.disk.scan import Scan
from crabmem.disk.store import Store
from crabmem.workspace.workspace import Workspace
from tests.examples import examples

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

_FILES = ["Crab.md", "crabmem.toml", "memory/MEMORY.md", "memory/entries/a.md", "memory/entries/b.md", "memory/x/c.md"]


def fresh(root: Path) -> Scan:
    """What somebody finds who looks for the first time."""
    return Store(Workspace(root), time.time_ns).scan()


def seen(scan: Scan) -> tuple[dict[str, bytes | None], list[str]]:
    """The files of a scan and what is in them, and the paths that cannot be used."""
    return {path: scan.data(path) for path in scan.files}, [item.path for item in scan.unusable]


def _write(root: Path, path: str, number: int) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    if not (root / path).is_dir():
        (root / path).write_text(f"{number}")


def _write_as_before(root: Path, path: str, number: int) -> None:
    """Change the bytes and neither the size nor the time of the last change."""
    if (root / path).is_file():
        status = (root / path).stat()
        _write(root, path, number)
        os.utime(root / path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _save_by_rename(root: Path, path: str, number: int) -> None:
    _write(root, f"{path}~", number)
    if not (root / path).is_dir():
        (root / f"{path}~").rename(root / path)


def _remove(root: Path, path: str, number: int) -> None:
    if (root / path).is_dir() and not (root / path).is_symlink():
        shutil.rmtree(root / path)
    else:
        (root / path).unlink(missing_ok=True)


def _make_a_folder(root: Path, path: str, number: int) -> None:
    _remove(root, path, number)
    (root / path).mkdir(parents=True)


def _make_a_link(root: Path, path: str, number: int) -> None:
    _remove(root, path, number)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(root / "Crab.md")


def _swap_the_folder(root: Path, path: str, number: int) -> None:
    """Put another folder in place of the one that holds the file."""
    folder = (root / path).parent
    if folder != root and folder.is_dir():
        folder.rename(folder.with_name(f"was-{number}-{time.monotonic_ns()}"))
        _write(root, path, number)


def _other_name(root: Path, path: str) -> Path:
    return root.parent / path.replace("/", "-")


def _write_with_another_name(root: Path, path: str, number: int) -> None:
    """Save a file that has a second name elsewhere from the beginning."""
    _remove(root, path, number)
    _write(root, path, number)
    _other_name(root, path).unlink(missing_ok=True)
    _other_name(root, path).hardlink_to(root / path)


def _write_by_another_name(root: Path, path: str, number: int) -> None:
    if _other_name(root, path).exists():
        _other_name(root, path).write_text(f"by another name {number}")


def _truncate(root: Path, path: str, number: int) -> None:
    if (root / path).is_file():
        os.truncate(root / path, 0)


_ACTS: list[Callable[[Path, str, int], None]] = [
    _write, _write_as_before, _save_by_rename, _remove, _make_a_folder, _make_a_link, _swap_the_folder,
    _write_with_another_name, _write_by_another_name, _truncate,
]  # fmt: skip
_STEPS = st.lists(st.tuples(st.sampled_from(_ACTS), st.sampled_from(_FILES), st.integers(0, 9)), max_size=5)


@given(st.lists(_STEPS, max_size=6))
@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
@example([[(_write_with_another_name, "memory/entries/a.md", 1)], [(_write_by_another_name, "memory/entries/a.md", 2)]])
@example([[(_write, "memory/entries/a.md", 1)], [], [(_write_as_before, "memory/entries/a.md", 2)]])
@example([[(_write, "memory/entries/a.md", 1)], [], [(_swap_the_folder, "memory/entries/a.md", 2)]])
@example([[(_write, "memory/entries/a.md", 1)], [], [(_make_a_link, "memory/entries", 2)]])
def test_a_look_that_is_told_finds_what_a_look_at_everything_finds(
    rounds: list[list[tuple[Callable[[Path, str, int], None], str, int]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        store = Store(Workspace(root), time.time_ns)
        before = store.scan()
        for steps in [[], *rounds]:
            for act, path, number in steps:
                try:
                    act(root, path, number)
                except OSError:
                    continue  # a file stands where a folder would be, or a link leads nowhere
            scan = store.scan()
            assert seen(scan) == seen(fresh(root))
            since = scan.since(before)
            differing = {path for path in {*scan.files, *before.files} if scan.blob(path) != before.blob(path)}
            assert since is None or differing <= since
            before = scan
        store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with one file, in which "x" stands."""
    (tmp_path / "Crab.md").write_text("x")
    store = Store(Workspace(tmp_path), time.time_ns)
    yield store
    store.close()


def test_unchanged_files_are_not_looked_at_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.scan()
    scan = store.scan()
    if store._inotify is None:
        pytest.skip("the system has no more of them at this moment")
    monkeypatch.setattr(Store, "_look", None)
    assert store.scan() is scan


def test_child_process_does_not_take_what_its_parent_is_to_be_told(store: Store, tmp_path: Path) -> None:
    store.scan(), store.scan()
    (tmp_path / "Crab.md").write_text("y")
    child = os.fork()
    if child == 0:
        os._exit(store.scan().data("Crab.md") != b"y")
    assert os.waitpid(child, 0)[1] == 0
    assert store.scan().data("Crab.md") == b"y"


def test_more_changes_than_the_system_remembers_are_not_lost(store: Store, tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 50_000:
        pytest.skip("the queue is too long to fill here")
    store.scan(), store.scan()
    for number in range(limit // 2 + 10):
        (tmp_path / f".{number % 2}").touch()
        (tmp_path / f".{number % 2}").unlink()
    (tmp_path / "Crab.md").write_text("y")
    assert store.scan().data("Crab.md") == b"y"


def test_where_nobody_tells_every_file_is_looked_at(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabmem.disk.inotify._LOCAL", frozenset())
    for text in ("x", "y", "z"):
        (tmp_path / "Crab.md").write_text(text)
        assert store.scan().data("Crab.md") == text.encode()


def test_without_room_for_watches_every_file_is_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(inotify: Inotify) -> None:
        raise OSError(24, "too many open files")

    monkeypatch.setattr(Inotify, "__init__", full)
    assert [store.scan().data("Crab.md") for _ in range(3)] == [b"x"] * 3


def test_files_saved_while_others_look_are_found(tmp_path: Path) -> None:
    """Every reader sees a save at once, whichever thread was told of it."""
    failed: list[str] = []
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "0")

        def read(number: int) -> None:
            if memory.get("Luna").content != str(number):
                failed.append(f"{number} was not seen")

        file = tmp_path / "memory/entries/luna.md"
        for number in range(60):
            file.write_text(f"---\nname: Luna\ndescription: dog\n---\n\n{number}\n")
            threads = [threading.Thread(target=read, args=(number,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert failed == []


def test_what_is_written_by_another_name_that_came_later_is_found_within_seconds(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    with Memory(tmp_path / "memory") as memory:
        memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
        time.sleep(2.6)  # until its times tell of each change
        for _ in range(3):
            assert memory.recall("vet")[0].entry.content == "Dr. Moreno."
        elsewhere.hardlink_to(memory.root / "memory/entries/vet.md")
        assert memory.get("Vet").content == "Dr. Moreno."
        elsewhere.write_text("---\nname: Vet\n---\n\nDr. Okafor.\n")
        deadline = time.monotonic() + 6
        while memory.get("Vet").content != "Dr. Okafor." and time.monotonic() < deadline:
            time.sleep(0.05)
        assert memory.recall("vet")[0].entry.content == "Dr. Okafor."
        elsewhere.unlink()
        memory.adopt()


@pytest.mark.skipif(not system.TELLS_CHANGES, reason="every look is one at everything")
def test_a_look_at_everything_takes_a_fiftieth_of_the_time_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabmem.disk.store._LOOK_AGAIN", 0.0)
    (tmp_path / "memory/entries").mkdir(parents=True)
    for number in range(300):
        (tmp_path / f"memory/entries/{number}.md").write_text("x")
    looks, took, look = list[float](), 0.0, Store._look

    def counted(store: Store) -> Scan:
        began = time.monotonic()
        try:
            return look(store)
        finally:
            looks.append(time.monotonic() - began)

    monkeypatch.setattr(Store, "_look", counted)
    store = Store(Workspace(tmp_path), time.time_ns)
    for _ in range(2):
        store.scan()
    began, first = time.monotonic(), len(looks)
    while (took := time.monotonic() - began) < 1.5 or (len(looks) == first and took < 30):  # a first look may take long
        store.scan()
    assert 0 < sum(looks[first:]) < took / 20
    store.close()


def test_closed_watches_leave_no_handle_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        Inotify().close()
    until = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < until:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before
