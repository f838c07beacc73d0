"""A workspace that is moved, deleted or replaced while a process has it open is not begun anew at its old place."""

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from crabmem import CrabmemError, Memory, Moved
from crabmem.disk.lock import WriterLock
from crabmem.operations import files
from crabmem.watch import watched, watched_in_turn
from crabmem.workspace.workspace import Workspace
from tests import forked
from tests.conftest import git


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Memory]:
    """A memory that a process has open, with a fact in it."""
    with Memory(tmp_path / "w") as first:
        first.remember("Luna", "the dog", "A lagotto.")
    memory = Memory(tmp_path / "w", agent="coder")
    yield memory
    memory.close()


def test_a_write_into_a_workspace_that_was_moved_refuses_and_makes_nothing(opened: Memory) -> None:
    opened.root.rename(opened.root.with_name("elsewhere"))
    for write in (
        lambda: opened.remember("Otto", "the cat", "Sleeps."),
        lambda: opened.forget("Luna"),
        lambda: opened.write_overview("# All"),
        lambda: opened.write_note("Rain."),
        opened.init,
        opened.adopt,
        opened.undo,
    ):
        with pytest.raises(Moved, match="/w is not where it was"):
            write()
    opened.close()
    assert not opened.root.exists()
    with Memory(opened.root.with_name("elsewhere")) as moved:
        assert moved.remember("Otto", "the cat", "Sleeps.").commit


def test_reading_a_workspace_that_was_moved_says_so_instead_of_nothing(opened: Memory) -> None:
    opened.root.rename(opened.root.with_name("elsewhere"))
    for read in (
        lambda: opened.recall("lagotto"),
        opened.entries,
        partial(files.blobs, opened),
        opened.log,
        lambda: opened.get("Luna"),
        opened.overview,
        opened.prompt,
    ):
        with pytest.raises(Moved, match="is not where it was"):
            read()
    assert opened.call("recall", {"query": "lagotto"}).is_error


def test_a_workspace_that_was_read_before_it_was_deleted_is_not_begun_anew(opened: Memory) -> None:
    (opened.root / "memory/entries/otto.md").write_text(
        "Otto and the lagotto.\n"
    )  # what closing would keep an index of
    assert len(opened.recall("lagotto")) == 2
    shutil.rmtree(opened.root)
    with pytest.raises(Moved):
        opened.remember("Otto", "the cat", "Sleeps.")
    with pytest.raises(Moved):
        opened.before_turn("what does the lagotto do")
    opened.close()
    assert not opened.root.exists()


def test_a_workspace_that_this_process_itself_began_is_known_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "w") as memory:
        memory.remember("Luna", "the dog", "A lagotto.")
        memory.root.rename(tmp_path / "elsewhere")
        with pytest.raises(Moved):
            memory.remember("Otto", "the cat", "Sleeps.")
    assert not (tmp_path / "w").exists()


def test_a_first_write_where_never_was_a_workspace_begins_one(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    with Memory(tmp_path / "w") as memory:
        (tmp_path / "w").rmdir()
        assert memory.remember("Luna", "the dog", "A lagotto.").commit


def test_another_memory_in_its_place_is_not_written_into(opened: Memory) -> None:
    opened.root.rename(opened.root.with_name("elsewhere"))
    with Memory(opened.root) as other:
        other.remember("Vera", "the aunt", "Likes tea.")
        head = git(opened.root, "rev-parse", "HEAD")
        with pytest.raises(Moved, match="is not the memory that this process had opened: its history lacks commit"):
            opened.remember("Otto", "the cat", "Sleeps.")
    assert git(opened.root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("way", ["clone", "copy"])
def test_a_clone_or_copy_that_a_person_put_in_its_place_goes_on(opened: Memory, way: str) -> None:
    opened.remember("Otto", "the cat", "Sleeps.")
    before = opened.root.with_name("before")
    opened.root.rename(before)
    if way == "clone":
        git(before, "clone", "-q", str(before), str(opened.root))
    else:
        shutil.copytree(before, opened.root)
    shutil.rmtree(before)
    assert opened.remember("Vera", "the aunt", "Likes tea.").commit
    assert [commit.subject for commit in opened.log(limit=2)] == ["remember: Vera", "remember: Otto"]
    assert opened.recall("sleeps").hits


def test_a_server_says_that_its_workspace_was_moved(opened: Memory) -> None:
    """As a host calls it: an error the model reads, and nothing at the old place."""
    command = [*forked.COMMAND, "--dir", str(opened.root), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        _is_told_by(server, opened)
    assert not opened.root.exists()


def _is_told_by(server: "subprocess.Popen[str]", opened: Memory) -> None:
    def ask(number: int, method: str, **params: object) -> dict[str, object]:
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        while True:
            said = json.loads(server.stdout.readline())
            if said.get("id") == number:
                return dict(said["result"])

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    ask(1, "initialize", **about)
    assert server.stdin
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    fact = {"name": "Otto", "description": "the cat", "content": "Sleeps."}
    assert not ask(2, "tools/call", name="remember", arguments=fact).get("isError")
    opened.root.rename(opened.root.with_name("elsewhere"))
    said = ask(3, "tools/call", name="remember", arguments={**fact, "content": "Eats."})
    assert said["isError"] and "is not where it was" in str(said["content"])


@pytest.mark.parametrize("watch", [watched, watched_in_turn])
def test_the_watcher_says_once_that_the_workspace_was_moved_and_makes_none(
    opened: Memory, watch: Callable[[Memory, threading.Event], Iterator[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabmem.watch.LOOK_AGAIN", 1)
    monkeypatch.setattr("crabmem.watch.SOON", 0.2)
    stop, said = threading.Event(), list[object]()

    def follow() -> None:
        try:
            with Memory(opened.root) as memory:
                said.extend(watch(memory, stop))
        except Moved as error:
            said.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    time.sleep(1)
    opened.root.rename(opened.root.with_name("elsewhere"))
    time.sleep(3)
    stop.set()
    thread.join(10)
    assert len([item for item in said if isinstance(item, Moved)]) == 1
    assert not opened.root.exists()


def test_a_write_that_waited_while_another_memory_was_put_in_place_refuses(opened: Memory) -> None:
    with Memory(opened.root.with_name("other")) as other:
        other.remember("Vera", "the aunt", "Likes tea.")
    said = list[object]()

    def write() -> None:
        try:
            said.append(opened.remember("Otto", "the cat", "Sleeps."))
        except CrabmemError as error:
            said.append(error)

    with WriterLock(Workspace(opened.root).private / "lock").held(5):
        thread = threading.Thread(target=write)
        thread.start()
        time.sleep(0.5)
        opened.root.rename(opened.root.with_name("elsewhere"))
        other.root.rename(opened.root)
    thread.join()
    assert [type(item) for item in said] == [Moved]
    assert "Otto" not in git(opened.root, "log", "--format=%s")
    assert not (opened.root / "memory/entries/otto.md").exists()
