"""The server over HTTP, for programs on this machine that know its token."""

from __future__ import annotations

import resource
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio import from_thread, to_thread
from anyio.abc import TaskStatus
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..loopback.connections import trust
from ..loopback.guard import HOST, Guard
from ..loopback.server import Server, listening, port_of
from .running import follow, record, sync
from .served import Served
from .server import MemoryServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Notice

PATH = "/mcp"
_MAX_HANDLES = 4_096
_UNAUTHORIZED, _NOT_FOUND = 401, 404
_WAY_IN = "name the token: Authorization: Bearer …"


def over_http(served: Served, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve clients that name `token`, until a signal comes; `ready` gets the address. Port 0 is any free one.

    A foreign Host (421) or Origin (403) is refused, so that no page in a browser gets here by a name of its own; the
    library refuses messages of more than 4 MiB (413). A client that does not name the token is refused before any body
    is read, and holds a connection for seconds only.

    Raises:
        Inapplicable: the port is taken.
    """
    # Each client holds two or three: some systems give a process no more than 256 unless it asks.
    given, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(given, min(most, _MAX_HANDLES)), most))
    with listening(port) as listens:
        anyio.run(_serve, served, token, listens, ready)


async def _serve(served: Served, token: str, listens: socket.socket, ready: Callable[[str], None]) -> None:
    server = MemoryServer(served)
    app = TokenGuard(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
    web = Server(Guard(app, port_of(listens)))

    def end() -> None:
        server.listeners.close()
        app.close()
        web.should_exit = True

    async with _running(server, end):
        ready(f"http://{HOST}:{port_of(listens)}{PATH}")
        await web.serve([listens])


@asynccontextmanager
async def _running(server: MemoryServer, end: Callable[[], None]) -> AsyncIterator[None]:
    """Look after the files and notify clients, until the block ends; `end` is called at a signal."""
    stop, memory = threading.Event(), server.served.memory

    def begin() -> None:
        from_thread.run_sync(server.listeners.begin)

    def notify(notices: list[Notice]) -> None:
        from_thread.run(server.notify, notices)

    async with anyio.create_task_group() as tasks:
        await tasks.start(_end_at_signal, end)
        tasks.start_soon(to_thread.run_sync, follow, server.served, stop, server.instructions or "", begin, notify)
        tasks.start_soon(to_thread.run_sync, record, memory, stop)
        tasks.start_soon(to_thread.run_sync, sync, memory)
        try:
            yield
        finally:
            stop.set()
            tasks.cancel_scope.cancel()
            sync(memory)


async def _end_at_signal(end: Callable[[], None], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            end()


class TokenGuard:
    """Lets requests through that name the token; `close` ends the answers of clients that listen."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()
        self._listening = set[anyio.CancelScope]()

    def close(self) -> None:
        for each in self._listening.copy():
            each.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if not self._names_token(Headers(scope=scope)):
                return await _refusal(scope["path"])(scope, receive, send)
            trust(scope)
            if scope["method"] == "GET":
                return await self._listen(scope, receive, send)
        await self._app(scope, receive, send)

    async def _listen(self, scope: Scope, receive: Receive, send: Send) -> None:
        # No event is kept, and the library answers nothing at all to a client that names its last one.
        headers = [each for each in scope["headers"] if each[0] != b"last-event-id"]
        is_open = False

        async def sending(message: Message) -> None:
            nonlocal is_open
            await send(message)
            is_open = message["type"] == "http.response.start" or message.get("more_body", False)

        with anyio.CancelScope() as listening:
            self._listening.add(listening)
            try:
                await self._app({**scope, "headers": headers}, receive, sending)
            finally:
                self._listening.discard(listening)
        if listening.cancelled_caught and is_open:  # the library may have ended the answer just before
            await send({"type": "http.response.body"})

    def _names_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_right = secrets.compare_digest(token.strip(" ").encode(), self._token)
        return scheme.lower() == "bearer" and is_right


def _refusal(path: str) -> PlainTextResponse:
    """The answer to a request without the token, whose body is not read: so the connection ends here.

    There is no server that gives out tokens: clients that look for one, at `/.well-known/…` or `/register`, get 404.
    Hosts show that answer to their person, so it says what is missing too.
    """
    if path == PATH:
        headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
        return PlainTextResponse(_WAY_IN, _UNAUTHORIZED, headers)
    return PlainTextResponse(f"not found; {_WAY_IN}", _NOT_FOUND, {"Connection": "close"})
