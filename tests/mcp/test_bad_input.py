"""What no client should send, clients that go away, and programs that have no business here."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.mcp import wire as wires
from crabmem.mcp.conversation import Conversation
from crabmem.mcp.protocol import Refused
from crabmem.mcp.wire import id_of, message_in, parse_line, to_json
from crabmem.operations import adoption, history
from tests.conftest import assert_clean
from tests.examples import examples
from tests.samples import VET
from tests.serving import HELLO, TODAY, TOKEN, Wire, command, environment, piped, request, web

LARGE = "ten million characters " * 450_000
JSON_TEXT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
KNOWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def wire(root: Path) -> Iterator[Wire]:
    with piped(command(root)) as wire:
        yield wire
        assert "Deploy key" in wire.call("recall", query="deploy")["content"][0]["text"]
        assert wire.end() == (0, b"")
        assert wire.process.stderr and wire.process.stderr.read() == b""


# Lines


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One server for all lines that mean nothing, which goes on as if there had been none."""
    with piped(command(tmp_path_factory.mktemp("lasting") / "notes")) as wire:
        yield wire
        assert wire.end() == (0, b"")
        assert wire.process.stderr and wire.process.stderr.read() == b""


@pytest.mark.parametrize(
    ("line", "code", "asked"),
    [
        (b"garbage", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1', -32700, None),
        (b'\xff\xfe{"jsonrpc": "2.0"}', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\xff"}}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"7", -32600, None),
        (b'{"id": 8, "method": "ping"}', -32600, 8),
        (b'{"jsonrpc": "2.0", "id": "a"}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, 1),
        (b'{"jsonrpc": "2.0", "id": "a\\ud800", "method": "ping"}', -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_does_no_harm(
    lasting: Wire, line: bytes, code: int, asked: int | str | None
) -> None:
    lasting.send(line + b"\n")
    answer = lasting.line()
    assert (answer["error"]["code"], answer["id"]) == (code, asked)
    assert "this memory is empty" in lasting.call("recall", query="deploy")["content"][0]["text"]


def test_requests_that_make_no_sense_are_errors_of_the_protocol(wire: Wire) -> None:
    asked: list[tuple[str, dict[str, Any], int]] = [
        ("nothing/of/this/kind", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "recall", "arguments": ["x"]}, -32602),
        ("tools/call", {"name": "half \ud83d"}, -32602),
        ("resources/read", {"uri": 7}, -32602),
        ("prompts/get", {"name": "flush", "arguments": {"focus": 7}}, -32602),
        ("completion/complete", {"ref": {"type": "ref/nothing"}, "argument": {"name": "x", "value": ""}}, -32602),
    ]
    for method, params, code in asked:
        assert wire.ask(method, **params)["error"]["code"] == code, method


def test_a_request_before_the_handshake_of_the_older_protocol_is_refused(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.send(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n')
        assert wire.line()["error"]["code"] == -32602
        assert wire.end()[0] == 0


def test_answers_of_a_client_that_nobody_asked_and_unknown_notifications_are_passed_over(wire: Wire) -> None:
    for data in (
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/nothing"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
    ):
        wire.send(json.dumps(data).encode() + b"\n\n  \n")


def test_ten_megabytes_of_arguments_are_refused_and_nothing_is_written(wire: Wire, root: Path) -> None:
    before = history.newest(Memory(root))
    for bad in ({**VET, "content": LARGE}, {**VET, "name": LARGE}, {**VET, "aliases": [LARGE]}, {LARGE: 1}):
        result = wire.call("remember", **bad)
        assert result["isError"] and result["content"][0]["text"].startswith("invalid arguments: ")
        assert "structuredContent" not in result
    assert wire.call("recall", query=LARGE)["isError"]
    assert history.newest(Memory(root)) == before


def test_half_a_surrogate_pair_is_refused_by_the_tool_and_nothing_is_written(wire: Wire, root: Path) -> None:
    before = history.newest(Memory(root))
    for bad in ({**VET, "name": "x\ud83d"}, {**VET, "content": "\udc00"}, {**VET, "tags": ["\ud83d"]}):
        result = wire.call("remember", **bad)
        assert result["isError"] and "half of a surrogate pair" in result["content"][0]["text"]
    assert wire.call("remember", **{**VET, "colour\ud83d": 1})["isError"]
    found = wire.call("recall", query="\ud83d deploy")
    assert not found["isError"] and "## Deploy key" in found["content"][0]["text"]
    assert history.newest(Memory(root)) == before


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_no_bytes_stop_the_reading_of_lines(line: bytes) -> None:
    data: object = None
    try:
        data = parse_line(line)
        answer = message_in(data)
    except Refused as refusal:
        answer = refusal.answer(id_of(data))
    assert json.loads(to_json(answer))


@settings(max_examples=examples(200))
@given(st.recursive(st.text(st.characters(codec=None)), lambda inner: st.dictionaries(st.text(), inner), max_leaves=8))
def test_what_a_tool_is_given_arrives_as_it_was_sent(value: object) -> None:
    line = request("tools/call", name="recall", arguments={"x": value})
    assert message_in(parse_line(line)) == json.loads(line)


# While a tool runs


def test_ping_is_answered_while_a_tool_runs_and_a_call_that_was_cancelled_never_is(root: Path) -> None:
    slow = (
        "import sys, time; from crabmem.tools.toolbox import Toolbox; from crabmem.__main__ import main\n"
        "quick = Toolbox.call\n"
        "def call(self, name, arguments, names=None):\n"
        "    time.sleep(2 * (arguments['query'] == 'slow')); return quick(self, name, arguments, names)\n"
        f"Toolbox.call = call; sys.argv = ['crabmem', '--dir', {str(root)!r}, 'mcp']; main()"
    )
    with piped([sys.executable, "-c", slow]) as wire:
        wire.ask_older("initialize", 0, HELLO)
        for asked in range(1, 5):
            said = {"id": asked, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "slow"}}}
            wire.send(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
        assert wire.ask_older("ping", 5, {}) == {"jsonrpc": "2.0", "id": 5, "result": {}}
        for asked in range(1, 4):
            said = {"method": "notifications/cancelled", "params": {"requestId": asked}}
            wire.send(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
        quick = wire.ask_older("tools/call", 6, {"name": "recall", "arguments": {"query": "deploy"}})
        assert "Deploy key" in quick["result"]["content"][0]["text"]
        assert wire.line()["id"] == 4
        assert wire.end() == (0, b"")


def test_what_was_asked_before_the_client_hung_up_is_answered(root: Path) -> None:
    asked = b"".join(request("tools/call", n, name="recall", arguments={"query": "deploy"}) for n in range(20))
    done = subprocess.run(command(root), input=asked, capture_output=True, env=environment())
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [*range(20)]
    assert (done.returncode, done.stderr) == (0, b"")


# Output


def test_what_anybody_prints_does_not_get_onto_the_wire(root: Path) -> None:
    noisy = (
        "import os, sys; from crabmem.tools.toolbox import Toolbox; from crabmem.__main__ import main\n"
        "quiet = Toolbox.call\n"
        "def call(self, *given):\n"
        "    print('a print', flush=True); os.write(1, b'a write'); os.system('echo a child; cat')\n"
        "    return quiet(self, *given)\n"
        f"Toolbox.call = call; sys.argv = ['crabmem', '--dir', {str(root)!r}, 'mcp']; main()"
    )
    with piped([sys.executable, "-c", noisy]) as wire:
        assert "Deploy key" in wire.call("recall", query="deploy")["content"][0]["text"]
        assert wire.end() == (0, b"")
        assert wire.process.stderr
        said = wire.process.stderr.read()
    assert all(words in said for words in (b"a print", b"a write", b"a child"))


# Ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(root: Path, number: int) -> None:
    with piped(command(root)) as wire:
        wire.call("remember", **VET)
        wire.process.send_signal(number)
        assert wire.process.wait(30) == 0
        assert wire.process.stderr and wire.process.stderr.read() == b""


def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_nothing_half_written(root: Path) -> None:
    for number in range(6):
        with piped(command(root)) as wire:
            wire.ask("tools/list")
            facts = [{**VET, "name": f"Fact {number} {each}", "content": "x" * 100_000} for each in range(5)]
            wire.send(
                b"".join(request("tools/call", each, name="remember", arguments=f) for each, f in enumerate(facts))
            )
            time.sleep(number * 0.02)
            assert wire.process.stdin and wire.process.stdout
            wire.process.stdout.close()
            wire.process.stdin.close()
            assert wire.process.wait(30) == 0
            assert wire.process.stderr and wire.process.stderr.read() == b""
        assert_clean(root)
        with Memory(root) as memory:
            assert adoption.unrecorded(memory) is None
            assert {len(entry.content) for entry in memory.entries()} <= {13, 100_000}


def test_a_client_that_closes_its_ears_first_can_still_hang_up(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.ask("tools/list")
        assert wire.process.stdin and wire.process.stdout and wire.process.stderr
        wire.process.stdout.close()
        wire.send(b"garbage\n" + request("tools/list") + request("tools/call", name="remember", arguments=VET))
        wire.send(b"garbage\n" * 100)
        time.sleep(0.5)
        wire.process.stdin.close()
        assert (wire.process.wait(30), wire.process.stderr.read()) == (0, b"")


def test_a_line_without_an_end_is_no_message(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.ask("tools/list")
        wire.send(request("tools/call", name="remember", arguments=VET).rstrip(b"\n"))
        assert wire.end() == (0, b"")
    assert len(Memory(root).entries()) == 1


def test_a_line_that_does_not_end_is_not_kept_and_the_next_one_is_answered(root: Path) -> None:
    with piped(command(root, program=[sys.executable, "-m", "crabmem"])) as wire:  # whose memory is its own
        wire.ask("tools/list")
        before = memory_of(wire)
        wire.send(b'{"jsonrpc": "2.0", "id": 1, "method": "')
        for _ in range(400):
            wire.send(b"x" * (1 << 20))
        assert memory_of(wire) - before < 250
        wire.send(b'"}\n')
        assert wire.line()["error"]["message"].endswith("of at most 64 MiB")
        assert wire.ask("tools/list", 2)["id"] == 2
        assert wire.end() == (0, b"")


def memory_of(wire: Wire) -> int:
    """Megabytes that a server holds."""
    pages = int(Path(f"/proc/{wire.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def test_a_client_subscribes_to_so_many_addresses_and_no_more(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.ask_older("initialize", 0, HELLO)
        asked = [(number, {"uri": f"crabmem://entries/{number}"}) for number in range(1, 10_002)]
        answers = [wire.ask_older("resources/subscribe", *each) for each in asked]
        assert [answer["id"] for answer in answers if "error" in answer] == [10_001]
        assert "10000 addresses at most" in answers[-1]["error"]["message"]
        wire.ask_older("resources/unsubscribe", 20_000, {"uri": "crabmem://entries/1"})
        assert "error" not in wire.ask_older("resources/subscribe", 20_001, {"uri": "crabmem://entries/0"})
        assert wire.end() == (0, b"")


def test_nobody_subscribes_to_an_address_where_nothing_can_be(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.ask_older("initialize", 0, HELLO)
        for uri in ("file:///etc/passwd", "crabmem://nothing", "crabmem://entries/", "x" * 2_000):
            refused = wire.ask_older("resources/subscribe", 1, {"uri": uri})["error"]
            assert refused["code"] == -32602 and refused["message"].startswith("no resource at: ")
        assert "error" not in wire.ask_older("resources/subscribe", 2, {"uri": "crabmem://entries/yet-to-come"})


@pytest.mark.parametrize(
    ("version", "answers"),
    [("2025-03-26", [(1, None), (None, -32600), (2, -32601)]), ("2025-06-18", [(None, -32600)])],
)
def test_a_batch_is_its_messages_in_the_one_version_that_has_batches(
    version: str, answers: list[tuple[int | None, int | None]], root: Path
) -> None:
    with piped(command(root)) as wire:
        wire.ask_older("initialize", 0, {**HELLO, "protocolVersion": version})
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, 7, {"jsonrpc": "2.0", "id": 2, "method": "nothing"}]
        wire.send(json.dumps(batch).encode() + b"\n")
        found = [wire.line() for _ in answers]
        assert [(each["id"], each.get("error", {}).get("code")) for each in found] == answers


def test_a_client_that_reads_nothing_does_not_keep_the_server_from_ending(root: Path) -> None:
    with piped(command(root)) as wire:
        wire.ask("tools/list")
        sender = threading.Thread(target=_flood, args=(wire,), daemon=True)
        sender.start()
        time.sleep(2)
        wire.process.terminate()
        assert wire.process.wait(30) == 0


@pytest.mark.parametrize("reads_slowly", [False, True])
def test_a_client_that_hangs_up_and_reads_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch, reads_slowly: bool
) -> None:
    """And one that reads on, however slowly, is not."""
    monkeypatch.setattr(wires, "PATIENCE", 0.4)
    (source, hang_up), (read, sink) = os.pipe(), os.pipe()
    ours = wires.Wire(source, sink)
    os.close(hang_up)
    sender = threading.Thread(target=ours.send, args=({"long": "x" * 200_000},), daemon=True)
    sender.start()
    for _ in range(8 if reads_slowly else 0):
        time.sleep(0.1)
        os.read(read, 8_192)
    if reads_slowly:
        assert not ours.is_broken
        os.close(read)
    sender.join(10)
    assert ours.is_broken and not sender.is_alive()
    for handle in (sink, source):
        os.close(handle)


def test_so_many_requests_wait_and_no_more() -> None:
    (source, hang_up), (read, sink) = os.pipe(), os.pipe()
    talk = Conversation(wires.Wire(source, sink))
    threading.Thread(target=talk.read, daemon=True).start()
    with os.fdopen(hang_up, "wb") as said, os.fdopen(read, "rb") as heard:
        for number in range(1_002):
            said.write(request("tools/call", number, name="recall", arguments={"query": "x"}))
        said.flush()
        refused = [json.loads(heard.readline()) for _ in range(2)]
    assert [(each["id"], each["error"]["message"]) for each in refused] == [
        (number, "1000 requests wait for their answers already") for number in (1_000, 1_001)
    ]
    talk.end()
    for handle in (source, sink):
        os.close(handle)


def _flood(wire: Wire) -> None:
    with suppress(OSError, ValueError):
        for number in range(2_000):
            wire.send(request("tools/list", number))


# HTTP


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer another"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Bearer{TOKEN}"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({**KNOWN, "Host": "evil.example"}, 421),
        ({**KNOWN, "Host": "127.0.0.1.evil.example:80"}, 421),
        ({**KNOWN, "Origin": "http://evil.example"}, 403),
        ({**KNOWN, "Origin": "null"}, 403),
        ({**KNOWN, "Origin": "http://127.0.0.1:1"}, 403),  # a page that another program serves on this machine
        ({**KNOWN, "Host": "127.0.0.1"}, 421),
        ({**KNOWN, "Sec-Fetch-Site": "same-site"}, 403),
        ({**KNOWN, "Content-Type": "text/plain"}, 400),
    ],
)
def test_who_has_no_business_here_is_refused(shared: str, headers: dict[str, str], status: int) -> None:
    for version in ({}, {"MCP-Protocol-Version": TODAY}):
        sent = {**JSON_TEXT, **version, **headers}
        answer = httpx2.post(shared, content=request("tools/list"), headers={**sent, "Mcp-Method": "tools/list"})
        assert answer.status_code == status or (status == 400 and answer.status_code < 500), answer.text
        assert "remember" not in answer.text
    assert httpx2.get(shared, headers={**JSON_TEXT, **headers}).status_code in range(400, 500)


@pytest.mark.parametrize(
    ("body", "status"), [(b"garbage", 400), (b"\xff", 400), (b"[]", 400), (b"", 400), (b"x" * 10_000_000, 413)]
)
def test_bodies_that_are_no_message_are_refused(shared: str, body: bytes, status: int) -> None:
    for version in ({}, {"MCP-Protocol-Version": TODAY}):
        answer = httpx2.post(shared, content=body, headers={**JSON_TEXT, **KNOWN, **version})
        assert answer.status_code == status, answer.text


# Where clients look for a server that gives out tokens, by MCP's rules of authorization; there is none.
LOOKED_AT = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/register",
    "/",
    "/mcp/",
    "/MCP",
]


@pytest.mark.parametrize("path", LOOKED_AT)
def test_other_addresses_are_not_found_with_the_token_or_without(shared: str, path: str) -> None:
    other = shared.replace("/mcp", path)
    for method in ("GET", "POST"):
        answer = httpx2.request(method, other)
        assert (answer.status_code, answer.headers["connection"]) == (404, "close")
        assert answer.text == "not found; name the token: Authorization: Bearer …"
        assert httpx2.request(method, other, headers=KNOWN).status_code in (404, 307)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
def test_the_scheme_of_the_token_may_be_written_in_any_case(shared: str, scheme: str) -> None:
    headers = {**JSON_TEXT, "MCP-Protocol-Version": TODAY, "Mcp-Method": "tools/list"}
    for token, status in ((TOKEN, 200), (TOKEN.upper(), 401), (f"{TOKEN} {TOKEN}", 401)):
        sent = {**headers, "Authorization": f"{scheme} {token}"}
        assert httpx2.post(shared, content=request("tools/list"), headers=sent).status_code == status


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that must outlive all that is done to it."""
    root = tmp_path_factory.mktemp("shared") / "notes"
    with Memory(root) as memory:
        memory.remember(**VET)
    with web(root) as url:
        yield url
        headers = {**JSON_TEXT, **KNOWN, "MCP-Protocol-Version": TODAY, "Mcp-Method": "tools/list"}
        assert "remember" in httpx2.post(url, content=request("tools/list"), headers=headers).text


@pytest.mark.parametrize("more", [{}, {"Last-Event-ID": "1"}])
def test_a_server_ends_cleanly_while_a_client_of_the_older_protocol_listens(root: Path, more: dict[str, str]) -> None:
    """Also one that comes back, and names the last event that it had."""
    with ExitStack() as streams, web(root) as url:
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        session = httpx2.post(url, json=hello, headers={**JSON_TEXT, **KNOWN}).headers["mcp-session-id"]
        headers = {**JSON_TEXT, **KNOWN, "mcp-session-id": session, **more}
        assert streams.enter_context(httpx2.stream("GET", url, headers=headers)).status_code == 200
