"""Limits for HTTP connections that have not shown who they are: how many, and for how long."""

import asyncio
from typing import Any

from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

#: Seconds from the beginning of a connection to the end of the head of a request that is trusted.
PATIENCE = 10.0
#: Connections that may be waiting for that; one more ends the oldest, so that who is trusted gets in.
ROOM = 32
#: Connections that are accepted at once, before the oldest can be ended.
AT_ONCE = 8
_STATE = "crabmem.connection"


class Connection(H11Protocol):
    """A connection that is closed after `PATIENCE` unless a request on it is trusted."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _STATE: self}, _loop)
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._end = self.loop.call_later(PATIENCE, transport.abort)
        waiting = {each._end.when(): each for each in self.connections if isinstance(each, Connection) and each._end}
        if len(waiting) > ROOM:
            oldest = waiting[min(waiting)]
            oldest.trust()
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.trust()
        super().connection_lost(exc)

    def trust(self) -> None:
        """Keep the connection open from now on."""
        if self._end:
            self._end.cancel()
            self._end = None


def trust(scope: Scope) -> None:
    """Keep the connection of a request open: it named the token, or has the cookie."""
    connection = scope.get("state", {}).get(_STATE)
    if isinstance(connection, Connection):  # and not that of a test, which has none
        connection.trust()
