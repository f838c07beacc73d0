"""The faces of sync: Python, the command line, tools, resources, status and doctor, hooks and the server."""

import json
import subprocess
import sys
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from crabmem import Memory
from crabmem.disk import state as names
from crabmem.errors import Disabled, InvalidArguments, SyncError
from crabmem.hosts.table import HOSTS
from crabmem.operations import agents, syncing
from crabmem.operations.status import status
from crabmem.results import Synced
from tests.conftest import git

from .conftest import Machine, Two, crab, crabs

TOOL = "[sync]\ntool = true\n"


def allow_tool(memory: Memory) -> None:
    """Let agents sync."""
    (memory.root / "crabmem.toml").write_text(TOOL)


def failing(memory: Memory, hub: Path, ago: timedelta = timedelta(days=2)) -> None:
    """Have syncing fail since so long."""
    hub.rename(hub.with_name("away"))
    with pytest.raises(SyncError, match="no Git repository"):
        memory.sync()
    file = memory.root / names.FOLDER / names.SYNC
    said = json.loads(file.read_text())
    since = memory.engine.clock() - ago
    file.write_text(json.dumps({**said, "failing_since": since.isoformat()}))


# Python


def test_a_memory_says_what_a_sync_did_as_a_value_that_nothing_changes(two: Two) -> None:
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    done = one.sync()
    assert isinstance(done, Synced)
    assert (done.taken, done.sent, done.is_joined, done.rounds) == ((), 1, False, 1)
    with pytest.raises(AttributeError):
        done.sent = 2  # type: ignore[misc]
    assert other.sync().taken == ("memory/entries/tea.md",)


def test_a_memory_says_how_syncing_stands_without_asking_anybody(two: Two, hub: Path) -> None:
    one, _ = two
    hub.rename(hub.with_name("away"))
    one.remember("Tea", "hot", "With milk.")
    state = one.sync_status()
    assert (state.remote, state.ahead, state.behind, state.waiting) == (str(hub), 1, 0, 0)
    assert state.succeeded


def test_the_state_counts_what_waits_to_be_decided(disputing: Two) -> None:
    assert [memory.sync_status().waiting for memory in disputing] == [1, 1]


def test_the_next_try_is_told_where_it_is_tried_unasked(two: Two, hub: Path) -> None:
    one, _ = two
    failing(one, hub, timedelta())
    assert one.sync_status().next_try is None
    (one.root / "crabmem.toml").write_text('[sync]\nauto = "session"\n')
    state = one.sync_status()
    assert state.next_try and state.failed and state.next_try > state.failed


# All workspaces


@pytest.fixture
def nest(tmp_path: Path) -> Memory:
    """A workspace with those of two agents in it, each with a fact."""
    memory = Memory(tmp_path / "nest", is_person=True)
    memory.remember("Luna", "the cat", "A cat.")
    for name in ("coder", "planner"):
        agents.new_agent(memory, name)
        with Memory(memory.root / "agents" / name, is_person=True) as own:
            own.remember(f"Task of {name}", "what to do", "Much.")
    return memory


def test_all_workspaces_sync_each_with_a_remote_of_its_own(nest: Memory, tmp_path: Path) -> None:
    hubs = tmp_path / "hubs"
    hubs.mkdir()
    said = crabs(nest.root, "sync", "--all", "--to", f"{hubs}/{{agent}}.git").splitlines()
    assert [line.partition(": ")[0] for line in said] == [".", "agents/coder", "agents/planner"]
    assert all("went out" in line for line in said)
    assert sorted(each.name for each in hubs.iterdir()) == ["coder.git", "main.git", "planner.git"]
    found = json.loads(crab(nest.root, "sync", "--all", "--json").stdout)["workspaces"]
    assert {place: each["sent"] for place, each in found.items()} == dict.fromkeys(
        [".", "agents/coder", "agents/planner"], 0
    )

    there = Memory(tmp_path / "there", is_person=True)
    for name in ("coder", "planner"):
        agents.new_agent(there, name)
    crabs(there.root, "sync", "--all", "--to", f"{hubs}/{{agent}}.git", "--yes")
    with Memory(there.root / "agents" / "coder") as own:
        assert [entry.name for entry in own.entries()] == ["Task of coder"]


@pytest.mark.parametrize("mistyped", ["{}/nowhere/memory.git", "ssh://127.0.0.1:1/memory.git", "{}/notes.txt"])
def test_a_remote_that_does_not_answer_is_not_kept(nest: Memory, tmp_path: Path, mistyped: str) -> None:
    (tmp_path / "notes.txt").write_text("no repository\n")
    crab(nest.root, "sync", "--to", str(tmp_path / "hub.git"))
    said = crab(nest.root, "sync", "--to", mistyped.format(tmp_path), status=1)
    assert "from now on" not in said.stderr
    standing = crab(nest.root, "sync", "--status").stdout
    assert f"syncs with {tmp_path}/hub.git" in standing and "fails" not in standing
    crab(nest.root, "sync")


def test_one_that_fails_stops_no_other_and_the_status_says_so(nest: Memory, tmp_path: Path) -> None:
    hubs = tmp_path / "hubs"
    hubs.mkdir()
    crab(nest.root, "sync", "--all", "--to", f"{hubs}/{{agent}}.git")
    (hubs / "coder.git").rename(hubs / "away")
    for name in ("coder", "planner"):
        with Memory(nest.root / "agents" / name, is_person=True) as own:
            own.remember("More", "what else", "Little.")
    lines = crabs(nest.root, "sync", "--all", status=1).splitlines()
    assert lines[1].startswith("agents/coder: failed: ") and lines[2].endswith("1 commit went out")
    found = json.loads(crab(nest.root, "sync", "--all", "--json", status=1).stdout)["workspaces"]
    assert "no Git repository" in found["agents/coder"]["problem"]
    assert crabs(nest.root, "sync", "--all", "--status").count("syncs with") == 3


def test_the_same_pattern_again_names_the_remotes_of_new_agents_alone(nest: Memory, tmp_path: Path) -> None:
    hubs = tmp_path / "hubs"
    hubs.mkdir()
    crab(nest.root, "sync", "--all", "--to", f"{hubs}/{{agent}}.git")
    agents.new_agent(nest, "tester")
    assert "agents/tester: failed: no remote was named" in crabs(nest.root, "sync", "--all", status=1)
    assert "agents/tester" in crabs(nest.root, "sync", "--all", "--to", f"{hubs}/{{agent}}.git")


def test_two_workspaces_never_share_a_remote(nest: Memory) -> None:
    with pytest.raises(InvalidArguments, match="where its name goes"):
        syncing.addresses(nest, "/hubs/all.git")
    agents.new_agent(nest, "main")
    with pytest.raises(InvalidArguments, match="would have the same remote"):
        syncing.addresses(nest, "/hubs/{agent}.git")


# What agents may


def test_an_agent_syncs_only_where_the_settings_let_it_and_answers_nothing(two: Two, machine: Machine) -> None:
    one, _ = two
    agent = one.for_actor("coder", "s-1")
    assert "sync" not in [tool.name for tool in agent.tools]
    for given in ({}, {"is_expected": True}):
        with pytest.raises(Disabled, match="a person syncs, and no agent"):
            agent.sync(**given)
    assert agent.call("sync", {}).is_error
    allow_tool(one)
    assert "sync" in [tool.name for tool in agent.tools]
    with pytest.raises(Disabled, match="a person syncs, and no agent"):
        agent.sync(is_expected=True)
    with pytest.raises(Disabled, match="a person syncs, and no agent"):
        syncing.name_remote(agent, "/elsewhere.git")
    done = agent.call("sync", {})
    assert (done.is_error, done.text) == (False, "synced: 0 files came in, 1 commit went out")
    assert str(one.root.parent) not in done.text
    [tool] = [each for each in agent.tools if each.name == "sync"]
    assert tool.input_schema["properties"] == {}


def test_an_agent_takes_in_nothing_that_a_person_has_not_seen(two: Two, machine: Machine) -> None:
    third = machine("third")
    third.init()
    allow_tool(third)
    done = third.for_actor("coder", "s-1").call("sync", {})
    assert done.is_error and "nothing was taken in" in done.text
    assert not third.entries()


def test_an_agent_pushes_nothing_while_a_text_waits_for_the_person(disputing: Two, hub: Path) -> None:
    one, _ = disputing
    allow_tool(one)
    before = git(hub, "rev-parse", "main")
    done = one.for_actor("coder", "s-1").call("sync", {})
    assert done.is_error and "1 text of other machines" in done.text
    assert git(hub, "rev-parse", "main") == before


# What a person is told


def test_the_status_has_a_row_of_it_only_where_a_remote_was_named(disputing: Two, tmp_path: Path, hub: Path) -> None:
    one, _ = disputing
    one.remember("Tea", "hot", "With milk.")
    said = crab(one.root, "status").stdout
    assert f"with {hub}: 1 commit to send" in said
    assert "1 text of other machines to decide on: `crabmem review resolve`" in said
    assert "crabmem review list" not in said
    assert json.loads(crab(one.root, "status", "--json").stdout)["sync"]["waiting"] == 1
    with Memory(tmp_path / "alone") as alone:
        alone.remember("Tea", "hot", "With milk.")
        assert status(alone).sync is None
        assert "\nsync" not in crab(alone.root, "status").stdout


def test_the_status_says_since_when_it_fails_and_why(two: Two, hub: Path) -> None:
    one, _ = two
    failing(one, hub)
    said = crab(one.root, "status").stdout
    assert "fails since" in said and str(hub) in said


def test_doctor_names_what_waits_and_what_fails_for_more_than_a_day(disputing: Two, hub: Path) -> None:
    one, _ = disputing
    found = {each.check: each for each in one.doctor()}
    assert "sync" not in found
    assert "`crabmem review resolve memory/entries/luna.md` shows both" in found["proposals"].message
    failing(one, hub, timedelta(hours=23))
    assert "sync" not in {each.check for each in one.doctor()}
    hub.with_name("away").rename(hub)
    failing(one, hub)
    [told] = [each for each in one.doctor() if each.check == "sync"]
    assert told.level == "warning" and "memory is not synced with" in told.message


def begin_session(memory: Memory, host: str) -> dict[str, object]:
    """What a hook answers as a session begins."""
    # Copilot does not name the event: who does is VS Code.
    event = {"sessionId": "s"} if host == "copilot" else {"session_id": "s", "hook_event_name": "SessionStart"}
    told = json.dumps({**event, "source": "startup"})
    command = [sys.executable, "-m", "crabmem", "--dir", str(memory.root), "hook", "session-start", "--host", host]
    done = subprocess.run(command, input=told, text=True, check=True, capture_output=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("host", [each for each in HOSTS if each.hooks], ids=lambda host: host.name)
def test_the_person_is_told_as_a_session_begins_that_it_fails_for_long_and_the_model_is_not(
    two: Two, hub: Path, host: object
) -> None:
    one, _ = two
    dialect, name = host.hooks, host.name  # type: ignore[attr-defined]
    assert not dialect.notice or dialect.notice not in begin_session(one, name)
    failing(one, hub)
    found = begin_session(one, name)
    if dialect.notice:
        assert "memory is not synced with" in str(found.pop(dialect.notice))
    assert "not synced" not in json.dumps(found)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_is_told_how_far_a_sync_is(two: Two, monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    terminal = SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: is_terminal))
    verb = import_module("crabmem.cli.verbs.sync")
    monkeypatch.setattr(verb, "sys", terminal)
    monkeypatch.setattr(verb, "EVERY", 0.0)
    two[0].remember("Tea", "hot", "With milk.")
    assert ("packing: 3 objects" in crab(two[0].root, "sync").stderr) == is_terminal


def test_a_memory_that_is_to_sync_no_more_names_no_remote(two: tuple[Memory, Memory], hub: Path) -> None:
    one = two[0]
    assert crabs(one.root, "sync", "--off") == f"does not sync with {hub} any more; Git's origin stays\n"
    assert "no remote was named" in crabs(one.root, "sync", status=1)
    assert crabs(one.root, "sync", "--off") == "no remote was named\n"
    assert "--off goes alone" in crabs(one.root, "sync", "--off", "--all", status=2)
    crabs(one.root, "sync", "--to", str(hub))
