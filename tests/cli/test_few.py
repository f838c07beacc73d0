"""What is said of thousands of things is short: the first, how many more, and how to see all."""

from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Two hundred notes that lead nowhere, and one that is no text."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(200):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nIt leads to [[nowhere {number}]].\n")
    (folder / "a-broken.md").write_bytes(b"\xff\xfe\x00")
    return folder


def test_an_import_names_the_first_few_and_all_that_failed(run: Run, notes: Path) -> None:
    done = run("import", notes)
    lines = done.stdout.splitlines()
    assert lines[5] == "made       195 more: -v" and len(lines) == 7 and lines[6].startswith("failed     a-broken.md")
    assert done.exit_code == 0 and "200 made, 1 failed (above)" in done.stderr
    assert len(run("import", notes, "-v").stdout.splitlines()) == 201


def test_an_import_of_which_nothing_could_be_taken_is_an_error(run: Run, notes: Path) -> None:
    for note in notes.glob("n*.md"):
        note.unlink()
    done = run("import", notes)
    assert done.exit_code == 1 and "1 of 1 files" in done.stderr


def test_undoing_much_shows_the_beginning_and_says_how_to_see_the_rest(run: Run, notes: Path) -> None:
    run("import", notes)
    lines = run("undo").stdout.splitlines()
    assert len(lines) <= 102 and lines[-1].startswith("… ") and "crabmem log -p -n 1" in lines[-1]
    assert len(run("log", "-p", "-n", "1").stdout.splitlines()) > 2_000
    assert run("undo", "--redo").stdout.count("\n") <= 102


def test_one_long_line_is_shown_in_part(run: Run) -> None:
    run("remember", "Long", "-d", "one line", "-c", "word " * 20_000)
    run("forget", "Long")
    assert len(run("undo").stdout) < 10_000


def test_a_short_change_is_shown_whole(run: Run) -> None:
    run("remember", "Wifi", "-d", "the password", "-c", "On the door.")
    said = run("undo").stdout
    assert "-On the door." in said and "more lines" not in said


def test_doctor_names_the_first_few_findings_of_a_kind(run: Run, notes: Path) -> None:
    run("import", notes)
    links = [line for line in run("doctor").stdout.splitlines() if "nowhere" in line or "of links" in line]
    assert len(links) == 6 and links[5] == "info: 195 more of links: -v"
    assert run("doctor", "-v").stdout.count("[[nowhere") == 200


def test_doctor_says_a_finding_on_one_line(run: Run, root: Path) -> None:
    with Memory(root) as memory:
        memory.write_overview("# Overview")
    (root / "memory/odd\nname.md").write_bytes(b"\xff")
    heads = ("ok: ", "info: ", "warning: ", "error: ")
    assert all(line.startswith(heads) for line in run("doctor").stdout.splitlines())
