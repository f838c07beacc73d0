"""The server over standard input and output, on threads: one reads, some answer, two look after the files."""

from __future__ import annotations

import os
import signal
import sys
import threading

from .conversation import Conversation
from .wire import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .kept import Kept
    from .served import Served

#: Seconds that a client has to read the last notification.
_PATIENCE = 1


class Stdio:
    """The server of the process. It speaks from when it is made; `serve` gives it a memory and waits for the end."""

    def __init__(self, first: Kept | None = None) -> None:
        self._first = first
        self._conversation = Conversation(Wire(*_claimed()), first)
        self._ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def serve(self, served: Served, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Serve the client at the other end, until it closes the connection or a signal comes."""
        from .kept import keep
        from .running import follow, record, sync

        # A handler that comes in the middle of `wait` would wait for its lock for ever.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: threading.Thread(target=self._ended.set).start())
        memory, stop, subscriptions = served.memory, threading.Event(), self._conversation.subscriptions
        # Before anything else is answered from memory: what changes from now on is noticed.
        now = keep(arguments, environment, served)
        self._conversation.load(served)
        # A client that was told of other tools than there are is notified.
        told = now.instructions if self._first in (None, now) else ""
        recording = threading.Thread(target=record, args=(memory, stop))
        recording.start()
        following = (served, stop, told, subscriptions.begin, subscriptions.notify)
        follower = threading.Thread(target=follow, args=following, daemon=True)
        follower.start()
        sync(memory)
        self._ended.wait()
        self._conversation.end()
        stop.set()
        recording.join()
        follower.join(_PATIENCE)
        sync(memory)

    def _read(self) -> None:
        self._conversation.read()
        self._ended.set()


#: The server that spoke before the command line was read; None for none.
_begun: Stdio | None = None


def begin(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Speak at once, where the same command did so before and its first answers are kept."""
    global _begun
    from .kept import kept

    if not os.isatty(0) and (first := kept(arguments, environment)):
        _begun = Stdio(first)


def begun() -> Stdio:
    """The server of the process."""
    return _begun or Stdio()


def _claimed() -> tuple[int, int]:
    """The handles of the wire, taken away from everybody else: whoever prints now does so on stderr."""
    sys.stdout.flush()
    wire = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
