"""What runs beside a server, in threads: outside edits are recorded, clients notified, other machines synced with."""

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
    """Call `notify` with what changes, until `stop` is set; first `begin`, when all after it will be noticed.

    `told` are the instructions that clients were given: where the settings say others, the tools are others.
    """
    for news in followed(served.memory, stop):
        begin()
        found = [*notices(news, served.memory.layout)]
        # Asked at the first look too: what was changed between our start and that is in no news.
        with suppress(CrabmemError):  # a profile that cannot be read is told of to whoever calls a tool
            if (now := served.instructions) != told:
                told = now
                found.append((TOOLS_CHANGED, {}))
        if found:
            notify(found)


def record(memory: Session, stop: threading.Event) -> None:
    """Record outside edits, until `stop` is set; an error is printed once."""
    last = ""
    for item in watched_in_turn(memory, stop):
        if isinstance(item, CrabmemError) and str(item) != last:
            last = str(item)
            print(f"crabmem: {last}", file=sys.stderr, flush=True)


def sync(memory: Session) -> None:
    """Begin to sync where the settings say so, as a session begins or ends: nobody waits for it."""
    with suppress(CrabmemError):  # settings that cannot be read are told of elsewhere
        begin(memory)
