"""The exchange of `.git` by a purge: what stays of the old one, and who else has it open at that moment."""

import errno
import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from crabmem import Busy, CrabmemError, DamagedHistory, Memory, Unwritable
from crabmem.disk import fs, system
from crabmem.disk.lock import WriterLock
from crabmem.git.repository import left_of_purge
from crabmem.git.rewrite.repository import RepositoryRewrite
from crabmem.watch import watched
from tests.conftest import assert_clean, git
from tests.faults.crashes import tree
from tests.faults.repository import ANN, traces
from tests.git.test_purge_crashes import Died

PIN = "4711-PIN-0815"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", agent="coder") as memory:
        memory.remember("Code", "opens the door", f"It is {PIN}.")
    return tmp_path / "memory"


def purge(root: Path) -> None:
    with Memory(root) as memory:
        memory.purge(text=PIN)


def at(monkeypatch: pytest.MonkeyPatch, operation: str, ending: str, do: Callable[[], object]) -> None:
    """Have `do` done once, ahead of the first change of the disk of that kind."""
    waiting = [do]

    def before(doing: str, path: str) -> None:
        if doing == operation and path.endswith(ending) and waiting:
            waiting.pop()()

    monkeypatch.setattr(fs, "before", before)


def begun(thread: threading.Thread) -> None:
    """Start a thread, and give it time to wait for a lock."""
    thread.start()
    time.sleep(0.3)


def dies_at(monkeypatch: pytest.MonkeyPatch, root: Path, operation: str, ending: str) -> None:
    """Purge, and change nothing on the disk any more from a call on."""
    dead = list[str]()

    def before(doing: str, path: str) -> None:
        if dead or (doing == operation and path.endswith(ending)):
            dead.append(path)
            raise Died

    with monkeypatch.context() as patched, pytest.raises(Died):
        patched.setattr(fs, "before", before)
        purge(root)


def states(root: Path) -> dict[str, tuple[int, int, int, bytes | str]]:
    """Mode, owner, group and contents of all that a person may put into `.git`, and of its folders the first three."""
    found: dict[str, tuple[int, int, int, bytes | str]] = {}
    for name in (".", "config", "description", "hooks", "hooks/pre-commit", "hooks/shared", "info/exclude", "lfs/x",
                 "lfs", "objects", "objects/pack", "refs", "refs/remotes/o/HEAD", "shared", "packed-refs"):  # fmt: skip
        file = root / ".git" / name
        status = file.lstat()
        data = os.readlink(file) if file.is_symlink() else file.read_bytes() if file.is_file() else ""
        data = b"" if name == "packed-refs" else data
        found[name] = status.st_mode, status.st_uid, status.st_gid, data
    return found


def test_what_a_person_put_into_git_stays_byte_for_byte_with_its_permissions(root: Path) -> None:
    into = root / ".git"
    for name, data, mode in (
        ("hooks/pre-commit", b"#!/bin/sh\n\xff\r\nexit 1", 0o755), ("lfs/x", b"large", 0o640),
        ("description", b"d", 0o444), ("refs/remotes/o/HEAD", b"ref: refs/remotes/o/main\n", 0o644),
    ):  # fmt: skip
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes(data)
        (into / name).chmod(mode)
    (into / "hooks/shared").symlink_to("../../shared-hook")
    (into / "shared").symlink_to("hooks")
    (into / "config").write_bytes((into / "config").read_bytes() + b"\t; mine \r\n[user]\n  name=Ann\n")
    git(root, "pack-refs", "--all")
    (into / "packed-refs").chmod(0o664)
    for folder in (".", "objects", "objects/pack"):
        (into / folder).chmod(0o2770)
    if os.geteuid() == 0:
        for place in (into, *into.rglob("*")):
            os.chown(place, 1234, 1235, follow_symlinks=False)
    before = states(root)
    purge(root)
    assert states(root) == before
    if os.geteuid() == 0:
        owners = {(file.lstat().st_uid, file.lstat().st_gid) for file in (into, *(into / "objects").rglob("*"))}
        assert owners == {(1234, 1235)}
        os.chown(into, 0, 0)  # Git looks into nobody else's
    assert traces(root, PIN) == []


def test_what_belongs_to_another_user_is_left_to_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*given: object, **options: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", forbidden)
    subprocess.run(["chmod", "750", root / ".git"], check=True)
    head = root / ".git/refs/heads/main"
    before = tree(root), head.read_bytes()
    with pytest.raises(Unwritable, match="belongs to another user or group"):
        purge(root)
    assert (tree(root), head.read_bytes()) == before and left_of_purge(root) == []


def test_a_project_around_it_sees_nothing_of_a_purge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Code", "opens the door", f"It is {PIN}.")
    before = git(tmp_path, "status", "--porcelain", "-uall"), sorted(os.listdir(tmp_path / "notes"))
    seen = list[str]()
    monkeypatch.setattr(fs, "before", lambda *call: seen.extend(set(os.listdir(tmp_path / "notes")) - set(before[1])))
    purge(tmp_path / "notes")
    monkeypatch.undo()
    assert set(seen) == {".git-purging"} and len(seen) < 40  # for the moment of the exchange
    assert (git(tmp_path, "status", "--porcelain", "-uall"), sorted(os.listdir(tmp_path / "notes"))) == before


@pytest.mark.parametrize("is_link", [False, True])
def test_a_git_that_is_a_file_or_a_link_is_refused(root: Path, tmp_path: Path, is_link: bool) -> None:
    place, elsewhere = root / ".git", tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere) if is_link else place.write_text(f"gitdir: {elsewhere}\n")
    with pytest.raises(DamagedHistory, match="is not a folder"):
        purge(root)
    assert not (elsewhere / "crabmem/purging").exists()


# Who else is there


def test_whoever_waited_for_the_lock_goes_on_in_the_new_repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(root, agent="other") as other, ExitStack() as stack:
        other.recall("door")
        thread = threading.Thread(target=lambda: other.remember("Later", "waited", "It works."))
        stack.callback(thread.join)
        at(monkeypatch, "exchange", "/.git", lambda: begun(thread))
        purge(root)
        thread.join()
        assert [commit.subject for commit in other.log(limit=2)] == ["remember: Later", "remember: Code"]
    assert traces(root, PIN) == []
    assert_clean(root)


def test_whoever_comes_when_it_is_exchanged_waits_for_the_new_lock(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[bool]()

    def come() -> None:
        with pytest.raises(Busy), WriterLock(root / ".git/crabmem/lock").held(0):
            pass
        tried.append(True)

    at(monkeypatch, "remove", "purging.done", come)
    purge(root)
    assert tried


def test_two_purges_at_once_both_do_what_they_are_asked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(root) as other, ExitStack() as stack:
        other.remember("Gate", "opens the gate", "It is FERN-0815.")
        thread = threading.Thread(target=lambda: other.purge(text="FERN-0815"))
        stack.callback(thread.join)
        at(monkeypatch, "exchange", "/.git", lambda: begun(thread))
        purge(root)
    assert traces(root, PIN, "FERN-0815") == []
    assert_clean(root)


def test_a_memory_that_slept_through_two_purges_goes_on(root: Path) -> None:
    with Memory(root, agent="other") as other:
        other.remember("Gate", "opens the gate", "It is FERN-0815.")
        purge(root)
        with Memory(root) as third:
            third.purge(text="FERN-0815")
        assert [commit.subject for commit in other.log(limit=1)] == ["remember: Gate"]
        assert other.remember("Later", "slept", "It works.").commit
    assert traces(root, PIN, "FERN-0815") == []


def test_a_watch_goes_on_and_stays_the_only_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, said = threading.Event(), list[object]()
    with Memory(root) as memory:
        thread = threading.Thread(target=lambda: said.extend(watched(memory, stop)))
        thread.start()
        time.sleep(0.5)
        purge(root)
        with pytest.raises(Busy, match="watched already"):
            next(iter(watched(memory, stop)))
        (root / "memory/entries/tea.md").write_text("Green.\n")
        deadline = time.monotonic() + 10
        while not said and time.monotonic() < deadline and "edit: tea" not in git(root, "log", "--format=%s"):
            time.sleep(0.1)
        stop.set()
        thread.join()
    assert git(root, "log", "--format=%s").startswith("edit: tea\n")
    assert_clean(root)


@pytest.mark.parametrize("name", ["index.lock", "config.lock", "refs/heads/main.lock", "gc.pid"])
def test_a_person_who_is_at_work_with_git_is_not_disturbed(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("crabmem.git.rewrite.repository.REF_WAIT", 0.1)
    monkeypatch.setattr("crabmem.git.refs.GC_WAIT", 0.1)
    (root / ".git" / name).write_text(f"{os.getpid()} {os.uname().nodename}")
    before = tree(root), git(root, "show-ref")
    with pytest.raises(Busy):
        purge(root)
    assert (tree(root), git(root, "show-ref")) == before
    (root / ".git" / name).unlink()
    purge(root)
    assert traces(root, PIN) == []


@pytest.mark.parametrize("when", ["after the survey", "at the exchange"])
def test_a_commit_that_is_made_at_this_moment_is_not_lost(
    root: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The history stays the old one, and the next purge takes in what is new."""
    before, put_in_place = tree(root), RepositoryRewrite.put_in_place

    def commit() -> None:
        made = git(root, *ANN, "commit-tree", "-p", "HEAD", "-m", f"says {PIN}", "HEAD^{tree}").strip()
        git(root, "update-ref", "refs/heads/late", made)

    def late(*given: Any) -> None:
        commit()
        put_in_place(*given)

    with monkeypatch.context() as patched:
        if when == "at the exchange":
            at(patched, "exchange", "/.git", commit)
        else:
            patched.setattr(RepositoryRewrite, "put_in_place", late)
        with pytest.raises(Busy, match=r"refs/heads/late: made or moved at this moment; nothing was changed"):
            purge(root)
    assert git(root, "log", "-1", "--format=%s", "late") == f"says {PIN}\n"
    assert tree(root) == before and left_of_purge(root) == []
    purge(root)
    assert git(root, "log", "-1", "--format=%s", "late") == "says (purged)\n"
    assert traces(root, PIN) == []


def test_a_tag_that_git_gives_an_old_commit_a_moment_later_is_on_the_new_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, tag = git(root, "rev-parse", "HEAD"), root / ".git/refs/tags/late"
    at(monkeypatch, "remove", "purging.done", lambda: tag.write_text(old))
    purge(root)
    assert git(root, "rev-parse", "late") == git(root, "rev-parse", "HEAD") != old
    assert_clean(root)


def test_a_reference_to_what_is_gone_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = root / ".git/refs/tags/late"
    at(monkeypatch, "remove", "purging.done", lambda: tag.write_text(f"{'1' * 40}\n"))
    with pytest.raises(
        Busy, match="refs/tags/late: made meanwhile, and names what is gone from the history: delete it"
    ):
        purge(root)
    tag.unlink()
    assert traces(root, PIN) == []


def test_what_is_saved_at_this_moment_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "memory/entries/code.md"
    at(monkeypatch, "exchange", "code.md", lambda: file.write_text("Ask Ann.\n"))
    purge(root)
    assert file.read_text() == "Ask Ann.\n"
    assert traces(root, PIN) == []


# What goes wrong


@pytest.mark.parametrize("ending", ["packed-refs", ".pack", "hooks/pre-commit", "purging/logs"])
def test_a_disk_that_fills_while_a_purge_prepares_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    (root / ".git/hooks").mkdir(exist_ok=True)
    (root / ".git/hooks/pre-commit").write_text("exit 0\n")
    before = tree(root), git(root, "show-ref")

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for operation in ("create", "link", "mkdir"):
        at(monkeypatch, operation, ending, full)
        with suppress(Unwritable):
            purge(root)
            break
        monkeypatch.undo()
        assert (tree(root), git(root, "show-ref")) == before and left_of_purge(root) == []


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EBUSY, errno.EACCES])
def test_a_disk_that_refuses_the_exchange_has_the_files_as_they_were(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    before = tree(root), git(root, "show-ref")

    def refuse(one: object, other: tuple[str, object]) -> None:
        if str(other[0]).endswith("/.git"):
            raise OSError(code, os.strerror(code))
        exchange(one, other)  # type: ignore[arg-type]

    exchange = system.exchange
    monkeypatch.setattr(system, "exchange", refuse)
    with pytest.raises(Unwritable):
        purge(root)
    monkeypatch.undo()
    assert (tree(root), git(root, "show-ref")) == before and left_of_purge(root) == []
    assert_clean(root)


def between_renames(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A purge that died where there is no atomic exchange, between its two renames."""
    with monkeypatch.context() as portable:
        portable.setattr(fs, "exchange_folders", lambda one, other: False)
        dies_at(monkeypatch, root, "rename", "/.git")
    assert not (root / ".git").exists() and (root / ".git-purging").is_dir()


def test_a_purge_that_died_between_two_renames_is_done_by_the_next_opening(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between_renames(root, monkeypatch)
    with Memory(root) as memory:
        assert any("the history is the new one" in line for line in memory.recovered)
        assert [commit.subject for commit in memory.log(limit=1)] == ["remember: Code"]
    assert traces(root, PIN) == []
    assert_clean(root)


def test_a_look_that_may_not_write_says_where_the_history_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between_renames(root, monkeypatch)

    def read_only(operation: str, path: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr(fs, "before", read_only)
    with Memory(root) as memory:
        assert memory.recall("door").hits
        with pytest.raises(CrabmemError, match=r"left the history in .*\.git-purging"):
            list(memory.log())


def test_a_crash_with_a_linked_hook_is_cleared(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git/hooks").mkdir(exist_ok=True)
    (root / ".git/hooks/pre-commit").symlink_to("../../hook")
    dies_at(monkeypatch, root, "rename", ".git-purging")
    assert stat.S_ISLNK((root / ".git/crabmem/purging/hooks/pre-commit").lstat().st_mode)
    with Memory(root) as memory:
        assert left_of_purge(root) == []
        assert memory.remember("Later", "after it", "It works.").commit
