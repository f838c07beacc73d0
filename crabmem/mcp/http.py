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
    """Serve clients that name `token`, until a signal comes. Port 0 is any free one; `ready` gets the address.

    A foreign Host (421) or Origin (403) is refused, so that no page in a browser gets here by a name of its own; the
    library refuses messages of more than 4 MiB (413). A client that does not name the token is refused before any body
    is read, and holds a connection for seconds only.

    Raises:
        Inapplicable: the port is taken, or this user may not listen on it.
    """
    # Each client holds two or three file handles, and some systems allow a process only 256 unless it asks for more.
    given, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(given, min(most, _MAX_HANDLES)), most))
    with listening(port) as listens:
        anyio.run(_serve, served, token, listens, ready)


async def _serve(served: Served, token: str, listens: socket.socket, ready: Callable[[str], None]) -> None:
    """Run the web server until a signal comes.

    A request passes `Guard` (Host and Origin) and then `TokenGuard` (the token) before it reaches the library. At the
    end the open answers are closed first, as the web server waits for them.
    """
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
    """While the block runs, notify clients and record outside edits, on threads; call `end` at a signal.

    Also begins a sync at the start and at the end, if the settings say so.
    """
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
    """ASGI middleware: passes on requests that name the token and answers all others with a refusal."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()
        #: A scope for each GET that is being answered, by which `close` ends it.
        self._listening = set[anyio.CancelScope]()

    def close(self) -> None:
        """End the open answers to GET requests: a client that listens never ends its own, and would hold up the end."""
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
        """Answer a GET, by which a client of the older protocol listens for notifications, until `close` is called.

        An answer that `close` cuts off is ended properly, so that the client does not take it for a broken connection.
        """
        # Drop Last-Event-ID: we keep no events to replay, and the library sends a client that names one nothing at all.
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
    """Return the answer to a request without the token. The connection closes after it, as the body was not read.

    Clients look for a server that gives out tokens, at `/.well-known/…` or `/register`. There is none, so these get
    404. Hosts show that answer to their person, so it, too, says that the token is missing.
    """
    if path == PATH:
        headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
        return PlainTextResponse(_WAY_IN, _UNAUTHORIZED, headers)
    return PlainTextResponse(f"not found; {_WAY_IN}", _NOT_FOUND, {"Connection": "close"})
