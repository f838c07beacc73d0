"""The plugin for OpenClaw's memory slot, in Node, against what OpenClaw's type definitions say that it is given."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crabmem import Memory, __version__
from crabmem.hosts.bundles import openclaw_plugin

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node, which OpenClaw is written for")
SLOT = {"memory_search", "memory_get"}
DM = {"sessionId": "s-1", "sessionKey": "agent:main:main", "workspaceDir": "/nowhere"}
GROUP = {**DM, "sessionId": "s-2", "sessionKey": "agent:main:telegram:group:-100"}
VET = {"name": "Luna's vet", "description": "who looks after the dog Luna", "content": "Dr. Moreno, every Thursday."}
ASKED = {"prompt": "who is the vet of the dog Luna?", "messages": [], "currentUserMessageId": "m-1"}


class OpenClaw:
    """A process with the plugin in it, which is asked for one thing after the other."""

    def __init__(self, folder: Path, config: dict[str, Any], environment: dict[str, str]) -> None:
        words = [str(NODE), str(Path(__file__).with_name("openclaw.mjs")), str(folder), json.dumps(config)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment)

    def __call__(self, what: str, **given: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        print(json.dumps({"what": what, **given}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        return f"error: {answer['error']}" if "error" in answer else answer["value"]

    def call(self, tool: str, ctx: dict[str, Any] = DM, /, **given: Any) -> str:
        """What the model reads of a call."""
        found = self("call", name=tool, input=given, ctx=ctx)
        return found if isinstance(found, str) else found["content"][0]["text"]

    def end(self) -> int:
        """Have nothing to do any more, and wait for the end."""
        self.process.communicate(timeout=20)
        return self.process.returncode


Begin = Callable[..., OpenClaw]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    for path, data in openclaw_plugin(__version__).items():
        (tmp_path / "plugin").mkdir(exist_ok=True)
        (tmp_path / "plugin" / path).write_bytes(data)
    program = tmp_path / "crabmem"
    program.write_text(f"#!{sys.executable}\nfrom crabmem.__main__ import main\n\nmain()\n")
    program.chmod(0o755)
    running: list[OpenClaw] = []

    def begun(**config: Any) -> OpenClaw:
        given = {"command": str(program), "dir": str(tmp_path / "notes"), **config}
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])}
        running.append(OpenClaw(tmp_path / "plugin", given, environment))
        return running[-1]

    yield begun
    for each in running:
        each.process.kill()
        each.process.communicate()


@pytest.mark.parametrize("profile", ["crab", "claw"])
def test_it_offers_the_tools_of_the_slot_and_says_how_to_use_them(profile: str, begin: Begin) -> None:
    openclaw = begin(profile=profile)
    tools = openclaw("tools", ctx=DM)
    assert {tool["name"] for tool in tools} == {*SLOT, "remember", "forget"}
    assert all(tool["can"] and tool["description"] and tool["parameters"]["type"] == "object" for tool in tools)
    assert "`recall`" not in json.dumps(tools)
    said = openclaw("section", names=["memory_search"])
    assert all(isinstance(line, str) for line in said) and all(f"`{tool['name']}`" in "".join(said) for tool in tools)
    assert openclaw("section", names=["exec"]) == []


def test_what_the_model_remembers_is_found_read_and_forgotten_in_the_session_that_openclaw_names(
    begin: Begin, tmp_path: Path
) -> None:
    openclaw = begin()
    assert openclaw.call("remember", **VET) == "remembered: Luna's vet"
    assert "Dr. Moreno" in openclaw.call("memory_search", query="Luna vet")
    assert "Dr. Moreno" in openclaw.call("memory_get", name="Luna's vet")
    assert openclaw.call("forget", name="nobody") == "error: no fact called nobody"
    assert openclaw.call("forget", name="Luna's vet") == "forgot: Luna's vet"
    assert openclaw.end() == 0  # it does not wait for the server, which ends with it
    with Memory(tmp_path / "notes") as memory:
        assert {(each.agent, each.session) for each in memory.log() if each.tool} == {("openclaw", "s-1")}


def test_memory_speaks_before_each_turn_of_a_person_for_openclaw_keeps_nothing_of_it(
    begin: Begin, tmp_path: Path
) -> None:
    with Memory(tmp_path / "notes") as memory:
        memory.remember(*VET.values())
        memory.write_overview("# Overview\n\nThe cart is named Marabou.\n")
    openclaw = begin()
    first = openclaw("hook", name="before_prompt_build", event=ASKED, ctx=DM)
    assert "Dr. Moreno" in first["prependContext"] and "Marabou" in first["appendSystemContext"]
    assert openclaw("hook", name="before_prompt_build", event=ASKED, ctx=DM) == first
    later = {**ASKED, "currentUserMessageId": "m-2"}
    assert openclaw("hook", name="before_prompt_build", event=later, ctx=DM) == first
    other = {**ASKED, "currentUserMessage": "thank you", "currentUserMessageId": "m-3"}
    start = {"appendSystemContext": first["appendSystemContext"]}
    assert openclaw("hook", name="before_prompt_build", event=other, ctx=DM) == start
    for more in ({"trigger": "cron"}, {"inputProvenance": {"kind": "inter_session"}}):
        ctx = {**DM, "sessionId": "s-3", **more}
        assert "prependContext" not in openclaw("hook", name="before_prompt_build", event=ASKED, ctx=ctx)
    with Memory(tmp_path / "notes") as memory:
        memory.write_overview("# Overview\n\nThe cart is named Pelican.\n")
    assert openclaw("hook", name="before_prompt_build", event=other, ctx=DM) == start
    openclaw("hook", name="after_compaction", event={}, ctx=DM)
    assert "Pelican" in openclaw("hook", name="before_prompt_build", event=other, ctx=DM)["appendSystemContext"]
    assert begin(context=False, recall=False)("hook", name="before_prompt_build", event=ASKED, ctx=DM) == {}


def test_in_a_workspace_of_openclaw_its_own_tools_write_as_the_agent_and_a_group_sees_nothing(
    begin: Begin, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    with Memory(folder, profile="claw") as memory:
        memory.write_overview("# Memory\n\nThe cart is named Marabou.\n")
    openclaw, here = begin(profile="claw"), {**DM, "workspaceDir": str(folder)}
    assert "appendSystemContext" not in openclaw("hook", name="before_prompt_build", event=ASKED, ctx=here)
    assert json.loads(openclaw.call("memory_search", here, query="cart"))["results"][0]["path"] == "MEMORY.md"
    assert "Marabou" not in openclaw.call("memory_search", {**GROUP, "workspaceDir": str(folder)}, query="cart")
    (folder / "memory").mkdir()
    (folder / "memory/2026-03-14.md").write_text("The boat is named Pelican.\n")
    event = {"toolName": "write", "params": {"path": "memory/2026-03-14.md"}, "result": {}}
    openclaw("hook", name="after_tool_call", event=event, ctx={"sessionId": "s-1", "sessionKey": "agent:main:main"})
    openclaw("stop")
    with Memory(folder, profile="claw") as memory:
        assert next(iter(memory.log())).agent == "openclaw"


def test_without_a_crabmem_a_tool_says_so_and_a_turn_goes_on(begin: Begin) -> None:
    openclaw = begin(command="/nowhere/crabmem")
    assert openclaw.call("memory_search", query="cart").startswith("error: /nowhere/crabmem cannot be run: ")
    assert openclaw("hook", name="before_prompt_build", event=ASKED, ctx=DM) == {}
    assert "ended with 2" in (said := begin(profile="crabs").call("memory_search", query="cart")) and "crabs" in said
