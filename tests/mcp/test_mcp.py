"""The server as the official client sees it: over pipes and over HTTP, in today's protocol and the one before."""

import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import Implementation, PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from crabmem import Fact, Memory
from crabmem.operations import history, proposals, syncing
from crabmem.operations.pause import pause, resume
from crabmem.text.extras import how_to_get
from crabmem.tools import guide as guide_of
from tests import forked, samples
from tests.conftest import assert_clean, git
from tests.samples import VET, WIFI
from tests.serving import (
    CLIENT,
    TOKEN,
    Heard,
    Mode,
    Transport,
    command,
    connected,
    dialled,
    environment,
    in_namespace,
    limited,
    piped,
    web,
)

pytestmark = [
    pytest.mark.anyio,
    # The client of the library warns of what the older protocol has and today's has not.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

WAYS: list[tuple[Transport, Mode]] = [("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy")]
ways = pytest.mark.parametrize(("transport", "mode"), WAYS)

#: Calls beside those of `tests.samples`, before the first and after the last of them.
BEFORE: list[tuple[str, dict[str, Any], str]] = [
    ("remember", WIFI, "remembered: Wifi"),
    ("recall", {"query": "submarine"}, "no memories found: no match in 3 facts"),
    ("list", {"limit": 1}, "- Deploy key: where the deploy key lives\n\n(2 more facts: ask for those after "),
    ("log", {"limit": 1}, "  tester ["),
]
AFTER: list[tuple[str, dict[str, Any], str]] = [
    ("get", {"name": "the vet"}, "## Luna's vet\n"),
    ("recall", {"query": "dog", "limit": 3}, "\nwho looks after the dog\n\nDr. Moreno."),
]


def fill(root: Path) -> None:
    """Two facts."""
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.", aliases=["release key"])
        memory.remember("密钥", "the key in Chinese", "也在保险库里。")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace of two facts, whose history must end up clean."""
    root = tmp_path / "notes"
    fill(root)
    yield root
    with Memory(root) as memory:
        memory.adopt()
    assert_clean(root)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A workspace like `root` and its one server over HTTP, for tests that change nothing."""
    root = tmp_path_factory.mktemp("served") / "notes"
    fill(root)
    with Memory(root) as memory:
        before = history.newest(memory)
    with web(root) as url:
        yield root, url
    with Memory(root) as memory:
        assert history.newest(memory) == before
    assert_clean(root)


@asynccontextmanager
async def looking(served: tuple[Path, str], transport: Transport, mode: Mode) -> AsyncIterator[Client]:
    """A client that changes nothing: over HTTP one of many."""
    root, url = served
    who = Implementation(name=CLIENT, version="1")
    async with (
        connected(root, "stdio", mode) if transport == "stdio" else dialled(url, mode=mode, client_info=who) as client
    ):
        yield client


def text_of(result: Any) -> str:
    """The text of a tool's result, of a prompt, or of a resource."""
    if hasattr(result, "messages"):
        [message] = result.messages
        assert isinstance(message.content, TextContent)
        return str(message.content.text)
    if hasattr(result, "contents"):
        [found] = result.contents
        assert isinstance(found, TextResourceContents)
        return found.text
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def listening(client: Client, mode: Mode, *uris: str) -> Any:
    """While it lasts, the client is told of these addresses and of lists."""
    if mode == "legacy":
        # What changes before the server has read that the client is ready, or before the client has opened its
        # stream, is told to nobody: who then asks sees it anyway.
        for _ in range(2):
            await client.list_tools()
        for uri in uris:
            await client.subscribe_resource(uri)
        yield
        for uri in uris:
            await client.unsubscribe_resource(uri)
        return
    async with (
        client.listen(
            tools_list_changed=True, resources_list_changed=True, resource_subscriptions=list(uris)
        ) as stream,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(drained, stream)
        yield
        tasks.cancel_scope.cancel()


async def drained(stream: Any) -> None:
    """What is heard is what the message handler hears."""
    async for _ in stream:
        pass


# Tools


@ways
@pytest.mark.parametrize("asked", [(), ("--data",)])
async def test_every_tool_answers_with_text_and_to_a_program_with_data_that_its_schema_allows(
    root: Path, transport: Transport, mode: Mode, asked: tuple[str, ...]
) -> None:
    (root / "crabmem.toml").write_text("soul_editable = true\n")
    with Memory(root) as memory:
        tools = samples.in_turn(memory.tools_named(samples.shared_tools()))
        every = [(tool.name, samples.call(tool).arguments, samples.call(tool).says) for tool in tools]
    async with connected(root, transport, mode, "--tools", ",".join(tool.name for tool in tools), *asked) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        for tool, arguments, words in (*BEFORE, *every, *AFTER):
            result = await client.call_tool(tool, arguments)  # the client checks the data against the schema
            assert (result.is_error, words in text_of(result)) == (False, True), text_of(result)
            assert bool(result.structured_content) == bool(asked)
    with Memory(root) as memory:
        [forgotten, *_] = memory.log(limit=1)
        assert (forgotten.agent, forgotten.subject) == (CLIENT, "forget: Wifi")


@ways
async def test_tools_are_those_of_memory_with_all_hints_and_schemas(
    served: tuple[Path, str], transport: Transport, mode: Mode
) -> None:
    with Memory(served[0]) as memory:
        offered, guidance = memory.tools, guide_of.guidance(memory)
    async with looking(served, transport, mode) as client:
        listed = (await client.list_tools()).tools
        assert client.instructions == guidance
    assert [tool.name for tool in listed] == samples.USUAL
    for tool, ours in zip(listed, offered, strict=True):
        assert (tool.title, tool.description) == (ours.title, ours.description)
        assert (tool.input_schema, tool.output_schema) == (ours.input_schema, None)
        assert tool.annotations and ours.annotations
        hints = (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        assert hints == (ours.annotations.read_only, ours.annotations.destructive)
        assert (tool.annotations.idempotent_hint, tool.annotations.open_world_hint) == (True, False)
        assert tool.meta == ({"anthropic/alwaysLoad": True} if tool.name == "recall" else None)
    assert {tool.name for tool in listed if tool.annotations and tool.annotations.destructive_hint} == {
        "forget",
        "memory",
    }


async def test_a_client_over_http_asks_for_data_by_its_address_whatever_others_get(served: tuple[Path, str]) -> None:
    root, url = served
    with Memory(root) as memory:
        schemas = [tool.output_schema for tool in memory.tools]
    for ending, is_given in (("", False), ("?data=1", True), ("?data=true", True), ("?data=0", False)):
        async with dialled(url + ending, mode="auto") as client:
            listed = [tool.output_schema for tool in (await client.list_tools()).tools]
            found = (await client.call_tool("recall", {"query": "deploy"})).structured_content
        assert listed == (schemas if is_given else [None] * len(schemas)), ending
        assert [hit["name"] for hit in (found or {"hits": []})["hits"]] == ["Deploy key"] * is_given, ending


async def test_a_client_over_http_may_do_without_the_data_that_a_server_gives(root: Path) -> None:
    with web(root, "--data") as url:
        for address, is_given in ((url, True), (f"{url}?data=0", False)):
            async with dialled(address, mode="auto") as client:
                assert bool((await client.call_tool("recall", {"query": "deploy"})).structured_content) == is_given


@ways
async def test_a_tools_error_is_a_result_that_the_model_reads(
    served: tuple[Path, str], transport: Transport, mode: Mode
) -> None:
    async with looking(served, transport, mode) as client:
        bad: list[tuple[dict[str, Any], str]] = [
            ({"query": "x", "limit": 0}, "invalid arguments: limit must be at least 1, not 0"),
            ({}, "invalid arguments: `query` is missing"),
            ({"query": 7}, "invalid arguments: Expected `str`, got `int` for `query`"),
        ]
        for arguments, words in bad:
            result = await client.call_tool("recall", arguments)
            assert (text_of(result), result.is_error, result.structured_content) == (words, True, None)
        stale = await client.call_tool("memory", {"content": "# New", "if_version": "0" * 12})
        assert stale.is_error and "memory/MEMORY.md" in text_of(stale)


@ways
async def test_a_client_without_hooks_reads_the_overview_before_it_replaces_it(
    root: Path, transport: Transport, mode: Mode
) -> None:
    async with connected(root, transport, mode) as client:
        assert text_of(await client.call_tool("memory", {"content": "# One\n"})) == "MEMORY.md updated"
        refused = await client.call_tool("memory", {"content": "# Two\n"})
        assert refused.is_error and "# One" in text_of(refused)
        read = text_of(await client.call_tool("memory", {}))
        version = read.partition("version ")[2][:12]
        assert "<memory>\n# One\n</memory>" in read and version in text_of(refused)
        assert not (await client.call_tool("memory", {"content": "# Two\n", "if_version": version})).is_error
    with Memory(root) as memory:
        assert memory.overview().text == "# Two\n"


@ways
async def test_unknown_names_are_errors_that_say_what_there_is(
    served: tuple[Path, str], transport: Transport, mode: Mode
) -> None:
    async with looking(served, transport, mode) as client:
        with pytest.raises(MCPError, match=r"no tool named: recal \(there are: remember, forget, recall, memory\)"):
            await client.call_tool("recal", {})
        with pytest.raises(MCPError, match="no fact called deploy kee"):
            await client.read_resource("crabmem://entries/deploy%20kee")
        for uri in ("crabmem://nothing", "crabmem://entries/", "file:///etc/passwd"):
            with pytest.raises(MCPError, match=f"no resource at: {uri}"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="no fact called "):
            await client.read_resource("crabmem://entries/..%2F..%2Fcrabmem")
        with pytest.raises(MCPError, match=r"no prompt named: flus \(there are: flush, review, tidy\)"):
            await client.get_prompt("flus")
        with pytest.raises(MCPError, match="flush has no argument 'colour'"):
            await client.get_prompt("flush", {"colour": "red"})
        for listed in (
            client.list_resources, client.list_tools, client.list_prompts, client.list_resource_templates,
        ):  # fmt: skip
            with pytest.raises(MCPError, match="no such cursor: x; begin without one"):
                await listed(cursor="x")
        assert not (await client.call_tool("recall", {"query": "deploy"})).is_error


async def test_only_chosen_tools_are_offered_and_can_be_called(root: Path) -> None:
    async with connected(root, "stdio", "auto", "--tools", "recall, get") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["recall", "get"]
        assert client.instructions and "`remember`" not in client.instructions and "`get`" in client.instructions
        with pytest.raises(MCPError, match="no tool named: forget"):
            await client.call_tool("forget", {"name": "Deploy key"})
    with Memory(root) as memory:
        assert memory.get("deploy key")


@pytest.mark.parametrize(
    ("option", "given", "status", "words"),
    [
        ("--tools", "recal", 1, r"crabmem: no tool named: recal \(there are: remember, "),
        ("--tools", " ,", 2, "(?s).*leave it out for the usual ones"),
        ("--port", "1234", 2, "(?s).*--port goes with --http"),
        ("--token", "1234", 2, "(?s).*--token goes with --http"),
    ],
)
def test_what_cannot_be_served_is_told_to_who_asks_for_it(
    root: Path, option: str, given: str, status: int, words: str
) -> None:
    done = subprocess.run(command(root, option, given), capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout) == (status, "") and re.match(words, done.stderr)


async def test_a_disabled_soul_says_so_to_who_calls_it_all_the_same(root: Path) -> None:
    async with connected(root, "stdio", "auto") as client:
        result = await client.call_tool("soul", {"content": "# Somebody else"})
    assert result.is_error and "disabled" in text_of(result)


async def test_what_a_client_proposes_waits_and_no_tool_of_the_server_decides(root: Path) -> None:
    (root / "crabmem.toml").write_text('soul = "propose"\n')
    before = (root / "Crab.md").read_bytes()
    async with connected(root, "stdio", "auto", "--data") as client:
        result = await client.call_tool("soul", {"content": "# Somebody else", "reason": "I grew."})
        with Memory(root) as memory:
            [waiting] = proposals.proposals(memory)
        for name in ("apply", "reject", "apply_proposal", "proposals"):
            with suppress(MCPError):  # of a tool that there is not
                assert (await client.call_tool(name, {"id": waiting.id})).is_error
    assert not result.is_error and (result.structured_content or {})["proposal"] == waiting.id
    with Memory(root) as memory:
        assert [each.id for each in proposals.proposals(memory)] == [waiting.id]
    assert (root / "Crab.md").read_bytes() == before


#: A process without the libraries of the extra.
WITHOUT = """
import sys
for name in ("mcp", "mcp_types", "pydantic", "starlette", "uvicorn"): sys.modules[name] = None
from crabmem.__main__ import main; main()
"""


def test_without_the_extra_a_host_is_served_over_pipes(root: Path) -> None:
    with piped(command(root, program=[sys.executable, "-c", WITHOUT])) as wire:
        assert "In the vault." in wire.call("recall", query="deploy")["content"][0]["text"]
        assert wire.ask("prompts/list")["result"]["prompts"] and wire.ask("resources/list")["result"]["resources"]
        assert wire.end() == (0, b"")


def test_without_the_extra_http_says_what_to_install(root: Path) -> None:
    told = [sys.executable, "-c", WITHOUT, "--dir", str(root), "mcp", "--http"]
    done = subprocess.run(told, capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout) == (1, "")
    needed = how_to_get("mcp-http")
    assert done.stderr == f"crabmem: `crabmem mcp --http` needs the libraries of the extra mcp-http: {needed}\n"


def test_the_command_line_loads_nothing_of_the_library() -> None:
    heavy = "mcp", "mcp_types", "anyio", "pydantic", "starlette", "uvicorn", "watchfiles"
    look = f"import sys, crabmem.cli, crabmem.memory; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Who writes


@ways
async def test_the_client_writes_under_its_own_name_in_a_session_of_the_run(
    root: Path, transport: Transport, mode: Mode
) -> None:
    async with connected(root, transport, mode, name="some-host") as client:
        await client.call_tool("remember", VET)
        await client.call_tool("memory", {"content": "# Overview"})
    with Memory(root) as memory:
        second, first = memory.log(limit=2)
    assert (first.agent, second.agent) == ("some-host", "some-host")
    assert first.session == second.session and first.session


async def test_an_agent_and_a_session_that_are_named_win(root: Path) -> None:
    named = ["--agent", "planner", "--session", "s-7"]
    async with connected(root, "stdio", "auto", options=named) as client:
        await client.call_tool("remember", VET)
    with Memory(root) as memory:
        [written] = memory.log(limit=1)
    assert (written.agent, written.session) == ("planner", "s-7")


@pytest.mark.parametrize("name", ["x" * 1_000, "two\nlines", "", "名前"])
async def test_no_name_of_a_client_is_too_odd(root: Path, name: str) -> None:
    async with connected(root, "stdio", "auto", name=name) as client:
        assert not (await client.call_tool("remember", VET)).is_error


async def test_two_clients_of_one_server_write_each_under_its_own_name(root: Path) -> None:
    with web(root) as url:
        for name in ("one", "two"):
            async with dialled(url, client_info=Implementation(name=name, version="1")) as client:
                await client.call_tool("remember", {**VET, "content": name})
    with Memory(root) as memory:
        assert [commit.agent for commit in memory.log(limit=2)] == ["two", "one"]


# Resources


@ways
async def test_resources_are_the_overview_the_identity_the_log_and_every_entry(
    root: Path, transport: Transport, mode: Mode
) -> None:
    (root / "memory" / "MEMORY.md").write_text("# Overview\nhidden\u200b\U000e0041\n")
    async with connected(root, transport, mode) as client:
        listed = (await client.list_resources()).resources
        texts = {str(item.uri): text_of(await client.read_resource(str(item.uri))) for item in listed}
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["crabmem://entries/{slug}"]
    key, chinese = (uri for uri in texts if "entries" in uri)
    assert list(texts)[:3] == ["crabmem://memory", "crabmem://soul", "crabmem://log"]
    assert texts["crabmem://memory"] == "# Overview\nhidden\n"
    assert texts["crabmem://soul"].startswith("# Who I am\n")
    assert texts["crabmem://log"].endswith("  crabmem  init: a new memory")
    version = r"version [0-9a-f]{12}\)"
    assert key == "crabmem://entries/deploy-key" and "%" in chinese
    source = rf"\(from memory/entries/deploy-key.md, {version}"
    assert re.fullmatch(rf"## Deploy key\n{source}\nwhere the deploy key lives\n\nIn the vault\.", texts[key])
    assert re.fullmatch(rf"## 密钥\n\(from .*\.md, {version}\nthe key in Chinese\n\n也在保险库里。", texts[chinese])


def synced_by_settings(root: Path, text: str) -> Path:
    """A bare repository that a person named for the workspace, whose settings say `text` of syncing."""
    git(root.parent, "init", "-q", "--bare", "hub.git")
    (root / "crabmem.toml").write_text(f"[sync]\n{text}\n")
    with Memory(root, is_person=True) as memory:
        syncing.name_remote(memory, str(root.parent / "hub.git"))
    return root.parent / "hub.git"


@ways
async def test_how_syncing_stands_is_a_resource_for_the_person(root: Path, transport: Transport, mode: Mode) -> None:
    async with connected(root, transport, mode) as client:
        assert "crabmem://sync" not in {str(item.uri) for item in (await client.list_resources()).resources}
        hub = synced_by_settings(root, 'auto = "off"')
        [found] = [item for item in (await client.list_resources()).resources if str(item.uri) == "crabmem://sync"]
        assert found.annotations and found.annotations.audience == ["user"]
        said = json.loads(text_of(await client.read_resource("crabmem://sync")))
        assert (said["remote"], said["succeeded"], said["error"]) == (str(hub), None, "")
        assert said["ahead"] >= 3
        assert "sync" not in [tool.name for tool in (await client.list_tools()).tools]


async def test_a_client_is_offered_the_tool_that_syncs_where_the_settings_say_so(root: Path) -> None:
    hub = synced_by_settings(root, "tool = true")
    async with connected(root, "stdio", "auto") as client:
        [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == "sync"]
        assert tool.annotations and tool.annotations.open_world_hint and not tool.input_schema["properties"]
        result = await client.call_tool("sync", {})
        assert not result.is_error and text_of(result).startswith("synced: 0 files came in, ")
    assert "deploy-key.md" in git(hub, "ls-tree", "-r", "--name-only", "main")


async def test_a_sync_begins_as_the_server_begins_and_as_it_ends(root: Path) -> None:
    hub = synced_by_settings(root, 'auto = "session"')
    record = root / ".git/crabmem/sync.json"

    async def pushed(path: str) -> None:
        with anyio.fail_after(20):
            while not git(hub, "for-each-ref") or path not in git(hub, "ls-tree", "-r", "--name-only", "main"):
                await anyio.sleep(0.05)

    async with connected(root, "stdio", "auto") as client:
        await pushed("deploy-key.md")
        await client.call_tool("remember", VET)
        said = json.loads(record.read_text())
        long_ago = {"succeeded": "2026-01-01T00:00:00+00:00", "pushes": ""}
        record.write_text(json.dumps({**said, **long_ago}))
    await pushed("luna-s-vet.md")


async def test_pages_of_resources_together_are_all_entries_once(root: Path) -> None:
    for number in range(450):
        (root / f"memory/entries/fact-{number}.md").write_text("x\n")
    async with connected(root, "stdio", "auto") as client:
        page = await client.list_resources()
        seen, sizes = [str(item.uri) for item in page.resources], [len(page.resources)]
        while page.next_cursor:
            page = await client.list_resources(cursor=page.next_cursor)
            seen += [str(item.uri) for item in page.resources]
            sizes.append(len(page.resources))
    assert sizes == [203, 200, 52]
    assert len(set(seen)) == len(seen) == 455


# Prompts and completion


@ways
async def test_prompts_say_what_to_do_with_what_there_is(
    served: tuple[Path, str], transport: Transport, mode: Mode
) -> None:
    async with looking(served, transport, mode) as client:
        listed = (await client.list_prompts()).prompts
        arguments = {prompt.name: [each.name for each in prompt.arguments or []] for prompt in listed}
        assert arguments == {"flush": ["focus"], "review": ["since", "entry"], "tidy": ["entry"]}
        for name in arguments:
            plain = text_of(await client.get_prompt(name))
            assert "{" not in plain and plain == plain.strip()
        flush = text_of(await client.get_prompt("flush", {"focus": "the release"}))
        review = text_of(await client.get_prompt("review", {"since": "HEAD~1", "entry": "密钥"}))
        tidy = text_of(await client.get_prompt("tidy", {"entry": "release key"}))
    assert "what it would be a pity to lose, above all about: the release." in flush
    assert "remember: 密钥" in review and "remember: Deploy key" not in review
    assert "<memory>\n- Deploy key: where the deploy key lives\n" in tidy
    assert "above all what has to do with Deploy key." in tidy


async def test_a_prompt_about_what_is_not_there_is_an_error(root: Path) -> None:
    async with connected(root, "stdio", "auto") as client:
        for name, arguments in [("tidy", {"entry": "nobody"}), ("review", {"since": "the day of judgement"})]:
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)


@ways
async def test_names_are_completed_those_that_begin_so_first(root: Path, transport: Transport, mode: Mode) -> None:
    with Memory(root, agent="coder") as memory:
        memory.remember("Old deploy key", "", "x")
        memory.remember_all([Fact(f"many {number}", "", "x") for number in range(120)], "tests")
    template, review = ResourceTemplateReference(uri="crabmem://entries/{slug}"), PromptReference(name="review")
    async with connected(root, transport, mode) as client:
        names = await client.complete(review, {"name": "entry", "value": "DEP"})
        slugs = await client.complete(template, {"name": "slug", "value": "many"})
        free = await client.complete(review, {"name": "since", "value": "1 w"})
        with pytest.raises(MCPError, match="'colour'"):
            await client.complete(review, {"name": "colour", "value": ""})
    assert names.completion.values == ["Deploy key", "Old deploy key"]
    assert (len(slugs.completion.values), slugs.completion.total, slugs.completion.has_more) == (100, 120, True)
    assert free.completion.values == []


# News


@in_namespace
@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_where_nothing_can_be_watched_the_server_says_so_once_and_goes_on(root: Path, limit: str) -> None:
    with piped(limited(limit, 0, ["--dir", str(root), "mcp"])) as wire:
        assert "result" in wire.ask("server/discover")
        assert wire.process.stderr
        assert wire.process.stderr.readline().startswith(f"crabmem: {root} cannot be watched (".encode())
        (root / "memory/entries/boiler.md").write_text("The person's.\n")
        with Memory(root) as memory:
            deadline = time.monotonic() + 6
            while memory.log(limit=1)[0].subject != "edit: boiler" and time.monotonic() < deadline:
                time.sleep(0.1)
            assert memory.log(limit=1)[0].subject == "edit: boiler"
        assert "The person's." in wire.call("recall", query="boiler")["content"][0]["text"]
        assert wire.end() == (0, b"")
        assert wire.process.stderr.read() == b""


@ways
async def test_a_persons_edits_are_told_and_recorded(root: Path, transport: Transport, mode: Mode) -> None:
    heard = Heard()
    uris = ("crabmem://memory", "crabmem://soul", "crabmem://entries/deploy-key", "crabmem://log")
    async with connected(root, transport, mode, heard=heard) as client, listening(client, mode, *uris):
        (root / "memory" / "MEMORY.md").write_text("# Mine\n")
        (root / "Crab.md").write_text("# A crab\n")
        (root / "memory" / "entries" / "deploy-key.md").write_text("Under the mat.\n")
        (root / "memory" / "entries" / "new.md").write_text("New.\n")
        await heard.wait_for(*(f"resources/updated {uri}" for uri in uris), "resources/list_changed")
        with anyio.fail_after(15):
            while git(root, "status", "--porcelain").strip():
                await anyio.sleep(0.1)
        assert git(root, "log", "-1", "--format=%an").strip() == "person"
    assert "tools/list_changed" not in heard


@ways
async def test_what_nobody_subscribed_to_is_not_told(root: Path, transport: Transport, mode: Mode) -> None:
    heard = Heard()
    async with connected(root, transport, mode, heard=heard) as client, listening(client, mode, "crabmem://soul"):
        (root / "memory" / "MEMORY.md").write_text("# Mine\n")
        await anyio.sleep(0.3)
        (root / "Crab.md").write_text("# A crab\n")
        await heard.wait_for("resources/updated crabmem://soul")
    assert set(heard) == {"resources/updated crabmem://soul"}


@ways
async def test_the_soul_is_offered_and_taken_back_as_the_settings_say(
    root: Path, transport: Transport, mode: Mode
) -> None:
    heard = Heard()
    async with connected(root, transport, mode, heard=heard) as client, listening(client, mode):
        for allowed in ("true", "false"):
            (root / "crabmem.toml").write_text(f"soul_editable = {allowed}\n")
            await heard.wait_for("tools/list_changed")
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert ("soul" in names) == (allowed == "true")
            heard.clear()


@ways
async def test_tools_that_a_pause_takes_away_are_given_back_as_it_ends(
    root: Path, transport: Transport, mode: Mode
) -> None:
    heard = Heard()
    (root / "crabmem.toml").write_text('pause = "all"\n')
    async with connected(root, transport, mode, heard=heard) as client, listening(client, mode):
        with Memory(root, is_person=True) as memory:
            for change, count in ((pause, 0), (resume, 4)):
                change(memory)
                await heard.wait_for("tools/list_changed")
                assert len((await client.list_tools()).tools) == count
                heard.clear()


async def test_settings_that_cannot_be_read_leave_the_tools_as_they_were(root: Path) -> None:
    async with connected(root, "stdio", "auto") as client:
        (root / "crabmem.toml").write_text("recal_limit = 3\n")
        assert len((await client.list_tools()).tools) == 4
        result = await client.call_tool("remember", VET)
        assert result.is_error and "unknown setting `recal_limit`" in text_of(result)
        (root / "crabmem.toml").unlink()
        assert not (await client.call_tool("remember", VET)).is_error


@ways
async def test_another_process_and_another_client_are_heard(root: Path, transport: Transport, mode: Mode) -> None:
    heard = Heard()
    async with connected(root, transport, mode, heard=heard) as client:
        async with listening(client, mode, "crabmem://log", "crabmem://entries/luna-s-vet"):
            with Memory(root, agent="other") as memory:
                memory.remember(**VET)
            await heard.wait_for("resources/updated crabmem://entries/luna-s-vet", "resources/updated crabmem://log")
        heard.clear()
        await client.call_tool("forget", {"name": "Luna's vet"})
    assert "resources/updated crabmem://log" not in heard


async def test_a_workspace_that_is_not_there_yet_is_made_by_the_first_write_and_followed(tmp_path: Path) -> None:
    heard, root = Heard(), tmp_path / "not" / "yet"
    async with connected(root, "stdio", "auto", heard=heard) as client, listening(client, "auto", "crabmem://memory"):
        assert "this memory is empty" in text_of(await client.call_tool("recall", {"query": "x"}))
        await anyio.sleep(1.5)
        assert not root.exists()
        await client.call_tool("memory", {"content": "# Overview"})
        await heard.wait_for("resources/updated crabmem://memory")
    assert_clean(root)


# Several on one workspace


async def test_two_servers_and_a_person_on_one_workspace_lose_nothing(root: Path) -> None:
    heard = Heard()
    async with (
        connected(root, "stdio", "auto", name="one") as first,
        connected(root, "http", "auto", name="two", heard=heard) as second,
        listening(second, "auto", "crabmem://entries/note-of-one-9"),
        anyio.create_task_group() as tasks,
    ):
        for client, name in ((first, "one"), (second, "two")):
            for number in range(10):
                fact = {"name": f"Note of {name} {number}", "description": "", "content": "x"}
                tasks.start_soon(client.call_tool, "remember", fact)
        (root / "memory" / "MEMORY.md").write_text("# Mine\n")
        await heard.wait_for("resources/updated crabmem://entries/note-of-one-9")
    with Memory(root) as memory:
        assert len(memory.entries()) == 22 and memory.overview().text == "# Mine\n"
        authors = [commit.agent for commit in memory.log() if commit.tool == "remember"]
    assert (authors.count("one"), authors.count("two")) == (10, 10)


async def test_who_watches_records_and_the_server_takes_over_when_that_ends(root: Path) -> None:
    watch = subprocess.Popen(
        [*forked.COMMAND, "--dir", str(root), "watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert watch.stdout and watch.stderr and watch.stderr.readline().startswith(b"watching")
    heard = Heard()
    async with connected(root, "stdio", "auto", heard=heard) as client, listening(client, "auto", "crabmem://memory"):
        (root / "memory" / "MEMORY.md").write_text("# One\n")
        await heard.wait_for("resources/updated crabmem://memory")
        assert watch.stdout.readline().endswith(b"edit: MEMORY.md\n")
        watch.terminate()
        assert (watch.wait(30), watch.communicate()[1]) == (0, b"")
        await anyio.sleep(1.5)
        (root / "memory" / "MEMORY.md").write_text("# Two\n")
        with anyio.fail_after(15):
            while "# Two" not in git(root, "show", "HEAD:memory/MEMORY.md"):
                await anyio.sleep(0.1)


# HTTP


def test_a_token_is_made_and_told_when_none_is_named(root: Path) -> None:
    surroundings = {name: value for name, value in environment().items() if name != "CRABMEM_TOKEN"}
    told = [*forked.COMMAND, "--dir", str(root), "mcp", "--http", "--port", "0"]
    with subprocess.Popen(told, stderr=subprocess.PIPE, env=surroundings, text=True) as process:
        assert process.stderr and process.stderr.readline().startswith("serving ")
        assert len(process.stderr.readline().removeprefix("token: ").strip()) == 32
        process.terminate()
        assert process.wait(30) == 0


def test_the_token_is_not_told_when_it_was_given(root: Path) -> None:
    told = [*forked.COMMAND, "--dir", str(root), "mcp", "--http", "--port", "0"]
    with subprocess.Popen(told, stderr=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stderr and process.stderr.readline()
        process.terminate()
        assert TOKEN not in process.stderr.read()


def test_a_port_that_is_taken_is_an_error_that_names_the_way_out(root: Path) -> None:
    with web(root) as url:
        port = url.split(":")[2].split("/")[0]
        told = [*forked.COMMAND, "--dir", str(root), "mcp", "--http", "--port", port]
        done = subprocess.run(told, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"crabmem: port {port} is taken; name another with --port, or 0 for any that is free\n"
