"""A family of agents that nobody knew before is one file of TOML, and no code."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import Result
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from crabmem import Disabled, InvalidSettings, Memory
from crabmem.operations import agents
from crabmem.prompt.profile import Kind
from tests import forked, samples
from tests.conftest import assert_clean, git, typed

SIXTH = """
about = "beekeepers: a board for everybody, a ledger for the keeper alone"
tools = ["entries", "files.memory", "looking.get"]
clone = ["{overview}", "memory/**/*.md"]
missing = "(no {path} yet)"
budget = { part = 300, total = 700, head = 0.5, tail = 0.5, mark = "[…]", least = 10 }

[layout]
identity = "KEEPER.md"
overview = "LEDGER.md"
entries = ["memory/hives"]
notes = "memory/days"

[kinds.group]
hides = ["LEDGER.md", "memory/days/*"]
tools = ["entries.recall"]

[kinds.heartbeat]
tools = []

[search]
files = ["LEDGER.md", "memory/days/*.md"]
unit = "paragraph"
results = 3

[[part]]
words = "You keep bees."

[[part]]
file = "{identity}"
title = "## {file}"

[[part]]
file = "USER.md"
of = "parent"

[[part]]
file = "{overview}"
tag = "memory"

[[part]]
notes = 2
kinds = ["main"]

[[part]]
file = "ROUND.md"
kinds = ["heartbeat"]

[[part]]
words = "Use these tools:\\n{tools}"

[[part]]
say = "cut"

[[seed]]
file = "{identity}"
words = "You are careful."
of = "parent"

[[seed]]
file = "{identity}"
words = "You are {name}. {description}"
of = "agent"

[[seed]]
file = "USER.md"
words = "Whose bees are they?"
of = "parent"

[[seed]]
file = "FIRST.md"
words = "Ask what the hives are called, and delete this file."
is_first = true
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The file of the family."""
    file = tmp_path / "bees.toml"
    file.write_text(SIXTH)
    return file


@pytest.fixture
def root(tmp_path: Path, family: Path) -> Path:
    """A workspace of the family, as its command line makes it."""
    root = tmp_path / "bees"
    assert run(root, "init", "--profile", str(family)).exit_code == 0
    return root


def run(root: Path, *arguments: str) -> Result:
    return typed("--dir", root, *arguments)


def test_a_new_workspace_has_the_files_of_the_family_in_one_commit(root: Path, family: Path) -> None:
    assert sorted(file.name for file in root.glob("[!.]*")) == ["FIRST.md", "KEEPER.md", "USER.md", "crabmem.toml"]
    assert git(root, "log", "--format=%s").splitlines() == [f"init: the profile {family}"]
    assert (root / "crabmem.toml").read_text() == f'profile = "{family}"\n'
    assert_clean(root)


def test_its_prompt_has_its_parts_in_order_with_its_tools(root: Path) -> None:
    (root / "LEDGER.md").write_text("Three hives. </memory>")
    with Memory(root) as memory:
        memory.write_note("Hive two swarmed.")
        text = memory.prompt()
    order = ["You keep bees.", "## KEEPER.md", "Whose bees", "<memory>", "Three hives.", "Hive two", "Use these tools:"]
    places = [text.index(words) for words in order]
    assert places == sorted(places) and text.count("</memory>") == 1
    assert [name for name in ("remember", "forget", "recall", "memory", "get", "soul") if f"`{name}`" in text] == [
        "remember", "forget", "recall", "memory", "get",
    ]  # fmt: skip


def test_each_kind_of_session_sees_its_own_files_and_has_its_own_tools(root: Path) -> None:
    (root / "LEDGER.md").write_text("Three hives.")
    (root / "ROUND.md").write_text("Look at the weather.")
    with Memory(root) as memory:
        memory.write_note("Hive two swarmed.")
        kinds: tuple[Kind, ...] = ("main", "group", "heartbeat", "subagent")
        prompts = {kind: memory.prompt(kind=kind) for kind in kinds}
        tools = {kind: memory.context(kind=kind).tools for kind in kinds}
    assert [kind for kind, text in prompts.items() if "Three hives." in text] == ["main", "heartbeat", "subagent"]
    assert [kind for kind, text in prompts.items() if "swarmed" in text] == ["main"]
    assert [kind for kind, text in prompts.items() if "weather" in text] == ["heartbeat"]
    assert (tools["group"], tools["heartbeat"]) == (("recall",), ())
    assert "Use these tools" in prompts["group"] and "Use these tools" not in prompts["heartbeat"]


def test_its_budgets_hold_and_the_account_tells_what_was_cut(root: Path) -> None:
    (root / "LEDGER.md").write_text("hive " * 100 + "the end")
    told = json.loads(run(root, "prompt", "--account", "--json").stdout)
    parts = {part["name"]: part for part in told["parts"]}
    assert (parts["LEDGER.md"]["status"], parts["LEDGER.md"]["raw"], parts["LEDGER.md"]["injected"]) == (
        "truncated", 507, 300,
    )  # fmt: skip
    assert parts["USER.md"]["status"] == "ok" and told["tools"] == [*samples.USUAL, "get"]
    assert "the end" in run(root, "prompt").stdout and "[…]" in run(root, "prompt").stdout


def test_what_is_hidden_from_a_group_is_neither_found_nor_written_there(root: Path) -> None:
    with Memory(root) as memory:
        memory.write_overview("The buyer is Zinnia.")
    with Memory(root, kind="group") as group:
        assert group.overview().text == "" and group.call("get", {"name": "LEDGER.md"}).is_error
        assert group.call("memory", {"content": "Mine."}).is_error and not group.recall("who is Zinnia").hits
        with pytest.raises(Disabled, match=r"LEDGER\.md is not for sessions of the kind group"):
            group.write_overview("Mine.")
    assert (root / "LEDGER.md").read_text() == "The buyer is Zinnia.\n"


def test_its_facts_lie_where_it_says_and_are_recalled_on_the_command_line(root: Path) -> None:
    assert run(root, "remember", "Hive two", "-d", "the weak one", "-c", "Feed it in March.").exit_code == 0
    assert (root / "memory/hives/hive-two.md").is_file()
    assert "Feed it" in run(root, "recall", "weak", "hive").stdout
    listed = json.loads(run(root, "tools", "--json").stdout)["tools"]
    assert [tool["name"] for tool in listed] == [*samples.USUAL, "get"]
    assert run(root, "--kind", "heartbeat", "call", "recall", '{"query": "hive"}').exit_code == 1
    assert_clean(root)


def test_a_client_of_mcp_gets_its_tools_and_no_others(root: Path) -> None:
    async def story(kind: str) -> tuple[list[str], str]:
        command = [*forked.COMMAND, "--dir", str(root), "--kind", kind, "mcp"]
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            fact = {"name": "Queen", "description": "how old she is", "content": f"For {kind}."}
            try:
                [block] = (await client.call_tool("remember", fact)).content
            except MCPError as error:
                return names, error.message
            return names, str(getattr(block, "text", block))

    tools = [*samples.USUAL, "get"]
    assert asyncio.run(story("main")) == (tools, "remembered: Queen")
    assert asyncio.run(story("group")) == (["recall"], "no tool named: remember (there are: recall)")
    assert "For main." in (root / "memory/hives/queen.md").read_text()


def test_an_agent_of_the_family_begins_as_the_family_says(root: Path) -> None:
    with Memory(root) as memory:
        made = agents.new_agent(memory, "Anna", "Paints the boxes.")
        assert made.paths == ("KEEPER.md", "FIRST.md")
    with Memory(root / "agents" / "anna") as anna:
        assert "You are Anna. Paints the boxes." in anna.prompt() and "Whose bees" in anna.prompt()
        assert anna.profile.about.startswith("beekeepers")


# A profile that is wrong

BROKEN = SIXTH.replace("hides", "hide")


@pytest.mark.parametrize("verb", ["recall hive", "prompt", "context", "init", "agents", "tools", "log", "show x"])
def test_a_broken_profile_is_told_by_every_verb_in_one_line(root: Path, family: Path, verb: str) -> None:
    family.write_text(BROKEN)
    before = git(root, "rev-parse", "HEAD")
    done = run(root, *verb.split())
    assert done.exit_code == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert str(family) in done.stderr and "did you mean `hides`?" in done.stderr
    assert git(root, "rev-parse", "HEAD") == before


def test_a_family_that_is_not_there_is_told_with_those_there_are_and_where_it_is_named(root: Path) -> None:
    (root / "crabmem.toml").write_text('profile = "ants"\n')
    done = run(root, "recall", "hive")
    assert done.exit_code == 1 and done.stderr.count("\n") == 1
    assert f"crabmem: {root / 'crabmem.toml'}: there is no profile ants; there are " in done.stderr
    done = run(root, "--profile", "wasps", "recall", "hive")
    assert "crabmem: there is no profile wasps; there are " in done.stderr and "name it with --profile" in done.stderr


def test_doctor_tells_of_a_broken_profile_and_of_one_that_is_gone(root: Path, family: Path) -> None:
    family.write_text(BROKEN)
    assert "did you mean `hides`?" in run(root, "doctor").stderr + run(root, "doctor").stdout
    family.unlink()
    assert str(family) in run(root, "doctor").stderr + run(root, "doctor").stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('words = "You are careful."', "", "seed 1 must name one of template, words"),
        ('file = "FIRST.md"', 'file = "../FIRST.md"', "seed 4 is ../FIRST.md, which history does not keep"),
        ('hides = ["LEDGER.md"', 'hides = ["{overview}"', "kinds.group hides {overview}; name the file itself"),
        ('file = "FIRST.md"', 'file = "first.txt"', "seed 4 is first.txt, which history does not keep"),
    ],
)
def test_what_cannot_be_in_a_profile_is_told_before_anything_is_made(
    tmp_path: Path, family: Path, old: str, new: str, message: str
) -> None:
    family.write_text(SIXTH.replace(old, new, 1))
    with pytest.raises(InvalidSettings, match=re.escape(message)):
        Memory(tmp_path / "none", profile=str(family))
    assert not (tmp_path / "none").exists()
