"""The redo log says again what was appended since it was begun, and nothing else, whatever became of its file."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.disk import fs, system
from crabmem.disk.redo_log import LARGEST, RedoLog, is_of_now

BODIES = st.lists(st.binary(min_size=1, max_size=200_000), max_size=6)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "redo"


def said(file: Path) -> list[bytes]:
    """What another process reads."""
    return [*RedoLog(file).bodies()]


@given(before=BODIES, after=BODIES)
def test_what_was_appended_since_it_was_begun_is_read_in_order(
    before: list[bytes], after: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("log") / "redo"
    log, other = RedoLog(file), RedoLog(file)
    for body in before:
        log.append(body)
        assert other.bodies()[-1] == body
    log.begin()
    assert list(other.bodies()) == []
    for number, body in enumerate(after):
        (log if number % 2 else other).append(body)
    assert list(log.bodies()) == list(other.bodies()) == said(file) == after


@given(bodies=st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=6), data=st.data())
def test_a_log_that_is_cut_short_or_altered_says_what_stands_before(
    bodies: list[bytes], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("log") / "redo"
    log = RedoLog(file)
    for body in bodies:
        log.append(body)
    whole = file.read_bytes()
    at = data.draw(st.integers(0, log.size() - 1))
    torn = data.draw(st.sampled_from([whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]]))
    file.write_bytes(torn)
    found = said(file)
    assert found == bodies[: len(found)] and len(found) < len(bodies)
    again = RedoLog(file)
    again.append(b"goes on")
    assert said(file) == [*found, b"goes on"]


def test_a_frame_that_another_was_written_over_takes_those_behind_it_along(file: Path) -> None:
    log = RedoLog(file)
    for body in (b"first", b"second"):
        log.append(body)
    data = file.read_bytes()
    file.write_bytes(data.replace(b"first", b"\0\0\0\0\0"))
    RedoLog(file).append(b"third")  # just as long
    assert said(file) == [b"third"]


@pytest.mark.parametrize("size", [0, LARGEST + 1])
def test_a_body_that_nobody_would_read_is_not_written(file: Path, size: int) -> None:
    log = RedoLog(file)
    log.append(b"first")
    with pytest.raises(ValueError):
        log.append(bytes(size))
    assert said(file) == [b"first"]


def test_an_append_waits_once_and_changes_no_size_most_of_the_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RedoLog(file)
    log.append(b"first")
    calls, sizes = list[str](), set[int]()
    monkeypatch.setattr(fs, "before", lambda operation, path: calls.append(operation))
    for _ in range(20):
        log.append(b"x" * 1_000)
        sizes.add(file.stat().st_size)
    assert calls == ["open", "write", "fsync"] * 20 and len(sizes) == 1


def test_a_copy_and_a_log_of_another_start_of_the_machine_are_not_of_now(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RedoLog(file)
    assert not is_of_now(str(file))
    log.append(b"x")
    assert is_of_now(str(file))
    copy = Path(shutil.copy2(file, file.with_name("copy")))
    assert not is_of_now(str(copy)) and said(copy) == [b"x"]
    monkeypatch.setattr(system, "start_of_machine", lambda: "another")
    assert not is_of_now(str(file)) and list(log.bodies()) == [b"x"]
    log.begin()
    assert is_of_now(str(file)) and said(file) == []


def test_a_log_that_grew_is_small_again_when_it_is_begun_anew(file: Path) -> None:
    log = RedoLog(file)
    for _ in range(10):
        log.append(b"x" * 100_000)
    log.begin()
    assert file.stat().st_size < 70_000


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_nothing_is_written_through_what_stands_in_its_place(file: Path, kind: str) -> None:
    elsewhere = file.with_name("elsewhere")
    elsewhere.write_bytes(b"mine" * 100_000)
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to(elsewhere)
    else:
        os.mkfifo(file)
    log = RedoLog(file)
    assert list(log.bodies()) == []
    with pytest.raises(OSError):
        log.append(b"x")
    assert elsewhere.read_bytes() == b"mine" * 100_000
