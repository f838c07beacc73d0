"""Outside edits are recorded soon after they are made, one commit for each burst."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from crabmem import Busy, CrabmemError, Memory
from crabmem import watch as watcher
from crabmem.cli.verbs.watch import asked_to_stop
from crabmem.disk.turns import Turn, Turns
from crabmem.operations import history
from crabmem.results import Commit
from crabmem.watch import News, followed, watched, watched_in_turn
from crabmem.workspace.workspace import Workspace
from crabmem.write.bylines import Bylines, bylines_for
from tests import forked
from tests.conftest import allow, git
from tests.serving import in_namespace, limited

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


class Watch(threading.Thread):
    """A watcher over its own handle on the workspace, and what it said."""

    def __init__(self, root: Path, is_hosted: bool = False) -> None:
        super().__init__()
        self.memory, self.is_hosted = Memory(root), is_hosted
        self.said: list[tuple[float, Commit | CrabmemError]] = []
        self.stop = threading.Event()

    def run(self) -> None:
        with self.memory:
            for item in watched(self.memory, self.stop, self.is_hosted):
                self.said.append((time.monotonic(), item))

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.said) < count and time.monotonic() < deadline:
            time.sleep(0.01)


@pytest.fixture
def watch(memory: Memory) -> Iterator[Watch]:
    memory.init()
    (memory.root / "memory/entries").mkdir(parents=True)
    watch = Watch(memory.root)
    watch.start()
    time.sleep(0.7)
    yield watch
    watch.stop.set()
    watch.join()


def test_burst_of_saves_is_one_commit_within_two_seconds_of_the_last(memory: Memory, watch: Watch) -> None:
    file = memory.root / "memory/entries/diary.md"
    for number in range(8):
        file.write_text(f"typing, {number}\n")
        (file.parent / f"other{number % 2}.md").write_text(f"{number}\n")
        time.sleep(0.15)
    ended = time.monotonic()
    watch.wait_for(1)
    time.sleep(1)
    [(when, commit)] = watch.said
    assert isinstance(commit, Commit) and when - ended < 2
    assert commit.paths == ("memory/entries/diary.md", "memory/entries/other0.md", "memory/entries/other1.md")
    assert "typing, 7" in git(memory.root, "show", "HEAD:memory/entries/diary.md")


def test_edits_are_recorded_as_soon_where_the_folder_was_named_by_a_link(memory: Memory, tmp_path: Path) -> None:
    """A Mac tells of real paths alone, and its `/tmp` is a link."""
    memory.init()
    (memory.root / "memory/entries").mkdir(parents=True)
    (tmp_path / "link").symlink_to(memory.root)
    watch = Watch(tmp_path / "link")
    watch.start()
    time.sleep(0.7)
    began = time.monotonic()
    (memory.root / "memory/entries/vet.md").write_text("Dr. Moreno\n")
    watch.wait_for(1)
    watch.stop.set()
    watch.join()
    assert [type(item) for _, item in watch.said] == [Commit] and watch.said[0][0] - began < watcher.LOOK_AGAIN / 2


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("/private/tmp/notes/memory/a.md", "/tmp/notes/memory/a.md"),
        ("/private/tmp/Notes/memory/a.md", "/tmp/notes/memory/a.md"),
        ("/private/tmp/notes", "/tmp/notes"),
        ("/private/tmp/notes-2/a.md", "/private/tmp/notes-2/a.md"),
    ],
)
def test_what_is_told_of_the_real_folder_is_told_of_the_one_that_was_named(file: str, path: str) -> None:
    assert watcher._in_root(Path("/tmp/notes"), "/private/tmp/notes", file) == path


def test_swap_and_temporary_files_of_editors_are_no_edits(memory: Memory, watch: Watch) -> None:
    for name in (".diary.md.swp", "diary.md~", "4913", "#diary.md#", ".#diary.md", "diary.md.tmp"):
        (memory.root / "memory/entries" / name).write_text("not yet")
    time.sleep(1.5)
    assert watch.said == []
    (memory.root / "memory/entries/4913").unlink()


def test_noise_of_other_programs_does_not_hold_up_the_record(memory: Memory, watch: Watch) -> None:
    (memory.root / "memory/MEMORY.md").write_text("# Mine\n")
    for _ in range(25):
        with (memory.root / "build.log").open("a") as log:
            log.write("still building\n")
        time.sleep(0.08)
    assert [item.subject for _, item in watch.said if isinstance(item, Commit)] == ["edit: MEMORY.md"]
    (memory.root / "build.log").unlink()


def test_ten_agent_writes_under_a_watcher_are_exactly_ten_commits(memory: Memory, watch: Watch) -> None:
    for number in range(10):
        memory.remember(f"fact {number}", "what", "x")
        time.sleep(0.05)
    time.sleep(1.5)
    assert [commit.author for commit in memory.log()] == ["coder"] * 10 + ["crabmem"]
    assert watch.said == []


def test_second_watcher_is_told_that_one_is_enough(memory: Memory, watch: Watch) -> None:
    with Memory(memory.root) as other, pytest.raises(Busy, match="being watched already"):
        next(watched(other, threading.Event()))


def test_what_was_edited_before_the_watch_began_is_recorded_at_once(memory: Memory) -> None:
    memory.init()
    (memory.root / "memory").mkdir(exist_ok=True)
    (memory.root / "memory/MEMORY.md").write_text("# Mine\n")
    with Memory(memory.root) as other:
        first = next(watched(other, threading.Event()))
    assert isinstance(first, Commit) and first.subject == "edit: MEMORY.md"


@pytest.mark.parametrize("looks_often", [False, True])
@pytest.mark.parametrize("told", ["by the server", "by a turn"])
def test_what_a_tool_of_a_host_wrote_waits_for_a_hook_that_is_slow_to_sign_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, told: str, looks_often: bool
) -> None:
    memory.remember("a fact", "what", "x")
    home = Workspace(memory.root)
    if told == "by a turn":
        Turns(home.private / "turns").add(Turn(NOW, "s-1", (), 0, "begun"))
    if looks_often:
        monkeypatch.setattr(watcher, "LOOK_AGAIN", 0.3)
    watch = Watch(memory.root, is_hosted=told == "by the server")
    watch.start()
    time.sleep(0.7)
    (memory.root / "memory/MEMORY.md").write_text("# The host's\n")
    time.sleep(1.5)
    assert watch.said == []
    Bylines(home.private / "bylines").add(bylines_for(memory.root, ["memory/MEMORY.md"], "claude-code", "s-1"))
    watch.wait_for(1)
    watch.stop.set()
    watch.join()
    [(_, commit)] = watch.said
    assert isinstance(commit, Commit) and (commit.author, commit.session) == ("claude-code", "s-1")


def test_a_profile_says_how_long_a_burst_may_pause(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "slow.toml").write_text('about = "slow"\nquiet = 1.5\npart = []\n')
    memory.init()
    (memory.root / "crabmem.toml").write_text(f'profile = "{tmp_path}/slow.toml"\n')
    allow(memory.root)
    watch = Watch(memory.root)
    watch.start()
    watch.wait_for(1)  # the settings themselves
    (memory.root / "notes.md").write_text("typing\n")
    saved = time.monotonic()
    watch.wait_for(2)
    watch.stop.set()
    watch.join()
    assert watch.said[1][0] - saved >= 1.5


@contextmanager
def watching(root: Path, limit: str, number: int) -> Iterator["subprocess.Popen[str]"]:
    """The command over `root`, begun, in a user namespace with such a limit."""
    command = limited(limit, number, ["--dir", str(root), "watch"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr and process.stderr.readline().startswith("watching ")
            yield process
        finally:
            process.send_signal(2)
            assert process.wait(10) == 0


def line_within(seconds: float, stream: IO[str] | None) -> str:
    """The next line of a process, which must come so soon."""
    began = time.monotonic()
    assert stream
    line = stream.readline()
    assert time.monotonic() - began < seconds
    return line


@in_namespace
@pytest.mark.parametrize(
    ("limit", "number"), [("max_inotify_instances", 0), ("max_inotify_watches", 0), ("max_inotify_watches", 2)]
)
def test_the_command_says_once_that_nothing_can_be_watched_and_records_edits_all_the_same(
    memory: Memory, limit: str, number: int
) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    with watching(memory.root, limit, number) as process:
        assert line_within(6, process.stderr).startswith(f"crabmem: {memory.root} cannot be watched (")
        for number in range(2):
            (memory.root / f"memory/entries/note{number}.md").write_text("mine\n")
            assert line_within(6, process.stdout).endswith(f"  edit: note{number}\n")
        process.send_signal(2)
        assert process.stderr and process.stderr.read() == ""


@in_namespace
def test_a_folder_that_came_when_all_watches_were_used_up_is_told_of_and_recorded(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    memory.close()
    folders = 1 + sum(each.is_dir() for each in memory.root.rglob("*"))
    with watching(memory.root, "max_inotify_watches", folders) as process:
        time.sleep(1)
        new = memory.root / "memory/entries/new"
        new.mkdir()
        assert line_within(6, process.stderr).startswith(f"crabmem: {memory.root} cannot be watched (")
        (new / "note.md").write_text("mine\n")
        assert "  edit: note" in line_within(6, process.stdout)


@pytest.mark.parametrize("error", [OSError("OS file watch limit reached."), WatchfilesRustInternalError("no handles")])
def test_where_the_system_refuses_a_watch_edits_are_recorded_by_looking(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(watcher, "watch", refused)
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    watch, follow = Watch(memory.root), Follow(memory.root)
    watch.start()
    follow.start()
    watch.wait_for(1)
    assert follow.began.wait(10)
    (memory.root / "memory/entries/note.md").write_text("mine\n")
    watch.wait_for(2)
    follow.wait_for("memory/entries/note.md")
    for each in (watch, follow):
        each.stop.set()
        each.join(10)
    [(_, said), (_, commit)] = watch.said
    assert "cannot be watched" in str(said) and isinstance(commit, Commit) and commit.subject == "edit: note"


def test_ctrl_c_that_comes_while_the_watch_looks_whether_to_stop_ends_it() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        stop = asked_to_stop()
        with stop._cond:  # type: ignore[attr-defined]  # as Event.wait holds it
            signal.raise_signal(signal.SIGINT)
        assert stop.wait(10)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_command_stops_cleanly_on_ctrl_c(memory: Memory) -> None:
    memory.init()
    command = [*forked.COMMAND, "--dir", str(memory.root), "watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr and process.stderr.readline().startswith("watching ")
        (memory.root / "memory").mkdir(exist_ok=True)
        (memory.root / "memory/MEMORY.md").write_text("# Mine\n")
        assert process.stdout and process.stdout.readline().endswith("  edit: MEMORY.md\n")
        process.send_signal(2)
        assert (process.wait(10), process.stderr.read()) == (0, "")


class Follow(threading.Thread):
    """Follows what is new over its own handle on the workspace."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.memory, self.stop = Memory(root), threading.Event()
        self.news, self.began = list[News](), threading.Event()

    def run(self) -> None:
        with self.memory:
            for news in followed(self.memory, self.stop):
                self.news.append(news)
                self.began.set()

    @property
    def changed(self) -> set[str]:
        return {path for news in self.news for path in news.changed}

    def wait_for(self, *paths: str) -> None:
        deadline = time.monotonic() + 10
        while not set(paths) <= self.changed and time.monotonic() < deadline:
            time.sleep(0.01)
        assert set(paths) <= self.changed


@pytest.fixture
def follow(memory: Memory) -> Iterator[Follow]:
    follow = Follow(memory.root)
    follow.start()
    assert follow.began.wait(10)
    yield follow
    follow.stop.set()
    follow.join(10)
    assert not follow.is_alive()


def test_a_workspace_is_followed_from_before_there_is_one(memory: Memory, follow: Follow) -> None:
    assert follow.news == [News()] and not memory.root.exists()
    memory.remember("Vet", "", "Dr. Moreno.")
    follow.wait_for("memory/entries/vet.md", "Crab.md")
    assert any(news.committed for news in follow.news)


def test_news_tell_what_was_written_what_came_and_what_went(memory: Memory, follow: Follow) -> None:
    memory.remember("Vet", "", "Dr. Moreno.")
    follow.wait_for("memory/entries/vet.md")
    follow.news.clear()
    file = memory.root / "memory/entries/vet.md"
    file.write_text("Dr. Okafor.\n")
    follow.wait_for("memory/entries/vet.md")
    assert (follow.news[-1].listed, follow.news[-1].committed) == (frozenset(), False)
    file.unlink()
    deadline = time.monotonic() + 10
    while not follow.news[-1].listed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert follow.news[-1].listed == {"memory/entries/vet.md"}
    memory.adopt()


def test_following_records_nothing_and_is_deaf_to_what_is_not_memory(memory: Memory, follow: Follow) -> None:
    memory.init()
    follow.wait_for("Crab.md")
    time.sleep(0.5)
    follow.news.clear()
    head = history.newest(memory)
    (memory.root / "notes.txt").write_text("x")
    (memory.root / "Crab.md").write_text("# Mine\n")
    follow.wait_for("Crab.md")
    time.sleep(0.5)
    assert (follow.changed, history.newest(memory)) == ({"Crab.md"}, head)
    (memory.root / "notes.txt").unlink()
    memory.adopt()


def test_who_waits_for_the_watch_records_when_it_ends(memory: Memory, watch: Watch) -> None:
    stop = threading.Event()
    with Memory(memory.root) as other:
        said = list[Commit | CrabmemError]()
        second = threading.Thread(target=lambda: said.extend(watched_in_turn(other, stop)))
        second.start()
        (memory.root / "memory/MEMORY.md").write_text("# One\n")
        watch.wait_for(1)
        assert len(watch.said) == 1 and said == []
        watch.stop.set()
        watch.join()
        time.sleep(1.5)
        (memory.root / "memory/MEMORY.md").write_text("# Two\n")
        deadline = time.monotonic() + 15
        while not said and time.monotonic() < deadline:
            time.sleep(0.05)
        stop.set()
        second.join(10)
    assert "# Two" in git(memory.root, "show", "HEAD:memory/MEMORY.md")
    assert len(said) == 1 and isinstance(said[0], Commit)


def test_who_waits_for_a_workspace_makes_none(tmp_path: Path) -> None:
    stop = threading.Event()
    with Memory(tmp_path / "none") as other:
        threading.Timer(2.5, stop.set).start()
        assert list(watched_in_turn(other, stop)) == []
        assert not other.root.exists()
