"""Limits for HTTP connections that have not shown who they are: how many, and for how long."""

import asyncio
import resource
from typing import Any

from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

#: Seconds in which a new connection has to send the head of a request that is trusted.
PATIENCE = 10.0
#: Seconds that a connection stays open between two requests. httpx closes one after five: were it as short here, a
#: busy client would send a request into a connection that is just being closed.
KEPT_ALIVE = 75
#: Connections that asyncio accepts in one go (it takes the backlog for that), before `connection_made` can end one.
AT_ONCE = 16
#: Connections that wait to be accepted: the system resets or drops those beyond.
WAITING = 1_024
# Key in a request's `state` under which its `Connection` is found.
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
        self.timeout_keep_alive = KEPT_ALIVE
        #: The timer that will end the connection; None once a request on it is trusted.
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer. If too many connections are not trusted yet, end the oldest of them."""
        super().connection_made(transport)
        self._end = self.loop.call_later(PATIENCE, self._give_up)
        waiting = {each._end.when(): each for each in self.connections if isinstance(each, Connection) and each._end}
        # The limit is not small: agents that a program starts together connect by the hundred. But three quarters of
        # the file handles that this process may have stay free for trusted clients.
        if len(waiting) > resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4:
            waiting[min(waiting)]._abort()

    def _give_up(self) -> None:
        """End the connection; if a request is being handled, only after another `PATIENCE` seconds."""
        if self.cycle is None or self.cycle.response_complete:
            self._abort()
        else:  # on a busy server the application has not yet had time to trust or refuse it
            self._end = self.loop.call_later(PATIENCE, self._abort)

    def _abort(self) -> None:
        self.trust()
        self.transport.abort()

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
