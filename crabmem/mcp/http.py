"""The server over HTTP, for programs on this machine that know its token."""

import secrets
import socket
from collections.abc import Callable

import anyio
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ..loopback.connections import trust
from ..loopback.guard import HOST, Guard
from ..loopback.server import Server, listening, port_of
from .served import Served
from .server import MemoryServer, running

PATH = "/mcp"
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
    with listening(port) as listens:
        anyio.run(_serve, served, token, listens, ready)


async def _serve(served: Served, token: str, listens: socket.socket, ready: Callable[[str], None]) -> None:
    server = MemoryServer(served)
    app = _TokenGuard(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
    web = Server(Guard(app, port_of(listens)))

    def end() -> None:
        server.listeners.close()
        web.should_exit = True

    async with running(server, end):
        ready(f"http://{HOST}:{port_of(listens)}{PATH}")
        await web.serve([listens])


class _TokenGuard:
    """Lets requests through that name the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if not self._names_token(Headers(scope=scope)):
                return await _refusal(scope["path"])(scope, receive, send)
            trust(scope)
        await self._app(scope, receive, send)

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
