"""What commits stored is made again from the redo log, whatever of it is gone."""

import hashlib
import json
import random
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.disk import fs, redo_log, state
from crabmem.disk.redo_log import RedoLog
from crabmem.git.objects import Objects, oid_of
from crabmem.git.redo import Move, Patch, Redo, patch_of
from crabmem.git.refs import Refs
from tests.conftest import git
from tests.pace import costing_less_than

OID = "1" * 40


@given(base=st.binary(max_size=300), middle=st.binary(max_size=20), at=st.integers(0, 300), gone=st.integers(0, 30))
def test_a_patch_is_the_object_again_with_its_base(base: bytes, middle: bytes, at: int, gone: int) -> None:
    data = base[:at] + middle + base[at + gone :]
    made = patch_of("blob", OID, data, (OID, base))
    assert made.whole(base) == data and len(made.data) <= len(middle)
    assert patch_of("blob", OID, data, None).whole(b"") == data


def test_a_patch_takes_no_byte_of_its_base_twice() -> None:
    """Else a log of a few kilobytes stands for gigabytes."""
    with pytest.raises(ValueError):
        Patch("blob", OID, OID, 3, 3, b"").whole(b"four")


def test_batches_are_read_back_by_another_process(tmp_path: Path) -> None:
    redo = Redo(tmp_path / "redo")
    names = ("memory/entries/ä\udcff.md", "memory/MEMORY.md")
    first = patch_of("blob", oid_of("blob", b"one\n\n"), b"one\n\n", None)
    second = patch_of("tree", oid_of("tree", b"\0two"), b"\0two", (OID, b"\0tw0"))
    redo.add([first], None)
    redo.add([second, first], Move(OID, "refs/heads/main", None, names))
    other = Redo(tmp_path / "redo")
    assert other.batches() == redo.batches() and other.batches(1) == redo.batches()[1:]
    assert other.batches()[1] == ((second, first), Move(OID, "refs/heads/main", None, names))
    assert other.moves() == [Move(OID, "refs/heads/main", None, names)]
    assert other.patch(second.oid) == second and other.patch("2" * 40) is None
    redo.begin()
    assert other.batches() == [] and other.patch(second.oid) is None


def test_a_move_of_more_files_than_a_batch_takes_is_there_whole(tmp_path: Path) -> None:
    paths = tuple(f"memory/entries/{'topic-' * 20}{number}.md" for number in range(34_000))
    first = patch_of("blob", oid_of("blob", b"one"), b"one", None)
    Redo(tmp_path / "redo").add([first], Move(OID, "HEAD", None, paths))
    redo = Redo(tmp_path / "redo")
    assert tuple(path for move in reversed(redo.moves()) for path in move.paths) == paths
    assert redo.batches()[0].patches == (first,) and redo.patch(first.oid) == first


def test_threads_that_look_at_once_read_every_batch_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what this process appends later is behind a gap, and nobody finds it."""
    other, redo = Redo(tmp_path / "redo"), Redo(tmp_path / "redo")
    for _ in range(5):
        other.add((), Move(OID, "HEAD", None, ()))

    def slow(data: bytes, start: int = 0) -> int:
        time.sleep(0.005)
        return zlib.crc32(data, start)

    with monkeypatch.context() as patched:
        patched.setattr(redo_log, "zlib", SimpleNamespace(crc32=slow))
        threads = [threading.Thread(target=redo.patch, args=("2" * 40,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    redo.add((), Move(OID, "HEAD", None, ("ours",)))
    assert len(redo.moves()) == len(other.moves()) == 6


@pytest.mark.parametrize(
    "said",
    [
        b"", b"[]", b"{}", b"\xff", b'{"pieces": 1, "move": null}', {"pieces": [["blob", OID]]},
        {"pieces": [["blob", "../../x", None, 0, 0, 1]]}, {"pieces": [["script", OID, None, 0, 0, 1]]},
        {"pieces": [["blob", OID, None, -1, 0, 1]]}, {"pieces": [["blob", OID, "../x", 0, 0, 1]]},
        {"pieces": [], "move": [OID, "../../etc/passwd", None, []]}, {"pieces": [], "move": [OID, "HEAD", 7, []]},
        {"pieces": [], "move": ["HEAD", "HEAD", None, []]}, {"pieces": [], "move": [OID, "HEAD", None, [1]]},
        b"[" * 200_000, {"pieces": [], "move": [OID, 7, None, []]},
        {"pieces": [], "move": [OID, "HEAD", None, ["\ud800"]]},
        {"pieces": [["tree", OID, OID, 1.5, 0, 1]]}, {"pieces": [["tree", OID, OID, 0, True, 1]]},
    ],
)  # fmt: skip
def test_a_batch_that_is_none_of_ours_has_nothing_in_it(tmp_path: Path, said: bytes | dict[str, object]) -> None:
    body = said if isinstance(said, bytes) else json.dumps({"move": None} | said).encode()
    RedoLog(tmp_path / "redo").append(body + b"\nx")
    assert Redo(tmp_path / "redo").batches() == [((), None)]


def test_a_file_that_a_power_cut_emptied_is_made_again_though_a_pack_has_the_object(tmp_path: Path) -> None:
    memory = Memory(tmp_path, agent="coder")
    memory.remember("Luna", "the cat", "A cat.")
    memory.engine.history.mending.harden()
    memory.engine.history.compact()
    memory.remember("Other", "a cat", "Another cat.")
    git(tmp_path, "repack", "-q", "-a", "-d")
    blob = git(tmp_path, "rev-parse", "HEAD:memory/entries/other.md").strip()
    (file := tmp_path / ".git/objects" / blob[:2] / blob[2:]).parent.mkdir(exist_ok=True)
    file.write_bytes(b"")
    redo = Redo(tmp_path / state.FOLDER / state.REDO)
    Objects(tmp_path / ".git/objects", tmp_path / state.FOLDER / state.TEMPORARY, redo).restore(redo.batches(), True)
    assert git(tmp_path, "fsck", "--strict", "--no-dangling") == ""


def test_the_lock_of_a_reference_that_is_removed_is_gone_before_its_folder_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path, agent="coder") as memory:
        memory.remember("Luna", "the cat", "A cat.")
    refs = Refs(tmp_path / ".git", tmp_path / state.FOLDER / state.TEMPORARY)
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    refs.restore("refs/heads/other", head)
    lock, seen, sync_folder = tmp_path / ".git/refs/heads/other.lock", list[bool](), fs.sync_folder

    def look(folder: Path) -> None:
        seen.append(lock.exists())
        sync_folder(folder)

    monkeypatch.setattr(fs, "sync_folder", look)
    assert refs.remove("refs/heads/other", head)
    assert seen == [False]


def _of_pieces_without_data(git_folder: Path, batches: int = 1) -> list[bytes]:
    """Batches of thousands of objects that are not there and say nothing."""
    bodies = []
    for batch in range(batches):
        heads = [["blob", hashlib.sha1(b"%d %d" % (batch, at)).hexdigest(), None, 0, 0, 0] for at in range(29_000)]
        bodies.append(json.dumps({"pieces": heads, "move": None}).encode() + b"\n")
    return bodies


def _of_more_than_a_log_of_ours_has(git_folder: Path) -> list[bytes]:
    return _of_pieces_without_data(git_folder, 18)


def _of_pieces_of_large_numbers(git_folder: Path) -> list[bytes]:
    """Objects each of which says with thousands of digits where it differs."""
    heads = [["blob", f"{number:040x}", "1" * 40, 10**4_000, 0, 0] for number in range(900)]
    return [json.dumps({"pieces": heads, "move": None}).encode() + b"\n"]


def _of_a_chain(git_folder: Path) -> list[bytes]:
    """Many large texts, each of which differs from the one before in a byte; the first one is there."""
    base = random.Random(1).randbytes(3_900_000)
    Objects(git_folder / "objects", git_folder / "crabmem/tmp").store({oid_of("blob", base): ("blob", base)})
    bodies = []
    for number in range(60):
        data = base[:-1] + bytes([number % 256])
        found = ["blob", oid_of("blob", data), oid_of("blob", base), len(base) - 1, 0, 1]
        bodies.append(json.dumps({"pieces": [found], "move": None}).encode() + b"\n" + data[-1:])
        base = data
    return bodies


@pytest.mark.parametrize(
    "made", [_of_pieces_without_data, _of_more_than_a_log_of_ours_has, _of_pieces_of_large_numbers, _of_a_chain]
)
def test_a_log_of_somebody_else_costs_no_write_its_time(tmp_path: Path, made: Callable[[Path], list[bytes]]) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "the cat", "A cat.")
    (tmp_path / state.FOLDER / state.REDO).unlink()
    log = RedoLog(tmp_path / state.FOLDER / state.REDO)
    log.begin(b"somebody else's")
    for body in made(tmp_path / ".git"):
        log.append(body)
    copied = (file := tmp_path / state.FOLDER / state.REDO).rename(tmp_path / "copied")
    file.write_bytes(copied.read_bytes())  # another file: so it is no log of this start of the machine
    with Memory(tmp_path) as memory:
        with costing_less_than(5):
            memory.remember("Wifi", "guests", "on the router")
        assert sum(each.stat().st_size for each in (tmp_path / ".git").rglob("*")) < 100_000_000
        assert Redo(file).is_of_now() and file.stat().st_size < 500_000
        memory.remember("Luna", "the cat", "A dog.")
    assert git(tmp_path, "fsck", "--strict", "--no-dangling") == ""
