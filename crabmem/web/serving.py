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

#: Seconds after which a page that nobody looks at ends.
IDLE = 8 * 3_600
_LOOK = 60
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(session: Session, port: int, ready: Callable[[Entrance], None]) -> None:
    """Serve the page of a memory; port 0 is any free one. `ready` is told how to get in.

    Raises:
        Inapplicable: the port is taken.
    """
    with listening(port) as listens:
        anyio.run(_serve, session, listens, ready)


async def _serve(session: Session, listens: socket.socket, ready: Callable[[Entrance], None]) -> None:
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
