"""What an agent learned of its mistakes: lines in bounded files, which history keeps whole."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import HoldsSecret, InvalidArguments, InvalidSettings
from crabmem.operations import notes
from crabmem.text.learnings import BEGINNINGS, MOST, Lesson, correction, is_correction, tool_failure, win, with_lesson
from tests.conftest import git

NOW = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)


def test_an_error_is_one_line_with_time_tool_and_context() -> None:
    lesson = tool_failure("exec", "exit 1:\n  no such file", "while building")
    assert with_lesson("", lesson, NOW) == (
        "# Errors\n\n- [2026-03-14 09:26 UTC] **exec**: exit 1: no such file (while building)\n"
    )


def test_a_lesson_says_its_time_in_utc_wherever_it_was_learned() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=14)))
    assert with_lesson("", win("Asking"), east) == "# Wins\n\n- [2026-03-14 09:26 UTC] Asking\n"


@pytest.mark.parametrize("size", [MOST, 2 * MOST, 4 * MOST])
def test_of_a_file_that_is_too_long_the_newer_half_stays(size: int) -> None:
    line = "- [2026-01-01 00:00 UTC] **old**: it failed\n"
    text = with_lesson(line * (size // len(line)), win("Asking"), NOW)
    assert size // 2 - 2 * len(line) < len(text) <= size // 2 + len(line)


def test_a_correction_has_what_was_said_and_the_answer_each_cut() -> None:
    words = correction("No, " + "b" * 900, "a" * 900).words
    said, answer = words.removeprefix("after “").split("”: ")
    assert (len(said), len(answer)) == (200, 500) and said.endswith("…") and answer.startswith("No, bbb")


@pytest.mark.parametrize("message", ["No, in May", "no. May!", "WRONG", "Actually, it is May", "That’s not it", "nope"])
def test_a_correction_is_told_by_how_it_begins(message: str) -> None:
    assert is_correction(message)


@pytest.mark.parametrize(
    "message",
    ["", "no problem", "Nobody said so", "wrongly", "I actually like it", "stop no,", "nopeace", "actually fun"],
)
def test_what_only_begins_alike_is_no_correction(message: str) -> None:
    assert not is_correction(message)


@given(st.sampled_from(BEGINNINGS), st.text("abc xyz", max_size=20))
def test_every_beginning_counts_whatever_follows_a_space(start: str, rest: str) -> None:
    assert is_correction(f"  {start.upper()} {rest}")


def test_the_same_again_at_the_end_is_said_once() -> None:
    once = with_lesson("", tool_failure("exec", "exit 1"), NOW)
    assert with_lesson(once, tool_failure("exec", "exit 1"), NOW + timedelta(hours=1)) == once
    other = with_lesson(once, tool_failure("exec", "exit 2"), NOW)
    assert with_lesson(other, tool_failure("exec", "exit 1"), NOW).count("exit 1") == 2


@given(
    st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=30), st.integers(0, MOST + 500)
)
def test_a_file_stays_bounded_and_the_newest_is_always_there(texts: list[str], before: int) -> None:
    text = "# Errors\n\n" + "- [2026-01-01 00:00] **old**: it failed\n" * (before // 40)
    for number, words in enumerate(texts):
        text = with_lesson(text, Lesson("wins", f"{number} {' '.join(words.split())}"), NOW)
        assert len(text.encode()) <= MOST and text.startswith("# Errors\n\n")
    assert text.endswith(f"{len(texts) - 1} {' '.join(texts[-1].split())}\n")


def test_above_the_lessons_a_persons_words_stay() -> None:
    old = "# Errors\nRead this first.\n" + "".join(f"- [2026-01-01 00:00] **t**: {n}\n  more\n" for n in range(1_500))
    text = with_lesson(old, tool_failure("new", "broke"), NOW)
    assert (
        text.startswith("# Errors\nRead this first.\n- [2026-01-01 00:00]")
        and len(text.encode()) <= len(old) // 2 + 100
    )
    assert text.endswith("**t**: 1499\n  more\n- [2026-03-14 09:26 UTC] **new**: broke\n")


def test_a_file_of_another_system_keeps_its_line_breaks() -> None:
    assert (
        with_lesson("# Wins\r\n\r\n- [x] a\r\n", win("b"), NOW)
        == "# Wins\r\n\r\n- [x] a\r\n- [2026-03-14 09:26 UTC] b\r\n"
    )


@pytest.mark.parametrize(
    "make", [lambda: win(" \n"), lambda: correction(""), lambda: tool_failure("", "x"), lambda: tool_failure("t", " ")]
)
def test_a_blank_lesson_is_refused(make: object) -> None:
    with pytest.raises(InvalidArguments):
        make()  # type: ignore[operator]


def test_each_lesson_is_one_commit_and_history_keeps_what_went(memory: Memory) -> None:
    file = memory.root / "memory/learnings/errors.md"
    notes.learn(memory, tool_failure("first", "the oldest of all"))
    file.write_text(file.read_text() + "- [2026-01-01 00:00] **old**: it failed\n" * 1_300)
    notes.learn(memory, tool_failure("last", "the newest of all"))
    assert "oldest" not in file.read_text() and "newest" in file.read_text()
    assert git(memory.root, "log", "--format=%s", "-3").split("\n")[::2] == ["learn: errors", "learn: errors"]
    assert "the oldest of all" in git(memory.root, "log", "-p", "--", "memory/learnings/errors.md")
    assert notes.learn(memory, tool_failure("last", "the newest of all")).commit is None


def test_a_credential_is_refused_where_the_settings_say_so(memory: Memory) -> None:
    memory.init()
    (memory.root / "crabmem.toml").write_text('secrets = "refuse"\n')
    with pytest.raises(HoldsSecret):
        notes.learn(memory, tool_failure("push", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"))
    assert not (memory.root / "memory/learnings").exists()


@pytest.mark.parametrize(
    ("layout", "path"),
    [
        ('memory = "notes"\noverview = "OVERVIEW.md"\nnotes = "notes"\nentries = ["notes"]', "notes/learnings"),
        ('memory = ""', "learnings"),
        ('beside = ["x"]\nlearnings = "x"', "x"),
    ],
)
def test_lessons_lie_where_memory_is_or_the_profile_says(tmp_path: Path, layout: str, path: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'about = "x"\npart = []\n[layout]\n{layout}\n')
    with Memory(tmp_path / "m", profile=str(file)) as memory:
        assert notes.learn(memory, win("Asking first")).path == f"{path}/wins.md"
        assert git(memory.root, "status", "--porcelain") == ""


def test_a_folder_whose_history_is_not_kept_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('about = "x"\npart = []\n[layout]\nlearnings = "elsewhere"\n')
    with pytest.raises(InvalidSettings, match="beside"):
        Memory(tmp_path / "m", profile=str(file))
    assert not (tmp_path / "m").exists()


def test_lessons_of_many_processes_are_all_kept(tmp_path: Path) -> None:
    code = (
        "import sys; from crabmem import Memory; from crabmem.text.learnings import tool_failure\n"
        "from crabmem.operations.notes import learn\n"
        "with Memory(sys.argv[1], agent=sys.argv[2]) as memory:\n"
        "    for n in range(5): learn(memory, tool_failure(sys.argv[2], f'error {n}'))"
    )
    Memory(tmp_path).init()
    started = [subprocess.Popen([sys.executable, "-c", code, tmp_path, agent]) for agent in ("ann", "bob", "cid")]
    assert [each.wait() for each in started] == [0, 0, 0]
    text = (tmp_path / "memory/learnings/errors.md").read_text()
    assert all(text.count(f"**{agent}**: error {n}\n") == 1 for agent in ("ann", "bob", "cid") for n in range(5))
