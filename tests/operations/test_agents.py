"""Agents that have a workspace of their own inside that of all."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import AlreadyThere, InvalidArguments, Memory, NotFound, Unwritable
from crabmem.operations import agents, files, setup
from crabmem.workspace.workspace import agent_folder
from tests.conftest import assert_clean, git, typed_in
from tests.profiles.test_sixth import SIXTH


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A workspace of a family that has seeds for agents; all of its histories must end up clean."""
    (tmp_path / "bees.toml").write_text(SIXTH)
    with Memory(tmp_path / "bees", profile=str(tmp_path / "bees.toml"), is_person=True) as memory:
        setup.use_profile(memory)
        yield memory
    for root in (memory.root, *memory.root.glob("agents/*/")):
        if not root.is_symlink():
            assert_clean(root)


def own(memory: Memory, name: str) -> Memory:
    return Memory(memory.root / "agents" / name)


def test_a_new_agent_has_its_own_files_and_shows_what_it_lacks_of_the_others(memory: Memory) -> None:
    memory.write_overview("Three hives.")
    made = agents.new_agent(memory, "Anna Bee", "Paints the boxes.")
    assert (made.made, made.paths, made.left) == (True, ("KEEPER.md", "FIRST.md"), ())
    with own(memory, "anna-bee") as anna:
        (anna.root / "USER.md").write_text("Somebody else.")
        anna.adopt()
        text = anna.prompt()
        assert "You are Anna Bee. Paints the boxes." in text and "Three hives." in text
        assert "Whose bees" in text and "Somebody else." not in text
        assert [commit.subject for commit in anna.log()] == ["edit: USER.md", "init: the agent Anna Bee"]


def test_what_an_agent_is_called_is_not_looked_into(memory: Memory) -> None:
    agents.new_agent(memory, "{description}", "Paints {name}.")
    with own(memory, "description") as agent:
        assert "{description}" in agent.identity().text and "Paints {name}." in agent.identity().text


def test_what_an_agent_remembers_no_other_finds(memory: Memory) -> None:
    for name in ("a", "ab"):
        agents.new_agent(memory, name)
        with own(memory, name) as agent:
            agent.remember("Secret", "what is hidden", f"Known to {name} alone.")
    with own(memory, "a") as agent, own(memory, "ab") as other:
        assert [hit.entry.content for hit in agent.recall("what is hidden")] == ["Known to a alone."]
        assert [hit.entry.content for hit in other.recall("what is hidden")] == ["Known to ab alone."]
    assert not memory.recall("what is hidden").hits and not memory.entries()
    assert "agents" not in git(memory.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_two_names_of_one_folder_are_no_two_agents(memory: Memory) -> None:
    agents.new_agent(memory, "Anna")
    with pytest.raises(AlreadyThere, match=r"an agent in .*agents/anna already"):
        agents.new_agent(memory, "ANNA")
    assert [agent.name for agent in agents.agents(memory)] == ["anna"]


@given(st.text(min_size=1).filter(str.strip))
def test_no_name_of_an_agent_leads_out_of_the_folder_of_agents(name: str) -> None:
    folder = agent_folder(name)
    assert "/" not in folder and folder not in ("", ".", "..") and not folder.startswith(".")


@pytest.mark.parametrize("name", ["..", "../../outside", "/etc", "a/../../b"])
def test_an_agent_with_the_name_of_a_path_is_a_folder_among_the_others(memory: Memory, name: str) -> None:
    before = sorted(memory.root.parent.iterdir())
    made = agents.new_agent(memory, name)
    assert Path(made.root).parent == memory.root / "agents" and sorted(memory.root.parent.iterdir()) == before


@pytest.mark.parametrize("link", ["agents", "agents/anna"])
def test_a_link_is_nobodys_workspace(memory: Memory, tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (memory.root / link).parent.mkdir(exist_ok=True)
    (memory.root / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unwritable, match="is a link"):
        agents.new_agent(memory, "Anna")
    assert agents.agents(memory) == [] and os.listdir(tmp_path / "elsewhere") == []
    (memory.root / link).unlink()


def test_a_description_that_no_file_would_hold_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes") as memory:
        with pytest.raises(InvalidArguments, match="the profile crab keeps no description of an agent"):
            agents.new_agent(memory, "Anna", "Paints the boxes.")
        assert not memory.root.exists()
        made = agents.new_agent(memory, "Anna")
        assert made.made and made.paths == () and agents.agents(memory)[0].written is None
        with pytest.raises(AlreadyThere):
            agents.new_agent(memory, "Anna")
        with own(memory, "anna") as anna:
            assert anna.identity().text == memory.identity().text


def test_a_clone_has_the_memory_of_the_other_in_one_commit_that_says_whose_it_was(memory: Memory) -> None:
    agents.new_agent(memory, "Anna", "Paints.")
    with own(memory, "anna") as anna:
        anna.remember("Queen", "how old she is", "Two years.")
        anna.write_overview("Boxes are green.")
        anna.file("memory/hives/queen.md").write_text("Three years.")
        made = agents.clone_agent(memory, "anna", "Ben")
        head = git(anna.root, "rev-parse", "--short=8", "HEAD").strip()
        assert anna.log(limit=1)[0].subject == "edit: queen"
    assert (made.made, made.paths, made.left) == (True, ("LEDGER.md", "memory/hives/queen.md"), ())
    with own(memory, "ben") as ben:
        assert [commit.subject for commit in ben.log()] == [f"clone: from anna at {head}"]
        assert ben.log()[0].author == "person" and ben.overview().text == "Boxes are green.\n"
        assert ben.get("queen").content == "Three years." and "careful" in ben.identity().text


def test_a_clone_overwrites_nothing_and_says_what_it_left(memory: Memory) -> None:
    memory.write_overview("For all.")
    memory.remember("Queen", "how old she is", "Two years.")
    agents.new_agent(memory, "Ben")
    with own(memory, "ben") as ben:
        ben.write_overview("Ben's own.")
        made = agents.clone_agent(memory, ".", "ben")
        assert (made.made, made.paths, made.left) == (False, ("memory/hives/queen.md",), ("LEDGER.md",))
        assert ben.overview().text == "Ben's own.\n" and ben.log(limit=1)[0].subject.startswith("clone: from . at ")
        again = agents.clone_agent(memory, ".", "ben")
        assert (again.commit, again.paths) == (None, ()) and len(again.left) == 2


def test_an_overview_by_its_older_name_is_cloned_as_the_one_overview(tmp_path: Path) -> None:
    with Memory(tmp_path, profile="camel", is_person=True) as memory:
        old = tmp_path / "agents" / "anna" / "memory.md"
        old.parent.mkdir(parents=True)
        old.write_text("Boxes are green.\n")
        assert "MEMORY.md" in agents.clone_agent(memory, "anna", "ben").paths
        agents.new_agent(memory, "carl")
        assert "MEMORY.md" in agents.clone_agent(memory, "anna", "carl").left
    for name in ("ben", "carl"):
        found = [file.name for file in (tmp_path / "agents" / name).iterdir() if file.name.casefold() == "memory.md"]
        assert found == ["MEMORY.md"]
    assert (tmp_path / "agents" / "ben" / "MEMORY.md").read_text() == old.read_text()


@pytest.mark.parametrize(("source", "target"), [("anna", "Anna"), (".", "."), ("anna", ".")])
def test_nobody_is_a_copy_of_itself(memory: Memory, source: str, target: str) -> None:
    agents.new_agent(memory, "anna")
    with pytest.raises(InvalidArguments, match="cannot be a copy of"):
        agents.clone_agent(memory, source, target)


def test_a_clone_of_nobody_names_those_there_are_and_makes_nothing(memory: Memory) -> None:
    agents.new_agent(memory, "anna")
    with pytest.raises(NotFound, match=r"no agent named: carl \(there are: anna\)"):
        agents.clone_agent(memory, "carl", "ben")
    assert os.listdir(memory.root / "agents") == ["anna"]


def test_agents_are_listed_with_how_much_they_know_and_since_when(memory: Memory) -> None:
    assert "makes one" in typed_in(memory.root, "agents").stderr
    assert typed_in(memory.root, "agents", "new", "Anna", "-d", "Paints.").exit_code == 0
    typed_in(memory.root, "--workspace", "anna", "remember", "Queen", "-d", "how old she is", "-c", "Two years.")
    assert json.loads(typed_in(memory.root, "agents", "clone", "anna", "ben", "--json").stdout)["paths"] == [
        "memory/hives/queen.md"
    ]
    found = json.loads(typed_in(memory.root, "agents", "list", "--json").stdout)
    assert found == json.loads(typed_in(memory.root, "agents", "--json").stdout)
    assert [(agent["name"], agent["facts"]) for agent in found["agents"]] == [("anna", 1), ("ben", 1)]
    assert all(agent["written"] and Path(agent["path"]).is_dir() for agent in found["agents"])
    assert typed_in(memory.root, "agents").stdout.splitlines()[0].startswith("anna  1 fact, last written ")
    assert json.loads(typed_in(memory.root, "agents", "--json").stdout) == found
    assert "left as they are: memory/hives/queen.md" in typed_in(memory.root, "agents", "clone", "anna", "ben").stderr


def test_a_workspace_that_an_agent_had_before_is_listed_as_it_is(memory: Memory) -> None:
    (memory.root / "agents/anna").mkdir(parents=True)
    (memory.root / "agents/anna/KEEPER.md").write_text("Anna.")
    assert [(agent.name, agent.entries, agent.written) for agent in agents.agents(memory)] == [("anna", 0, None)]
    assert sorted(os.listdir(memory.root / "agents/anna")) == ["KEEPER.md"]
    made = agents.new_agent(memory, "Anna", "Paints.")
    assert (made.made, made.paths, made.left) == (True, (), ("KEEPER.md",))
    with own(memory, "anna") as anna:
        assert anna.identity().text == "Anna." and anna.log()[0].subject == "edit: KEEPER.md"


_KILLED = """
import os, sys
from crabmem import Memory
from crabmem.operations import agents

left = int(sys.argv[2])

def step(event, given):
    global left
    if event in ("os.rename", "os.link", "os.mkdir") or (event == "open" and given[2] & os.O_WRONLY):
        left -= 1
        if not left:
            os._exit(9)

with Memory(sys.argv[1]) as memory:
    agents.new_agent(memory, "first")  # so that all that is read late is there
    sys.addaudithook(step)
    agents.new_agent(memory, "second")
"""


@pytest.mark.parametrize("steps", [6, 12, 18, 24, 30])
def test_an_agent_that_was_half_made_when_its_maker_was_killed_is_made_whole(memory: Memory, steps: int) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(memory.root), str(steps)], check=False)
    assert done.returncode == 9
    with suppress(AlreadyThere):  # where only what follows the commit was left to do
        agents.new_agent(memory, "second")
    with own(memory, "first") as first, own(memory, "second") as second:
        second.engine.recover()
        assert files.blobs(second).keys() == files.blobs(first).keys() != set()
