"""The work beside a server: threads that record outside edits and notify clients, and syncing with other machines."""

from __future__ import annotations

import sys
from contextlib import suppress

from ..errors import CrabmemError
from ..sync.auto import begin
from ..watch import followed, watched_in_turn
from .addresses import notices
from .protocol import TOOLS_CHANGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from ..session.session import Session
    from .protocol import Notice
    from .served import Served


def follow(
    served: Served,
    stop: threading.Event,
    told: str,
    begin: Callable[[], None],
    notify: Callable[[list[Notice]], None],
) -> None:
    """Call `notify` with the notifications for each change, until `stop` is set.

    `begin` is called before the first, once no later change can be missed, and again before each. `told` are the
    instructions that clients have: if those of now differ, the tools do too, and clients are notified that they
    changed.
    """
    for news in followed(served.memory, stop):
        begin()
        found = [*notices(news, served.memory.layout)]
        # Also at the first look, which has no news: settings may have changed since the client was given its tools. A
        # pause takes the tools away, and gives them back, without a change of a file.
        with suppress(CrabmemError):  # for a profile that cannot be read: whoever calls a tool gets the error
            if (now := served.instructions) != told:
                told = now
                found.append((TOOLS_CHANGED, {}))
        if found:
            notify(found)


def record(memory: Session, stop: threading.Event) -> None:
    """Record outside edits, until `stop` is set. Errors go to stderr, each once as long as it is the same."""
    last = ""
    for item in watched_in_turn(memory, stop):
        if isinstance(item, CrabmemError) and str(item) != last:
            last = str(item)
            print(f"crabmem: {last}", file=sys.stderr, flush=True)


def sync(memory: Session) -> None:
    """Begin to sync in the background, if the settings say so; called when a server begins and when it ends."""
    with suppress(CrabmemError):  # settings that cannot be read: whoever calls a tool gets the error
        begin(memory)
