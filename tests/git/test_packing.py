"""Loose objects are packed with deltas: small, in packs that Git likes, whatever a person's Git does meanwhile."""

import errno
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Unwritable
from crabmem.disk import fs
from crabmem.git import compaction, packing
from crabmem.git.commits import Note, identity
from crabmem.git.history import History
from crabmem.git.objects import Objects, oid_of
from crabmem.git.packing import Packed
from crabmem.git.packs import DEEPEST, Growing, ids
from crabmem.git.store import check_pack
from crabmem.text.hashes import blob_id
from crabmem.workspace.workspace import Workspace
from tests.conftest import git
from tests.examples import examples
from tests.faults.repository import ANN, complaints
from tests.git.conftest import opened

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
COLLECTING = (
    ("gc", "-q"),
    ("gc", "-q", "--prune=now"),
    ("repack", "-adfq"),
    ("repack", "-dq"),
    ("prune-packed", "-q"),
    ("multi-pack-index", "write"),
)


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fs.durability(False):
        yield


def write(history: History, changes: Mapping[str, bytes | None], when: datetime = NOON) -> str | None:
    """One write, as a writer does it."""
    with history.writing():
        blobs = {path: None if data is None else history.recording.put(data) for path, data in changes.items()}
        return history.recording.record(blobs, Note("remember: it", identity("coder")), when)


def written(history: History, count: int, first: int = 0) -> None:
    """So many writes: new entries, and others that grow."""
    for number in range(first, first + count):
        path = f"memory/entries/fact-{number if number % 5 < 3 else number % 7}.md"
        write(history, {path: f"fact {number}\n".encode() * (number % 40 + 2)}, NOON + timedelta(minutes=number))


def packs(root: Path) -> list[str]:
    return sorted(file.stem for file in (root / ".git/objects/pack").glob("*.pack"))


def loose(root: Path) -> int:
    return int(git(root, "count-objects").split()[0])


def everything(root: Path) -> set[str]:
    return set(git(root, "rev-list", "--objects", "--all").splitlines())


def longest_chain(root: Path) -> int:
    files = [str(file) for file in (root / ".git/objects/pack").glob("*.idx")]
    told = re.findall(r"chain length = (\d+)", git(root, "verify-pack", "-v", *files)) if files else []
    return max(map(int, told), default=0)


def assert_fine(root: Path) -> None:
    """Git can read all of it, there is no chain too long, and nothing of ours was left."""
    assert complaints(root) == []
    assert longest_chain(root) <= DEEPEST
    words = ["git", "-C", str(root), "log", "-p", "--all"]
    assert subprocess.run(words, capture_output=True).returncode == 0
    assert [file.name for file in (root / ".git/objects").rglob("tmp_*")] == []
    assert not (root / ".git/crabmem/pack.coming").exists()


# Whatever is written


def by_git(root: Path, entry: str) -> None:
    """A commit of the person, with a mode or a kind of object that crabmem does not write."""
    mode, path = entry.split(" ")
    oid = git(root, "rev-parse", "HEAD:memory") if mode == "160000" else git(root, "hash-object", "-w", "pyproject")
    git(root, "read-tree", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"{mode},{oid.strip()},{path}")
    git(root, *ANN, "commit", "-q", "--allow-empty", "-m", "by hand")


PATHS = ("a.md", "memory/b.md", "memory/entries/c.md", "memory/entries/d e.md", "memory/entries/ü/f.md", "Crab.md")
TEXTS = st.one_of(st.none(), st.binary(max_size=30), st.text(max_size=600).map(str.encode))
CHANGES = st.dictionaries(st.sampled_from(PATHS), TEXTS, min_size=1, max_size=4)
BY_HAND = st.sampled_from(["100755 memory/run.sh", "120000 memory/entries/link", "100644 memory/entries/b.md"])
STEPS = st.lists(st.one_of(CHANGES, CHANGES, BY_HAND, st.just(())), min_size=1, max_size=14)


@settings(max_examples=examples(25))
@given(STEPS)
def test_any_changes_are_packed_and_read_back_the_same(steps: list[dict[str, bytes | None] | str | tuple[()]]) -> None:
    with tempfile.TemporaryDirectory() as folder, fs.durability(False):
        root = Path(folder)
        (root / "pyproject").write_text("x\n")
        history = opened(root)
        write(history, {"memory/begun.md": b"begun\n"})
        for step in steps:
            if isinstance(step, dict):
                write(history, step)
            elif isinstance(step, str):
                by_git(root, step)
            else:
                history.compact()
        before = everything(root)
        history.compact()
        assert_fine(root)
        assert everything(root) == before
        head = history.head()
        assert all(history.blob(oid) is not None for oid in history.files(head).values())
        history.close()


@settings(max_examples=examples(150))
@given(st.lists(st.tuples(st.integers(0, 40), st.binary(max_size=400)), min_size=1, max_size=60))
def test_any_objects_and_bases_make_a_pack_that_git_accepts(given_: list[tuple[int, bytes]]) -> None:
    growing, held = Growing(), [("", b"")]
    for back, data in given_:
        oid = oid_of("blob", data)
        if oid in growing:
            continue
        base = held[max(0, len(held) - 1 - back)]
        growing.add(oid, "blob", data, base if base[0] else None)
        held.append((oid, data))
    with tempfile.TemporaryDirectory() as folder:
        name, pack, index = growing.finish()
        files = Path(folder, f"{name}.pack"), Path(folder, f"{name}.idx")
        for file, data in zip(files, (pack, index), strict=True):
            file.write_bytes(data)
        check_pack(*files, [oid for oid, _ in held[1:]])
        assert ids(files[1]) == {oid for oid, _ in held[1:]}
        again = Growing()
        again.copy(pack, files[1])
        assert again.finish() == (name, pack, index)


# How much is left


def test_version_is_few_deltas_away_from_a_whole_one_and_few_are_whole() -> None:
    chain, depth, whole = compaction.Chain.first("0"), {"0": 0}, 1
    for number in range(1, 20_000):
        deltas = depth[chain.base] + 1
        chain = chain.plus(str(number)) if deltas <= DEEPEST else compaction.Chain.first(str(number))
        depth[str(number)] = deltas if deltas <= DEEPEST else 0
        whole += deltas > DEEPEST
    assert max(depth.values()) <= DEEPEST
    assert whole < 6


def test_chains_in_a_pack_are_what_git_allows(history: History, tmp_path: Path) -> None:
    for part in range(3):
        written(history, 60, part * 60)
        history.compact()
        write(history, {"memory/MEMORY.md": b"line\n" * part})
    assert_fine(tmp_path)
    assert longest_chain(tmp_path) > 10
    assert len(packs(tmp_path)) == 1


def test_growth_is_not_a_multiple_of_what_was_written(history: History, tmp_path: Path) -> None:
    """A thousandth of what it is with loose objects; the real figures are measured with ten thousand entries."""
    texts = {f"memory/entries/fact-{number}.md": os.urandom(350).hex().encode() for number in range(500)}
    write(history, texts)
    write(history, {"a.md": b"1"})
    history.compact()
    before, length = size(tmp_path), 0
    for number in range(100):
        new = number % 5 < 3
        path = f"memory/entries/fact-{number + 500 if new else number}.md"
        texts[path] = os.urandom(350).hex().encode() if new else texts[path] + f"\nline {number}".encode()
        length += len(texts[path])
        write(history, {path: texts[path]})
    grown = size(tmp_path) - before
    history.compact()
    assert size(tmp_path) - before < 2.5 * length < grown / 3


def size(root: Path) -> int:
    return sum(file.lstat().st_size for file in (root / ".git").rglob("*") if file.is_file())


def test_newest_commit_stays_loose_and_the_rest_goes(history: History, tmp_path: Path) -> None:
    written(history, 10)
    done = history.compact()
    assert done and done.objects > 20 and done.before > 0 and done.after > 0
    head = history.head() or ""
    staying = [head, *git(tmp_path, "rev-parse", "HEAD^{tree}", "HEAD:memory", "HEAD:memory/entries").split()]
    staying.append(git(tmp_path, "rev-parse", "HEAD:memory/entries/fact-2.md").strip())
    assert [oid for oid in staying if not (tmp_path / ".git/objects" / oid[:2] / oid[2:]).exists()] == []
    assert loose(tmp_path) == len(staying)
    assert history.compact() is None
    assert_fine(tmp_path)


def test_what_an_older_commit_shares_with_the_newest_does_not_stay_loose_for_ever(
    history: History, tmp_path: Path
) -> None:
    for part in range(4):
        written(history, 6, part * 6)
        write(history, {"memory/MEMORY.md": b"line\n" * part})  # with the same folder of entries
        history.compact()
    written(history, 2, 30)
    history.compact()
    assert loose(tmp_path) <= 5
    assert_fine(tmp_path)


def test_what_no_reference_reaches_is_left_alone(history: History, tmp_path: Path) -> None:
    written(history, 5)
    (tmp_path / "draft.txt").write_text("a draft\n")
    git(tmp_path, "add", "draft.txt")
    staged = git(tmp_path, "rev-parse", ":draft.txt").strip()
    history.compact()
    assert (tmp_path / ".git/objects" / staged[:2] / staged[2:]).exists()


def test_what_branches_tags_and_kept_commits_reach_is_packed(history: History, tmp_path: Path) -> None:
    written(history, 4)
    git(tmp_path, *ANN, "tag", "-a", "-m", "old", "v1", "HEAD~1")
    git(tmp_path, "branch", "side", "HEAD~1")
    git(tmp_path, "update-ref", "refs/heads/main", "HEAD~2")
    written(history, 4, 10)
    before = everything(tmp_path)
    history.compact()
    assert everything(tmp_path) == before
    inside = {oid for file in (tmp_path / ".git/objects/pack").glob("*.idx") for oid in ids(file)}
    assert set(git(tmp_path, "rev-list", "--all", "^main").split()) <= inside
    assert_fine(tmp_path)


def test_commits_behind_a_pull_are_found(history: History, tmp_path: Path) -> None:
    written(history, 6)
    git(tmp_path, "reset", "-q", "--hard")
    git(tmp_path, *ANN, "commit", "-q", "--allow-empty", "-m", "from elsewhere")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    words = ["git", "-C", str(tmp_path), "pack-objects", "-q", str(tmp_path / ".git/objects/pack/pack")]
    subprocess.run(words, input=f"{head}\n".encode(), capture_output=True, check=True)
    git(tmp_path, "prune-packed")
    git(tmp_path, "update-ref", "refs/crabmem/keep", head)
    history.compact()
    assert loose(tmp_path) <= 5
    assert_fine(tmp_path)


def test_large_file_of_a_person_stays_as_it_is(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "TOO_LARGE", 5_000)
    data = os.urandom(6_000)
    write(history, {"photo.md": data})
    written(history, 2)
    history.compact()
    oid = git(tmp_path, "rev-parse", "HEAD:photo.md").strip()
    assert (tmp_path / ".git/objects" / oid[:2] / oid[2:]).exists()
    assert_fine(tmp_path)


# One pack that grows


def test_our_pack_grows_and_replaces_itself(history: History, tmp_path: Path) -> None:
    written(history, 10)
    history.compact()
    [first] = packs(tmp_path)
    body = (tmp_path / f".git/objects/pack/{first}.pack").read_bytes()[12:-20]
    written(history, 10, 10)
    history.compact()
    [second] = packs(tmp_path)
    assert (tmp_path / f".git/objects/pack/{second}.pack").read_bytes()[12:].startswith(body)


def test_another_pack_is_begun_when_ours_is_large(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "LARGEST", 2_000)
    monkeypatch.setattr(compaction, "MOST_ADDED", 3_000)
    written(history, 40)
    history.compact()
    written(history, 40, 40)
    history.compact()
    assert len(packs(tmp_path)) > 2
    assert_fine(tmp_path)


@pytest.mark.parametrize("kind", ["keep", "garbage", "unknown", "empty"])
def test_pack_that_is_kept_or_not_known_is_not_replaced(history: History, tmp_path: Path, kind: str) -> None:
    written(history, 10)
    history.compact()
    [first] = packs(tmp_path)
    note = tmp_path / ".git/crabmem/pack"
    if kind == "keep":
        (tmp_path / f".git/objects/pack/{first}.keep").touch()
    else:
        note.write_text(
            {"garbage": "{", "unknown": '{"pack": "../x", "before": null, "chains": {}}', "empty": ""}[kind]
        )
    written(history, 10, 10)
    history.compact()
    assert first in packs(tmp_path) and len(packs(tmp_path)) == 2
    assert_fine(tmp_path)


@pytest.mark.parametrize("part", ["pack", "idx"])
@pytest.mark.parametrize("how", ["cut", "altered", "empty"])
def test_broken_pack_is_not_copied_and_stays_for_the_doctor(
    history: History, tmp_path: Path, part: str, how: str
) -> None:
    written(history, 10)
    history.compact()
    [first] = packs(tmp_path)
    file = tmp_path / f".git/objects/pack/{first}.{part}"
    data = file.read_bytes()
    file.chmod(0o600)
    broken = {"cut": data[:-30], "altered": data[:100] + bytes([data[100] ^ 1]) + data[101:], "empty": b""}[how]
    file.write_bytes(broken)
    history.close()
    written(history, 10, 10)
    assert history.compact()
    assert file.read_bytes() == broken
    assert len(packs(tmp_path)) == 2
    file.write_bytes(data)
    assert_fine(tmp_path)


def test_damaged_commit_is_left_out(history: History, tmp_path: Path) -> None:
    written(history, 6)
    tree = git(tmp_path, "rev-parse", "HEAD~2:memory/entries").strip()
    file = tmp_path / ".git/objects" / tree[:2] / tree[2:]
    file.chmod(0o600)
    data, _ = file.read_bytes(), file.write_bytes(b"garbage")
    assert history.compact()
    assert loose(tmp_path) > 5
    file.write_bytes(data)
    history.compact()
    assert_fine(tmp_path)


# A person's Git


@pytest.mark.parametrize("words", COLLECTING, ids=" ".join)
def test_person_collects_before_and_after(history: History, tmp_path: Path, words: tuple[str, ...]) -> None:
    reader = opened(tmp_path)
    for part in range(4):
        written(history, 8, part * 8)
        if part % 2:
            git(tmp_path, *words)
        assert [commit.commit for commit in reader.commits()] == git(tmp_path, "rev-list", "HEAD").split()
        history.compact()
        assert_fine(tmp_path)
        assert [commit.commit for commit in reader.commits()] == git(tmp_path, "rev-list", "HEAD").split()
        git(tmp_path, *words)
    assert_fine(tmp_path)
    reader.close()


@pytest.mark.parametrize("words", COLLECTING, ids=" ".join)
@pytest.mark.parametrize("call", ["rename", "create", "unlink", "fsync"])
def test_person_collects_in_the_middle(
    history: History, tmp_path: Path, words: tuple[str, ...], call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's command runs to its end at every call of one kind that a compaction makes, one after the other."""
    written(history, 6)
    history.compact()
    for at in range(1, 7):
        written(history, 3, at * 10)
        before = everything(tmp_path)
        calls = iter(range(1, 10_000))

        def collect(operation: str, path: str, at: int = at, calls: Iterator[int] = calls) -> None:
            if operation == call and next(calls) == at:
                git(tmp_path, *words)

        monkeypatch.setattr(fs, "before", collect)
        with suppress(Unwritable):  # its temporary file was taken
            history.compact()
        monkeypatch.undo()
        assert everything(tmp_path) == before
        history.compact()
        assert_fine(tmp_path)


def test_shallow_clone_is_packed(history: History, tmp_path: Path) -> None:
    written(history, 6)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{tmp_path}", str(clone))
    other = History(Workspace(clone))
    other.ownership.claim()
    written(other, 6, 20)
    assert other.compact()
    assert_fine(clone)
    other.close()


def test_nothing_is_done_while_git_collects(history: History, tmp_path: Path) -> None:
    written(history, 4)
    mark = tmp_path / ".git/gc.pid"
    mark.write_text(f"{os.getpid()} {os.uname().nodename}")
    assert history.compact() is None
    mark.unlink()
    with history.writing():
        assert history.compact()  # a writer of ours holds the same mark


# Others at the same time


def test_only_one_compacts(history: History, tmp_path: Path) -> None:
    written(history, 4)
    other, found = opened(tmp_path), []
    assert history.compact(lambda done: found.append(other.compact()))
    assert found and set(found) == {None}
    other.close()


def test_work_that_is_broken_off_leaves_all_as_it_was(history: History, tmp_path: Path) -> None:
    written(history, 4)

    def stop(done: int) -> None:
        raise InterruptedError("enough")

    before = loose(tmp_path)
    with pytest.raises(Unwritable):
        history.compact(stop)
    assert loose(tmp_path) == before
    assert history.compact()
    assert_fine(tmp_path)


def test_writers_and_readers_go_on_meanwhile(history: History, tmp_path: Path) -> None:
    written(history, 60)
    stop, failed = threading.Event(), []

    def reads(other: History) -> None:
        assert len(list(other.commits())) >= 60

    def goes_on(work: Callable[[History], object]) -> None:
        other = opened(tmp_path)
        try:
            while not stop.is_set():
                work(other)
        except Exception as error:
            failed.append(error)
        finally:
            other.close()

    threads = [threading.Thread(target=goes_on, args=[work]) for work in (History.compact, reads)]
    for thread in threads:
        thread.start()
    written(history, 100, 60)
    write(history, {"memory/entries/fact-3.md": None})
    stop.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(list(history.commits())) == 161
    assert_fine(tmp_path)


def test_object_that_goes_while_a_writer_relies_on_it_is_in_the_pack(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer takes back what it wrote: each of its objects is there, and goes the moment after."""
    for text in (b"one\n", b"two\n", b"one\n", b"three\n"):
        write(history, {"a.md": text})
    other, waiting = opened(tmp_path), [True]

    def compact(operation: str, path: str) -> None:
        if operation == "touch" and waiting:
            waiting.clear()
            assert other.compact()

    monkeypatch.setattr(fs, "before", compact)
    commit = write(history, {"a.md": b"one\n"})
    assert commit and not waiting
    assert git(tmp_path, "show", "HEAD:a.md") == "one\n"
    assert_fine(tmp_path)
    other.close()


def test_nothing_is_left_loose_when_all_is_to_be_packed(history: History, tmp_path: Path) -> None:
    written(history, 3)
    assert history.compact(whole=True)
    assert git(tmp_path, "count-objects").startswith("0 objects")
    write(history, {"a.md": b"later\n"})
    assert git(tmp_path, "show", "HEAD:a.md") == "later\n"
    assert_fine(tmp_path)


def test_object_that_is_packed_between_two_looks_is_found(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(history, {"a.md": b"one\n"})
    oid = git(tmp_path, "rev-parse", "HEAD:a.md").strip()
    written(history, 3)
    other, waiting, real = opened(tmp_path), [True], Objects._loose

    def compact(objects: Objects, oid: str) -> tuple[str, bytes] | None:
        if waiting:
            waiting.clear()
            assert other.compact()
        return real(objects, oid)

    monkeypatch.setattr(Objects, "_loose", compact)
    assert history.blob(oid) == b"one\n" and not waiting
    assert not (tmp_path / ".git/objects" / oid[:2] / oid[2:]).exists()
    other.close()


# Leftovers


@pytest.mark.parametrize("moment", ["create", "hint", "open", "rename", "unlink"])
def test_what_a_crash_left_is_cleared_up(history: History, tmp_path: Path, moment: str) -> None:
    """A process ends itself at each call of a kind; the next compaction finishes or takes back."""
    for at in range(1, 40):
        written(history, 4, at * 10)
        before = everything(tmp_path)
        if ended_at(tmp_path, moment, at) == 0:
            break
        assert complaints(tmp_path) == []
        assert everything(tmp_path) == before
        history.compact()
        assert_fine(tmp_path)
        assert len(packs(tmp_path)) == 1
        assert loose(tmp_path) <= 5
        if moment == "unlink" and at > 12:
            break
    assert at > 1


def ended_at(root: Path, moment: str, at: int) -> int:
    """Compact in a child that ends at the call number `at` of its kind; its exit code."""
    child = os.fork()
    if not child:
        calls = iter(range(1, 10_000))
        fs.before = lambda operation, path: os._exit(9) if operation == moment and next(calls) == at else None
        code = 1
        try:
            opened(root).compact()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# When


def test_it_is_due_by_bytes_or_objects_and_not_after_it_was_done(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not history.is_compaction_due()
    written(history, 10)
    monkeypatch.setattr(packing, "MOST_OBJECTS", 20)
    assert history.is_compaction_due()
    history.compact()
    assert not history.is_compaction_due()
    monkeypatch.setattr(packing, "MOST_BYTES", 500)
    written(history, 4, 20)
    assert history.is_compaction_due()


@pytest.mark.parametrize("lose", [Path.unlink, lambda file: file.write_text("1 x\n\n7")])
def test_count_that_was_lost_is_no_harm(
    history: History, tmp_path: Path, lose: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(history, 10)
    lose(tmp_path / ".git/crabmem/loose")
    written(history, 10, 10)
    monkeypatch.setattr(packing, "MOST_OBJECTS", 20)
    assert history.is_compaction_due()


def test_disk_that_cannot_be_read_makes_nothing_due(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(history, 2)
    (tmp_path / ".git/crabmem/loose").unlink()

    def refuse(operation: str, path: str) -> None:
        raise OSError(errno.EROFS, "read-only", path)

    monkeypatch.setattr(fs, "before", refuse)
    assert not history.is_compaction_due()


def test_nothing_to_do_in_a_folder_without_history(tmp_path: Path) -> None:
    history = History(Workspace(tmp_path))
    assert history.compact() is None
    assert not history.is_compaction_due()
    assert Packed(1, 2, 3) + Packed(1, 2, 3) == Packed(2, 4, 6)


# What is stored ahead of a write


def test_many_texts_that_are_stored_ahead_are_one_pack_and_few_are_none(history: History, tmp_path: Path) -> None:
    history.ownership.prepare()
    few, many = [b"few %d" % number for number in range(9)], [b"many %d" % number for number in range(60)]
    assert [*history.recording.put_ahead(few)] == few and not packs(tmp_path)
    assert [*history.recording.put_ahead([*many, *many])] == [*many, *many]
    assert len(packs(tmp_path)) == 1 and all(history.has(blob_id(text)) for text in many)
    write(history, {f"memory/entries/{number}.md": text for number, text in enumerate([*few, *many])})
    assert all(history.has(blob_id(text)) for text in [*few, *many])
    assert loose(tmp_path) < 9 + 5
    assert_fine(tmp_path)


def test_what_a_repack_takes_between_is_stored_by_the_write(history: History, tmp_path: Path) -> None:
    history.ownership.prepare()
    texts = [b"text %d" % number for number in range(60)]
    write(history, {"memory/entries/a.md": b"first"})
    assert [*history.recording.put_ahead(texts)] == texts
    git(tmp_path, "repack", "-a", "-d", "-q")
    assert not history.has(blob_id(texts[0]))
    write(history, {f"memory/entries/{number}.md": text for number, text in enumerate(texts)})
    assert all(history.has(blob_id(text)) for text in texts)
    assert_fine(tmp_path)
