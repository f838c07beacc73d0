"""Syncing through a folder: what is asked first, what is refused, what waits, and who decided."""

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import CrabmemError, Memory
from crabmem.disk import fs
from crabmem.disk.lock import WriterLock
from crabmem.disk.state import LOCK
from crabmem.errors import (
    Busy,
    Disabled,
    HoldsSecret,
    InvalidArguments,
    NotFound,
    SyncError,
    Unexpected,
    Untrusted,
    Unwritable,
)
from crabmem.git.kept import ASIDE
from crabmem.git.refs import PURGED
from crabmem.operations.proposals import apply_proposal, proposals, reject_proposal
from crabmem.sync.standing import state
from crabmem.sync.sync import name_remote, sync, upcoming
from tests.conftest import git
from tests.refusing import Refusing

from .conftest import Machine, crab, crabs, synced


def test_what_a_remote_has_is_told_before_anything_is_taken_in(two: tuple[Memory, Memory], machine: Machine) -> None:
    third = machine("third")
    with pytest.raises(Unexpected, match=r"has 1 fact, the newest change by person on .*; nothing was taken in"):
        sync(third)
    assert not third.entries()
    assert synced(third).taken == ("Crab.md", "memory/entries/luna.md")
    assert sync(third).taken == ()


def test_another_history_is_joined_only_if_that_is_meant(two: tuple[Memory, Memory], machine: Machine) -> None:
    apart = machine("apart")
    (apart.root / "Crab.md").write_text("I am another.\n")
    apart.remember("Tea", "hot", "With milk.")
    with pytest.raises(Unexpected, match="nothing in common"):
        synced(apart)
    assert sync(apart, is_expected=True, joins_apart=True).is_joined
    assert {entry.name for entry in apart.entries()} == {"Luna", "Tea"}


def test_two_machines_that_both_have_a_memory_are_asked_one_question_which_join_answers(
    two: tuple[Memory, Memory], machine: Machine
) -> None:
    apart = machine("apart")
    (apart.root / "Crab.md").write_text("I am another.\n")  # else both begin with the same commit
    apart.remember("Tea", "hot", "With milk.")
    said = crab(apart.root, "sync", status=1).stderr
    assert "has 1 fact, the newest change by person on" in said and "nothing in common with the memory in" in said
    assert said.endswith("nothing was taken in; give --join if it is yours\n")
    crab(apart.root, "sync", "--join")
    assert {entry.name for entry in apart.entries()} == {"Luna", "Tea"}


def test_a_memory_that_nobody_wrote_to_is_joined_unasked(two: tuple[Memory, Memory], machine: Machine) -> None:
    fresh = machine("fresh")
    time.sleep(1.1)  # else its first commit is the same as theirs
    fresh.init()
    assert synced(fresh).taken == ("memory/entries/luna.md",)


def test_what_waits_to_be_decided_waits_on_each_machine(disputing: tuple[Memory, Memory]) -> None:
    one, other = disputing
    [here], [there] = proposals(one), proposals(other)
    assert here == there
    assert one.get("Luna").content == other.get("Luna").content
    assert {*one.get("Luna").content.split(), *(here.text or "").split()} >= {"Eleven", "Twelve"}


@pytest.mark.parametrize("decide", [apply_proposal, reject_proposal])
def test_what_was_decided_on_one_machine_waits_on_no_other(
    disputing: tuple[Memory, Memory], decide: Callable[[Memory, str], object], machine: Machine
) -> None:
    one, other = disputing
    third = machine("third")
    synced(third)
    decide(one, proposals(one)[0].id)
    for memory in (one, other, third, one, other):
        synced(memory)
        assert not proposals(memory)
        assert memory.get("Luna").content == one.get("Luna").content


@pytest.mark.parametrize("decide", [apply_proposal, reject_proposal])
def test_a_sync_moves_references_only_while_nobody_writes(
    disputing: tuple[Memory, Memory], decide: Callable[[Memory, str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write of another process took their locks for what a crash had left, and a sync that had pushed failed."""
    one, other = disputing
    decide(one, proposals(one)[0].id)
    one.remember("Secret", "to be purged", "The word is mellon.")
    synced(one)
    one.purge(text="mellon")
    synced(one)
    other.remember("Tea", "hot", "With milk.")
    folder, moved = str(other.root), set[str]()

    def look(operation: str, path: str) -> None:
        if operation == "link" and path.startswith(f"{folder}/") and path.endswith(".lock"):
            with suppress(Busy), WriterLock(other.root / ".git/crabmem" / LOCK).held(0):
                moved.add("while others may write")
            moved.add(path.removeprefix(f"{folder}/.git/").removesuffix(".lock"))

    monkeypatch.setattr(fs, "before", look)
    synced(other)
    assert moved >= {"refs/heads/main", "refs/remotes/origin/main", PURGED}
    assert any(each.startswith(ASIDE) for each in moved) and "while others may write" not in moved


def test_an_agent_may_not_sync(two: tuple[Memory, Memory]) -> None:
    with Memory(two[0].root, agent="a") as agent, pytest.raises(Disabled, match="a person syncs, and no agent"):
        sync(agent)


def test_an_origin_that_came_with_a_folder_is_not_followed(two: tuple[Memory, Memory], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", str(two[0].root), str(copy))
    with Memory(copy, is_person=True) as memory:
        with pytest.raises(NotFound, match="came with the folder and is not followed"):
            sync(memory)
        assert state(memory).remote is None


def test_a_remote_that_went_back_stops_it(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    synced(one)
    synced(other)
    git(hub, "update-ref", "refs/heads/main", "main~1")
    with pytest.raises(SyncError, match="went back"):
        sync(one)
    assert one.get("Tea")
    assert "went back" in state(one).error
    assert state(one).failing_since


def test_a_remote_without_the_branch_that_it_had_stops_it(two: tuple[Memory, Memory], hub: Path) -> None:
    git(hub, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(SyncError, match="has no branch main any more"):
        sync(two[0])


def test_a_bundle_that_was_synced_with_and_is_gone_is_asked_for_by_its_disk(tmp_path: Path) -> None:
    bundle = tmp_path / "stick.bundle"
    with Memory(tmp_path / "one", is_person=True) as memory:
        memory.remember("Tea", "hot", "With milk.")
        name_remote(memory, str(bundle), "/")
        synced(memory)
        bundle.unlink()
        for ask in (sync, upcoming):
            with pytest.raises(SyncError, match=r"there is no file .*stick\.bundle any more \(is the disk there\?\)"):
                ask(memory)
        assert not bundle.exists()


def test_a_dry_run_refuses_what_a_sync_refuses(two: tuple[Memory, Memory], hub: Path) -> None:
    two[0].remember("Tea", "hot", "With milk.")
    assert len(upcoming(two[0]).go) == 1
    git(hub, "update-ref", "refs/heads/main", "main~1")
    with pytest.raises(SyncError, match="went back"):
        upcoming(two[0])
    git(hub, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(SyncError, match="has no branch main any more"):
        upcoming(two[0])


@pytest.mark.parametrize("below", ["", ".git"])
def test_a_memory_is_not_its_own_remote(two: tuple[Memory, Memory], below: str) -> None:
    with pytest.raises(InvalidArguments, match="is this memory itself"):
        name_remote(two[0], str(two[0].root / below), "/")


def test_a_damaged_remote_is_told_from_the_memory_here(two: tuple[Memory, Memory], hub: Path) -> None:
    (hub / "HEAD").write_text("garbage\n")
    with pytest.raises(Untrusted, match=f"the remote {hub} is damaged: `HEAD` does not hold the id of a commit"):
        sync(two[0])


def test_no_credential_is_pushed_that_a_person_committed(two: tuple[Memory, Memory], hub: Path) -> None:
    one = two[0]
    file = one.root / "memory" / "entries" / "luna.md"
    file.write_text(file.read_text() + "The key is ghp_" + "a1B2c3D4e5" * 4 + "\n")
    before = git(hub, "rev-parse", "main")
    with pytest.raises(HoldsSecret, match="nothing was pushed"):
        sync(one)
    assert git(hub, "rev-parse", "main") == before


def test_a_link_where_memory_is_is_not_taken_in(two: tuple[Memory, Memory], hub: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(hub), str(work))
    os.symlink("/etc/passwd", work / "memory" / "entries" / "x.md")
    git(work, "add", "-A")
    git(work, "-c", "user.name=m", "-c", "user.email=m@example.org", "commit", "-qm", "a link")
    git(work, "push", "-q")
    with pytest.raises(SyncError, match=r"no plain file where memory is: memory/entries/x\.md"):
        sync(two[0])


def test_a_link_in_place_of_the_folder_of_memory_is_not_taken_in(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path
) -> None:
    blob = git(hub, "rev-parse", "main:Crab.md").strip()
    (tmp_path / "rows").write_text(f"100644 blob {blob}\tCrab.md\n120000 blob {blob}\tmemory\n")
    with (tmp_path / "rows").open() as rows:
        tree = subprocess.run(["git", "-C", hub, "mktree"], stdin=rows, capture_output=True, text=True, check=True)
    who = ("-c", "user.name=m", "-c", "user.email=m@example.org")
    commit = git(hub, *who, "commit-tree", tree.stdout.strip(), "-p", "main", "-m", "a link").strip()
    git(hub, "update-ref", "refs/heads/main", commit)
    with pytest.raises(SyncError, match="no plain file where memory is: memory;"):
        sync(two[0])


@pytest.mark.parametrize("what", ["main:Crab.md", "main^{tree}"])
def test_what_is_no_commit_does_not_wait_whatever_the_remote_calls_it(
    two: tuple[Memory, Memory], hub: Path, what: str
) -> None:
    oid = git(hub, "rev-parse", what).strip()
    git(hub, "update-ref", f"refs/crabmem/proposals/{oid}", oid)
    with suppress(SyncError):  # a folder's objects are read by us, and others' by Git
        synced(two[0])
    two[0].engine.history.aside.keep(oid)
    assert not proposals(two[0])


def test_a_disk_that_refuses_is_said_and_that_no_account_can_be_kept_is_no_failure(
    two: tuple[Memory, Memory], hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = two[0]
    one.remember("Tea", "hot", "With milk.")
    with monkeypatch.context() as patch:
        patch.setattr(fs, "before", Refusing(where=lambda _, path: "refs/remotes" in path))
        with pytest.raises(Unwritable, match="no space left"):
            synced(one)
        patch.setattr(fs, "before", Refusing(where=lambda _, path: "sync.json" in path))
        assert synced(one).sent == 0
    assert git(hub, "rev-parse", "main") == git(one.root, "rev-parse", "main")
    assert "no space left" in state(one).error
    synced(one)
    assert not state(one).error


def test_the_state_says_what_is_not_there_yet(two: tuple[Memory, Memory]) -> None:
    one = two[0]
    assert (state(one).ahead, state(one).behind, bool(state(one).succeeded)) == (0, 0, True)
    one.remember("Tea", "hot", "With milk.")
    assert state(one).ahead == 1
    synced(one)
    assert state(one).ahead == 0


def test_a_remote_that_is_not_there_is_said_and_remembered(two: tuple[Memory, Memory], hub: Path) -> None:
    hub.rename(hub.with_name("elsewhere.git"))
    for _ in range(2):
        with pytest.raises(CrabmemError):
            sync(two[0])
    assert state(two[0]).error
    hub.with_name("elsewhere.git").rename(hub)
    synced(two[0])
    assert not state(two[0]).error


def test_undo_takes_back_the_newest_change_of_either_machine_and_no_sync(two: tuple[Memory, Memory]) -> None:
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    other.remember("Key", "where", "In the vault.")
    synced(one)
    assert synced(other).is_joined
    assert {entry.name for entry in other.entries()} == {"Luna", "Tea", "Key"}
    undone = [(other.undo().operation or pytest.fail("nothing")).subject for _ in range(3)]
    assert sorted(undone[:2]) == ["remember: Key", "remember: Tea"]
    assert not other.entries()


def test_proposals_of_a_remote_without_a_branch_are_taken_in_whole(
    disputing: tuple[Memory, Memory], hub: Path, machine: Machine
) -> None:
    git(hub, "update-ref", "-d", "refs/heads/main")
    third = machine("third")
    third.remember("Tea", "hot", "With milk.")
    synced(third)
    assert [each.path for each in proposals(third)] == ["memory/entries/luna.md"]
    assert not git(third.root, "fsck", "--strict", "--no-dangling")


BROKEN = [
    "[review\nwait = everything\n",
    'secrets = "perhaps"\n',
    b"\xff\xfe",
    "[review]\nexpire = 9\n".encode("utf-16"),
    "a" + ".a" * 20_000 + " = 1\n",
    "# " + "much " * 40_000,
]


@pytest.mark.parametrize("is_new", [False, True], ids=["a machine that has synced", "a new machine"])
@pytest.mark.parametrize("said", BROKEN, ids=["no TOML", "no such value", "no text", "UTF-16", "dots", "200 kB"])
def test_settings_that_cannot_be_read_wait_and_memory_goes_on(
    two: tuple[Memory, Memory], machine: Machine, hub: Path, said: str | bytes, is_new: bool
) -> None:
    one, other = two
    (one.root / "crabmem.toml").write_bytes(said if isinstance(said, bytes) else said.encode())
    git(one.root, "add", "crabmem.toml")
    git(one.root, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "by hand")
    git(one.root, "push", "-q", "origin", "main")
    third = machine("third") if is_new else other
    assert synced(third).disputed == ("crabmem.toml",)
    third.for_actor("bot", "s-1").remember("Tea", "a drink", "Green.")
    assert third.recall("green") and not (third.root / "crabmem.toml").exists()
    (waiting,) = proposals(third)
    assert "cannot be read" in waiting.reason
    with pytest.raises(CrabmemError, match=r"crabmem\.toml.* nothing was applied"):
        apply_proposal(third, waiting.id)
    assert synced(third).sent
    (one.root / "crabmem.toml").write_text('secrets = "warn"\n')
    synced(one)
    assert synced(third).disputed == ()
    assert (third.root / "crabmem.toml").read_text() == 'secrets = "warn"\n'


@pytest.mark.parametrize("has_settings", [False, True])
def test_a_folder_in_the_place_of_the_settings_gets_another_name(
    two: tuple[Memory, Memory], hub: Path, has_settings: bool
) -> None:
    one, other = two
    if has_settings:
        (other.root / "crabmem.toml").write_text('secrets = "warn"\n')
        other.adopt()
    (one.root / "crabmem.toml").mkdir()
    (one.root / "crabmem.toml/x.md").write_text("Nothing is lost.\n")
    (one.root / "crabmem.toml/link").symlink_to("x.md")
    git(one.root, "add", "crabmem.toml")
    git(one.root, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "by hand")
    git(one.root, "push", "-q", "origin", "main")
    said = crabs(other.root, "sync")
    (moved,) = other.root.glob("crabmem-*.toml/x.md")
    assert f"under another name, as theirs is taken or too long: {moved.relative_to(other.root)}" in said
    assert moved.read_text() == "Nothing is lost.\n"
    other.for_actor("bot", "s-1").remember("Tea", "a drink", "Green.")
    assert other.recall("green") and (other.root / "crabmem.toml").is_file() == has_settings
    assert "crabmem.toml/" not in git(hub, "ls-tree", "-r", "--name-only", "main").replace(moved.parent.name, "")


def test_of_settings_that_cannot_be_joined_one_stands_and_the_other_waits(two: tuple[Memory, Memory]) -> None:
    one, other = two
    (one.root / "crabmem.toml").write_text('secrets = "warn"\n')
    synced(one)
    synced(other)
    for memory, days in zip(two, (9, 12), strict=True):  # both lines are added at one place: a key that is there twice
        (memory.root / "crabmem.toml").write_text(f'secrets = "warn"\n\n[review]\nexpire = {days}\n')
        memory.adopt()
    synced(one)
    assert synced(other).disputed == ("crabmem.toml",)
    synced(one)
    assert one.recall("cat") and other.recall("cat")
    assert (one.root / "crabmem.toml").read_text() == (other.root / "crabmem.toml").read_text()
