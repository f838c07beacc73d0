"""`crabmem undo`: what it takes back after something that nothing takes back, and what an agent does not."""

import os
from pathlib import Path

import pytest

from crabmem import Fact, Memory
from tests.conftest import Run, git, typed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory of two facts, by an agent in a session."""
    with Memory(tmp_path, agent="bot", session="s1") as memory:
        for name in ("Luna", "Tea"):
            memory.remember(name, f"about {name}", f"{name} it is.")
    return tmp_path


def test_undo_after_a_purge_asks_before_it_takes_back_another_fact(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("purge", "Luna", "--yes").stdout.endswith("this cannot be undone\n")
    head = git(root, "rev-parse", "HEAD")
    refused = run("undo")
    assert refused.exit_code == 1 and "a purge, which cannot be undone" in refused.stderr and "--yes" in refused.stderr
    monkeypatch.setattr("crabmem.cli.verbs.undo.can_ask", lambda: True)
    assert run("undo", stdin="n\n").exit_code == 1
    assert git(root, "rev-parse", "HEAD") == head
    assert "undone: remember: Tea" in run("undo", stdin="y\n").stdout


def test_undo_asks_no_more_once_something_was_written_after_the_purge(run: Run, root: Path) -> None:
    run("purge", "Luna", "--yes")
    os.utime(root / ".git/crabmem/purges", (0, 0))  # long ago
    with Memory(root) as memory:
        memory.remember("Bins", "when they go out", "On Tuesday.")
    assert "undone: remember: Bins" in run("undo").stdout


@pytest.mark.parametrize("words", [["--in", "s1"], ["--by", "bot"], ["HEAD", "HEAD~1"], ["HEAD"]], ids=" ".join)
def test_redo_after_an_undo_of_what_was_named_says_what_brings_it_back(run: Run, words: list[str]) -> None:
    before = run("list").stdout
    assert run("undo", *words, "--yes-really").exit_code == 0
    asked = run("undo", "--redo")
    assert asked.exit_code == 1 and "nothing to redo: `crabmem undo` brings back" in asked.stderr
    assert run("undo").exit_code == 0
    assert run("list").stdout == before
    assert run("undo", "--redo", "--yes-really").exit_code == 0


def test_an_agent_takes_back_no_change_of_a_person_that_it_does_not_name(tmp_path: Path) -> None:
    typed("--dir", tmp_path, "remember", "A", "-d", "a", "-c", "one")
    typed("--dir", tmp_path, "--agent", "bot", "remember", "X", "-d", "x", "-c", "wrong")
    file = tmp_path / "memory/entries/a.md"
    file.write_text(file.read_text() + "person line\n")
    refused = typed("--dir", tmp_path, "--agent", "bot", "undo")
    assert refused.exit_code == 1 and "the last change is a person's" in refused.stderr
    assert "person line" in file.read_text()
    commit = git(tmp_path, "rev-parse", "--short=8", "HEAD").strip()
    assert f"`crabmem undo {commit}`" in refused.stderr
    assert typed("--dir", tmp_path, "--agent", "bot", "undo", "--by", "bot").exit_code == 0
    assert not (tmp_path / "memory/entries/x.md").exists() and "person line" in file.read_text()
    assert "undone: " in typed("--dir", tmp_path, "undo").stdout
    assert typed("--dir", tmp_path, "--agent", "bot", "undo", "--redo").exit_code == 1
    assert "undone: " in typed("--dir", tmp_path, "--agent", "bot", "undo", commit).stdout


def test_a_dry_run_of_undo_and_redo_shows_what_they_would_do_and_writes_nothing(run: Run, root: Path) -> None:
    for words, told in (
        ((), "would undo: remember: Tea; delete 1 file\n"),
        (("--redo",), "would redo: remember: Tea; "),
    ):
        head = git(root, "rev-parse", "HEAD")
        would = run("undo", *words, "--dry-run")
        assert (would.exit_code, git(root, "rev-parse", "HEAD")) == (0, head) and would.stdout.startswith(told)
        done = run("undo", *words)
        assert would.stdout.partition("\n")[2] == done.stdout.partition("\n")[2] != ""


def test_a_dry_run_of_undo_is_refused_where_undo_would_take_back_edits_that_are_not_recorded(
    run: Run, root: Path
) -> None:
    (root / "memory/entries/luna.md").write_text("Luna is a cat.\n")
    for words in ((), ("--redo",)):
        would = run("undo", *words, "--dry-run")
        assert would.exit_code == 1 and "1 edited file is not in the history yet" in would.stderr
    assert git(root, "status", "--porcelain") == " M memory/entries/luna.md\n"


def test_a_change_on_a_memory_without_any_file_is_undone_too(memory: Memory) -> None:
    memory.remember("Tea", "d", "Hot.")
    (memory.root / "Crab.md").unlink(missing_ok=True)
    memory.adopt()
    memory.forget("Tea")
    memory.remember("Milk", "d", "Cold.")
    assert memory.undo().removed == ("memory/entries/milk.md",)
    memory.undo()
    assert [entry.name for entry in memory.entries()] == ["Tea"]


def test_a_dry_run_passes_over_a_loss_that_waits_as_the_undo_does(memory: Memory) -> None:
    memory.remember_all([Fact(f"Fact {number}", "d", f"{number}") for number in range(12)], "a list")
    for number in range(10):
        (memory.root / f"memory/entries/fact-{number}.md").unlink()
    memory.remember("New", "d", "x")
    assert memory.undo(dry_run=True).paths == memory.undo().paths == ("memory/entries/new.md",)
    memory.restore()
