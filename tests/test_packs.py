"""Whether an object is in a pack is read off the index that Git itself made."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.history.packs import is_packed
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
    assert len(oids) > 100 and all(is_packed(packed, oid) for oid in oids)
    assert not any(is_packed(packed, secrets.token_hex(20)) for _ in range(200))
    assert not is_packed(packed, "00" * 20) and not is_packed(packed, "ff" * 20)


@pytest.mark.parametrize("length", [0, 7, 8, 500, 1032, 1100])
def test_index_that_is_cut_short_has_nothing(memory: Memory, packed: Path, length: int) -> None:
    oid = git(memory.root, "rev-parse", "HEAD").strip()
    [index] = (packed / "pack").glob("*.idx")
    data = index.read_bytes()
    index.chmod(0o600)
    index.write_bytes(data[:length])
    assert not is_packed(packed, oid)
    index.write_bytes(data)


def test_index_without_its_pack_has_nothing(memory: Memory, packed: Path) -> None:
    oid = git(memory.root, "rev-parse", "HEAD").strip()
    [pack] = (packed / "pack").glob("*.pack")
    aside = pack.rename(pack.with_suffix(".aside"))
    assert not is_packed(packed, oid)
    aside.rename(pack)


def test_who_never_closes_a_memory_reads_no_complaints_at_the_end(memory: Memory, packed: Path) -> None:
    code = "import sys; from crabmem import Memory; memory = Memory(sys.argv[1]); print(len(memory.log()))"
    done = subprocess.run([sys.executable, "-c", code, str(memory.root)], capture_output=True, text=True, check=True)
    assert (int(done.stdout), done.stderr) == (len(memory.log()), "")
