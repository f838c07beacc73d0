"""The server over HTTP, for programs on this machine that know its token."""

import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import Inapplicable
from .connections import AT_ONCE, Connection, trust
from .served import Served
from .server import MemoryServer, running

HOST = "127.0.0.1"
PATH = "/mcp"
_UNAUTHORIZED, _NOT_FOUND = 401, 404
_WAY_IN = "name the token: Authorization: Bearer …"
# Seconds that open answers have to end in.
_GRACE = 2


def over_http(served: Served, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve clients that name `token`, until a signal comes; `ready` gets the address. Port 0 is any free one.

    The library refuses a foreign Host (421) or Origin (403), so that no page in a browser gets here by a name of its
    own, and messages of more than 4 MiB (413). A client that does not name the token is refused before any body is
    read, and holds a connection for seconds only.

    Raises:
        Inapplicable: the port is taken.
    """
    with _listening(port) as listening:
        anyio.run(_serve, served, token, listening, ready)


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    try:
        listening = socket.create_server((HOST, port))
    except OSError:
        raise Inapplicable(f"port {port} is taken; name another with --port, or 0 for any that is free") from None
    with listening:
        yield listening


async def _serve(served: Served, token: str, listening: socket.socket, ready: Callable[[str], None]) -> None:
    server = MemoryServer(served)
    app = _TokenGuard(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
    rules = uvicorn.Config(
        app, http=Connection, ws="none", backlog=AT_ONCE, log_config=None, access_log=False,
        timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    web = _Web(rules)

    def end() -> None:
        server.listeners.close()
        web.should_exit = True

    async with running(server, end):
        ready(f"http://{HOST}:{listening.getsockname()[1]}{PATH}")
        await web.serve([listening])


class _Web(uvicorn.Server):
    """A web server that leaves signals to `running`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


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
