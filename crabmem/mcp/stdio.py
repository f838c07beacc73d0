"""The server over standard input and output, on threads: one reads, some answer, one records edits, one notifies."""

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

    from .first_answers import FirstAnswers
    from .served import Served

#: Seconds that a client has to read the last notification.
_PATIENCE = 1


class Stdio:
    """The server of the process. It reads requests as soon as it is made; `serve` gives it a memory, and waits.

    With `first` it answers at once what hosts ask first. From then on stdout belongs to the protocol (`_own_streams`).
    """

    def __init__(self, first: FirstAnswers | None = None) -> None:
        #: The answers from the cache that the client may have got; None without.
        self._first = first
        self._conversation = Conversation(Wire(*_own_streams()), first)
        self._ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def serve(self, served: Served, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Serve the client at the other end, until it closes the connection or a signal comes.

        Saves what this command answers first, for the next server with the same `arguments` and `environment`.
        """
        from .first_answers import save
        from .running import follow, record, sync

        # A handler runs in this thread, maybe inside `wait`, whose lock `set` needs: called here it would deadlock.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: threading.Thread(target=self._ended.set).start())
        memory, stop, subscriptions = served.memory, threading.Event(), self._conversation.subscriptions
        # Before `load` has anything answered from memory: `follow` compares with these instructions, and so misses no
        # later change.
        now = save(arguments, environment, served)
        self._conversation.load(served)
        # "" if the cache gave the client outdated instructions: `follow` then notifies it at the first look.
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


#: The server that began before the command line was read, if one did.
_early: Stdio | None = None


def begin_early(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Begin to answer at once, if the first answers of the same command are in the cache."""
    global _early
    from .first_answers import load

    if not os.isatty(0) and (first := load(arguments, environment)):
        _early = Stdio(first)


def process_server() -> Stdio:
    """Return the server of this process: the one that began early, else a new one."""
    return _early or Stdio()


def _own_streams() -> tuple[int, int]:
    """Return copies of stdin and stdout for the protocol alone. From now on, what anybody prints goes to stderr."""
    sys.stdout.flush()
    wire = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
