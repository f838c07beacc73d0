"""The protocol's own tools against the server: `npm install @modelcontextprotocol/conformance …/inspector`."""

import json
import os
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests import samples
from tests.hosts.rig import PLACES, program
from tests.serving import TOKEN, command, environment, web

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(600)]

#: What needs no tool, prompt or resource of a test server of theirs.
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]


def run(*told: str) -> "subprocess.CompletedProcess[str]":
    """What a program says; their newer ones find a newer node beside them."""
    path = os.pathsep.join([*PLACES, os.environ.get("PATH", "")])
    return subprocess.run(told, capture_output=True, text=True, env={**environment(), "PATH": path}, timeout=300)


class Introduced(socketserver.StreamRequestHandler):
    """Passes each request on with the token, which the conformance tool cannot name, and the answers back."""

    target: int

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as server:
            threading.Thread(target=self._back, args=(server,), daemon=True).start()
            while head := self._head():
                lengths = [int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length:")]
                known = [head[0], b"Authorization: Bearer %s\r\n" % TOKEN.encode(), *head[1:]]
                server.sendall(b"".join(known) + self.rfile.read(sum(lengths)))

    def _head(self) -> list[bytes]:
        lines = [self.rfile.readline()]
        while lines[-1].strip():
            lines.append(self.rfile.readline())
        return lines if len(lines) > 1 else []

    def _back(self, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                self.request.sendall(data)


@contextmanager
def introduced(url: str) -> Iterator[str]:
    """An address where nobody is asked for the token."""
    handler = type("_", (Introduced,), {"target": int(url.split(":")[2].split("/")[0])})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as proxy:
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}/mcp"
        proxy.shutdown()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_tool_has_nothing_to_say(root: Path, scenario: str) -> None:
    tool = program("conformance")
    with web(root) as url, introduced(url) as open_url:
        done = run(tool, "server", "--url", open_url, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: " in done.stdout + done.stderr


def inspected(root: Path, *asked: str) -> Any:
    """What the inspector gets from the server over pipes."""
    done = run(program("mcp-inspector"), "--cli", *command(root), "--method", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_what_there_is(root: Path) -> None:
    tools = inspected(root, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == samples.USUAL
    call = ("tools/call", "--tool-name", "recall", "--tool-arg", "query=deploy key")
    assert "In the vault." in inspected(root, *call)["content"][0]["text"]
    assert len(inspected(root, "resources/list")["resources"]) == 4
    read = inspected(root, "resources/read", "--uri", "crabmem://entries/deploy-key")
    assert read["contents"][0]["mimeType"] == "text/markdown"
    assert inspected(root, "resources/templates/list")["resourceTemplates"]
    assert [prompt["name"] for prompt in inspected(root, "prompts/list")["prompts"]] == ["flush", "review", "tidy"]
    assert inspected(root, "prompts/get", "--prompt-name", "tidy")["messages"]
