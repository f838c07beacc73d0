"""Servers that tests talk to: Git's own behind HTTP, one that misbehaves, and an `ssh` that goes nowhere."""

import base64
import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

needs_git = pytest.mark.skipif(
    not shutil.which("git"), reason="NOT RUN: these servers are Git's own, and there is no git"
)


class Server(ThreadingHTTPServer):
    """One that passes over clients who hang up."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: clients that are ended hang up."""


class Backend(BaseHTTPRequestHandler):
    """`git http-backend`, for who knows the password where one is asked for."""

    protocol_version = "HTTP/1.1"
    root: Path
    password: str | None = None
    #: Called with the handler before Git is: True where it has answered itself.
    instead: Callable[["Backend"], bool] | None = None
    asked: list[tuple[str, str | None]]
    #: How often something was posted.
    count = 0

    def do_GET(self) -> None:
        body = self._body()
        type(self).count += self.command == "POST"
        type(self).asked.append((self.path, self.headers.get("Authorization")))
        if type(self).instead and type(self).instead(self):  # type: ignore[misc]
            return
        if self.password and self.headers.get("Authorization") != f"Basic {coded('ann', self.password)}":
            self.answer(401, b"who are you?", {"WWW-Authenticate": 'Basic realm="memory"'})
            return
        self._run(body)

    do_POST = do_GET

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _run(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environ = os.environ | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "ann",
            "REMOTE_ADDR": "127.0.0.1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environ, capture_output=True, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.answer(int(headers.pop("Status", "200").split()[0]), rest, headers)

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Nothing: tests read what was asked."""


def coded(name: str, password: str) -> str:
    return base64.b64encode(f"{name}:{password}".encode()).decode()


@contextmanager
def serving(
    root: Path,
    password: str | None = None,
    instead: Callable[[Backend], bool] | None = None,
    certificate: Path | None = None,
) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Serve the repositories in a folder; the address, and what was asked with which credentials."""
    asked: list[tuple[str, str | None]] = []
    members = {"root": root, "password": password, "instead": instead and staticmethod(instead), "asked": asked}
    with Server(("127.0.0.1", 0), type("Handler", (Backend,), members)) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            place = (
                f"https://localhost:{server.server_port}" if certificate else f"http://127.0.0.1:{server.server_port}"
            )
            yield place, asked
        finally:
            server.shutdown()


class Proxy(BaseHTTPRequestHandler):
    """A proxy for who knows its password."""

    asked: list[str]

    def do_CONNECT(self) -> None:
        if self.headers.get("Proxy-Authorization") != f"Basic {coded('me', 'through')}":
            self.send_error(407)
            return
        self.asked.append(self.path)
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as there:
            self.send_response(200)
            self.end_headers()
            ways = {self.connection: there, there: self.connection}
            while readable := select.select([*ways], [], [], 20)[0]:
                for each in readable:
                    if not (data := each.recv(1 << 16)):
                        return
                    ways[each].sendall(data)

    def log_message(self, *words: object) -> None:
        """Nothing."""


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy: its host and port, and whom it connected to."""
    asked: list[str] = []
    with Server(("127.0.0.1", 0), type("Handler", (Proxy,), {"asked": asked})) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


class _Quiet(WSGIRequestHandler):
    def log_message(self, *words: object) -> None:
        """Nothing."""


@contextmanager
def serving_by_dulwich(bare: Path) -> Iterator[str]:
    """Serve a repository without Git; its address."""
    with closing(Repo(str(bare))) if bare.exists() else nullcontext() as repository:
        repositories: dict[bytes, Any] = {b"/memory.git": repository} if repository else {}
        backend = DictBackend(repositories)
        with make_server("127.0.0.1", 0, make_wsgi_chain(backend), handler_class=_Quiet) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/memory.git"
            finally:
                server.shutdown()


_SSH = """#!/bin/sh
# What ssh is called with, and then what it starts at the other end, here.
printf '%s\\n' "$*" "GIT_PROTOCOL=$GIT_PROTOCOL" >> "{log}"
while [ "$1" != -- ]; do shift; done
host=$2; shift 2
PATH={path}; export PATH
{before}
exec sh -c "$*"
"""


def fake_ssh(folder: Path, before: str = "") -> dict[str, str]:
    """An environment in which `ssh` starts what it is told to on this machine, after `before`, and nothing else is."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    script = _SSH.format(log=folder / "ssh.log", path=os.environ["PATH"], before=before)
    (programs / "ssh").write_text(script)
    (programs / "ssh").chmod(0o755)
    return {"PATH": str(programs), "HOME": str(folder)}


def program(folder: Path, name: str, script: str) -> None:
    """Put a program into the folder of programs of `fake_ssh`."""
    file = folder / "programs" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
