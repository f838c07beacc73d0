"""How a workspace stands: what `status` says of files, history, and what waits."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Fact, Memory
from crabmem.operations import agents
from crabmem.operations.status import edits, status
from crabmem.text.values import replace
from tests.conftest import Run, git, typed
from tests.examples import examples


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with three facts."""
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        memory.remember_all([Fact(name, "what", "x") for name in ("One", "Two", "Three")], "notes")
    return tmp_path / "notes"


def test_a_workspace_at_rest_has_nothing_to_mind(root: Path) -> None:
    with Memory(root) as memory:
        found = status(memory)
        assert found.last == memory.log(limit=1)[0] and found.last.agent == "coder"
    assert (found.facts, found.profile, found.is_begun) == (3, "crab", True)
    assert (found.edits, found.agents, found.proposals, found.in_progress, found.odd) == ((), (), 0, None, ())


def test_what_was_told_again_is_counted_in_times_and_not_in_facts(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Boiler pressure", "the pressure of the boiler", "It is at 1.5 bar.")
    for session in ("a", "b", "c"):
        with Memory(tmp_path, session=session) as memory:
            assert memory.before_turn("what is the pressure of the boiler?")
    told = typed("--dir", tmp_path, "status").stdout
    assert "spoke before 3 of 3 turns (100%) in 3 sessions" in told and ", telling a fact 3 times\n" in told


def test_a_folder_without_memory_is_told_and_stays_as_it_is(tmp_path: Path) -> None:
    with Memory(tmp_path / "none") as memory:
        found = status(memory)
    assert (found.is_begun, found.facts, found.last, found.edits) == (False, 0, None, ())
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").touch()
    with Memory(tmp_path / "file/none") as memory:
        assert status(memory) == replace(found, root=str(tmp_path / "file/none"))
    (tmp_path / "left/memory/entries").mkdir(parents=True)
    (tmp_path / "left/memory/entries/tea.md").write_text("Oolong.\n")
    with Memory(tmp_path / "left") as memory:
        assert [edit.state for edit in status(memory).edits] == ["new"]


@settings(max_examples=examples(25))
@given(st.dictionaries(st.sampled_from(["one", "two", "three", "four", "five"]), st.sampled_from(["", "say", "gone"])))
def test_the_edits_are_those_that_adopt_records(tmp_path_factory: pytest.TempPathFactory, done: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("edited") / "notes"
    with Memory(folder, is_person=True) as memory:
        memory.remember_all([Fact(name, "what", "x") for name in ("One", "Two", "Three")], "notes")
        before = {path.stem for path in (folder / "memory/entries").iterdir()}
        for name, what in done.items():
            file = folder / f"memory/entries/{name}.md"
            if what == "gone":
                file.unlink(missing_ok=True)
            elif what:
                file.write_text(f"---\nname: {name}\ndescription: d\n---\n\n{what}\n")
        found = {edit.path: edit.state for edit in edits(memory, even_if_many=True)}
        meant = {
            f"memory/entries/{name}.md": "removed" if what == "gone" else "changed" if name in before else "new"
            for name, what in done.items()
            if what and (what != "gone" or name in before)
        }
        assert found == meant
        recorded = memory.adopt(even_if_many=True)
        assert {*found} == {*(recorded.paths if recorded else ())}
        assert status(memory).edits == ()


def test_what_waits_for_the_person_is_counted(root: Path) -> None:
    (root / "crabmem.toml").write_text('soul = "propose"\n')
    with Memory(root, agent="coder") as memory:
        agents.new_agent(memory, "scribe")
        memory.write_identity("I am Ada.")
        found = status(memory)
    assert (found.proposals, found.agents) == (1, ("scribe",))


def test_a_rebase_of_the_person_and_a_head_without_a_branch_are_told(root: Path) -> None:
    (root / ".git/rebase-merge").mkdir()
    with Memory(root) as memory:
        assert status(memory).in_progress == "rebase"
    shutil.rmtree(root / ".git/rebase-merge")
    git(root, "checkout", "--quiet", "--detach")
    with Memory(root) as memory:
        [words] = status(memory).odd
    assert words.startswith("HEAD is detached")


def test_facts_that_went_at_once_are_odd_and_the_way_back_is_named(root: Path) -> None:
    for file in (root / "memory/entries").iterdir():
        file.unlink()
    with Memory(root) as memory:
        [words] = status(memory).odd
    assert "3 of 3 facts are missing" in words and "`crabmem restore`" in words


@pytest.mark.parametrize(
    ("text", "words"), [("also = [", "is not TOML: "), ('recall_limit = "x"', "recall_limit must be a whole number")]
)
def test_settings_that_cannot_be_read_are_named_and_the_rest_is_told(root: Path, text: str, words: str) -> None:
    (root / "crabmem.toml").write_text(text)
    with Memory(root) as memory:
        found = status(memory)
    assert len(found.odd) == 1 and words in found.odd[0] and "crabmem.toml" in found.odd[0]
    assert (found.facts, [edit.path for edit in found.edits]) == (3, ["crabmem.toml"])


def test_settings_of_the_person_that_cannot_be_read_are_named_in_a_project_too_and_by_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(tmp_path, "init", "-q", "shop")
    typed("remember", "Tea", "-d", "which tea", "-c", "Assam.")
    typed("--project", tmp_path / "shop", "remember", "Port", "-d", "which port", "-c", "8080.")
    assert json.loads(typed("--project", tmp_path / "shop", "status", "--json").stdout)["odd"] == []
    (tmp_path / ".crabmem/crabmem.toml").write_text("also = [")
    words = f"{tmp_path}/.crabmem/crabmem.toml is not TOML: "
    assert words in typed("--project", tmp_path / "shop", "recall", "port").stderr
    (told,) = json.loads(typed("--project", tmp_path / "shop", "status", "--json").stdout)["odd"]
    assert told.startswith(words)
    assert words in typed("--project", tmp_path / "shop", "doctor").stdout


def test_what_a_session_may_not_see_is_not_among_the_edits(tmp_path: Path) -> None:
    with Memory(tmp_path, profile="claw", is_person=True) as memory:
        memory.write_overview("# Private\n")
        (tmp_path / "MEMORY.md").write_text("# More\n")
        (tmp_path / "AGENTS.md").write_text("# Rules\n")
        assert {edit.path for edit in status(memory).edits} == {"AGENTS.md", "MEMORY.md"}
        group = status(memory.of_kind("group"))
    assert [edit.path for edit in group.edits] == ["AGENTS.md"]
    assert group.last is None or "MEMORY.md" not in group.last.paths


def test_a_damaged_history_does_not_keep_the_rest_back(root: Path) -> None:
    head = (root / ".git/HEAD").read_text().split()[-1]
    (root / ".git" / head).write_text("0123456789" * 4 + "\n")
    with Memory(root) as memory:
        found = status(memory)
    assert (found.facts, found.last) == (3, None) and found.odd


def test_a_person_reads_it_on_one_screen(root: Path, run: Run) -> None:
    (root / "memory/entries/one.md").write_text("Another one.\n")
    shown = run("status")
    assert (shown.exit_code, shown.stderr) == (0, "")
    lines = [line.split(maxsplit=1) for line in shown.stdout.splitlines()]
    assert ["facts", "3"] in lines and ["changed", "memory/entries/one.md"] in lines
    assert "coder [s-1]" in shown.stdout and "`crabmem record`" in shown.stdout
    data = json.loads(run("status", "--json").stdout)
    assert data["last_write"]["agent"] == "coder" and data["edits"] == [
        {"path": "memory/entries/one.md", "state": "changed"}
    ]
