"""Facts that are gone from the disk are said to be missing, by whoever is asked: memory is not empty then."""

import json
import shutil
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.operations.status import status
from crabmem.session.opening import session_at
from tests.conftest import Run, typed
from tests.web.browsing import site_of

MISSING = "14 of 14 facts are missing from the disk"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def emptied(root: Path) -> Path:
    """A memory of fourteen facts, whose folder a sync client emptied."""
    with Memory(root) as memory:
        for number in range(14):
            memory.remember(f"Fact {number}", "one of many", "It is about the harbour.")
    shutil.rmtree(root / "memory/entries")
    (root / "memory/entries").mkdir()
    return root


@pytest.mark.usefixtures("emptied")
def test_list_recall_and_status_say_that_facts_are_missing(run: Run) -> None:
    for words in (["list"], ["recall", "harbour"], ["status"]):
        done = run(*words)
        said = done.stdout + done.stderr
        assert done.exit_code == (words[0] == "recall") and MISSING in said and "crabmem restore" in said, words
        assert "nothing has been remembered" not in said and "the next write" not in said


def test_recall_that_finds_something_among_what_is_left_says_nothing(emptied: Path) -> None:
    with Memory(emptied) as memory:
        assert MISSING in memory.recall("harbour").note
        memory.remember("Tide", "when it turns", "The harbour is dry at noon.")
        assert memory.recall("harbour").note == ""
        assert "14 of 15 facts are missing" in memory.recall("volcano").note


def test_missing_facts_are_no_edits_that_the_next_write_would_record(emptied: Path, run: Run) -> None:
    (emptied / "memory/MEMORY.md").write_text("# Overview\n")
    with Memory(emptied) as memory:
        found = status(memory)
        assert found.missing == 14 and [edit.path for edit in found.edits] == ["memory/MEMORY.md"]
    assert len(run("record", "--dry-run").stdout.splitlines()) == 1
    assert len(run("record", "--dry-run", "--yes-really").stdout.splitlines()) == 15
    assert json.loads(run("status", "--json").stdout)["missing"] == 14


@pytest.mark.parametrize(("event", "host_event"), [("session-start", "SessionStart"), ("prompt", "UserPromptSubmit")])
def test_a_host_shows_the_person_that_facts_are_missing(emptied: Path, event: str, host_event: str) -> None:
    told = {"hook_event_name": host_event, "session_id": "s", "cwd": "/x", "prompt": "what is in the harbour?"}
    done = typed("--dir", emptied, "--agent", "claude-code", "hook", event, stdin=json.dumps(told))
    assert MISSING in json.loads(done.stdout)["systemMessage"]


def test_the_page_says_that_facts_are_missing(emptied: Path) -> None:
    with site_of(session_at(emptied)) as site:
        page = site.get("/facts").text
    assert MISSING in page and "Nothing is remembered yet" not in page


def test_nothing_is_missing_once_it_came_back(emptied: Path, run: Run) -> None:
    assert run("restore").exit_code == 0
    assert run("list").stderr == "" and MISSING not in run("status").stdout
