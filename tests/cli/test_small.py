"""Small things that a person stumbles over: a wrong name, a word too many, an empty file, a folder that is taken."""

import shlex
import time
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run, git, typed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Wifi", "where the password is", "On the door.", tags=["ops"])
        memory.remember("Tea", "how Ann takes it", "Black.")
    return memory.root


def test_the_beginning_of_a_hosts_name_is_understood_as_a_slip(run: Run) -> None:
    for verb in ("install", "uninstall"):
        done = run(verb, "claude")
        assert done.exit_code == 2 and "did you mean claude-code" in done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("list ops", "--tag TAG"),
        ("tags ops", "--tag TAG"),
        ("log --oneline", "each commit is one line"),
        ("config set recall_limit 3", "crabmem.toml"),
        ("config edit", "crabmem.toml"),
    ],
)
def test_what_is_typed_of_habit_is_answered_with_what_is_meant(run: Run, words: str, hint: str) -> None:
    done = run(*words.split())
    assert done.exit_code == 2 and hint in done.stderr and "--since" not in done.stderr


@pytest.mark.parametrize(("verb", "file"), [("overview", "MEMORY.md"), ("identity", "Crab.md")])
def test_a_file_that_says_nothing_is_told(run: Run, root: Path, verb: str, file: str) -> None:
    (root / file).unlink(missing_ok=True)
    (root / "Crab.md").write_text("")
    done = run(verb)
    assert done.exit_code == 0 and f"{file} says nothing yet" in done.stderr and f"crabmem {verb} edit" in done.stderr
    assert run(verb, "--json").stderr == ""


def test_several_facts_are_forgotten_at_once_or_none(run: Run, root: Path) -> None:
    refused = run("forget", "Wifi", "Coffee")
    assert refused.exit_code == 1 and "Coffee" in refused.stderr and len(run("list").stdout.splitlines()) == 2
    assert run("forget", "Wifi", "Tea").stdout == "forgot: Wifi\nforgot: Tea\n"
    assert run("list").stdout == ""


@pytest.mark.parametrize(
    "words", [["export", ""], ["bundle", "skill", ""], ["adopt", " "], ["--dir", "", "list"], ["list", "--dir", " "]]
)
def test_an_empty_folder_as_of_a_variable_that_is_not_set_is_refused(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(root.parent)
    monkeypatch.setenv("HOME", str(root.parent))
    done = (typed if words[0] in ("adopt", "bundle") else run)(*words)
    assert done.exit_code == 2 and "it is empty; `.` is the current folder" in done.stderr
    assert [*root.parent.iterdir()] == [root]


@pytest.mark.parametrize("verb", [["agents"], ["agents", "new"]])
def test_the_examples_that_make_an_agent_work(run: Run, verb: list[str]) -> None:
    examples = [line for line in run(*verb, "--help").stdout.splitlines() if " agents new coder" in line]
    assert examples
    for example in examples:
        done = run(*shlex.split(example.replace("coder", f"coder{examples.index(example)}"))[1:])
        assert done.exit_code == 0, done.stderr


def test_a_fact_that_is_named_twice_is_forgotten_once(run: Run) -> None:
    done = run("forget", "Wifi", "wifi", "memory/entries/wifi.md", "Tea")
    assert (done.exit_code, done.stdout) == (0, "forgot: Wifi\nforgot: Tea\n")


def test_a_fact_whose_tags_differ_by_case_alone_counts_once(run: Run) -> None:
    run("remember", "Tea", "-t", "z", "-t", "Z")
    assert run("list", "--tags").stdout == "     1  ops\n     1  z\n"


@pytest.mark.parametrize("verb", ["show", "forget", "edit"])
def test_the_path_of_a_file_that_cannot_be_read_is_answered_as_its_name_is(run: Run, root: Path, verb: str) -> None:
    (root / "memory/entries/tea.md").write_text("<<<<<<< ours\nBlack.\n=======\nGreen.\n>>>>>>> theirs\n")
    by_name, by_path = run(verb, "tea"), run(verb, "memory/entries/tea.md")
    assert by_path.stderr == by_name.stderr and "merge" in by_path.stderr and by_path.exit_code == 1


def test_the_log_calls_an_undo_an_undo_and_a_redo_a_redo(run: Run, root: Path) -> None:
    run("forget", "Wifi")
    run("undo")
    run("undo", "--redo")
    assert git(root, "log", "-2", "--format=%s").splitlines() == ["redo: forget Wifi", "undo: forget Wifi"]
    assert "undone: forget: Wifi" in run("undo").stdout


def test_an_export_in_another_form_does_not_remove_the_one_that_is_there(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("export", out).exit_code == 0
    before = sorted(out.rglob("*"))
    refused = run("export", out, "--format", "json")
    assert (
        refused.exit_code == 1 and "holds an export as markdown" in refused.stderr and "--yes-really" in refused.stderr
    )
    assert sorted(out.rglob("*")) == before
    assert run("export", out, "--format", "json", "--yes-really").exit_code == 0


def test_what_is_said_of_a_repository_without_a_head_is_what_helps(run: Run, root: Path) -> None:
    (root / ".git/HEAD").unlink()
    said = run("log")
    assert said.exit_code == 1 and "the next write puts it back" in said.stderr
    assert run("remember", "Bins", "-d", "when they go out", "-c", "On Tuesday.").exit_code == 0
    assert len(run("log").stdout.splitlines()) >= 4


def test_a_list_shows_the_words_of_headings_without_their_marks(run: Run, root: Path) -> None:
    (root / "memory/entries/attic.md").write_text("# Attic cellar\n\n## Boxes\n\nOld #hash toys.\n")
    assert "attic: Attic cellar Boxes Old #hash toys." in run("list").stdout


@pytest.mark.parametrize(
    "words", ["digest --in nope", "digest --by nope --json", "log --in nope", "digest --by nope --html -"]
)
def test_nothing_of_a_session_or_an_agent_is_told_by_the_exit_status(run: Run, words: str) -> None:
    assert run(*words.split()).exit_code == 1
    assert run("digest", "--since", "2999-01-01").exit_code == run("digest").exit_code == 0


def test_a_moment_before_the_first_commit_is_told_in_the_zone_of_the_log(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    told = run("show", "Wifi", "--as-of", "1999-01-02T01:00+05:00").stderr
    monkeypatch.undo()
    time.tzset()
    assert "the history begins after 1999-01-01 20:00;" in told


def test_an_empty_moment_is_named_as_it_is_typed(run: Run) -> None:
    assert "no revision named ''; give" in run("show", "Wifi", "--as-of", "").stderr


def test_a_person_is_found_as_the_log_writes_one(run: Run, root: Path) -> None:
    assert run("remember", "Bins", "-d", "when they go out", "-c", "On Tuesday.").exit_code == 0
    assert run("--agent", "person two", "remember", "Mop", "-d", "where it is", "-c", "Here.").exit_code == 0
    assert "person*" in run("log", "-n", "2").stdout
    told = run("log", "--by", "person*").stdout
    assert "remember: Bins" in told and "remember: Mop" not in told
    assert "remember: Mop" in run("log", "--by", "person").stdout
    assert run("log", "--by", "perso*").exit_code == 1


def test_a_log_that_ends_before_the_history_does_says_how_it_goes_on(run: Run, root: Path) -> None:
    assert run("log").stderr == ""
    with Memory(root) as memory:
        for number in range(18):
            memory.remember(f"Fact {number}", f"what {number} is", "One.")
    told, ids = run("log").stderr, git(root, "log", "--format=%h", "--abbrev=8").split()
    assert told == f"there are older ones: -n N shows more, and --until {ids[20]} those from there on\n"
    assert [line.split()[0] for line in run("log", "--until", ids[20]).stdout.splitlines()] == ids[20:]
    assert run("log", "-n", "20").stderr == run("log", "--json").stderr == ""


@pytest.mark.parametrize("verb", ["show", "edit"])
@pytest.mark.parametrize(
    ("name", "shows"), [("MEMORY.md", "overview"), ("crab.md", "identity"), ("crabmem.toml", "config")]
)
def test_a_whole_file_that_is_taken_for_a_fact_is_told_with_its_verb(
    run: Run, verb: str, name: str, shows: str
) -> None:
    done = run(verb, name)
    assert done.exit_code == 1 and f"no fact called {name}: `crabmem {shows}` shows that file" in done.stderr
    assert run(shows).exit_code == 0
