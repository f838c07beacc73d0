"""What a power cut took of the history is made again, once, whatever the person did before and does afterwards.

`tests/faults/power.py` cuts the power at every call of a write; here is what the person does around it.
"""

import errno
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs, system
from crabmem.git.commits import Note, identity
from crabmem.git.redo import Redo
from crabmem.operations import maintenance
from crabmem.text.hashes import blob_id
from crabmem.write.draft import Draft
from tests.conftest import ANN, assert_clean, git

ENTRY = "memory/entries/wifi.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three writes of an agent, none of which anybody has brought to the disk."""
    root = tmp_path / "memory"
    with Memory(root, agent="coder") as memory:
        for text in ("blue-hill-42", "blue-hill-43", "blue-hill-44"):
            memory.remember("Wifi", "for guests", text)
    return root


@pytest.fixture
def cut(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Cut the power: of the two last writes nothing is left but the file, its folder and the log."""
    before = git(root, "rev-parse", "HEAD~2").strip()
    oids = [line[:40] for line in git(root, "rev-list", "--objects", "HEAD~2..HEAD").splitlines()]

    def act() -> None:
        for number, oid in enumerate(oids):
            file = root / ".git/objects" / oid[:2] / oid[2:]
            if file.exists():
                file.chmod(0o600)
                file.unlink() if number % 2 else file.write_bytes(b"")
        (root / ".git/refs/heads/main").write_text(f"{before}\n")
        (root / ".git/refs/crabmem/keep").write_text("")
        (root / ".git/index").write_bytes((root / ".git/index").read_bytes()[:50])
        start_again(monkeypatch)

    return act


def start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the machine, which is another start than the one before."""
    now = system.start_of_machine()
    monkeypatch.setattr(system, "start_of_machine", lambda: f"{now}+")


def subjects(memory: Memory) -> list[str]:
    return [commit.subject for commit in memory.log()]


ALL = ["remember: Wifi", "remember: Wifi", "remember: Wifi", "init: a new memory"]


def test_what_a_power_cut_took_is_made_again_by_the_next_write(root: Path, cut: Callable[[], None]) -> None:
    head = git(root, "rev-parse", "HEAD").strip()
    cut()
    with Memory(root, agent="coder") as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
        assert subjects(memory) == ["remember: Vet", *ALL]
        assert git(root, "rev-parse", "HEAD~1").strip() == head
        assert [entry.content for entry in memory.entries("HEAD~2")] == ["blue-hill-43"]
        assert any("that a power cut took were made again" in finding.message for finding in memory.doctor())
    assert_clean(root)


def test_a_reader_sees_the_history_whole_before_anybody_writes(root: Path, cut: Callable[[], None]) -> None:
    cut()
    with Memory(root) as memory:
        assert subjects(memory) == ALL
        assert memory.recall("wifi")[0].entry.content == "blue-hill-44"


def test_to_make_it_again_twice_is_to_make_it_again_once(
    root: Path, cut: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut()
    log = root / ".git/crabmem/redo"
    before = log.read_bytes()
    with Memory(root) as memory:
        memory.adopt()
    head = git(root, "rev-parse", "HEAD").strip()
    log.write_bytes(before)  # the power goes again, and what was begun anew is not on the disk
    start_again(monkeypatch)
    with Memory(root) as memory:
        memory.adopt()
        assert subjects(memory) == ALL
    assert git(root, "rev-parse", "HEAD").strip() == head
    assert_clean(root)


def test_a_reset_of_the_person_is_not_undone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = git(root, "rev-parse", "HEAD").strip()
    git(root, "reset", "-q", "--hard", "HEAD~2")
    start_again(monkeypatch)
    with Memory(root) as memory:
        memory.adopt()
        assert subjects(memory) == ALL[2:]
        assert memory.get("Wifi").content == "blue-hill-42"
        assert memory.get("Wifi", newest[:8]).content == "blue-hill-44", "it stays in the history"
    assert_clean(root)


@pytest.mark.parametrize("name", ["trunk", "main/sub"])
def test_a_branch_that_the_person_renamed_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The log of a young memory goes back to where there was no branch, as after a power cut."""
    root = tmp_path / "young"
    with Memory(root) as memory:
        memory.remember("Wifi", "for guests", "blue-hill-42")
    git(root, "branch", "-m", "main", "between")
    git(root, "branch", "-m", "between", name)
    start_again(monkeypatch)
    with Memory(root) as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
    assert git(root, "branch", "--format=%(refname:short)").split() == [name]
    assert_clean(root)


def test_what_an_agent_wrote_during_a_rebase_stays_the_agents(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = git(root, "rev-parse", "HEAD")
    (root / ".git/rebase-merge").mkdir()
    (root / ".git/rebase-merge/orig-head").write_text(newest)
    with Memory(root, agent="coder") as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
    start_again(monkeypatch)
    with Memory(root, agent="coder") as memory:
        memory.remember("Tea", "which", "green")
    authors = git(root, "log", "-3", "--format=%an %s", "refs/crabmem/keep").splitlines()
    assert authors == ["coder remember: Tea", "coder remember: Vet", "coder remember: Wifi"]


def test_a_write_that_was_taken_back_stays_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was in the log when the process was killed, and the person put the file back before anybody came."""
    before, head = (root / ENTRY).read_bytes(), git(root, "rev-parse", "HEAD")

    def kill(operation: str, path: str) -> None:
        if (operation, path) == ("link", str(root / ".git/refs/heads/main.lock")):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt), Memory(root) as memory:
        patched.setattr(fs, "before", kill)
        memory.remember("Wifi", "for guests", "blue-hill-45")
    (root / ENTRY).write_bytes(before)
    with Memory(root):
        assert git(root, "rev-parse", "HEAD") == head
    start_again(monkeypatch)
    with Memory(root) as memory:
        memory.adopt()
    assert git(root, "rev-parse", "HEAD") == head
    assert_clean(root)


def test_what_a_reset_took_is_kept_on_the_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The redo log makes the branch and what keeps its newest commit again, and knows nothing of what else is kept."""
    git(root, "reset", "-q", "--hard", "HEAD~1")
    calls = list[tuple[str, str]]()
    monkeypatch.setattr(fs, "before", lambda operation, path: calls.append((operation, path)))
    with Memory(root) as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
    refs = root / ".git/refs/crabmem"
    assert calls.index(("fsync", str(refs / "kept"))) < calls.index(("rename", str(refs / "keep")))


@pytest.mark.parametrize("hitch", ["in a pack", "disk full", "pruned"])
def test_what_was_stored_ahead_is_on_the_disk_or_in_the_log(
    root: Path, monkeypatch: pytest.MonkeyPatch, hitch: str
) -> None:
    """Also where the preparation ended in the middle, or somebody pruned what it stored."""
    git(root, "gc", "-q", "--prune=now")
    packed = (root / ENTRY).read_bytes()
    texts = [b"---\nname: One\n---\n\nFirst.\n", packed, b"---\nname: Two\n---\n\nSecond.\n"]
    synced = set[str]()

    def before(operation: str, path: str) -> None:
        if operation == "fsync":
            synced.add(path)

    def progress(done: int) -> None:
        if done == 2 and hitch == "disk full":
            raise OSError(errno.ENOSPC, "no space left on device")

    with Memory(root) as memory:
        monkeypatch.setattr(fs, "before", before)
        writer = memory.engine.writer
        with writer.ahead(texts, progress):
            if hitch == "pruned":
                git(root, "prune", "--expire=now")
            files = {f"memory/entries/{number}.md": text for number, text in enumerate(texts)}
            writer.write(lambda scan: Draft(files, Note("import: three", identity("coder")), None))
        logged = {patch.oid for batch in Redo(root / ".git/crabmem/redo").batches() for patch in batch.patches}
    for blob in (blob_id(texts[0]), blob_id(texts[2])):
        folder = root / ".git/objects" / blob[:2]
        assert blob in logged or {str(folder), str(folder.parent)} <= synced
        assert blob in logged or hitch != "pruned"
    assert_clean(root)


def test_what_a_prune_took_after_a_reset_is_made_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = git(root, "rev-parse", "HEAD").strip()
    git(root, "reset", "-q", "--hard", "HEAD~2")
    git(root, "update-ref", "-d", "refs/crabmem/keep")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    with Memory(root) as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
        assert git(root, "cat-file", "-t", newest).strip() == "commit"
    assert_clean(root)


def test_a_commit_of_the_person_stays_on_top(root: Path, cut: Callable[[], None]) -> None:
    (root / "memory/entries/mine.md").write_text("---\nname: Mine\ndescription: own\n---\n\nWords.\n")
    git(root, "add", "-A")
    subprocess.run(["git", "-C", str(root), *ANN, "commit", "-qm", "by hand"], check=True)
    theirs = (root / ".git/refs/heads/main").read_text()
    cut()
    (root / ".git/refs/heads/main").write_text(theirs)  # Git waits for its own references
    with Memory(root) as memory:
        memory.adopt()
        assert subjects(memory) == ["by hand", *ALL]
    assert_clean(root)


@pytest.mark.parametrize("damage", ["torn", "garbage", "gone"])
def test_where_the_log_is_lost_too_the_files_are_recorded(root: Path, cut: Callable[[], None], damage: str) -> None:
    cut()
    log = root / ".git/crabmem/redo"
    if damage == "gone":
        log.unlink()
    else:
        log.write_bytes(log.read_bytes()[:80] if damage == "torn" else b"\xff" * 4_000)
    with Memory(root) as memory:
        memory.remember("Vet", "for the dog", "Dr. Moreno")
        assert memory.get("Wifi").content == "blue-hill-44"
        assert subjects(memory)[:2] == ["remember: Vet", "edit: Wifi"]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Path]:
    """A workspace to which an agent writes all the time."""
    root, is_over = tmp_path / "busy", threading.Event()
    with Memory(root, agent="busy") as memory:
        memory.remember("Count", "how far it is", "0")

        def write() -> None:
            for number in range(1, 10_000):
                memory.remember("Count", "how far it is", f"{number} " * 50)
                memory.remember(f"Fact {number % 20}", "one of many", f"{number}")
                if is_over.is_set():
                    return

        writer = threading.Thread(target=write)
        writer.start()
        yield root
        is_over.set()
        writer.join()
    assert_clean(root)


def test_a_copy_of_a_workspace_that_is_written_goes_on_with_what_is_in_it(busy: Path, tmp_path: Path) -> None:
    """`cp` copies a file after the other: of what is written meanwhile it may have a folder and not the text in it."""
    for number in range(6):
        copy = tmp_path / f"copy{number}"
        subprocess.run(["cp", "-a", str(busy), str(copy)], stderr=subprocess.DEVNULL)
        for lock in (*(copy / ".git").rglob("*.lock"), copy / ".git/gc.pid"):
            lock.unlink(missing_ok=True)  # a copy of Git's lock is nobody's: as it says, it is to be removed
        with Memory(copy, agent="copier") as memory:
            memory.remember("Own", "of the copy", "It goes on.")
            assert memory.get("Own").content == "It goes on."
            assert memory.get("Count")
            maintenance.mend(memory)  # puts back the texts that are on disk
            assert [item.path for item in memory.doctor() if item.level == "error" and item.path] == []
        assert git(copy, "status", "--porcelain") == ""
        assert git(copy, "log", "-1", "--format=%s").strip() == "remember: Own"


def test_a_workspace_is_cloned_while_it_is_written(busy: Path, tmp_path: Path) -> None:
    for number in range(4):
        clone = tmp_path / f"clone{number}"
        subprocess.run(["git", "clone", "-q", str(busy), str(clone)], check=True)
        with Memory(clone, agent="cloner") as memory:
            memory.remember("Own", "of the clone", "It goes on.")
            assert memory.log()[1].agent == "busy"
        assert_clean(clone)


def test_two_workspaces_on_one_disk_have_a_log_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        with Memory(tmp_path / name) as memory:
            memory.remember("Name", "whose it is", f"It is {name}.")
    start_again(monkeypatch)
    for name in ("one", "two"):
        (tmp_path / name / ".git/refs/heads/main").write_text("")
        with Memory(tmp_path / name) as memory:
            memory.remember("Other", "d", "x")
            assert memory.get("Name").content == f"It is {name}."
            assert subjects(memory) == ["remember: Other", "remember: Name", "init: a new memory"]
        assert_clean(tmp_path / name)


def test_a_log_of_a_stranger_is_not_done_again_by_who_only_reads(
    root: Path, cut: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cut()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of somebody else"))
    before = {
        file: file.read_bytes() for file in (root / ".git").rglob("*") if file.is_file() and "index" not in str(file)
    }
    with Memory(root) as memory:
        assert memory.recall("wifi")[0].entry.content == "blue-hill-44"
    assert {file: file.read_bytes() for file in before} == before
