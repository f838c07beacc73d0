"""Who does not name the token of the server keeps nobody from it."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from crabmem import Memory
from crabmem.mcp.http import TokenGuard
from tests.serving import TODAY, TOKEN, environment, request

_HALF = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-"
_CODE = "import crabmem.loopback.connections as c; c.PATIENCE = {}; from crabmem.__main__ import main; main()"


@contextmanager
def serving(root: Path, patience: float = 10, handles: int = 256) -> Iterator[int]:
    """A server that has so much patience, and so many handles; its port."""
    inner = [sys.executable, "-c", _CODE.format(patience), "--dir", str(root), "mcp", "--http", "--port", "0"]
    command = ["sh", "-c", f'ulimit -n {handles}; exec "$@"', "sh", *inner]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        try:
            assert process.stderr
            line = process.stderr.readline().decode()
            assert line.startswith("serving "), line + process.stderr.read().decode()
            yield int(line.split("127.0.0.1:")[1].split("/")[0])
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes", agent="setter") as memory:
        memory.remember("Vet", "who", "Dr. Sousa")
    return tmp_path / "notes"


def dialled(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def request_for(port: int, token: str = TOKEN) -> bytes:
    """A request with its head and its body."""
    body = request("tools/list")
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nMcp-Method: tools/list\r\n"
        f"MCP-Protocol-Version: {TODAY}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def asked(port: int, token: str = TOKEN) -> bytes:
    """The first line of what the server answers to a request."""
    with dialled(port) as line:
        line.sendall(request_for(port, token))
        return line.recv(65_536).partition(b"\r\n")[0]


def is_over(line: socket.socket) -> bool:
    """Whether the server has ended a connection, or does within seconds."""
    try:
        return line.recv(65_536) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize("said", [b"", _HALF, b"GET /mcp HTTP/1.1\r\nX-A: b\r\n"])
def test_a_connection_without_a_whole_head_is_ended(root: Path, said: bytes) -> None:
    with serving(root, patience=1) as port, dialled(port) as line:
        line.sendall(said)
        began = time.monotonic()
        assert is_over(line) and time.monotonic() - began < 10
        assert asked(port) == b"HTTP/1.1 200 OK"


def test_a_head_that_goes_on_and_on_is_ended_in_time(root: Path) -> None:
    with serving(root, patience=1) as port, dialled(port) as line:
        began = time.monotonic()
        with pytest.raises(OSError):
            line.sendall(_HALF)
            while time.monotonic() - began < 15:
                line.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() - began < 10


def test_idle_connections_without_a_token_take_no_handle_from_who_has_it(root: Path) -> None:
    # A server that stands by needs some thirty for itself: of 64 too few are left for those it has not judged yet.
    with serving(root, handles=96) as port, ExitStack() as lines:
        for number in range(92):
            line = lines.enter_context(dialled(port))
            with suppress(ConnectionResetError):  # the server has ended it already
                line.sendall(_HALF if number % 2 else b"")
        began = time.monotonic()
        assert [asked(port) for _ in range(3)] == [b"HTTP/1.1 200 OK"] * 3
        assert time.monotonic() - began < 8  # and not when the patience with those is over


def test_two_hundred_clients_that_connect_at_once_are_all_answered(root: Path) -> None:
    with serving(root, handles=1_024) as port, ExitStack() as lines:
        clients = [lines.enter_context(dialled(port)) for _ in range(200)]
        for client in clients:
            client.sendall(request_for(port))
        assert {client.recv(65_536).partition(b"\r\n")[0] for client in clients} == {b"HTTP/1.1 200 OK"}


def test_connection_that_named_the_token_stays_as_long_as_it_answers(root: Path) -> None:
    with serving(root, patience=1) as port, dialled(port) as line:
        body = request("subscriptions/listen", filter={})
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"MCP-Protocol-Version: {TODAY}\r\nMcp-Method: subscriptions/listen\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        line.sendall(head.encode() + body[:-1])
        time.sleep(2.5)
        line.sendall(body[-1:])
        assert line.recv(65_536).startswith(b"HTTP/1.1 ")


def test_body_without_a_token_is_refused_unread(root: Path) -> None:
    sent, size = 0, 300_000_000
    with serving(root) as port, dialled(port) as line:
        line.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {size}\r\n\r\n".encode())
        assert line.recv(65_536).startswith(b"HTTP/1.1 401")
        with pytest.raises(OSError):
            while sent < size:
                sent += line.send(b"x" * 65_536)
        assert sent < 20_000_000  # what the kernel takes before it knows
        assert asked(port, "another") == b"HTTP/1.1 401 Unauthorized"


@pytest.mark.anyio
async def test_an_answer_that_ended_is_not_ended_again_when_the_server_closes() -> None:
    sent = list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all"})
        guard.close()
        await anyio.sleep(0)

    guard = TokenGuard(answering, "word")
    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": [(b"authorization", b"Bearer word")]}
    await guard(scope, receive, send)
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
