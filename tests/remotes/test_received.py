"""A stranger's pack is taken apart in bounded memory and work, and what is in it is what Git says is in it."""

import hashlib
import mmap
import struct
import subprocess
import tempfile
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dulwich.pack import create_delta
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.git.objects import LARGEST, oid_of
from crabmem.git.packs import BrokenPack
from crabmem.remotes.received import Received, objects_in, records
from tests.conftest import git

_BLOB, _BY_OFFSET, _BY_ID = 3, 6, 7


def sized(number: int, bits: int = 7, first: int = 0) -> bytes:
    """A size as Git writes it, `first` in the bits above it."""
    made, number = bytearray([first << bits | number & ((1 << bits) - 1)]), number >> bits
    while number:
        made[-1] |= 0x80
        made.append(number & 0x7F)
        number >>= 7
    return bytes(made)


def record(kind: int, data: bytes, base: bytes = b"", size: int | None = None) -> bytes:
    """An object of a pack."""
    return sized(len(data) if size is None else size, 4, kind) + base + zlib.compress(data)


def packed(*found: bytes, count: int | None = None) -> bytes:
    """A pack of records."""
    data = b"PACK" + struct.pack(">LL", 2, len(found) if count is None else count) + b"".join(found)
    return data + hashlib.sha1(data).digest()


@contextmanager
def mapped(data: bytes) -> Iterator[mmap.mmap]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            yield view


def spend(size: int) -> None:
    """As much as it likes."""


def received(data: bytes, most: int = 1_000, spending: Callable[[int], None] = spend) -> list[Received]:
    with mapped(data) as pack:
        return list(objects_in(pack, records(pack, most, spending), spending))


def delta(base: bytes, text: bytes) -> bytes:
    return b"".join(create_delta(base, text))


@pytest.mark.parametrize("how", [["--delta-base-offset"], []])
def test_what_git_packs_is_read_as_git_reads_it(memory: Memory, how: list[str]) -> None:
    for number in range(40):
        memory.remember("Luna", "d", f"line {number}\n" * number)
    oids = git(memory.root, "rev-list", "--objects", "--all", "--no-object-names").split()
    command = ["git", "pack-objects", "--stdout", "-q", "--window=50", *how]
    data = subprocess.run(command, cwd=memory.root, input="\n".join(oids).encode(), capture_output=True, check=True)
    found = {each.oid: each for each in received(data.stdout)}
    assert found.keys() == set(oids) and any(each.record.base for each in found.values())
    for oid in oids:
        kind = git(memory.root, "cat-file", "-t", oid).strip()
        assert found[oid].kind == kind and oid_of(kind, found[oid].data) == oid


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6, unique=True), st.data())
def test_whatever_is_packed_comes_out(texts: list[bytes], data: st.DataObject) -> None:
    lying, at = list[bytes](), list[int]()
    for number, text in enumerate(texts):
        at.append(12 + sum(map(len, lying)))
        base = data.draw(st.integers(-1, number - 1))
        if base < 0:
            lying.append(record(_BLOB, text))
        else:
            name = bytes.fromhex(oid_of("blob", texts[base]))
            lying.append(record(_BY_ID, delta(texts[base], text), name))
    found = received(packed(*lying))
    assert {each.data for each in found} == set(texts)
    assert sorted(each.record.offset for each in found) == at


@given(st.binary(max_size=200))
def test_bytes_that_are_no_pack_are_refused_as_such(data: bytes) -> None:
    for each in (data or b"P", packed(data), packed(data, count=3), b"PACK" + data):
        with pytest.raises(BrokenPack):
            received(each)


@given(st.data())
def test_a_pack_that_was_changed_anywhere_is_refused(data: st.DataObject) -> None:
    whole = packed(record(_BLOB, b"one\n" * 40), record(_BY_ID, b"x", b"1" * 20))
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:place] + bytes([whole[place] ^ data.draw(st.integers(1, 255))]) + whole[place + 1 :]
    for each in (changed, whole[:place] or b"P"):
        with pytest.raises(BrokenPack):
            received(each)


_TEXT = b"a" * 1_000
_NAME = bytes.fromhex(oid_of("blob", _TEXT))
_BASE = record(_BLOB, _TEXT)
#: A delta that says it makes 60 MB and orders a terabyte: 16 MB, again and again.
_BOMB = sized(1_000) + sized(60_000_000) + b"\xb0\xe8\x03" * 400_000


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([record(_BLOB, b"short", size=LARGEST + 1)], "size"),
        ([record(_BLOB, b"short", size=LARGEST)], "another size"),
        ([record(_BLOB, bytes(50_000_000), size=10)], "another size"),
        ([record(0, b"")], "kind"),
        ([record(5, b"")], "kind"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(LARGEST + 1) + b"\x01a", _NAME)], "too much"),
        ([_BASE, record(_BY_ID, _BOMB, _NAME)], "another size"),
        ([_BASE, record(_BY_ID, sized(999) + sized(1) + b"\x01a", _NAME)], "not one to what it stands on"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(9) + b"\x01a", _NAME)], "another size"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(9) + b"\x09a", _NAME)], "nothing can be made"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(9) + b"\x00", _NAME)], "nothing can be made"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(9) + b"\x93\xff\xff\x09", _NAME)], "nothing can be made"),
        ([_BASE, record(_BY_ID, sized(1_000) + sized(9) + b"\xff", _NAME)], "cut short"),
        ([_BASE, record(_BY_ID, b"\xff" * 30, _NAME)], "digits|cut short"),
        ([record(_BY_ID, delta(_TEXT, b"b"), _NAME)], "neither in it nor here"),
        ([record(_BY_OFFSET, delta(_TEXT, b"b"), b"\x05")], "neither in it nor here"),
        ([record(_BY_OFFSET, delta(_TEXT, b"b"), b"\x00")], "neither in it nor here"),
        ([record(_BLOB, b"x")[:-3]], "size|inflated|ends"),
        ([_BASE, b"\x90" * 9 + b"\x80" * 40], "digits"),
    ],
)
def test_what_lies_about_its_size_or_stands_on_nothing_is_refused(found: list[bytes], words: str) -> None:
    data = packed(*found)
    tracemalloc.start()
    try:
        with pytest.raises(BrokenPack, match=words):
            received(data)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()


def test_what_a_pack_leaves_out_is_asked_for_once() -> None:
    asked = list[str]()

    def outside(oid: str) -> tuple[str, bytes] | None:
        asked.append(oid)
        return ("blob", _TEXT) if oid == _NAME.hex() else None

    one, two = _TEXT + b"one", _TEXT + b"two"
    name = bytes.fromhex(oid_of("blob", one))
    lying = [record(_BY_ID, delta(one, two), name), record(_BY_ID, delta(_TEXT, one), _NAME)]
    with mapped(packed(*lying)) as pack:
        found = list(objects_in(pack, records(pack, 9, spend), spend, outside))
    assert [each.data for each in found] == [one, two] and asked == [name.hex(), _NAME.hex()]


def test_more_objects_than_are_taken_are_refused_before_they_are_looked_at() -> None:
    with pytest.raises(BrokenPack, match="4,294,967,295 objects"):
        received(packed(_BASE, count=0xFFFFFFFF))


def test_every_byte_that_is_made_is_counted_and_the_count_can_end_it() -> None:
    text, lying = _TEXT * 1_000, [record(_BLOB, _TEXT * 1_000)]
    for number in range(200):  # a chain: each makes a megabyte of one order
        new = text[:-4] + b"%04d" % number
        lying.append(record(_BY_ID, delta(text, new), bytes.fromhex(oid_of("blob", text))))
        text = new
    spent = list[int]()
    assert len(received(packed(*lying), spending=spent.append)) == 201 and sum(spent) > 200_000_000
    left = 50_000_000

    def spending(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise BrokenPack("enough")

    with pytest.raises(BrokenPack, match="enough"):
        received(packed(*lying), spending=spending)


def test_a_tree_of_deltas_holds_a_bounded_number_of_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.remotes.received._MOST_HELD", 20_000)
    texts, lying = [_TEXT], [_BASE]
    for number in range(100):  # each but the last stands there with another one that waits
        name = bytes.fromhex(oid_of("blob", texts[-1]))
        sides = [texts[-1][:-6] + b"%05d" % number + side for side in (b"a", b"b")]
        lying += [record(_BY_ID, delta(texts[-1], side), name) for side in sides]
        texts.append(sides[1])
    with pytest.raises(BrokenPack, match="memory"):
        received(packed(*lying))


def test_the_file_that_is_read_is_left_as_it_was(tmp_path: Path) -> None:
    data = packed(_BASE)
    (tmp_path / "pack").write_bytes(data)
    with (tmp_path / "pack").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pack:
        assert [each.kind for each in objects_in(pack, records(pack, 9, spend), spend)] == ["blob"]
    assert (tmp_path / "pack").read_bytes() == data
