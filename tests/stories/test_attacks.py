"""Attempts to lose a byte, to stop a writer for good, or to get out; each once worked or nearly did."""

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import TextIO

import pytest

from crabmem import DamagedHistory, Memory, NotFound, Stale, Unreadable, Unwritable
from crabmem.disk import fs, system
from tests import forked
from tests.conftest import ANN, assert_clean, git
from tests.pace import costing_less_than
from tests.worst_texts import LARGEST, one_of_signs

OVERVIEW = "memory/MEMORY.md"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "memory", agent="agent")
    memory.remember("Luna", "dog", "Thursday")
    return memory


@pytest.mark.parametrize("kind", ["large", "link", "folder", "pipe"])
def test_what_history_cannot_keep_is_not_replaced_and_stops_nothing_else(memory: Memory, kind: str) -> None:
    file = memory.root / OVERVIEW
    if kind == "large":
        file.write_bytes(b"the person's text\n" * 300_000)
    elif kind == "link":
        file.symlink_to(memory.root / "elsewhere")
    elif kind == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    before = file.lstat()
    with pytest.raises((Unwritable, Unreadable)):
        memory.write_overview("the agent's text")
    assert os.path.samestat(file.lstat(), before)
    assert memory.remember("Other", "x", "y").commit


def test_text_that_grew_too_large_meanwhile_is_put_back(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    file = memory.root / "memory/entries/luna.md"

    def person_saves(operation: str, path: str) -> None:
        if operation == "exchange":
            file.write_bytes(b"x" * (fs.MAX_BYTES + 1))
            monkeypatch.setattr(fs, "before", lambda operation, path: None)

    monkeypatch.setattr(fs, "before", person_saves)
    with pytest.raises(Unwritable):
        memory.remember("Luna", "dog", "Friday")
    assert file.stat().st_size == fs.MAX_BYTES + 1
    assert memory.remember("Other", "x", "y").commit


def test_private_folder_that_vanishes_is_an_error_and_no_endless_loop(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanish(operation: str, path: str) -> None:
        if operation == "link" and path.endswith("gc.pid"):
            shutil.rmtree(memory.root / ".git/crabmem")

    monkeypatch.setattr(fs, "before", vanish)
    with pytest.raises(Unwritable):
        memory.remember("Luna", "dog", "Friday")
    monkeypatch.undo()
    assert memory.remember("Luna", "dog", "Saturday").commit


@pytest.mark.skipif(not system.TELLS_WRITERS, reason="only Linux tells whether a file is open")
def test_slow_editor_keeps_its_words_however_late_it_saves(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.write.recovery.LATE_NS", 0)
    with (memory.root / "memory/entries/luna.md").open("a") as still_open:
        memory.remember("Luna", "dog", "Friday")
        memory.remember("Other", "x", "y")
        still_open.write("SLOW WORDS")
    memory.adopt()
    assert "SLOW WORDS" in git(memory.root, "log", "-p")


def test_edit_of_a_file_that_also_kept_its_temporary_name_is_recorded_once(memory: Memory) -> None:
    """A power cut may leave a file both names of a rename; an edit then is in both."""
    file = memory.root / "memory/entries/luna.md"
    memory.remember("Luna", "dog", "Friday")
    [temporary] = (memory.root / ".git/crabmem/tmp").iterdir()
    temporary.unlink()
    file.write_text(file.read_text().replace("Friday", "Sunday"))
    temporary.hardlink_to(file)
    memory.adopt()
    assert [commit.subject for commit in memory.log(limit=2)] == ["edit: Luna", "remember: Luna"]


def test_words_for_a_file_that_appeared_in_the_last_moment_are_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[TextIO] = []

    def person_creates(operation: str, path: str) -> None:
        if operation == "link" and path.endswith("wifi.md") and not opened:
            opened.append(Path(path).open("w"))  # noqa: SIM115 (it is to stay open)

    monkeypatch.setattr(fs, "before", person_creates)
    memory.remember("Wifi", "guests", "router")
    opened[0].write("THE PERSON'S WORDS")
    opened[0].close()
    memory.remember("Other", "x", "y")
    assert "THE PERSON'S WORDS" in git(memory.root, "log", "-p")
    assert memory.get("wifi").content == "router"


@pytest.mark.parametrize("option", ["--object-format=sha256", "--ref-format=reftable"])
def test_repository_in_another_format_is_refused_and_left_alone(tmp_path: Path, option: str) -> None:
    done = subprocess.run(["git", "init", "-q", option, str(tmp_path / "w")], capture_output=True)
    if done.returncode:
        git(tmp_path, "init", "-q", "w")
        config = tmp_path / "w/.git/config"
        config.write_text(config.read_text() + "[extensions]\n\trefstorage = reftable\n")
    before = {file: file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file()}
    with Memory(tmp_path / "w") as memory, pytest.raises(DamagedHistory, match="format, which crabmem does not write"):
        memory.remember("Luna", "dog", "Thursday")
    assert {file: file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file()} == before


def test_entry_that_an_editor_is_just_writing_does_not_get_a_twin(memory: Memory) -> None:
    file = memory.root / "memory/entries/luna.md"
    text = file.read_text()
    with file.open("w") as being_saved:
        memory.remember("Luna", "dog", "Friday")
        being_saved.write(text.replace("Thursday", "Sunday"))
    memory.remember("Other", "x", "y")
    assert [entry.name for entry in memory.entries()] == ["Luna", "Other"]
    assert "+Sunday\n" in git(memory.root, "log", "-p")


def test_rewritten_branch_costs_later_writes_nothing_and_stays_reachable(memory: Memory) -> None:
    git(memory.root, *ANN, "commit", "-q", "--amend", "-m", "amended")
    for number in range(3):
        memory.remember("Luna", "dog", str(number))
    assert len(git(memory.root, "for-each-ref", "refs/crabmem/kept").splitlines()) == 1
    assert git(memory.root, "rev-parse", "refs/crabmem/keep") == git(memory.root, "rev-parse", "main")
    assert "remember: Luna" in git(memory.root, "log", "--all", "--format=%s", "--grep=Thursday", "--invert-grep")


def test_split_index_is_left_to_git_with_what_is_staged_in_it(memory: Memory) -> None:
    git(memory.root, "update-index", "--split-index")
    (memory.root / "staged.txt").write_text("mine")
    git(memory.root, "add", "staged.txt")
    memory.remember("Luna", "dog", "Friday")
    assert "A  staged.txt" in git(memory.root, "status", "--porcelain")
    assert not (memory.root / ".git/index.broken").exists()


def test_files_hidden_by_a_sparse_checkout_are_not_recorded_as_removed(memory: Memory) -> None:
    memory.write_overview("# Seen")
    git(memory.root, "sparse-checkout", "set", "--no-cone", "/Crab.md", "/memory/MEMORY.md")
    assert not (memory.root / "memory/entries/luna.md").exists()
    memory.write_overview("# Seen again")
    assert "entries/luna.md" in git(memory.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_file_replaced_by_a_folder_leaves_an_index_that_git_accepts(memory: Memory) -> None:
    (memory.root / "memory/a.md").write_text("a file\n")
    memory.adopt()
    (memory.root / "memory/a.md").unlink()
    (memory.root / "memory/a.md").mkdir()
    (memory.root / "memory/a.md/x.md").write_text("in a folder\n")
    memory.adopt()
    assert_clean(memory.root)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_child_of_a_process_whose_threads_were_busy_is_not_stuck(memory: Memory) -> None:
    memory.recall("dog")  # a fork while a module is being imported is beyond us
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            memory.recall("dog")
            memory.remember("Luna", "dog", str(time.monotonic_ns()))

    thread = threading.Thread(target=busy)
    thread.start()
    children = []
    for _ in range(8):
        time.sleep(0.013)
        child = os.fork()
        if child == 0:
            os._exit(0 if memory.recall("dog").searched else 1)
        children.append(child)
    deadline = time.monotonic() + 20
    left = set(children)
    while left and time.monotonic() < deadline:
        left = {child for child in left if os.waitpid(child, os.WNOHANG)[0] == 0}
        time.sleep(0.05)
    stop.set()
    thread.join()
    for child in left:
        os.kill(child, 9)
    assert not left


def test_shallow_clone_has_a_log_that_ends_where_it_does(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Luna", "dog", "Friday")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{memory.root}", "shallow")
    with Memory(tmp_path / "shallow", agent="elsewhere") as shallow:
        saved = shallow.remember("Luna", "dog", "Saturday")
        assert [commit.author for commit in shallow.log()] == ["elsewhere", "agent"]
        assert saved.replaced and saved.replaced.author == "agent"
    assert git(tmp_path / "shallow", "status", "--porcelain") == ""


def test_file_whose_name_is_not_utf8_stops_nobody(memory: Memory) -> None:
    odd = os.fsencode(memory.root) + b"/memory/caf\xe9.md"
    Path(os.fsdecode(odd)).write_text("x")
    git(memory.root, "add", "memory")
    git(memory.root, *ANN, "commit", "-qm", "odd")
    os.unlink(odd)
    assert memory.remember("Luna", "dog", "Friday").commit
    assert memory.rollback("HEAD~2").to


@pytest.mark.parametrize("journal", [b'{"a":' * 50_000, b"\xff\x00", b"[]", b'{"steps": 1}'])
def test_journal_of_garbage_stops_nobody(memory: Memory, journal: bytes) -> None:
    (memory.root / ".git/crabmem/journal").write_bytes(journal)
    with Memory(memory.root) as again:
        assert again.remember("Luna", "dog", "Friday").commit


@pytest.mark.parametrize("revision", ["a\0b", "\ud800", "x" * 400, "HEAD~" + "9" * 5000, "refs/heads/" + "x" * 300])
def test_odd_revision_is_only_not_found(memory: Memory, revision: str) -> None:
    with pytest.raises(NotFound):
        memory.diff(revision)


@pytest.mark.parametrize("mark", ["²", "9" * 30, "-1", "", "12 34 56"])
def test_odd_mark_of_a_gc_stops_nobody(memory: Memory, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.git.refs.GC_WAIT", 0.05)
    (memory.root / ".git/gc.pid").write_text(mark)
    (memory.root / f".crabmem-init-{mark.strip() or 'x'}-0").mkdir()
    assert memory.remember("Luna", "dog", "Friday").commit


def test_commit_from_the_far_future_can_be_listed(memory: Memory) -> None:
    env = {"GIT_AUTHOR_DATE": "@99999999999 +0000", "GIT_COMMITTER_DATE": "@99999999999 +0000"}
    command = ["git", "-C", str(memory.root), *ANN, "commit", "-q"]
    subprocess.run([*command, "--allow-empty", "-m", "later"], check=True, env={**os.environ, **env})
    assert memory.log()[0].subject == "later"
    assert memory.remember("Luna", "dog", "Friday").commit


def test_past_with_a_file_that_is_no_text_can_be_read(memory: Memory) -> None:
    (memory.root / "memory/entries/odd.md").write_bytes(b"\xff\xfe")
    memory.adopt()
    assert [entry.name for entry in memory.entries(at="HEAD")] == ["Luna"]


def test_edit_of_an_identity_that_was_missing_is_kept(memory: Memory) -> None:
    (memory.root / "Crab.md").unlink()
    command = [*forked.COMMAND, "--dir", str(memory.root), "identity", "edit"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "EDITOR": "sed -i s/careful/bold/"})
    assert "bold" in (memory.root / "Crab.md").read_text()
    assert "bold" in git(memory.root, "show", "HEAD:Crab.md")


@pytest.mark.parametrize("size", [39_000, LARGEST])
def test_a_version_long_gone_keeps_no_other_writer_waiting(memory: Memory, size: int) -> None:
    """The texts that the error compares differ in every place; it once took 36 s for 39 kB, under the lock."""
    memory.remember("Big", "d", one_of_signs("u", size))
    version = memory.get("Big").version
    memory.remember("Big", "d", one_of_signs("v", size))
    refused, is_over = list[Stale](), threading.Event()

    def ask_again() -> None:
        while not is_over.is_set():
            try:
                memory.remember("Big", "d", "z", if_version=version)
            except Stale as error:
                refused.append(error)

    thread = threading.Thread(target=ask_again)
    thread.start()
    try:
        with Memory(memory.root, agent="other") as other:
            (memory.root / "crabmem.toml").write_text("lock_timeout = 5\n")
            for number in range(3):
                assert other.remember(f"Fact {number}", "d", "x").commit
    finally:
        is_over.set()
        thread.join()
    with costing_less_than(0.9):
        assert "-u1\n" in refused[0].diff and "+v1\n" in refused[0].diff
