"""Memory in the Claude Agent SDK: through its types, its in-process server, and the host that it brings along."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    ResultMessage,
)
from mcp import Client

from crabmem import InvalidArguments, Memory
from crabmem.adapters.claude_agent import ClaudeMemory
from tests.stub_api import Api, Call, serving

VET = {"name": "Luna's vet", "description": "who looks after the dog Luna", "content": "Dr. Moreno."}


@pytest.fixture
def helper(memory: Memory) -> ClaudeMemory:
    return ClaudeMemory(memory)


def told(helper: ClaudeMemory, event: str, **given: Any) -> HookJSONOutput:
    """What the first hook of an event answers."""
    hook = cast("Any", helper.hooks)[event][0].hooks[0]
    return cast("HookJSONOutput", asyncio.run(hook({"hook_event_name": event, **given}, None, {"signal": None})))


async def nothing(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
    return {}


def test_what_bears_on_a_message_becomes_context_once(memory: Memory, helper: ClaudeMemory) -> None:
    memory.call("remember", VET)
    asked = {"prompt": "Who looks after the dog Luna?", "session_id": "s-host"}
    said = cast("Any", told(helper, "UserPromptSubmit", **asked))
    assert said["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "Dr. Moreno." in said["hookSpecificOutput"]["additionalContext"]
    assert told(helper, "UserPromptSubmit", **asked) == {}


def test_what_the_host_wrote_into_the_workspace_becomes_a_commit_of_the_agent_and_its_session(
    memory: Memory, helper: ClaudeMemory
) -> None:
    memory.call("remember", VET)
    memory.file("memory/MEMORY.md").write_text("# Written with a tool of the host\n")
    given = {"tool_name": "Write", "tool_input": {"file_path": str(memory.file("memory/MEMORY.md"))}}
    assert told(helper, "PostToolUse", session_id="s-host", cwd="/", **given) == {}
    commit = memory.log(1)[0]
    assert (commit.paths, commit.agent, commit.session) == (("memory/MEMORY.md",), "coder", "s-host")


def test_after_much_talk_without_a_fact_stored_there_is_one_more_turn_and_no_more(
    memory: Memory, helper: ClaudeMemory
) -> None:
    memory.init()
    memory.file("crabmem.toml").write_text("[hooks]\nmessages = 2\n")
    stop = {"session_id": "s-host", "stop_hook_active": False}
    answers = [told(helper, "Stop", **stop)]
    for message in ("Hello", "How are you?"):
        told(helper, "UserPromptSubmit", prompt=message, session_id="s-host")
    answers += [told(helper, "Stop", **{**stop, "stop_hook_active": True}), told(helper, "Stop", **stop)]
    answers += [told(helper, "Stop", **stop)]
    assert [answer.get("decision") for answer in answers] == [None, None, "block", None]
    memory.adopt()


def test_agent_that_was_sent_is_told_how_to_recall(helper: ClaudeMemory, memory: Memory) -> None:
    memory.call("remember", VET)
    said = cast("Any", told(helper, "SubagentStart", agent_id="a-1", agent_type="Explore"))
    assert said["hookSpecificOutput"]["additionalContext"] == memory.prompt(kind="subagent") != memory.prompt()


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SubagentStart", "PostToolUse", "Stop", "PreCompact"])
def test_a_hook_makes_no_workspace(memory: Memory, helper: ClaudeMemory, event: str) -> None:
    assert told(helper, event, prompt="Who looks after the dog?") == {}
    assert not memory.root.exists()


def test_what_goes_wrong_in_a_hook_is_told_the_person_and_decides_nothing(memory: Memory, helper: ClaudeMemory) -> None:
    memory.init()
    memory.file("crabmem.toml").write_text("recall_limit = 0\n")
    said = cast("Any", told(helper, "UserPromptSubmit", prompt="Hello"))
    assert said.keys() == {"systemMessage"} and "recall_limit" in said["systemMessage"]
    memory.file("crabmem.toml").unlink()


def test_the_server_offers_the_tools_of_memory_with_their_schemas_and_hints(
    memory: Memory, helper: ClaudeMemory
) -> None:
    async def conversation() -> tuple[Any, Any, Any]:
        async with Client(cast("Any", helper.server)["instance"]) as client:
            good = await client.call_tool("remember", VET)
            return await client.list_tools(), good, await client.call_tool("forget", {"name": "nobody"})

    listed, good, bad = asyncio.run(conversation())
    assert [(tool.name, tool.input_schema) for tool in listed.tools] == [
        (tool.name, tool.input_schema) for tool in memory.tools
    ]
    hints = {tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint) for tool in listed.tools}
    assert hints["recall"] == (True, False) and hints["forget"] == (False, True)
    assert (good.content[0].text, good.is_error) == ("remembered: Luna's vet", False)
    assert bad.is_error and "no fact called nobody" in bad.content[0].text


@pytest.mark.parametrize(
    ("own", "key"),
    [
        (None, None),
        ("Be brief.", None),
        ({"type": "preset", "preset": "claude_code"}, "append"),
        ({"type": "preset", "preset": "claude_code", "append": "Be brief."}, "append"),
        ({"type": "custom", "prompt": "Be brief."}, "prompt"),
    ],
)
def test_the_system_prompt_is_the_agents_own_and_memory_under_it(
    memory: Memory, helper: ClaudeMemory, own: Any, key: str | None
) -> None:
    given = helper.options(ClaudeAgentOptions(system_prompt=own)).system_prompt
    text = cast("Any", given)[key] if key else given
    assert text == ("Be brief.\n\n" if "brief" in str(own) else "") + memory.prompt()
    assert not key or {**cast("Any", given), key: own.get(key)} == {**own, key: own.get(key)}


def test_whatever_stands_in_the_options_stays(helper: ClaudeMemory) -> None:
    own = HookMatcher(hooks=[nothing])
    base = ClaudeAgentOptions(
        model="m",
        allowed_tools=["Read"],
        mcp_servers={"other": {"type": "stdio", "command": "other"}},
        hooks={"Stop": [own], "PreToolUse": [own]},
    )
    made = helper.options(base)
    assert made.model == "m" and made.allowed_tools[:2] == ["Read", "mcp__crabmem__remember"]
    assert set(cast("Any", made.mcp_servers)) == {"other", "crabmem"}
    assert made.hooks and made.hooks["Stop"][0] is own and len(made.hooks["Stop"]) == 2
    assert made.hooks["PreToolUse"] == [own]
    assert base.hooks == {"Stop": [own], "PreToolUse": [own]} and base.allowed_tools == ["Read"]


@pytest.mark.parametrize(
    "base",
    [
        ClaudeAgentOptions(mcp_servers="servers.json"),
        ClaudeAgentOptions(system_prompt={"type": "file", "path": "prompt.md"}),
    ],
)
def test_options_in_a_file_are_refused(helper: ClaudeMemory, base: ClaudeAgentOptions) -> None:
    with pytest.raises(InvalidArguments, match="file"):
        helper.options(base)


@pytest.mark.hosts
def test_the_host_of_the_sdk_hears_memory_and_uses_it(memory: Memory, helper: ClaudeMemory, tmp_path: Path) -> None:
    memory.call("remember", VET)
    memory.write_overview("# The dog is called Luna\n")
    wifi = {"name": "Wifi", "description": "the network for guests", "content": "Named Pinguin."}
    file = str(memory.root / "memory" / "entries" / "by-hand.md")
    calls = [
        Call("mcp__crabmem__remember", wifi),
        Call("Write", {"file_path": file, "content": "Written by the host.\n"}),
    ]
    with serving(*calls, "Dr. Moreno.") as api:
        result = asyncio.run(_conversation(helper, api, tmp_path))
    assert result == "Dr. Moreno."
    first, last = json.dumps(api.requests[0]), json.dumps(api.requests[-1])
    assert "# The dog is called Luna" in json.dumps(api.requests[0]["system"])
    assert "<recall>" in first and "(from memory/entries/luna-s-vet.md)" in first
    assert {"mcp__crabmem__recall", "mcp__crabmem__remember"} <= {tool["name"] for tool in api.requests[0]["tools"]}
    assert "remembered: Wifi" in last
    assert [(commit.tool, commit.agent, commit.paths) for commit in memory.log(2)] == [
        ("write", "coder", ("memory/entries/by-hand.md",)),
        ("remember", "coder", ("memory/entries/wifi.md",)),
    ]


async def _conversation(helper: ClaudeMemory, api: Api, home: Path) -> str | None:
    """What the agent answers in the end; the host sees nothing of this machine's own settings."""
    base = ClaudeAgentOptions(
        cwd=home,
        setting_sources=[],
        permission_mode="bypassPermissions",
        env={**api.environment, "HOME": str(home), "IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    )
    results: list[str | None] = []
    async with ClaudeSDKClient(helper.options(base)) as client:
        await client.query("Who looks after the dog Luna?")
        async for message in client.receive_response():
            results += [message.result] if isinstance(message, ResultMessage) else []
    return results[-1]
