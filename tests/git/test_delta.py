"""Deltas: whatever the texts, the second comes out of the first; and one change takes a few bytes."""

import os
import subprocess
from pathlib import Path

import pytest
from dulwich.pack import apply_delta
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.git.delta import delta
from crabmem.git.objects import oid_of
from crabmem.git.packs import Growing
from tests.conftest import git
from tests.examples import examples

BLOCK = os.urandom(0x10000)
LARGE = b"".join(BLOCK[start:] + BLOCK[:start] for start in range(0, 0x1200, 0x10))
TEXTS = st.one_of(st.binary(max_size=300), st.text("ab \n", max_size=3_000).map(str.encode))


@settings(max_examples=examples(400))
@given(TEXTS, TEXTS, st.integers(0, 3_000), TEXTS)
def test_text_comes_out_of_its_base(base: bytes, other: bytes, at: int, put_in: bytes) -> None:
    for text in (other, base[:at] + put_in + base[at:], base[at:] + put_in + base[:at], base):
        assert b"".join(apply_delta(base, delta(base, text))) == text


@pytest.mark.parametrize(
    ("length", "skipped"),
    [(0, 0), (1, 1), (0xFFFF, 0), (0x10000, 1), (0x10001, 0x10000), (0xFFFFFF, 0), (0x1000001, 0x10000)],
)
def test_git_copies_any_length_from_anywhere(tmp_path: Path, length: int, skipped: int) -> None:
    assert len(LARGE) > 0x1000001
    text = LARGE[skipped : skipped + length] + b"!" * 10
    old = LARGE[: skipped + length + 10]
    growing = Growing()
    growing.add(oid_of("blob", old), "blob", old, None)
    assert growing.add(oid_of("blob", text), "blob", text, (oid_of("blob", old), old)) or length < 2
    name, pack, index = growing.finish()
    git(tmp_path, "init", "-q")
    for ending, data in (("pack", pack), ("idx", index)):
        (tmp_path / f".git/objects/pack/{name}.{ending}").write_bytes(data)
    words = ["git", "-C", str(tmp_path), "cat-file", "blob", oid_of("blob", text)]
    assert subprocess.run(words, capture_output=True, check=True).stdout == text


def test_one_change_takes_a_few_bytes() -> None:
    rows = [b"100644 entry-%05d.md\0" % number + os.urandom(20) for number in range(10_000)]
    old, new = b"".join(rows), b"".join([*rows[:5_000], b"100644 entry-04999-more.md\0", os.urandom(20), *rows[5_000:]])
    assert len(delta(old, new)) < 75
    several = b"".join(row for number, row in enumerate(rows) if number % 700)
    assert len(delta(old, several)) < 600


def test_commit_takes_little_more_than_its_ids() -> None:
    words = (
        "tree {}\nparent {}\nauthor coder <coder@example.org> {} +0000\n\nremember: {}\n\nTool: remember\nEntry: {}\n"
    )
    old, new = (
        words.format(os.urandom(20).hex(), os.urandom(20).hex(), 1767285600 + number, name, name).encode()
        for number, name in enumerate(("luna", "wifi"))
    )
    assert len(delta(old, new)) < 150
