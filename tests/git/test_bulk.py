"""Thousands of objects are read, and copied, as they lie in packs that Git made."""

from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.git.compaction import Filling
from crabmem.git.objects import oid_of
from crabmem.git.packs import KINDS, Growing, Packs, ids
from crabmem.git.reach import Piece
from tests.conftest import git


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """The objects of a repository that Git has packed, deltas on deltas."""
    with Memory(tmp_path / "memory", agent="coder") as memory:
        for number in range(60):
            memory.remember(f"Fact {number % 5}", "d", f"{number}\n" + "the same line again\n" * number)
    git(tmp_path / "memory", "gc", "-q", "--aggressive")
    return tmp_path / "memory/.git/objects"


def all_of(objects: Path) -> list[str]:
    [index] = (objects / "pack").glob("*.idx")
    return sorted(ids(index))


def test_what_is_read_in_bulk_is_what_git_reads(packed: Path) -> None:
    with Packs(packed, 1_000_000) as packs:
        for oid in all_of(packed):
            kind, data = packs.raw(oid) or (0, b"")
            assert oid_of(KINDS[kind], data) == oid
        assert any((entry := packs.get(oid)) and entry.base for oid in all_of(packed))
        assert packs.raw("0" * 40) is None and packs.get("0" * 40) is None


def test_nothing_larger_than_allowed_is_made_in_bulk(packed: Path) -> None:
    with Packs(packed, 300) as packs:
        made = [found for oid in all_of(packed) if (found := packs.raw(oid))]
    assert 0 < len(made) < len(all_of(packed)) and max(len(data) for _, data in made) <= 300


def test_a_pack_of_what_was_copied_is_one_that_git_takes(packed: Path, tmp_path: Path) -> None:
    oids, growing = all_of(packed), Growing()
    with Packs(packed, 1_000_000) as packs:
        filling = Filling(lambda oid: pytest.fail(f"{oid} was made anew"), growing, {}, packs=packs, coming={*oids})
        for oid in oids:
            filling.take(Piece(oid, "file"))
    name, data, index = growing.finish()
    (tmp_path / f"{name}.pack").write_bytes(data)
    (tmp_path / f"{name}.idx").write_bytes(index)
    git(tmp_path, "verify-pack", f"{name}.idx")
    git(tmp_path, "index-pack", "-o", str(tmp_path / "made.idx"), f"{name}.pack")
    assert (tmp_path / "made.idx").read_bytes() == index
    assert growing.size < 1.2 * next((packed / "pack").glob("*.pack")).stat().st_size


def test_a_pack_that_was_altered_is_not_copied_from(packed: Path) -> None:
    [pack] = (packed / "pack").glob("*.pack")
    data = bytearray(pack.read_bytes())
    for place in range(100, len(data) - 20, 7):
        data[place] ^= 0xFF
    pack.chmod(0o600)
    pack.write_bytes(data)
    with Packs(packed, 1_000_000) as packs:
        assert [oid for oid in all_of(packed) if packs.raw(oid)] == []
