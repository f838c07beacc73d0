"""A write over the protocol is of the session of its host: the one that a person sees there, and the hooks record."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from crabmem import Memory, NotFound
from crabmem.hosts.hooks.input import parse_input
from crabmem.text.agent_names import session_name
from crabmem.text.limits import MAX_WHO
from crabmem.write.actor import Actor
from tests import forked
from tests.serving import Mode, command, connected, dialled, environment, web

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

HOSTS_ID = "a5d15de1-a57e-4630-bff1-83a8b5b7d1f2"
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
#: What Codex 0.169 puts into `_meta` of a call, but for what is not about the session.
CODEX = {
    "callId": "call_1",
    "x-codex-turn-metadata": {"session_id": HOSTS_ID, "thread_id": "t-1", "turn_id": "turn-1"},
    "threadId": "t-1",
    "sessionId": HOSTS_ID,
    "windowId": f"{HOSTS_ID}:0",
}
MALFORMED: list[Any] = [None, 7, True, "", " \n ", "\u200b", [HOSTS_ID], {"id": HOSTS_ID}, {}]


@asynccontextmanager
async def started(root: Path, name: str, *options: str, mode: Mode = "auto", **variables: str) -> AsyncIterator[Client]:
    """A client of that name, of a server over pipes that its host started with such variables."""
    first, *rest = command(root, options=options)
    server = StdioServerParameters(command=first, args=rest, env={**environment(), **variables})
    async with Client(server, mode=mode, client_info=Implementation(name=name, version="1")) as client:
        yield client


async def remember(client: Client, name: str, **meta: Any) -> None:
    given: Any = meta or None
    done = await client.call_tool("remember", {"name": name, "description": "what", "content": "x"}, meta=given)
    assert not done.is_error, done


def sessions(root: Path) -> list[str | None]:
    """The sessions of what was written after the first fact, oldest first."""
    with Memory(root) as memory:
        return [commit.session for commit in reversed(memory.log()) if commit.tool == "remember"][1:]


# What hosts say


@MODES
@pytest.mark.parametrize(
    ("client", "variable"),
    [("claude-code", "CLAUDE_CODE_SESSION_ID"), ("copilot-cli", "COPILOT_AGENT_SESSION_ID")],
)
async def test_the_session_is_the_one_that_the_host_names_to_the_server_it_starts(
    root: Path, client: str, variable: str, mode: Mode
) -> None:
    async with started(root, client, mode=mode, **{variable: HOSTS_ID}) as host:
        await remember(host, "One")
        await remember(host, "Two")
    assert sessions(root) == [HOSTS_ID, HOSTS_ID]


async def test_a_host_that_runs_inside_of_another_is_not_taken_for_that_session(root: Path) -> None:
    async with started(root, "gemini-cli-mcp-client", CLAUDE_CODE_SESSION_ID=HOSTS_ID) as host:
        await remember(host, "One")
    [session] = sessions(root)
    assert session != HOSTS_ID and len(session or "") == 16


@MODES
async def test_codexs_session_is_the_one_in_each_of_its_calls(root: Path, mode: Mode) -> None:
    async with started(root, "codex-mcp-client", mode=mode) as host:
        await remember(host, "One", **CODEX)
        await remember(host, "Two", **{"x-codex-turn-metadata": {"session_id": "s-2"}})
        await remember(host, "Three", threadId="t-3")
    assert sessions(root) == [HOSTS_ID, "s-2", "t-3"]


async def test_vs_codes_session_is_the_conversation_that_it_names(root: Path) -> None:
    async with started(root, "Visual Studio Code") as host:
        await remember(host, "One", **{"vscode.conversationId": HOSTS_ID, "vscode.requestId": "r-1"})
    assert sessions(root) == [HOSTS_ID]


async def test_a_session_that_is_named_on_the_command_line_wins(root: Path) -> None:
    async with started(root, "claude-code", "--session", "s-7", CLAUDE_CODE_SESSION_ID=HOSTS_ID) as host:
        await remember(host, "One", sessionId="s-8")
    assert sessions(root) == ["s-7"]


async def test_hooks_and_server_of_a_host_record_one_session(root: Path) -> None:
    async with started(root, "claude-code", CLAUDE_CODE_SESSION_ID=HOSTS_ID) as host:
        await remember(host, "One")
    file = root / "memory" / "entries" / "two.md"
    file.write_text("What the host's own tool wrote.\n")
    told = {"session_id": HOSTS_ID, "hook_event_name": "PostToolUse", "tool_input": {"file_path": str(file)}}
    hook = [*forked.COMMAND, "--dir", str(root), "hook", "wrote", "--host", "claude-code"]
    subprocess.run(hook, input=json.dumps(told).encode(), env=environment(), check=True, capture_output=True)
    with Memory(root) as memory:
        mine = [commit.subject for commit in memory.log(session=HOSTS_ID)]
        assert mine == ["write: two", "remember: One"]
        memory.revert(session=HOSTS_ID)
        assert [entry.name for entry in memory.entries()] == ["Deploy key"]


async def test_a_session_that_a_hook_showed_the_overview_to_replaces_it_without_naming_the_version(root: Path) -> None:
    with Memory(root) as memory:
        memory.write_overview("# One\n")
    told = json.dumps({"session_id": HOSTS_ID, "hook_event_name": "SessionStart", "source": "startup"})
    hook = [*forked.COMMAND, "--dir", str(root), "hook", "session-start", "--host", "claude-code", "--deadline", "30"]
    subprocess.run(hook, input=told.encode(), env=environment(), check=True, capture_output=True)
    for session, is_refused in (("another", True), (HOSTS_ID, False)):
        async with started(root, "claude-code", CLAUDE_CODE_SESSION_ID=session) as host:
            assert (await host.call_tool("memory", {"content": "# Two\n"})).is_error is is_refused


# Over HTTP


@MODES
async def test_taking_back_one_clients_session_leaves_the_others_over_http(root: Path, mode: Mode) -> None:
    with web(root) as url:
        who = [Implementation(name=name, version="1") for name in ("alice", "bob")]
        async with (
            dialled(url, mode=mode, client_info=who[0]) as alice,
            dialled(url, mode=mode, client_info=who[1]) as bob,
        ):
            for number in (1, 2):
                await remember(alice, f"Of Alice {number}")
                await remember(bob, f"Of Bob {number}")
    hers, his, again, once_more = sessions(root)
    assert (hers, his) == (again, once_more) and hers != his and hers and his
    with Memory(root) as memory:
        memory.revert(session=hers)
        assert {entry.name for entry in memory.entries()} == {"Deploy key", "Of Bob 1", "Of Bob 2"}


async def test_two_sessions_of_one_host_over_http_are_two(root: Path) -> None:
    with web(root) as url:
        for number in (1, 2):
            async with dialled(url, mode="legacy") as client:
                await remember(client, f"Of {number}")
        async with dialled(url) as client:
            await remember(client, "Of three", sessionId=HOSTS_ID)
            await remember(client, "Of four", sessionId="s-4")
    found = sessions(root)
    assert len(set(found)) == 4 and found[2:] == [HOSTS_ID, "s-4"]


async def test_variables_of_who_typed_the_command_are_no_clients_session(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", HOSTS_ID)
    with web(root) as url:
        async with dialled(url, client_info=Implementation(name="claude-code", version="1")) as client:
            await remember(client, "One")
    [session] = sessions(root)
    assert session != HOSTS_ID and len(session or "") == 16


# What nobody is to believe


async def test_what_is_no_name_of_a_session_is_not_believed(root: Path) -> None:
    async with connected(root, "stdio", "legacy") as client:
        for number, given in enumerate(MALFORMED):
            await remember(client, f"Fact {number}", sessionId=given, **{"x-codex-turn-metadata": given})
    assert len(set(sessions(root))) == 1 and len(sessions(root)[0] or "") == 16


async def test_no_client_writes_trailers_or_as_the_person_through_what_it_calls_itself(root: Path) -> None:
    forged = "s-9\n\nTool: memory\nAgent: person\r\nEntry: Deploy key\u2028Session: s-1"
    async with started(root, "person\nAgent: person") as client:
        await remember(client, "One", sessionId=forged)
        await remember(client, "Two", sessionId="x" * 100_000)
    with Memory(root) as memory:
        two, one = memory.log(2)
        assert one.session == "s-9 Tool: memory Agent: person Entry: Deploy key Session: s-1"
        assert (one.tool, one.entries, one.agent) == ("remember", ("One",), "person Agent: person")
        assert two.session == "x" * MAX_WHO
        assert not any(commit.is_person for commit in (one, two))
        with pytest.raises(NotFound):
            memory.revert(session="s-9")
        memory.revert(session="s-1")  # what says so inside of its own name is not taken back
        assert {entry.name for entry in memory.entries()} == {"One", "Two"}


@given(st.one_of(st.text(max_size=300), st.text("a\n \u200b\u202e\u2028\x00\x85", max_size=300)))
def test_the_name_of_a_session_is_one_line_that_commits_keep_as_it_is(text: str) -> None:
    name = session_name(text)
    if name is not None:
        assert 0 < len(name) <= MAX_WHO and len(name.splitlines()) == 1
        assert session_name(name) == name == Actor("coder", name).names[1]
    hook = json.dumps({"session_id": text, "prompt": "x"}).encode()
    assert parse_input(hook).session == session_name(text)
