"""`-` is standard input wherever a verb takes a text, and only one text can be."""

import json
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run, git

pytestmark = pytest.mark.usefixtures("surroundings")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one fact."""
    root = tmp_path / "notes"
    with Memory(root, is_person=True) as memory:
        memory.remember("Wifi", "the password for guests", "On the router.")
        memory.write_overview("# Overview\n")
    return root


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["remember", "Tea", "-d", "what to drink", "-"], "memory/entries/tea.md"),
        (["remember", "Tea", "-d", "what to drink", "-c", "-"], "memory/entries/tea.md"),
        (["remember", "Tea", "-d", "what to drink", "--file", "-"], "memory/entries/tea.md"),
        (["remember", "Tea", "-c", "Green.", "-d", "-"], "memory/entries/tea.md"),
        (["remember", "Tea", "-d", "what to drink", "-c", "Green.", "-t", "-"], "memory/entries/tea.md"),
        (["remember", "Tea", "-d", "what to drink", "-c", "Green.", "-a", "-"], "memory/entries/tea.md"),
        (["overview", "set", "-"], "memory/MEMORY.md"),
        (["overview", "set", "-c", "-"], "memory/MEMORY.md"),
        (["overview", "set", "--file", "-"], "memory/MEMORY.md"),
        (["identity", "set", "-c", "-"], "Crab.md"),
        (["learn", "error", "exec", "-"], "memory/learnings/errors.md"),
        (["learn", "error", "exec", "exit 1", "--context", "-"], "memory/learnings/errors.md"),
        (["learn", "correction", "No.", "--said", "-"], "memory/learnings/corrections.md"),
        (["learn", "win", "-"], "memory/learnings/wins.md"),
        (["--profile", "crab", "note", "-"], ""),
    ],
    ids=" ".join,
)
def test_a_dash_is_what_was_piped_wherever_a_text_is_given(run: Run, root: Path, words: list[str], file: str) -> None:
    result = run(*words, stdin="oolong\n")
    assert result.exit_code == 0, result.output
    lines = git(root, "show", "--format=", "HEAD", *(["--", file] if file else [])).splitlines()
    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    assert any("oolong" in line for line in added)
    assert not any(line.rstrip() in ("+-", "+description: '-'", "+- '-'") for line in added)


def test_a_dash_asks_searches_and_calls_with_what_was_piped(run: Run) -> None:
    assert run("recall", "-", stdin="password guests\n").stdout.count("\n## Wifi\n") == 1
    assert "appeared in Wifi" in run("when", "-", stdin="On the router.\n").stdout
    assert "On the router." in run("call", "recall", "-", stdin='{"query": "password"}').stdout
    assert "On the router." not in run("purge", "--text", "-", "--yes", stdin="On the router.\n").stdout
    assert "On the router." not in run("show", "wifi").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["remember", "Tea", "-d", "-", "-c", "-"],
        ["remember", "Tea", "-d", "-", "-"],
        ["remember", "Tea", "-d", "-", "--file", "-"],
        ["remember", "Tea", "-d", "d", "-c", "c", "-t", "-", "-t", "-"],
        ["learn", "error", "exec", "-", "--context", "-"],
    ],
    ids=" ".join,
)
def test_only_one_text_is_read_from_standard_input(run: Run, root: Path, words: list[str]) -> None:
    head = git(root, "rev-parse", "HEAD")
    result = run(*words, stdin="oolong\n")
    assert result.exit_code == 2 and "only one text can be read from it" in result.stderr
    assert git(root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "words",
    [
        ["overview", "set", "-"],
        ["overview", "set", "-c", "-"],
        ["overview", "set", "--file", "-"],
        ["identity", "set", "-"],
        ["remember", "Wifi", "-t", "-"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("piped", ["", "\n"])
def test_empty_standard_input_replaces_nothing(run: Run, root: Path, words: list[str], piped: str) -> None:
    head = git(root, "rev-parse", "HEAD")
    result = run(*words, stdin=piped)
    assert result.exit_code == 2 and "standard input is empty" in result.stderr
    assert git(root, "rev-parse", "HEAD") == head


def test_an_empty_text_that_is_typed_empties_a_whole_file(run: Run, root: Path) -> None:
    assert run("overview", "set", "-c", "").exit_code == 0
    assert not (root / "memory/MEMORY.md").read_text()


def test_a_dash_is_no_name(run: Run) -> None:
    result = run("remember", "-", "-d", "what to drink", "-", stdin="oolong\n")
    assert result.exit_code == 2 and "remember NAME -d DESC -" in result.stderr
    assert run("list").stdout.split()[0] == "wifi"
    assert run("remember", "-", "-d", "what to drink", stdin="oolong\n").stdout == "remembered: Oolong\n"


def test_dashes_within_words_are_words(run: Run) -> None:
    run("note", "tea", "-", "the", "green", "one")
    assert "tea - the green one" in run("diff", "HEAD~1", "HEAD").stdout
    assert run("recall", "password", "-").stdout.count("\n## Wifi\n") == 1


def test_standard_input_that_is_no_text_is_refused(run: Run) -> None:
    result = run("remember", "Tea", "-d", "d", "-c", "-", stdin=b"\xff\xfe")
    assert (result.exit_code, result.stderr) == (2, "crabmem: standard input is not UTF-8 text\n")


def test_the_description_of_a_pipe_is_one_line(run: Run) -> None:
    run("remember", "Tea", "-c", "Green.", "-d", "-", stdin="what to drink\n")
    assert json.loads(run("show", "tea", "--json").stdout)["description"] == "what to drink"
