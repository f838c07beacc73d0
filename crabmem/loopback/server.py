"""A web server on the loopback, which leaves signals to whoever runs it and writes no log."""

import errno
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Inapplicable
from .connections import AT_ONCE, WAITING, Connection
from .guard import HOST

# Seconds that answers under way have when the server ends.
_GRACE = 2


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens on a port of this machine; 0 means any free one.

    Raises:
        Inapplicable: the port is taken, or this user may not listen on it.
    """
    try:
        found = socket.create_server((HOST, port))
    except OSError as error:
        why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {os.strerror(error.errno or 0)}"
        raise Inapplicable(f"port {port} {why}; name another with --port, or 0 for any that is free") from None
    with found:
        yield found


def port_of(listens: socket.socket) -> int:
    """The port at which a socket listens."""
    return int(listens.getsockname()[1])


class WithHeaders:
    """ASGI middleware that adds `headers` to every answer of `app`, refusals included."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, with_headers)


class Server(uvicorn.Server):
    """Serves `app`, and closes connections on which no request is trusted (`connections.trust`).

    Set `should_exit` to end it.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app, http=Connection, ws="none", backlog=AT_ONCE, log_config=None, access_log=False,
                timeout_graceful_shutdown=_GRACE, server_header=False,
            )
        )  # fmt: skip

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then once more with a longer queue: asyncio has only one number for the queue and for `AT_ONCE`."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller: uvicorn would handle them itself."""
        yield
