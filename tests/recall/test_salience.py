"""How much facts matter: computed from times, never by changing a file."""

from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.operations import salient_facts
from crabmem.operations import uses as uses_operations
from crabmem.recall.salience import CAP, FLOOR, Used, boosted_score, salience
from crabmem.recall.use_log import UseLog
from tests.conftest import git

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
USED = st.none() | st.builds(Used, st.integers(1, 10**9), MOMENTS)


def ago(**time: float) -> datetime:
    return NOW - timedelta(**time)


def test_use_boosts_and_time_takes_away() -> None:
    assert salience(NOW, ago(hours=5)) == 1
    assert salience(NOW, ago(hours=6)) == pytest.approx(0.95)
    assert salience(NOW, ago(days=1)) == pytest.approx(0.95**4)
    assert salience(NOW, ago(days=400), Used(3, NOW)) == pytest.approx(1 + log(4))
    assert salience(NOW, ago(days=400), Used(3, ago(days=10))) == pytest.approx((1 + log(4) * 0.5) * 0.95**40)
    assert salience(NOW, ago(days=400), Used(3, ago(days=100))) == pytest.approx((1 + log(4) * 0.1) * FLOOR)


@given(MOMENTS, MOMENTS, USED)
def test_it_lies_between_floor_and_cap(now: datetime, changed: datetime, used: Used | None) -> None:
    assert FLOOR <= salience(now, changed, used) <= CAP


@given(MOMENTS, MOMENTS, st.integers(1, 10**6), MOMENTS, st.timedeltas(timedelta(), timedelta(days=900)))
def test_more_use_never_counts_less_and_more_time_never_more(
    now: datetime, changed: datetime, times: int, last: datetime, later: timedelta
) -> None:
    used = Used(times, last)
    assert salience(now, changed, used) <= salience(now, changed, Used(times + 1, last))
    assert salience(now + later, changed, used) <= salience(now, changed, used)


@given(st.floats(0, 1e6), st.floats(FLOOR, CAP))
def test_what_matters_gains_a_quarter_at_most(score: float, weight: float) -> None:
    assert score <= boosted_score(score, weight) <= score * 1.25 * (1 + 1e-12)


def use(memory: Memory, *names: str) -> None:
    """Ask for facts by their names."""
    for name in names:
        uses_operations.count_uses_by_name(memory, memory.recall(name))


def three(memory: Memory) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        memory.remember(name, "", f"The {name} fact of the harbour.")


def test_what_is_used_surfaces_first_and_then_the_newest(memory: Memory) -> None:
    three(memory)
    assert [hit.entry.name for hit in salient_facts.salient(memory)] == ["Gamma", "Beta", "Alpha"]
    use(memory, "Alpha")
    assert [hit.entry.name for hit in salient_facts.salient(memory, 2)] == ["Alpha", "Gamma"]


def test_counting_uses_changes_no_file_and_no_history(memory: Memory) -> None:
    three(memory)
    before = [(file.stat().st_mtime_ns, file.read_bytes()) for file in (memory.root / "memory").rglob("*.md")]
    head = git(memory.root, "rev-parse", "HEAD")
    use(memory, "Alpha", "beta")
    salient_facts.salient(memory)
    assert before == [(file.stat().st_mtime_ns, file.read_bytes()) for file in (memory.root / "memory").rglob("*.md")]
    assert (git(memory.root, "rev-parse", "HEAD"), git(memory.root, "status", "--porcelain")) == (head, "")


def test_what_recall_finds_is_not_used_by_being_found(memory: Memory) -> None:
    three(memory)
    for _ in range(5):
        memory.recall("alpha fact")
        salient_facts.recall_facts(memory, "alpha fact")
    assert [hit.score for hit in salient_facts.salient(memory)] == [1, 1, 1]


def test_a_lost_cache_is_neutral_and_one_of_rubbish_too(memory: Memory) -> None:
    three(memory)
    use(memory, "Alpha")
    uses = memory.root / ".git/crabmem/uses"
    uses.write_bytes(b"\xff\xfe rubbish\n{}\n[1]\n")
    assert [hit.score for hit in salient_facts.salient(memory)] == [1, 1, 1]
    uses.unlink()
    assert [hit.score for hit in salient_facts.salient(memory)] == [1, 1, 1]


def test_uses_of_what_was_forgotten_or_purged_go(memory: Memory) -> None:
    three(memory)
    uses = memory.root / ".git/crabmem/uses"
    use(memory, "Alpha", "Beta", "Beta", "Gamma")
    memory.forget("Beta")
    assert len(uses.read_bytes().splitlines()) == 2
    memory.purge("Alpha")
    assert len(uses.read_bytes().splitlines()) == 1 and b"lpha" not in uses.read_bytes()
    memory.remember("Beta", "", "Anew.")
    assert {hit.entry.name: hit.score > 1 for hit in salient_facts.salient(memory)} == {
        "Beta": False,
        "Gamma": True,
    }


def test_uses_hold_no_name_and_are_bounded(tmp_path: Path) -> None:
    uses = UseLog(tmp_path / "uses")
    for number in range(4_200):
        uses.add(["memory/entries/the-secret-affair.md"], NOW + timedelta(seconds=number))
    data = (tmp_path / "uses").read_bytes()
    assert b"secret" not in data and len(data) <= 256_000
    known = uses.known()("memory/entries/the-secret-affair.md")
    assert known and known.times > 1_000 and known.last == NOW + timedelta(seconds=4_199)


def test_where_there_is_no_memory_yet_nothing_is_made(tmp_path: Path) -> None:
    with Memory(tmp_path / "none") as memory:
        use(memory, "Alpha")
    assert salient_facts.salient(memory) == () and list(tmp_path.iterdir()) == []
