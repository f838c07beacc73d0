"""A clock that was wrong once: what was written by it says so, and nothing else suffers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.write.actor import Actor
from tests.conftest import assert_clean, git
from tests.git.test_purge_crashes import Death, Died
from tests.opening import opened_with

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AHEAD = timedelta(days=3652)


class Settable:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Settable:
    return Settable()


@pytest.fixture
def memory(tmp_path: Path, clock: Settable) -> Iterator[Memory]:
    with opened_with(tmp_path / "memory", Actor("coder"), clock) as memory:
        yield memory
    assert_clean(memory.root)


def written(memory: Memory, clock: Settable, *moments: timedelta) -> None:
    """One fact again and again, saying when after the start it was written."""
    for moment in moments:
        clock.now = START + moment
        memory.remember("Fact", "says when", f"at {moment}")


def hours(*numbers: int) -> list[timedelta]:
    return [timedelta(hours=number) for number in numbers]


@pytest.mark.parametrize("wrong", [AHEAD, -AHEAD, timedelta(days=40)])
def test_one_write_by_a_wrong_clock_leaves_every_other_moment_right(
    memory: Memory, clock: Settable, wrong: timedelta
) -> None:
    written(memory, clock, *hours(0, 1, 2), wrong, *hours(3, 4, 5, 6))
    assert [commit.time for commit in memory.log(limit=4)] == [START + each for each in hours(6, 5, 4, 3)]
    clock.now = START + timedelta(hours=6, minutes=30)
    for ago, then in ((1, 5), (2, 4), (5, 1)):
        [hit] = memory.recall("fact", as_of=f"{ago} hours ago")
        assert hit.entry.content == f"at {timedelta(hours=then)}"
    assert [line.time for line in memory.blame("Fact")][-1] == START + timedelta(hours=6)
    assert len(memory.log(since="90 minutes ago")) == 1 + 0
    assert len(memory.digest("3 hours ago").commits) == 3
    [hit] = memory.recall("fact", since="2 hours ago")
    assert memory.rollback("1 hour ago").paths == ("memory/entries/fact.md",)
    assert memory.get("Fact").content == f"at {timedelta(hours=5)}"


def test_the_same_holds_when_the_wrong_commit_came_from_another_machine(memory: Memory, clock: Settable) -> None:
    written(memory, clock, *hours(0, 1))
    (memory.root / "theirs.txt").write_text("x")
    git(memory.root, "add", "theirs.txt")
    words = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "theirs")
    git(memory.root, *words, when="2036-01-01T00:00:00Z")
    written(memory, clock, *hours(2, 3))
    clock.now = START + timedelta(hours=3, minutes=30)
    assert memory.get("Fact", "1 hour ago").content == f"at {timedelta(hours=2)}"
    assert [commit.time for commit in memory.log(limit=2)] == [START + each for each in hours(3, 2)]


def test_git_still_finds_no_commit_older_than_its_parent(memory: Memory, clock: Settable) -> None:
    written(memory, clock, *hours(0), AHEAD, *hours(1, 2))
    times = [int(line) for line in git(memory.root, "log", "--reverse", "--format=%ct").split()]
    assert times == sorted(times)
    noted = git(memory.root, "reflog", "--date=unix", "--format=%gd").split()
    assert noted[0] == f"HEAD@{{{int((START + timedelta(hours=2)).timestamp())}}}"


def test_the_doctor_names_commits_of_the_future(memory: Memory, clock: Settable) -> None:
    written(memory, clock, *hours(0, 1))
    assert [each for each in memory.doctor() if each.check == "times"] == []
    written(memory, clock, AHEAD, AHEAD + timedelta(hours=1), *hours(2))
    [found] = [each for each in memory.doctor() if each.check == "times"]
    assert found.level == "warning"
    assert found.message.startswith("2 commits made by a clock that was ahead, the newest ")
    assert "by coder, which says 2036-02-29 13:00" in found.message


@pytest.mark.parametrize("clocks", [(AHEAD, timedelta(hours=1)), (timedelta(hours=1), -AHEAD), (-AHEAD, AHEAD)])
@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.long)])
def test_a_crash_is_recovered_from_whatever_the_clock_says_then(
    tmp_path: Path, clock: Settable, clocks: tuple[timedelta, timedelta], monkeypatch: pytest.MonkeyPatch, stride: int
) -> None:
    root, number = tmp_path / "memory", 0
    with opened_with(root, Actor("coder"), clock) as memory:
        written(memory, clock, *hours(0))
    while True:
        number += stride
        copy = Path(shutil.copytree(root, tmp_path / f"copy{number}"))
        memory, died = opened_with(copy, Actor("coder"), clock), False
        with monkeypatch.context() as patched:
            patched.setattr(fs, "before", Death(number))
            try:
                written(memory, clock, clocks[0])
            except Died:
                died = True
        clock.now = START + clocks[1]
        with opened_with(copy, Actor("coder"), clock) as again:
            again.remember("Next", "d", "c")
            subjects = [commit.subject for commit in again.log()]
            assert subjects.count("remember: Fact") <= 2 and not any(each.startswith("edit:") for each in subjects)
            assert (again.get("Fact").content == f"at {clocks[0]}") == (subjects.count("remember: Fact") == 2)
        if number % 12 == 0 or not died:
            assert_clean(copy)
        shutil.rmtree(copy)
        if not died:
            break
    assert number > 10


def crabmem(root: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "crabmem", "--dir", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_a_time_zone_that_cannot_be_is_utc(tmp_path: Path) -> None:
    for words in (["remember", "One", "-d", "d", "-c", "c"], ["doctor"], ["recall", "one", "--as-of", "now"]):
        done = crabmem(tmp_path / "memory", *words, TZ="<+99>-99")
        assert "Traceback" not in done.stderr
    told = crabmem(tmp_path / "memory", "log", TZ="<+99>-99").stdout
    assert "remember: One" in told


def test_a_clock_beyond_what_python_can_tell_is_an_error_in_words(tmp_path: Path) -> None:
    """As Python says it when `logging` is imported at such a time."""
    code = (
        "import sys, time\n"
        "def far(): raise OverflowError('timestamp too large to convert to C _PyTime_t')\n"
        "time.time = far\n"
        "sys.argv = ['crabmem', '--dir', sys.argv[1], *sys.argv[2:]]\n"
        "from crabmem.cli.app import cli\n"
        "cli()\n"
    )
    crabmem(tmp_path / "memory", "remember", "One", "-d", "d", "-c", "c")
    for verb in ("doctor", "digest"):
        command = [sys.executable, "-c", code, str(tmp_path / "memory"), verb]
        done = subprocess.run(command, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        said = done.stdout + done.stderr
        assert "2262" in said or done.returncode == 0  # from 3.13 on `logging` asks for nanoseconds, which fit
