"""While a person has memory paused it does not speak unasked, asks for nothing, and ends that by itself."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from crabmem import Disabled, InvalidArguments, Memory, NotFound
from crabmem.disk import state
from crabmem.disk.pause import read_pause
from crabmem.hosts.hooks.events import Call, answer
from crabmem.hosts.hooks.input import parse_input
from crabmem.operations import context, maintenance
from crabmem.operations.pause import pause, paused, resume
from crabmem.operations.status import status
from crabmem.text.times import span_in
from crabmem.write.actor import Actor
from tests.conftest import Clock, Run, git
from tests.opening import opened_with

QUESTION = "who is Luna's vet?"
PERSON = Actor(None, None, is_person=True)


@pytest.fixture
def memory(root: Path, clock: Clock) -> Iterator[Memory]:
    with opened_with(root, PERSON, clock) as memory:
        memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno.")
        yield memory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def test_memory_is_silent_until_the_time_is_over_and_then_speaks(memory: Memory, clock: Clock) -> None:
    assert "Dr. Moreno" in memory.before_turn(QUESTION, again=True)
    found = pause(memory, timedelta(hours=2))
    assert found.until is not None and found.until - found.since == timedelta(hours=2)
    assert memory.before_turn(QUESTION, again=True) == ""
    clock.now += timedelta(hours=3)
    assert paused(memory) is None
    assert "Dr. Moreno" in memory.before_turn(QUESTION, again=True)


def test_a_pause_without_a_time_lasts_until_it_is_resumed(memory: Memory, clock: Clock) -> None:
    pause(memory)
    clock.now += timedelta(days=900)
    assert memory.before_turn(QUESTION) == ""
    assert resume(memory) is not None
    assert resume(memory) is None
    assert "Dr. Moreno" in memory.before_turn(QUESTION)


def test_what_was_not_said_in_a_pause_counts_as_no_turn(memory: Memory) -> None:
    pause(memory)
    memory.before_turn(QUESTION)
    assert maintenance.stats(memory).turns == 0


def test_nothing_else_changes_and_nothing_is_recorded(memory: Memory) -> None:
    head, prompt = git(memory.root, "rev-parse", "HEAD"), memory.prompt()
    pause(memory)
    assert memory.prompt() == prompt
    assert memory.recall("vet").hits
    assert [tool.name for tool in memory.tools]
    assert git(memory.root, "rev-parse", "HEAD") == head
    assert git(memory.root, "status", "--porcelain", "--ignored") == ""


def test_the_setting_takes_the_tools_of_agents_too(memory: Memory) -> None:
    (memory.root / "crabmem.toml").write_text('pause = "all"\n')
    agent = memory.for_actor("coder", "s-1")
    assert agent.tools
    pause(memory)
    assert agent.tools == []
    refused = agent.call("recall", {"query": "vet"})
    assert refused.is_error and "paused" in refused.text
    assert memory.recall("vet").hits
    resume(memory)
    assert agent.tools and not agent.call("recall", {"query": "vet"}).is_error


def test_settings_that_cannot_be_read_stop_no_pause_and_no_status(memory: Memory, root: Path, run: Run) -> None:
    (root / "crabmem.toml").write_text("not TOML")
    assert run("pause").exit_code == 0
    found = status(memory)
    assert found.paused and not found.paused.tools and "is not TOML" in found.odd[0]
    assert run("resume").exit_code == 0


def test_an_agent_neither_pauses_nor_resumes(memory: Memory) -> None:
    agent = memory.for_actor("coder", "s-1")
    for act in (pause, resume):
        with pytest.raises(Disabled, match="a person pauses"):
            act(agent)
    pause(memory)
    with pytest.raises(Disabled):
        resume(agent)
    assert paused(agent) is not None


def test_no_tool_reaches_the_file_of_a_pause(memory: Memory) -> None:
    path = f"../../{state.FOLDER}/{state.PAUSED}"
    memory.for_actor("coder", "s-1").call("remember", {"name": path, "description": "", "content": "{}"})
    assert not (memory.root / state.FOLDER / state.PAUSED).exists()


def test_without_a_memory_there_is_nothing_to_pause_and_none_is_made(tmp_path: Path, clock: Clock) -> None:
    with opened_with(tmp_path / "none", PERSON, clock) as memory, pytest.raises(NotFound):
        pause(memory)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("said", ["", "{", "[]", "{}", '{"since": 1, "until": 2}', '{"since": "x", "until": null}'])
def test_what_cannot_be_read_is_no_pause(memory: Memory, clock: Clock, said: str) -> None:
    (memory.root / state.FOLDER / state.PAUSED).write_text(said)
    assert read_pause(memory.root / state.FOLDER, clock()) is None
    assert memory.before_turn(QUESTION)


def test_a_window_that_fills_asks_for_nothing_while_paused(memory: Memory) -> None:
    may = context.may_flush(memory)
    pause(memory)
    assert not context.may_flush(memory)
    resume(memory)
    assert context.may_flush(memory) == may


def test_status_doctor_and_the_command_line_say_it(memory: Memory, run: Run) -> None:
    assert status(memory).paused is None
    out = run("pause", "--for", "2h")
    assert out.exit_code == 0 and out.stdout.startswith("paused until 20")
    assert "no auto-recall, no reminders, agents keep their tools" in run("status").stdout
    data = json.loads(run("status", "--json").stdout)["paused"]
    assert data["tools"] is True and data["until"] > data["since"]
    assert "memory is paused until 20" in run("doctor").stdout
    assert json.loads(run("resume", "--json").stdout)["ended"]["until"] == data["until"]
    assert run("resume").stdout == "not paused\n"
    assert json.loads(run("status", "--json").stdout)["paused"] is None
    assert run("--agent", "coder", "pause").exit_code == 1
    for wrong in ("", "2", "soon", "0m", "-1h", "99999w", "2h3"):
        assert run("pause", f"--for={wrong}").exit_code == 2


def test_a_session_begins_with_a_word_to_the_person_and_none_to_the_model(memory: Memory, clock: Clock) -> None:
    pause(memory, timedelta(hours=2))
    given = {"hook_event_name": "SessionStart", "session_id": "s-1", "source": "startup"}
    call = Call(
        memory.engine.workspace,
        parse_input(json.dumps(given).encode(), "session-start", "claude-code"),
        "claude-code",
        "s-1",
        clock(),
    )
    said = answer(call)
    assert "memory is paused until " in str(said["systemMessage"])
    assert "paused" not in json.dumps({key: value for key, value in said.items() if key != "systemMessage"})


@pytest.mark.parametrize(
    ("text", "span"),
    [("30m", timedelta(minutes=30)), ("2 h", timedelta(hours=2)), ("3d", timedelta(days=3)), ("1w", timedelta(days=7))],
)
def test_a_span_is_a_number_and_a_unit(text: str, span: timedelta) -> None:
    assert span_in(text) == span


@pytest.mark.parametrize("lasting", [timedelta(0), timedelta(seconds=-5), timedelta.max])
def test_a_pause_that_would_be_none_changes_none(memory: Memory, lasting: timedelta) -> None:
    before = pause(memory, timedelta(hours=2))
    with pytest.raises(InvalidArguments, match="lasting"):
        pause(memory, lasting)
    assert paused(memory) == before


def test_a_program_that_names_no_agent_is_told_how_a_person_is_one(root: Path) -> None:
    with Memory(root) as memory, pytest.raises(Disabled, match="open the memory with is_person=True"):
        pause(memory)
