"""Servers of the protocol as processes, and real clients of them."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests import forked

TOKEN = "a-token-for-tests"
CLIENT = "tester"
TODAY = "2026-07-28"
Mode = Literal["auto", "legacy"]
Transport = Literal["stdio", "http"]

#: What every request of today's protocol carries.
META = {
    "io.modelcontextprotocol/protocolVersion": TODAY,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: The first message of a client of the older protocol.
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def command(
    root: Path, *arguments: str, options: Sequence[str] = (), program: Sequence[str] = forked.COMMAND
) -> list[str]:
    """The command that serves the workspace `root`."""
    return [*program, "--dir", str(root), *options, "mcp", *arguments]


def limited(name: str, number: int, words: Sequence[str]) -> list[str]:
    """`crabmem` with these words, in a user namespace in which the limit of that name is so low."""
    told = shlex.join([sys.executable, "-m", "crabmem", *words])
    return ["unshare", "-Ur", "sh", "-c", f"echo {number} > /proc/sys/user/{name}; exec {told}"]


in_namespace = pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode != 0,
    reason="needs a user namespace",
)


def environment() -> dict[str, str]:
    """Ours without settings of crabmem, with the token."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}
    return {**ours, "CRABMEM_TOKEN": TOKEN}


class Heard(list[str]):
    """What a client was told of without asking: methods, with the address where there is one."""

    async def __call__(self, message: Any) -> None:
        method, params = getattr(message, "method", ""), getattr(message, "params", None)
        uri = getattr(params, "uri", None)
        self.append(f"{method.removeprefix('notifications/')} {uri or ''}".strip())

    async def wait_for(self, *wanted: str) -> None:
        """Until all of these were heard.

        Raises:
            AssertionError: after a while, with what was.
        """
        with anyio.move_on_after(15):
            while not set(wanted) <= set(self):
                await anyio.sleep(0.02)
        assert set(wanted) <= set(self), self


@asynccontextmanager
async def connected(
    root: Path,
    transport: Transport,
    mode: Mode,
    *arguments: str,
    heard: Heard | None = None,
    options: Sequence[str] = (),
    name: str = CLIENT,
) -> AsyncIterator[Client]:
    """A client of a server of its own."""
    told: dict[str, Any] = {
        "mode": mode,
        "message_handler": heard,
        "client_info": Implementation(name=name, version="1"),
    }
    if transport == "stdio":
        first, *rest = command(root, *arguments, options=options)
        async with Client(StdioServerParameters(command=first, args=rest, env=environment()), **told) as client:
            yield client
        return
    with web(root, *arguments, options=options) as url:
        async with dialled(url, **told) as client:
            yield client


@asynccontextmanager
async def dialled(url: str, **told: Any) -> AsyncIterator[Client]:
    """A client of a server at `url`."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **told) as client,
    ):
        yield client


@contextmanager
def web(root: Path, *arguments: str, options: Sequence[str] = ()) -> Iterator[str]:
    """A server over HTTP at any port; its address. Must end cleanly when it is asked to."""
    told = command(root, "--http", "--port", "0", *arguments, options=options)
    with subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        try:
            assert process.stderr
            line = process.stderr.readline().decode()
            assert line.startswith(f"serving {root} at http://127.0.0.1:"), line
            yield line.split(" at ")[1].split(";")[0]
        finally:
            process.terminate()
            out, told_late = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, b"") and b"Traceback" not in told_late, told_late


class Wire:
    """A server over pipes, spoken to byte by byte."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> Any:
        """The next line, which must be JSON."""
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, asked: int | str = 1, **params: Any) -> Any:
        """The answer to a request of today's protocol."""
        self.send(request(method, asked, **params))
        return self.line()

    def ask_older(self, method: str, asked: int, params: object) -> Any:
        """The answer to a request of the protocol that begins with `HELLO`."""
        self.send(json.dumps({"jsonrpc": "2.0", "id": asked, "method": method, "params": params}).encode() + b"\n")
        return self.line()

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def end(self) -> tuple[int, bytes]:
        """Hang up: the status of the process, and what it still says."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(30), rest


def request(method: str, asked: int | str = 1, **params: Any) -> bytes:
    """A request of today's protocol, as a line."""
    data = {"jsonrpc": "2.0", "id": asked, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(data).encode() + b"\n"


@contextmanager
def piped(told: Sequence[str]) -> Iterator[Wire]:
    """A process that serves over pipes."""
    pipe = subprocess.PIPE
    with subprocess.Popen(told, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as process:
        try:
            yield Wire(process)
        finally:
            if process.poll() is None:
                process.kill()
            with suppress(OSError):  # what could not be sent any more
                assert process.stdin
                process.stdin.close()
