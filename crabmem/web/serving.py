"""The page served on this machine until a signal comes, the terminal is gone, or nobody looked for long."""

import signal
import socket
import time
from collections import deque
from collections.abc import Callable

import anyio

from ..loopback.server import Server, listening, port_of
from ..session.session import Session
from .app import application
from .entrance import Entrance

#: Seconds without a request after which the server ends.
IDLE = 8 * 3_600
# Seconds between two checks of that.
_LOOK = 60
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(session: Session, port: int, ready: Callable[[Entrance], None]) -> None:
    """Serve a memory until a signal comes or `IDLE` seconds pass without a request; port 0 is any free one.

    `ready` is called with the entrance once the server can be ended by a signal.

    Raises:
        Inapplicable: the port is taken, or this user may not listen on it.
    """
    with listening(port) as listens:
        anyio.run(_serve, session, listens, ready)


async def _serve(session: Session, listens: socket.socket, ready: Callable[[Entrance], None]) -> None:
    """Run the server, and beside it two tasks that end it: at a signal, or when nobody has asked for long."""
    # `seen` holds one number, the time of the last request.
    entrance, seen = Entrance(port_of(listens), time.monotonic), deque([time.monotonic()], maxlen=1)
    server = Server(application(session, entrance, lambda: seen.append(time.monotonic())))

    async def end_at_signal() -> None:
        with anyio.open_signal_receiver(*_SIGNALS) as signals:
            ready(entrance)
            async for _ in signals:
                server.should_exit = True

    async def end_when_idle() -> None:
        while time.monotonic() - seen[0] < IDLE:
            await anyio.sleep(_LOOK)
        server.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end_at_signal)
        tasks.start_soon(end_when_idle)
        await server.serve([listens])
        tasks.cancel_scope.cancel()
