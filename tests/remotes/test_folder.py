"""A repository in a folder is a remote without `git` and without a process."""

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.errors import Outrun, Refused, SyncError, Unreachable, Untrusted
from crabmem.operations import maintenance
from tests.conftest import git
from tests.faults.repository import ANN
from tests.refusing import Refusing, from_then, once
from tests.remotes.sides import MAIN, Side, begun, is_whole, left_over, other, pushed_at_once


@pytest.fixture
def here(tmp_path: Path) -> Side:
    return begun(tmp_path)


def bare(side: Side) -> Path:
    return Path(side.to)


def test_what_one_side_pushes_the_other_fetches_whole(here: Side) -> None:
    here.push()
    assert here.refs().refs == {MAIN: here.head()} and here.refs().branch == MAIN
    there = other(here)
    there.take()
    assert there.head() == here.head() and is_whole(there.root) and is_whole(bare(here)) and left_over(there.root) == []
    assert git(there.root, "show", "HEAD:Crab.md") == git(here.root, "show", "HEAD:Crab.md")


def test_a_second_push_and_fetch_bring_only_what_is_new(here: Side) -> None:
    here.push()
    there = other(here)
    there.take()
    assert there.fetch() == 0
    here.remember()
    here.push()
    assert there.fetch() == 5  # a commit, three folders, and the fact
    assert is_whole(bare(here))


def test_a_great_fetch_is_a_pack_and_a_small_one_lies_loose(here: Side) -> None:
    here.remember(150)
    here.push()
    there = other(here)
    there.take()
    packs = there.root / ".git/objects/pack"
    [pack] = packs.glob("*.pack")
    assert pack.stat().st_mode & 0o777 == 0o444
    here.remember()
    here.push()
    there.take()
    assert [*packs.glob("*.pack")] == [pack] and is_whole(there.root)


def test_what_lies_as_a_delta_to_what_nothing_reaches_comes_in(here: Side) -> None:
    """As after a purge: the remote's packs have the old line still."""
    here.remember(150)
    text = "".join(f"Line {secrets.token_hex(20)}.\n" for _ in range(80))
    tip, file = here.head(), here.root / "memory/long.md"
    for said, branch in ((text, "old"), (text[:-500], "new")):
        git(here.root, "checkout", "-q", "-b", branch, tip)
        file.write_text(said)
        git(here.root, "add", "-A")
        git(here.root, *ANN, "commit", "-qm", branch)
        git(here.root, "push", "-q", here.to, branch)
    git(bare(here), "repack", "-qadf")
    old, new = (git(bare(here), "rev-parse", f"{branch}:memory/long.md").strip() for branch in ("old", "new"))
    listed = git(bare(here), "verify-pack", "-v", *map(str, (bare(here) / "objects/pack").glob("*.idx")))
    assert any(line.startswith(new) and line.endswith(old) for line in listed.splitlines())
    git(bare(here), "update-ref", "-d", "refs/heads/old")
    there = other(here)
    there.fetch([here.refs().refs["refs/heads/new"]])
    assert git(there.root, "cat-file", "-p", new) == text[:-500]


def test_a_repository_that_many_pushed_to_is_packed_by_and_by(here: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.git.packing.MOST_OBJECTS", 30)
    for _ in range(12):
        here.remember()
        here.push()
    loose = int(git(bare(here), "count-objects").split()[0])
    assert loose < 40 and [*(bare(here) / "objects/pack").glob("*.pack")] and is_whole(bare(here))


def test_of_two_who_push_at_once_one_is_told_that_it_was_outrun(here: Side) -> None:
    here.push()
    sides = [other(here, f"machine {number}") for number in range(4)]
    said = pushed_at_once(sides)
    assert sorted(said) == ["Outrun", "Outrun", "Outrun", "done"]
    assert here.refs().refs[MAIN] == sides[said.index("done")].head() and is_whole(bare(here))


def test_a_reference_that_is_expected_to_be_missing_must_be(here: Side) -> None:
    here.push()
    with pytest.raises(Outrun, match="fetch"):
        here.push({MAIN: (None, here.remember())})
    with pytest.raises(Outrun):
        here.push({MAIN: ("1" * 40, here.head()), "refs/crabmem/keep": (None, here.head())})
    assert "refs/crabmem/keep" not in here.refs().refs


def test_a_reference_can_be_taken_away(here: Side) -> None:
    here.push({MAIN: (None, here.head()), "refs/crabmem/aside/x": (None, here.head())})
    with pytest.raises(Outrun):
        here.push({"refs/crabmem/aside/x": ("1" * 40, None)})
    here.push({"refs/crabmem/aside/x": (here.head(), None)})
    assert here.refs().refs == {MAIN: here.head()}


def test_a_folder_with_files_of_its_own_is_not_pushed_to(here: Side) -> None:
    there = other(here)
    there.remember()
    here.to = str(there.root)
    assert here.fetch() > 0
    with pytest.raises(Refused, match="git init --bare"):
        here.push()


def test_a_hook_that_decides_about_pushes_is_neither_started_nor_passed_over(here: Side) -> None:
    mark = bare(here).parent / "started"
    for name in ("pre-receive", "post-receive"):
        hook = bare(here) / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    with pytest.raises(Refused, match="pre-receive"):
        here.push()
    (bare(here) / "hooks/pre-receive").unlink()
    here.push()
    assert not mark.exists()


def test_what_is_not_there_or_no_repository_is_said(here: Side, tmp_path: Path) -> None:
    for place in (tmp_path / "nothing", tmp_path):
        here.to = str(place)
        with pytest.raises(Refused, match="no Git repository"):
            here.refs()


def test_a_repository_of_another_format_is_refused(here: Side, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "--object-format=sha256", "new.git")
    here.to = str(tmp_path / "new.git")
    with pytest.raises(Refused, match="sha256"):
        here.refs()


def test_a_remote_that_lost_an_object_gives_nothing(here: Side) -> None:
    here.push()
    there, blob = other(here), git(here.root, "rev-parse", "HEAD:Crab.md").strip()
    (bare(here) / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Untrusted, match="damaged"):
        there.fetch()
    assert not git(there.root, "count-objects").startswith("1") and left_over(there.root) == []


def test_borrowed_objects_and_links_are_not_followed(here: Side, tmp_path: Path) -> None:
    here.push()
    git(tmp_path, "clone", "-q", "--bare", "--shared", here.to, "borrowing.git")
    here.to = str(tmp_path / "borrowing.git")
    there = other(here)
    with pytest.raises(Untrusted):
        there.fetch()
    os.rename(tmp_path / "borrowing.git/refs", tmp_path / "refs")
    (tmp_path / "borrowing.git/refs").symlink_to(tmp_path / "refs")
    with pytest.raises(Refused, match="symbolic link"):
        there.refs()


def test_what_a_push_left_that_was_killed_the_next_takes_away(here: Side) -> None:
    here.push()
    old, new = here.head(), here.remember()
    pid = os.fork()
    if not pid:

        def die(operation: str, path: str) -> None:
            if operation == "rename" and path.endswith(f"/{MAIN}"):  # the lock is held, and says the new commit
                os._exit(9)

        fs.before = die
        here.push({MAIN: (old, new)})
    os.waitpid(pid, 0)
    assert (bare(here) / f"{MAIN}.lock").exists()
    here.push({MAIN: (old, new)})
    assert here.refs().refs == {MAIN: new} and [*bare(here).rglob("*.lock")] == []


def test_a_lock_of_another_git_is_waited_for_and_named(here: Side) -> None:
    here.push()
    (bare(here) / f"{MAIN}.lock").write_text("")
    here.remember()
    with pytest.raises(Unreachable, match="lock"):
        here.push()
    (bare(here) / f"{MAIN}.lock").unlink()
    here.push()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said_so(here: Side) -> None:
    for folder in (bare(here), *bare(here).rglob("*")):
        if folder.is_dir():
            folder.chmod(0o500)
    with pytest.raises(Refused, match="permission"):
        here.push()


def test_others_who_share_the_repository_can_read_what_was_pushed(here: Side) -> None:
    for folder in (bare(here), *bare(here).rglob("*")):
        if folder.is_dir():
            folder.chmod(0o755)
    here.push()
    hidden = [
        place
        for place in (*(bare(here) / "objects").rglob("*"), *(bare(here) / "refs").rglob("*"))
        if not place.stat().st_mode & 0o004
    ]
    assert hidden == []


def test_a_push_with_git_and_one_of_ours_take_turns(here: Side, tmp_path: Path) -> None:
    here.push()
    git(tmp_path, "clone", "-q", here.to, "persons")
    persons = tmp_path / "persons"
    (persons / "note.md").write_text("by hand\n")
    git(persons, "add", "note.md")
    git(persons, *ANN, "commit", "-qm", "by hand")
    git(persons, "push", "-q")
    with pytest.raises(Outrun):
        here.push({MAIN: (here.head(), here.remember())})
    assert here.fetch() == 3  # a commit, the outermost folder, and the note


@pytest.mark.parametrize("count", [1, 100])
@pytest.mark.parametrize("refused", [once, from_then])
def test_a_push_that_fails_at_any_step_leaves_the_remote_whole(
    here: Side, monkeypatch: pytest.MonkeyPatch, refused: Callable[[int], Callable[[int], bool]], count: int
) -> None:
    here.push()
    steps, old = list[str](), here.head()
    new = here.remember(count)
    trial = bare(here).parent / "trial.git"
    shutil.copytree(bare(here), trial)
    side = Side(here.root, str(trial))
    monkeypatch.setattr(fs, "before", lambda operation, path: steps.append(operation))
    side.push()
    monkeypatch.undo()
    for stop in range(0, len(steps), max(1, len(steps) // 12)):
        shutil.rmtree(trial)
        shutil.copytree(bare(here), trial)
        with monkeypatch.context() as patch:
            patch.setattr(fs, "before", Refusing(refused(stop + 1)))
            with suppress(SyncError):
                side.push({MAIN: (old, new)})
        now = (trial / MAIN).read_text().strip()
        assert now in (old, new) and is_whole(trial)
        side.push({MAIN: (now, new)})
        assert side.refs().refs == {MAIN: new} and is_whole(trial)


def test_a_repository_that_git_has_packed_is_pushed_to_and_fetched_from(here: Side) -> None:
    here.push({MAIN: (None, here.head()), "refs/crabmem/x": (None, here.head())})
    git(bare(here), "gc", "-q", "--prune=now")
    assert not (bare(here) / MAIN).exists() and here.refs().refs.keys() == {MAIN, "refs/crabmem/x"}
    old, new = here.head(), here.remember()
    here.push({MAIN: (old, new), "refs/crabmem/x": (old, None)})
    assert here.refs().refs == {MAIN: new}
    there = other(here)
    there.take()
    assert is_whole(there.root) and is_whole(bare(here))


def test_fetches_run_beside_writes_and_compactions(here: Side) -> None:
    here.push()
    there = other(here)
    there.take()
    failed, ended = list[BaseException](), threading.Event()

    def write() -> None:
        try:
            with Memory(there.root, agent="busy") as memory:
                while not ended.is_set():
                    memory.remember("Again", "d", secrets.token_hex(20))
                    maintenance.compact(memory)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for count in (1, 80, 1, 80):
            here.remember(count)
            here.push()
            there.fetch()
    finally:
        ended.set()
        writer.join()
    assert failed == [] and left_over(there.root) == []
    git(there.root, "update-ref", "refs/heads/theirs", here.head())
    assert is_whole(there.root)


@pytest.mark.parametrize("name", ["bare.git", "memory.bundle"])
def test_a_push_that_took_too_long_is_not_made_afterwards(
    here: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    here.to = str(tmp_path / name)
    here.push()
    old, new, done = here.head(), here.remember(), threading.Event()

    def slow(operation: str, path: str) -> None:
        if operation == "create" and (name in path):
            time.sleep(0.7)
            done.set()

    with monkeypatch.context() as patch:
        patch.setattr(fs, "before", slow)
        with pytest.raises(Unreachable, match=r"for 0\.3 s"):
            here.push({MAIN: (old, new)}, seconds=0.3)
        assert done.wait(5)
        time.sleep(0.5)
    assert here.refs().refs == {MAIN: old}
