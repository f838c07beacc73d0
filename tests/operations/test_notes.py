"""The note of the day only grows: whoever writes it, at once, over midnight, and in whatever style it is."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from crabmem import Disabled, InvalidArguments, Memory
from crabmem.operations import context, files
from crabmem.write.actor import Actor
from crabmem.write.tree import Tree
from tests import forked
from tests.conftest import Clock, assert_clean, typed
from tests.opening import opened_with

FAMILY = """
about = "notes that only grow"
tools = ["entries", "notes"]
append_only = ["memory/????-??-??.md"]

[window]
reserve = 20_000
soft = 4_000
warn = 0.8
store = "note"

[kinds.heartbeat]
flush = false

[kinds.group]
hides = ["memory/????-??-??.md"]

[kinds.subagent]
tools = ["entries.recall"]

[[part]]
words = "You have {tools}"
"""
DAY = "2026-03-01.md"


@pytest.fixture
def family(tmp_path: Path) -> str:
    """The path of a profile whose notes only grow."""
    file = tmp_path / "family.toml"
    file.write_text(FAMILY)
    return str(file)


@pytest.fixture
def growing(tmp_path: Path, family: str, clock: Clock) -> Iterator[Memory]:
    """A memory with that profile, in which a note of today was written."""
    with opened_with(tmp_path / "m", Actor("coder", "s-1"), clock, profile=family) as memory:
        memory.write_note("Asked about tea.")
        yield memory
    assert_clean(memory.root)


def put(memory: Memory, text: str | None, day: str = DAY) -> None:
    """Write a note as tools for whole files do."""
    files.rewrite(memory, f"edit {day}", lambda tree: {day: text})


def test_a_whole_text_that_adds_to_a_note_is_written_and_one_that_changes_it_is_not(growing: Memory) -> None:
    file = growing.file(f"memory/{DAY}")
    text, head = file.read_text(), growing.log(1)[0].commit
    for changed in (None, "", "# Anew\n", text.replace("tea", "coffee"), text[1:], "Before.\n" + text):
        with pytest.raises(Disabled, match=f"memory/{DAY} only grows.* or use the tool note"):
            put(growing, changed)
    assert (file.read_text(), growing.log(1)[0].commit) == (text, head)
    put(growing, text + "- And coffee.\n")
    assert file.read_text() == text + "- And coffee.\n"


def test_who_read_a_note_before_another_added_to_it_does_not_undo_that(growing: Memory) -> None:
    read = files.browse(growing, lambda tree: tree.text(DAY))
    growing.write_note("Meanwhile.")
    with pytest.raises(Disabled, match="read it again"):
        put(growing, read + "- Later.\n")
    assert "Meanwhile." in files.browse(growing, lambda tree: tree.text(DAY))


def test_a_note_cannot_be_moved_away_nor_hidden_among_other_changes(growing: Memory) -> None:
    def work(tree: Tree) -> dict[str, str | None]:
        return {"other.md": tree.text(DAY), DAY: None}

    with pytest.raises(Disabled, match=DAY):
        files.rewrite(growing, "rename", work)
    assert files.browse(growing, lambda tree: tree.paths()) == [DAY]


def test_an_overview_that_only_grows_is_not_replaced(tmp_path: Path) -> None:
    family = tmp_path / "diary.toml"
    family.write_text('about = "x"\npart = []\nappend_only = ["memory/MEMORY.md"]\n')
    with Memory(tmp_path / "m", profile=str(family)) as memory:
        memory.write_overview("# Overview\n\nOld.\n")
        with pytest.raises(Disabled, match=r"memory/MEMORY\.md only grows"):
            memory.write_overview("# Another\n")
        assert memory.call("memory", {"content": "# Another"}).is_error
        memory.write_overview("# Overview\n\nOld.\nNew.\n")
        assert memory.overview().text == "# Overview\n\nOld.\nNew.\n"


def test_notes_of_other_days_can_be_begun_and_other_files_changed(growing: Memory) -> None:
    for day, texts in {"2026-02-28.md": ("One.\n", "One.\nTwo.\n"), "plan.md": ("One.\n", "Two.\n")}.items():
        for text in texts:
            put(growing, text, day)
        assert growing.file(f"memory/{day}").read_text() == texts[-1]


def test_where_no_profile_says_so_a_note_may_be_changed(memory: Memory) -> None:
    day = memory.write_note("Tea.").path.rpartition("/")[2]
    put(memory, "Anew.\n", day)
    assert files.browse(memory, lambda tree: tree.text(day)) == "Anew.\n"


STYLES = {
    "no final newline": b"# Day\n\nBy hand",
    "windows": b"\xef\xbb\xbf# Day\r\n\r\nBy hand.\r\n",
    "blank": b"\n",
    "mixed": b"one\r\ntwo\nthree",
}


@pytest.mark.parametrize("before", STYLES.values(), ids=STYLES)
def test_a_note_by_hand_keeps_its_bytes_and_its_line_breaks(tmp_path: Path, clock: Clock, before: bytes) -> None:
    file = tmp_path / "memory" / DAY
    file.parent.mkdir()
    file.write_bytes(before)
    with opened_with(tmp_path, Actor("coder"), clock) as memory:
        memory.write_note("One.\nTwo.", "by the way")
    after = file.read_bytes()
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    assert after.startswith(before) and after.endswith(
        b"(by the way)" + newline * 2 + b"One." + newline + b"Two." + newline
    )
    assert newline * 2 + b"## 12:" in after


def test_a_whole_text_in_other_line_breaks_adds_to_a_note_in_its_own(growing: Memory) -> None:
    file = growing.file("memory/2026-02-27.md")
    file.write_bytes(b"\xef\xbb\xbf# Day\r\n\r\nBy hand.\r\n")
    put(growing, "# Day\n\nBy hand.\nMore.\n", "2026-02-27.md")
    assert file.read_bytes() == b"\xef\xbb\xbf# Day\r\n\r\nBy hand.\r\nMore.\r\n"


def test_the_prompt_and_the_note_are_of_the_local_day_whatever_day_it_is_elsewhere(tmp_path: Path, family: str) -> None:
    zone = timezone(timedelta(hours=9))
    with opened_with(
        tmp_path / "m", Actor("coder"), lambda: datetime(2026, 3, 2, 0, 30, tzinfo=zone), profile=family
    ) as memory:
        assert datetime(2026, 3, 2, 0, 30, tzinfo=zone).astimezone(UTC).day == 1
        assert "memory/2026-03-02.md, the note of 2026-03-02" in context.due(memory, 180_000, 200_000).prompt
        assert memory.write_note("Late.").path == "memory/2026-03-02.md"


def test_midnight_between_the_prompt_and_the_write_costs_nothing(growing: Memory, clock: Clock) -> None:
    assert "memory/2026-03-01.md" in context.due(growing, 180_000, 200_000).prompt
    old = files.browse(growing, lambda tree: tree.text(DAY))
    clock.now += timedelta(hours=12)
    assert growing.write_note("By the tool.").path == "memory/2026-03-02.md"
    put(growing, old + "By the path that the prompt named.\n")
    assert growing.file("memory/2026-03-01.md").read_text() == old + "By the path that the prompt named.\n"
    assert "By the tool." in growing.file("memory/2026-03-02.md").read_text()


def test_processes_that_note_at_once_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / "m"
    words = [f"Said by process {number}." for number in range(4)]
    command = [*forked.COMMAND, "--dir", str(root), "note"]
    running = [subprocess.Popen([*command, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for text in words]
    told = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 4, told
    text = "".join(file.read_text() for file in (root / "memory").glob("*.md"))
    assert all(text.count(each) == 1 for each in words)
    assert_clean(root)


def test_a_flush_is_due_with_its_prompt_and_a_heartbeat_is_never_asked(growing: Memory) -> None:
    due = context.due(growing, 180_000, 200_000)
    assert due.steps == ("flush", "warn") and due.thresholds == {"flush": 176_000, "warn": 160_000}
    assert due.silent == "NO_REPLY" in due.prompt and "90 % full" in due.warning
    assert context.due(growing, 150_000, 200_000).prompt == context.due(growing, 150_000, 200_000).warning == ""
    assert context.due(growing, 180_000, 200_000, cycle=1, flushed=1).steps == ("warn",)
    assert context.due(growing.of_kind("heartbeat"), 180_000, 200_000).steps == ("warn",)


def test_a_session_that_may_not_see_notes_is_not_asked_to_write_one_and_cannot(growing: Memory) -> None:
    group = growing.of_kind("group")
    assert context.due(group, 180_000, 200_000).steps == ("warn",) and not context.may_flush(group)
    with pytest.raises(Disabled, match="group"):
        group.write_note("Said in a group.")


def test_on_a_read_only_disk_nobody_is_asked_to_store(family: str) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(folder, profile=family) as memory:
        is_root, asked = os.geteuid() == 0, {}
        try:
            for mode in (0o777, 0o555):
                os.chmod(folder, mode)
                if is_root:  # who is asked for is not, and root may everything
                    os.setreuid(65_534, 0)
                asked[mode] = context.due(memory, 180_000, 200_000).steps
        finally:
            if is_root:
                os.setreuid(0, 0)
            os.chmod(folder, 0o700)
    assert asked == {0o777: ("flush", "warn"), 0o555: ("warn",)}


def test_the_tool_note_adds_and_says_where_and_is_there_for_who_asks(memory: Memory, family: str) -> None:
    assert "note" not in [tool.name for tool in memory.tools]
    [tool] = memory.tools_named(["note"])
    assert (tool.annotations.read_only, tool.annotations.destructive, tool.annotations.idempotent) == (False,) * 3
    said = memory.call("note", {"text": "Asked about tea."}, ["note"])
    assert not said.is_error and said.text.startswith(f"noted in {said.data['path']}")
    assert memory.log(1)[0].tool == "note" and "Asked about tea." in memory.file(said.data["path"]).read_text()
    blank = memory.call("note", {"text": " \n"}, ["note"])
    assert blank.is_error and "the note is empty" in blank.text
    with Memory(memory.root, profile=family) as chosen:
        assert [tool.name for tool in chosen.tools][-1] == "note"
        assert chosen.of_kind("subagent").call("note", {"text": "x"}).is_error


def test_a_blank_note_makes_no_workspace(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory, pytest.raises(InvalidArguments, match="empty"):
        memory.write_note("  ")
    assert not (tmp_path / "m").exists()


def test_a_script_hears_what_is_due_on_stderr_and_what_to_ask_the_model_on_stdout(tmp_path: Path, family: str) -> None:
    flush = ("--dir", str(tmp_path / "m"), "--profile", family, "flush", "--window", "200000")
    due = typed(*flush, "--tokens", "177000")
    assert due.stdout.startswith("The window of this conversation is nearly full") and "88 % full" in due.stdout
    assert due.stderr == "due: flush, warn (flush at 176,000, warn at 160,000)\n"
    again = json.loads(typed(*flush, "--tokens", "177000", "--cycle", "2", "--flushed", "2", "--json").stdout)
    assert (again["due"], again["prompt"], again["silent"]) == (["warn"], "", "NO_REPLY")
    nothing = typed(*flush, "--tokens", "1000")
    assert nothing.stdout == "" and nothing.stderr.startswith("due: nothing") and not (tmp_path / "m").exists()


def test_a_person_notes_words_or_stdin(tmp_path: Path) -> None:
    note = ("--dir", str(tmp_path), "note")
    said = typed(*note, "Called", "the", "vet").stdout
    data = json.loads(typed(*note, "-", "--json", stdin="# Later\n\nLuna is fine.\n").stdout)
    assert said == f"noted in {data['path']}\n" and not data["created"]
    text = (tmp_path / data["path"]).read_text()
    assert "\n\nCalled the vet\n\n## " in text and text.endswith("\n\n# Later\n\nLuna is fine.\n")
