"""Syncing unasked: when it is time, who begins it, and what a setting alone cannot do."""

import json
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.disk import state as names
from crabmem.sync import auto
from crabmem.sync.standing import state
from crabmem.sync.sync import name_remote, sync
from crabmem.watch import watched
from crabmem.workspace.workspace import Workspace
from tests.conftest import git

NOW = datetime(2026, 3, 1, 12, 0).astimezone()


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory that syncs unasked with a bare repository."""
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    memory = Memory(tmp_path / "one", is_person=True)
    memory.remember("Luna", "the cat", "A cat.")
    (memory.root / "crabmem.toml").write_text('[sync]\nauto = "session"\n')
    name_remote(memory, str(tmp_path / "hub.git"), "/")
    return memory


def is_soon(what: object) -> bool:
    """Whether something becomes true, on a busy machine too."""
    assert callable(what)
    end = time.monotonic() + 60
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(what())


def test_a_hook_begins_a_sync_for_which_it_does_not_wait(memory: Memory, tmp_path: Path) -> None:
    sync(memory)
    memory.remember("Tea", "hot", "With milk.")
    file = memory.root / names.FOLDER / names.SYNC
    file.write_text(json.dumps({**json.loads(file.read_text()), "succeeded": (NOW - timedelta(days=1)).isoformat()}))
    told = json.dumps({"session_id": "s", "hook_event_name": "SessionEnd"})
    command = [
        sys.executable,
        "-m",
        "crabmem",
        "--dir",
        str(memory.root),
        "hook",
        "session-end",
        "--host",
        "claude-code",
    ]
    subprocess.run(command, input=told, text=True, check=True, capture_output=True)
    assert is_soon(lambda: git(tmp_path / "hub.git", "rev-parse", "main") == git(memory.root, "rev-parse", "main"))


@pytest.mark.parametrize(
    ("auto_is", "at_session", "in_pause"), [('"off"', False, False), ('"session"', True, False), ("15", True, True)]
)
def test_what_begins_it_is_what_the_settings_say(
    memory: Memory, auto_is: str, at_session: bool, in_pause: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.root / "crabmem.toml").write_text(f"[sync]\nauto = {auto_is}\n")
    monkeypatch.setattr(auto, "start", lambda module, root: object())
    assert (auto.begin(memory), auto.begin(memory, in_pause=True)) == (at_session, in_pause)


def test_in_a_pause_it_waits_for_as_many_minutes_as_the_settings_say(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.root / "crabmem.toml").write_text("[sync]\nauto = 15\n")
    monkeypatch.setattr(auto, "start", lambda module, root: object())
    sync(memory)
    now = memory.engine.clock()
    for minutes, at_session, in_pause in ((0, False, False), (14, True, False), (16, True, True)):
        memory.engine.clock = lambda ago=minutes: now + timedelta(minutes=ago)  # type: ignore[misc]
        assert (auto.begin(memory), auto.begin(memory, in_pause=True)) == (at_session, in_pause)


def test_a_watch_begins_it_when_edits_pause(memory: Memory, tmp_path: Path) -> None:
    (memory.root / "crabmem.toml").write_text("[sync]\nauto = 1\n")
    stop = threading.Event()
    watching = threading.Thread(target=lambda: [*watched(memory, stop)])
    watching.start()
    try:
        time.sleep(1)
        (memory.root / "memory/entries/tea.md").write_text("With milk.\n")
        hub = tmp_path / "hub.git"
        assert is_soon(lambda: is_pushed(hub))
    finally:
        stop.set()
        watching.join()


def is_pushed(hub: Path) -> bool:
    """Whether the bare repository has a branch."""
    return bool(git(hub, "for-each-ref"))


def test_a_pause_is_as_long_however_often_one_asks_and_another_elsewhere(tmp_path: Path) -> None:
    found = set[datetime | None]()
    for name in ("one", "other"):
        workspace = Workspace(tmp_path / name)
        workspace.private.mkdir(parents=True)
        said = {"failed": NOW.isoformat(), "failures": "5"}
        (workspace.private / names.SYNC).write_text(json.dumps(said))
        [due] = {auto.next_try(workspace, NOW + timedelta(seconds=each)) for each in range(200)}
        found.add(due)
    assert None not in found
    assert len(found) == 2


def test_no_more_than_six_pushes_are_made_unasked_in_a_minute(memory: Memory, tmp_path: Path) -> None:
    workspace = Workspace(memory.root)
    for number in range(8):
        memory.remember(f"Tea {number}", "hot", "With milk.")
        auto.main(str(memory.root))
    pushed = [number for number in range(8) if f"tea-{number}" in git(tmp_path / "hub.git", "ls-tree", "-r", "main")]
    assert pushed == [*range(6)]
    now = memory.engine.clock()
    assert not auto.is_due(workspace, now + timedelta(seconds=20), timedelta(0))
    assert auto.is_due(workspace, now + timedelta(seconds=61), timedelta(0))
    sync(memory)  # a person who asks is not counted
    assert state(memory).ahead == 0


def test_settings_make_nothing_sync_that_no_person_named(memory: Memory, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", str(memory.root), str(copy))
    (copy / "crabmem.toml").write_text("[sync]\nauto = 1\n")
    with Memory(copy) as stranger:
        assert not auto.begin(stranger)
        assert state(stranger).remote is None


def test_it_is_off_unless_the_settings_say_so(memory: Memory) -> None:
    (memory.root / "crabmem.toml").write_text("")
    assert not auto.begin(memory)


@given(st.integers(0, 40), st.floats(0, 200_000), st.integers(0, 3_600))
def test_the_next_try_comes_later_the_more_often_it_failed(failures: int, ago: float, after: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        workspace.private.mkdir(parents=True)
        assert auto.is_due(workspace, NOW, timedelta(0))
        said = {"failed": (NOW - timedelta(seconds=ago)).isoformat(), "failures": str(failures)}
        (workspace.private / names.SYNC).write_text(json.dumps(said))
        is_due = auto.is_due(workspace, NOW, timedelta(seconds=after))
        pause = min(3_600, 10 * 2 ** min(failures, 20))
        if ago < max(10, after, 0.75 * pause):
            assert not is_due
        if ago > max(10, after, 1.25 * pause):
            assert is_due


def test_a_failure_is_kept_and_the_next_success_forgets_it(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "hub.git").rename(tmp_path / "away")
    auto.main(str(memory.root))
    auto.main(str(memory.root))
    assert state(memory).error
    assert json.loads((memory.root / names.FOLDER / names.SYNC).read_text())["failures"] == "2"
    (tmp_path / "away").rename(tmp_path / "hub.git")
    auto.main(str(memory.root))
    assert not state(memory).error
    assert state(memory).succeeded
