"""The write path at its narrowest places. What it does under every fault is in `tests/faults`."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from crabmem import Memory, Unwritable
from crabmem.disk import fs
from tests import forked
from tests.conftest import assert_clean, git
from tests.faults.repository import reachable

NOTE = "memory/entries/note.md"
ANNA = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "memory", agent="coder")
    memory.remember("Note", "what two write", "the beginning")
    return memory


def test_text_that_a_persons_commit_took_along_outlives_their_reset(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our exchange and our commit, `git commit -a` commits what we put in place."""
    seen: list[str] = []

    def commit_in_between(operation: str, path: str) -> None:
        seen.append(operation)
        if operation == "fsync" and "exchange" in seen and path.startswith(str(memory.root)):
            monkeypatch.undo()
            git(memory.root, *ANNA, "commit", "-qam", "mine")

    monkeypatch.setattr(fs, "before", commit_in_between)
    memory.remember("Note", "what two write", "of the agent")
    git(memory.root, "reset", "-q", "--hard", "HEAD~1")
    assert "of the agent" in reachable(memory.root)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_words_of_an_editor_outlive_an_agent_that_died_after_its_exchange(memory: Memory) -> None:
    with (memory.root / NOTE).open("w") as editor:  # truncates, and has not written yet
        child = os.fork()
        if child == 0:
            fs.before = lambda operation, path: (
                os._exit(137) if (operation, path[-9:]) == ("append", "displaced") else None
            )
            memory.remember("Note", "what two write", "of the agent")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 137
        memory.remember("Other", "the next write recovers", "x")
        editor.write("of the person\n")
    memory.remember("Other", "and one more", "y")
    assert "of the person" in reachable(memory.root)
    assert memory.get("Note").content == "of the agent"
    assert_clean(memory.root)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_memory_that_was_used_before_a_fork_writes_in_the_child(memory: Memory) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if memory.remember("Note", "what two write", "of the child").commit else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert memory.get("Note").content == "of the child"


def test_lock_file_that_is_removed_lets_nobody_in(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended = threading.Event(), threading.Event()
    caller = threading.current_thread()

    def stop_in_the_middle(operation: str, path: str) -> None:
        if operation == "exchange" and threading.current_thread() is caller:
            monkeypatch.undo()
            (memory.root / ".git/crabmem/lock").unlink(missing_ok=True)
            other.start()
            assert began.wait(5)
            assert not ended.wait(0.3)

    def write_beside() -> None:
        with Memory(memory.root, agent="other") as beside:
            began.set()
            beside.remember("Other", "x", "y")
        ended.set()

    other = threading.Thread(target=write_beside)
    monkeypatch.setattr(fs, "before", stop_in_the_middle)
    assert memory.remember("Note", "what two write", "of the agent").commit
    other.join(10)
    assert ended.is_set() and [commit.author for commit in memory.log(2)] == ["other", "coder"]
    assert_clean(memory.root)


def test_what_a_prune_takes_while_a_write_goes_on_is_put_back_and_told(memory: Memory) -> None:
    for number in range(3):
        memory.remember("Note", "what two write", str(number))
    for name in git(memory.root, "rev-list", "--objects", "HEAD~1..HEAD").split("\n"):
        oid = name.split(" ")[0] or "0" * 40
        (memory.root / ".git/objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)
    assert memory.entries("HEAD")[0].content == "2"
    memory.remember("Other", "x", "y")
    assert_clean(memory.root)
    # Who took them nobody knows: a prune, or a disk that was full when they were to be written.
    assert any("objects that were missing were put back" in finding.message for finding in memory.doctor())


def test_agent_does_not_write_over_an_unresolved_merge(memory: Memory) -> None:
    file = memory.root / NOTE
    file.write_text("---\nname: Note\n---\n\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> laptop\n")
    before = file.read_bytes()
    with pytest.raises(Unwritable, match="unresolved merge"):
        memory.remember("Note", "what two write", "of the agent")
    assert file.read_bytes() == before and [file.name for file in file.parent.iterdir()] == ["note.md"]
    memory.adopt()


def test_fast_writes_wait_for_the_files_alone_and_full_ones_for_the_history_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[str] = []

    def wait(operation: str, path: str) -> None:
        if operation == "fsync" and threading.current_thread() is threading.main_thread():
            waits.append(path)

    monkeypatch.setattr(fs, "before", wait)
    memory.remember("Note", "what two write", "full")
    names = [Path(path).name.partition("-")[0] for path in waits]
    assert names == ["journal", "write", "entries", "redo"]
    (memory.root / "crabmem.toml").write_text('durability = "fast"\n')
    memory.remember("Note", "what two write", "the settings are recorded with it")
    waits.clear()
    memory.remember("Note", "what two write", "fast")
    assert [Path(path).name.partition("-")[0] for path in waits] == ["write", "entries"]
    assert_clean(memory.root)


def test_commands_of_two_processes_take_turns(memory: Memory) -> None:
    command = [*forked.COMMAND, "--dir", str(memory.root), "--agent"]
    words = ["remember", "Note", "-d", "what two write", "-c"]
    writers = [subprocess.Popen([*command, f"a{n}", *words, str(n)], stdout=subprocess.DEVNULL) for n in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert sorted(commit.author for commit in memory.log(4)) == ["a0", "a1", "a2", "a3"]
    assert_clean(memory.root)


def test_a_commit_of_any_number_of_files_is_read_again(tmp_path: Path) -> None:
    entries = tmp_path / "memory/entries"
    entries.mkdir(parents=True)
    for number in range(13_000):
        (entries / f"{'a-long-name-of-a-fact-' * 3}{number}.md").write_text("text\n")
    with Memory(tmp_path, is_person=True) as memory:
        memory.engine.writer.adopt()
        memory.remember("One more", "d", "c")
        adopted = memory.log(limit=2)[1]
        body = memory.engine.history.body(adopted.commit)
    assert len(body) < 3_000 and body.endswith("and 12980 more") and len(adopted.entries) == 20
    assert len(adopted.paths) == 13_000


def test_a_commit_with_a_message_of_megabytes_is_read(memory: Memory) -> None:
    """As versions wrote it that named each file of a folder they adopted."""
    words = "edit: many\n\n" + "saved memory/entries/a-fact-among-many.md\n" * 60_000 + "\nEntry: One\n"
    message = memory.root / ".git/long-message"
    message.write_text(words)
    git(memory.root, *ANNA, "commit", "-q", "--allow-empty", "-F", str(message))
    memory.remember("Other", "after it", "y")
    assert [each.subject for each in memory.log(limit=2)] == ["remember: Other", "edit: many"]


def test_what_a_person_saves_between_our_look_and_our_exchange_is_their_commit_before_ours(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, saves = (memory.root / NOTE).read_text().replace("the beginning", "a word of Anna"), list[str]()

    def save_in_between(operation: str, path: str) -> None:
        if operation == "exchange" and path.endswith(NOTE) and not saves:
            saves.append(path)
            (memory.root / NOTE).write_text(theirs)

    monkeypatch.setattr(fs, "before", save_in_between)
    memory.remember("Note", "what two write", "the end")
    assert saves and "the end" in (memory.root / NOTE).read_text()
    assert git(memory.root, "show", f"HEAD~1:{NOTE}") == theirs
    ours, saved = memory.log(limit=2)
    assert ours.agent == "coder" and saved.agent is None
