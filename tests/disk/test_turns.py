"""The turns before which memory spoke or was silent, kept as lines."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from crabmem.disk.turns import Talk, Turn, Turns

WHEN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def turn(number: int, session: str | None = "s") -> Turn:
    return Turn(WHEN, session, (f"{number:012x}",), 10)


def test_turns_come_back_in_order_and_by_session(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "turns")
    added = [turn(1), turn(2, "other"), turn(3, None), Turn(WHEN, "s", (), 0)]
    for each in added:
        turns.add(each)
    assert Turns(tmp_path / "turns").all() == added
    assert turns.versions("s") == {f"{1:012x}"} and turns.versions("nobody") == set()


@pytest.mark.parametrize("junk", [b"", b"\n\n", b"{", b"null\n", b"\xff\x00\n", b'{"when": 1}\n', b"[" * 5_000 + b"\n"])
def test_what_is_no_turn_is_left_out(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "turns").write_bytes(junk)
    turns = Turns(tmp_path / "turns")
    assert turns.all() == []
    (tmp_path / "turns").write_bytes(junk.rstrip(b"\n") + b"\n")
    turns.add(turn(1))
    assert turns.all() == [turn(1)]


def test_without_a_place_nothing_is_kept_and_nothing_is_made(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "nowhere" / "turns")
    turns.add(turn(1))
    assert turns.all() == [] and not (tmp_path / "nowhere").exists()


def test_what_a_link_leads_to_is_neither_read_nor_written(tmp_path: Path) -> None:
    Turns(tmp_path / "others").add(turn(1))
    (tmp_path / "turns").symlink_to(tmp_path / "others")
    turns = Turns(tmp_path / "turns")
    turns.add(turn(2))
    assert turns.all() == [] and Turns(tmp_path / "others").all() == [turn(1)]


def test_the_older_half_is_forgotten_before_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.disk.turns._MOST", 1_000)
    turns = Turns(tmp_path / "turns")
    for number in range(100):
        turns.add(turn(number))
        assert (tmp_path / "turns").stat().st_size <= 1_000 and turns.all()[-1] == turn(number)
    assert [file.name for file in tmp_path.iterdir()] == ["turns"]


def test_turns_of_many_threads_are_all_kept(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "turns")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: turns.add(turn(number)), range(200)))
    assert sorted(each.versions for each in turns.all()) == sorted(turn(number).versions for number in range(200))


def test_what_else_is_told_of_a_session_is_no_turn_and_ends_what_was_before(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "turns")
    marks: list[tuple[Literal["begun", "turn", "anew", "asked"], int]] = [
        ("begun", 7),
        ("turn", 0),
        ("anew", 9),
        ("turn", 0),
        ("asked", 40),
        ("turn", 0),
    ]
    for number, (kind, size) in enumerate(marks):
        turns.add(Turn(WHEN + timedelta(minutes=number), "s", (f"v{number}",) * (kind == "turn"), 1, kind, size))
    assert [turn.versions for turn in turns.all()] == [("v1",), ("v3",), ("v5",)]
    assert turns.versions("s") == {"v3", "v5"}
    assert turns.talk("s") == Talk(1, WHEN + timedelta(minutes=5), 40)
    assert turns.talk("nobody") == Talk(0, None, 0)
