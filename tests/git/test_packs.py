"""Whether an object is in a pack is read off the index that Git itself made."""

import gc
import secrets
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import DamagedHistory
from crabmem.git.objects import Objects, remember
from crabmem.git.packs import packed_among
from crabmem.git.store import Disk
from tests import forked
from tests.conftest import git


@pytest.fixture
def packed(memory: Memory) -> Path:
    """The objects of a memory that a person has collected into a pack."""
    for number in range(30):
        memory.remember(f"Fact {number}", "d", f"{number}")
    git(memory.root, "gc", "-q", "--prune=now")
    return memory.root / ".git/objects"


def test_objects_in_a_pack_are_and_others_are_not(memory: Memory, packed: Path) -> None:
    oids = git(memory.root, "rev-list", "--objects", "--all", "--no-object-names").split()
    others = {"00" * 20, "ff" * 20, *(secrets.token_hex(20) for _ in range(200))}
    assert len(oids) > 100 and packed_among(packed, {*oids, *others}) == {*oids}


def test_index_that_is_cut_short_has_nothing(memory: Memory, packed: Path) -> None:
    oids = git(memory.root, "rev-list", "--objects", "--all", "--no-object-names").split()
    [index] = (packed / "pack").glob("*.idx")
    data = index.read_bytes()
    index.chmod(0o600)
    for length in (0, 7, 8, 500, 1032, 1100, 1032 + 28 * 100):
        index.write_bytes(data[:length])
        assert not packed_among(packed, {*oids}), length
    index.write_bytes(data)


def test_index_without_its_pack_has_nothing(memory: Memory, packed: Path) -> None:
    oid = git(memory.root, "rev-parse", "HEAD").strip()
    [pack] = (packed / "pack").glob("*.pack")
    aside = pack.rename(pack.with_suffix(".aside"))
    assert not packed_among(packed, {oid})
    aside.rename(pack)


def test_who_never_closes_a_memory_reads_no_complaints_at_the_end(memory: Memory, packed: Path) -> None:
    code = "import sys; from crabmem import Memory; memory = Memory(sys.argv[1]); print(len(memory.log()))"
    done = subprocess.run([sys.executable, "-c", code, str(memory.root)], capture_output=True, text=True, check=True)
    assert (int(done.stdout), done.stderr) == (len(memory.log()), "")


@pytest.fixture
def damaged(memory: Memory, packed: Path, tmp_path: Path) -> Path:
    """A copy of a memory whose pack has wrong bytes in each commit, and is as long as it was."""
    root = Path(shutil.copytree(memory.root, tmp_path / "damaged", symlinks=True))
    [pack] = root.glob(".git/objects/pack/*.pack")
    data = bytearray(pack.read_bytes())
    for line in git(root, "verify-pack", "-v", str(pack.with_suffix(".idx"))).splitlines():
        if " commit " in line:
            _, _, _, size, at = line.split()[:5]
            data[int(at) + 20 : int(at) + int(size)] = b"\xff" * (int(size) - 20)
    pack.chmod(0o600)
    pack.write_bytes(data)
    return root


def test_a_reader_of_a_damaged_pack_closes_while_its_errors_are_kept(
    memory: Memory, damaged: Path, tmp_path: Path
) -> None:
    """The frames of an error held a view of the pack's mapping, which then could not be closed."""
    folder = damaged / ".git/objects"
    objects, kept = Objects(folder), list[DamagedHistory]()
    for oid in git(memory.root, "rev-list", "--all").split()[:3]:
        with pytest.raises(DamagedHistory) as caught:
            objects.raw(oid)
        kept.append(caught.value)
    assert str(folder) in mappings()
    gc.disable()  # only what is let go of at once is: no chance
    try:
        objects.close()
        assert str(folder) not in mappings()
    finally:
        gc.enable()
    assert len(kept) == 3


def test_reading_a_damaged_pack_leaves_the_frames_of_what_its_caller_handles(
    memory: Memory, damaged: Path, tmp_path: Path
) -> None:
    objects, oid = Objects(damaged / ".git/objects"), git(memory.root, "rev-parse", "HEAD").strip()

    def fails(found: str) -> None:
        raise ValueError(found)

    try:
        fails("something of the caller's")
    except ValueError as error:
        with pytest.raises(DamagedHistory):
            objects.raw(oid)
        assert error.__traceback__ and error.__traceback__.tb_next
        assert error.__traceback__.tb_next.tb_frame.f_locals == {"found": "something of the caller's"}
    objects.close()


def test_a_store_closes_while_somebody_looks_at_a_pack(packed: Path, recwarn: pytest.WarningsRecorder) -> None:
    """An interrupt in the middle of reading keeps a view like this one for as long as it is on its way."""
    store = Disk(str(packed))
    [pack] = store.packs
    with memoryview(pack.data._buffer()):
        store.close()
    assert not store.packs[0]._data
    store.close()
    del pack, store
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


def mappings() -> str:
    """The files that this process has mapped."""
    return Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("verb", ["log", "doctor", "remember X -d d -c c"])
def test_no_verb_ends_in_a_traceback_over_a_damaged_pack(damaged: Path, verb: str) -> None:
    command = [*forked.COMMAND, "--dir", str(damaged), *verb.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    if verb.startswith("remember"):
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("remembered: X")


def test_many_threads_remember_at_once() -> None:
    """What an iterator over the oldest did not survive, when another thread came between."""
    known, failed = dict[int, int](), list[Exception]()

    def remembers(first: int) -> None:
        try:
            for number in range(first, first + 4_000):
                remember(known, number, number, 2)
        except Exception as error:
            failed.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=remembers, args=(first,)) for first in range(0, 80_000, 10_000)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed and len(known) <= 2
