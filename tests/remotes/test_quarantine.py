"""Of what comes in, nothing is kept before all of it was found whole."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from crabmem.disk import fs
from crabmem.disk.lock import WriterLock
from crabmem.errors import SyncError, Unreachable, Untrusted, Unwritable
from crabmem.git.objects import Objects, oid_of
from crabmem.remotes.limit import Limit
from crabmem.remotes.quarantine import Quarantine
from tests.conftest import git
from tests.refusing import Refusing, from_then, once
from tests.remotes.sides import Side, begun, is_whole, left_over, other
from tests.remotes.test_received import delta, packed, record

_COMMIT, _TREE, _BLOB, _TAG, _BY_ID = 1, 2, 3, 4, 7
_WHO = b"A <a@example.org> 1700000000 +0000"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Side]:
    side = begun(tmp_path)
    before = stored(side)
    yield side
    assert is_whole(side.root) and left_over(side.root) == []
    if side.head() == side.root.joinpath(".git/refs/heads/main").read_text().strip():
        assert before <= stored(side)


def stored(side: Side) -> set[str]:
    return set(git(side.root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def admit(side: Side, data: bytes, wants: list[str], seconds: float = 20) -> int:
    """Let a pack in, as a fetch does."""
    folder, limit = side.root / ".git", Limit("the remote", seconds)
    objects = Objects(folder / "objects", folder / "crabmem/tmp")
    with closing(objects), Quarantine(folder, folder / "crabmem", objects, limit) as quarantine:
        for at in range(0, len(data), 1_000):
            quarantine.write(data[at : at + 1_000])
        return quarantine.admit(wants, [side.head()], lambda oid: oid == side.head())


def tree(*rows: tuple[bytes, bytes, str]) -> bytes:
    return b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in rows)


def commit(tree_oid: str, *parents: str) -> bytes:
    lines = [f"tree {tree_oid}", *(f"parent {parent}" for parent in parents)]
    return "\n".join(lines).encode() + b"\nauthor " + _WHO + b"\ncommitter " + _WHO + b"\n\nit\n"


_TEXT = b"a note\n"
_NOTE = oid_of("blob", _TEXT)
_PLAIN = tree((b"100644", b"note.md", _NOTE))


def sent(tree_data: bytes, *more: bytes, parents: tuple[str, ...] = ()) -> tuple[bytes, list[str]]:
    """A pack with a commit of that tree, and what to want of it."""
    made = commit(oid_of("tree", tree_data), *parents)
    return packed(record(_COMMIT, made), record(_TREE, tree_data), *more), [oid_of("commit", made)]


def test_a_commit_on_ours_with_all_that_is_new_is_let_in(here: Side) -> None:
    data, wants = sent(_PLAIN, record(_BLOB, _TEXT), parents=(here.head(),))
    assert admit(here, data, wants) == 3
    git(here.root, "update-ref", "refs/heads/theirs", wants[0])


def test_what_is_here_already_need_not_come(here: Side) -> None:
    soul = git(here.root, "rev-parse", "HEAD:Crab.md").strip()
    data, wants = sent(tree((b"100644", b"Mine.md", soul)), parents=(here.head(),))
    assert admit(here, data, wants) == 2
    assert admit(here, data, wants) == 0  # a second time there is nothing new in it


@pytest.mark.parametrize("few", [300, 0])
def test_a_thin_pack_is_made_whole(here: Side, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("crabmem.remotes.quarantine.FEW", few)
    soul = git(here.root, "rev-parse", "HEAD:Crab.md").strip()
    with closing(Objects(here.root / ".git/objects")) as objects:
        old = objects.blob(soul)
    new = old + b"and more\n"
    change = record(_BY_ID, delta(old, new), bytes.fromhex(soul))
    data, wants = sent(tree((b"100644", b"Crab.md", oid_of("blob", new))), change, parents=(here.head(),))
    assert admit(here, data, wants) == 3
    git(here.root, "update-ref", "refs/heads/theirs", wants[0])
    assert git(here.root, "show", "theirs:Crab.md").encode() == new
    packs = [*(here.root / ".git/objects/pack").glob("*.pack")]
    assert len(packs) == (few == 0)
    for pack in packs:
        git(here.root, "verify-pack", str(pack.with_suffix(".idx")))


def test_a_thin_pack_that_stands_on_too_much_is_refused(here: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.remotes.quarantine._MOST_OUTSIDE", 10)
    with closing(Objects(here.root / ".git/objects")) as objects:
        soul = git(here.root, "rev-parse", "HEAD:Crab.md").strip()
        change = record(_BY_ID, delta(objects.blob(soul), b"x"), bytes.fromhex(soul))
    with pytest.raises(Untrusted, match="stands on more"):
        admit(here, packed(change), [here.head()])


def test_an_empty_pack_is_nothing(here: Side) -> None:
    assert admit(here, packed(), [here.head()]) == 0


@pytest.mark.parametrize(
    ("tree_data", "more"),
    [
        (_PLAIN, []),
        (tree((b"40000", b"memory", oid_of("tree", _PLAIN))), [record(_BLOB, _TEXT)]),
    ],
)
def test_what_is_missing_of_a_commit_is_named(here: Side, tree_data: bytes, more: list[bytes]) -> None:
    data, wants = sent(tree_data, *more, parents=(here.head(),))
    with pytest.raises(Untrusted, match="lacks 1 objects"):
        admit(here, data, wants)


def test_a_commit_whose_parent_is_missing_is_refused(here: Side) -> None:
    data, wants = sent(_PLAIN, record(_BLOB, _TEXT), parents=("1" * 40,))
    with pytest.raises(Untrusted, match="shallow"):
        admit(here, data, wants)


def test_a_pack_without_what_was_asked_for_is_refused(here: Side) -> None:
    data, _ = sent(_PLAIN, record(_BLOB, _TEXT))
    with pytest.raises(Untrusted, match="lacks"):
        admit(here, data, ["2" * 40])


def test_what_stands_on_an_object_here_that_nothing_reaches_is_looked_through(here: Side) -> None:
    """As a prune, or a fetch that somebody killed, leaves it."""
    raw = commit("3" * 40)
    orphan = oid_of("commit", raw)
    with closing(Objects(here.root / ".git/objects", here.root / ".git/crabmem/tmp")) as objects:
        objects.store({orphan: ("commit", raw)})
    try:
        data, wants = sent(_PLAIN, record(_BLOB, _TEXT), parents=(orphan,))
        with pytest.raises(Untrusted, match="lacks"):
            admit(here, data, wants)
    finally:
        (here.root / ".git/objects" / orphan[:2] / orphan[2:]).unlink()


@pytest.mark.parametrize(
    "rows",
    [
        [(b"100644", b".git", _NOTE)],
        [(b"40000", b".GIT", oid_of("tree", _PLAIN))],
        [(b"100644", b"git~1", _NOTE)],
        [(b"100644", b".git ", _NOTE)],
        [(b"100644", b".git::$INDEX_ALLOCATION", _NOTE)],
        [(b"100644", ".g\u200cit".encode(), _NOTE)],
        [(b"100644", b"..", _NOTE)],
        [(b"100644", b".", _NOTE)],
        [(b"100644", b"b", _NOTE), (b"100644", b"a", _NOTE)],
        [(b"100644", b"a", _NOTE), (b"100644", b"a", _NOTE)],
        [(b"100644", b"a", _NOTE), (b"40000", b"a", oid_of("tree", _PLAIN))],
        [(b"100666", b"a", _NOTE)],
        [(b"040000", b"a", oid_of("tree", _PLAIN))],
        [(b"777777", b"a", _NOTE)],
        [(b"100644", b"a/b", _NOTE)],
        [(b"100644", b"", _NOTE)],
    ],
)
def test_trees_that_git_complains_about_are_refused(here: Side, rows: list[tuple[bytes, bytes, str]]) -> None:
    data, wants = sent(tree(*rows), record(_BLOB, _TEXT), record(_TREE, _PLAIN), parents=(here.head(),))
    with pytest.raises(Untrusted, match="broken"):
        admit(here, data, wants)


def test_a_file_that_is_a_folder_is_refused(here: Side) -> None:
    data, wants = sent(tree((b"100644", b"a", oid_of("tree", _PLAIN))), record(_TREE, _PLAIN), record(_BLOB, _TEXT))
    with pytest.raises(Untrusted, match="takes"):
        admit(here, data, wants)


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense",
        b"tree x\n\n",
        commit("4" * 40).replace(b"author", b"autor"),
        commit("4" * 40)[:60],
        commit("4" * 40) + b"x" * 1_100_000,
        commit("4" * 40).replace(b"1700000000", b"17x"),
    ],
)
def test_commits_that_are_none_are_refused(here: Side, raw: bytes) -> None:
    with pytest.raises(Untrusted):
        admit(here, packed(record(_COMMIT, raw)), [oid_of("commit", raw)])


@pytest.mark.parametrize("who", [b"author", b"committer"])
def test_a_commit_of_before_1970_is_refused_as_git_does_not_know_such_times(here: Side, who: bytes) -> None:
    raw = commit(oid_of("tree", _PLAIN)).replace(who + b" " + _WHO, who + b" " + _WHO.replace(b"> ", b"> -"))
    with pytest.raises(Untrusted, match="before 1970"):
        admit(here, packed(record(_COMMIT, raw), record(_TREE, _PLAIN), record(_BLOB, _TEXT)), [oid_of("commit", raw)])


def test_a_tag_brings_what_it_is_about(here: Side) -> None:
    raw = b"object %s\ntype commit\ntag v1\ntagger %s\n\nit\n" % (here.head().encode(), _WHO)
    assert admit(here, packed(record(_TAG, raw)), [oid_of("tag", raw)]) == 1
    git(here.root, "update-ref", "refs/tags/v1", oid_of("tag", raw))
    raw = raw.replace(here.head().encode(), b"5" * 40)
    with pytest.raises(Untrusted):
        admit(here, packed(record(_TAG, raw)), [oid_of("tag", raw)])


def test_an_object_that_comes_twice_is_refused(here: Side) -> None:
    with pytest.raises(Untrusted, match="twice"):
        admit(here, packed(record(_BLOB, _TEXT), record(_BLOB, _TEXT)), [_NOTE])


def test_a_remote_that_sends_nothing_is_said_so(here: Side) -> None:
    with pytest.raises(Untrusted, match="sent nothing"):
        admit(here, b"", [_NOTE])


@pytest.mark.parametrize("data", [b"PACK", b"<html>", packed()[:-1], packed(record(_BLOB, b"x"))[:-4]])
def test_what_is_no_pack_is_refused(here: Side, data: bytes) -> None:
    with pytest.raises(Untrusted, match="broken"):
        admit(here, data, [_NOTE])


def test_time_that_is_over_ends_the_check(here: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    data, wants = sent(_PLAIN, record(_BLOB, _TEXT))
    folder, limit = here.root / ".git", Limit("the remote", 20)
    objects = Objects(folder / "objects", folder / "crabmem/tmp")
    with closing(objects), Quarantine(folder, folder / "crabmem", objects, limit) as quarantine:
        quarantine.write(data)
        monkeypatch.setattr(limit, "_end", time.monotonic() - 1)
        with pytest.raises(Unreachable):
            quarantine.admit(wants, [], lambda oid: False)


def test_who_writes_meanwhile_is_waited_for(here: Side) -> None:
    data, wants = sent(_PLAIN, record(_BLOB, _TEXT), parents=(here.head(),))
    held, done = threading.Event(), list[int]()

    def write() -> None:
        with WriterLock(here.root / ".git/crabmem/lock").held(5):
            held.set()
            time.sleep(0.3)
            done.append(len(stored(here) & set(wants)))

    thread = threading.Thread(target=write)
    thread.start()
    held.wait()
    assert admit(here, data, wants) == 3
    thread.join()
    assert done == [0]


def test_what_a_crash_left_of_a_fetch_is_cleared_away_after_a_day(here: Side) -> None:
    private = here.root / ".git/crabmem/tmp"
    old, new = private / "fetch-0123", private / "fetch-4567"
    for file in (old, new):
        file.write_bytes(b"PACK")
    os.utime(old, (1, 1))
    data, wants = sent(_PLAIN, record(_BLOB, _TEXT), parents=(here.head(),))
    admit(here, data, wants)
    assert not old.exists() and new.exists()
    new.unlink()


@pytest.mark.parametrize("refused", [once, from_then])
def test_a_disk_that_refuses_at_any_step_leaves_nothing_broken(
    here: Side, monkeypatch: pytest.MonkeyPatch, refused: Callable[[int], Callable[[int], bool]]
) -> None:
    here.remember(70)
    here.push()
    steps = list[str]()
    monkeypatch.setattr(fs, "before", lambda operation, path: steps.append(operation))
    there = other(here, "first")
    there.fetch()
    monkeypatch.undo()
    for number in range(0, len(steps), max(1, len(steps) // 8)):
        there = other(here, f"machine {number}")
        with monkeypatch.context() as patch:
            patch.setattr(fs, "before", Refusing(refused(number + 1)))
            with suppress(SyncError, Unwritable):
                there.fetch()
        assert subprocess.run(["git", "fsck"], cwd=there.root, capture_output=True, check=False).returncode == 0
        there.take()
        assert is_whole(there.root) and (refused is from_then or left_over(there.root) == [])


def test_a_writer_lets_a_fetch_be_that_is_under_way(here: Side) -> None:
    under_way = here.root / ".git/crabmem/tmp/fetch-89ab"
    under_way.write_bytes(b"PACK")
    here.remember()
    assert under_way.exists() and not (here.root / ".git/crabmem/recovered").exists()
    under_way.unlink()
