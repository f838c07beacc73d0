"""Recording outside edits soon after they are made. Events are only hints: what counts is the scan."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from watchfiles import Change, watch

from .errors import Busy, CrabmemError
from .history import Commit
from .lock import WriterLock
from .memory import Memory
from .workspace import Workspace, is_kept

#: Milliseconds without a change after which a burst of edits has ended.
QUIET = 500
#: Milliseconds in which events are gathered.
GATHER = 50
#: Seconds after which a burst is recorded even if it goes on.
LONGEST_BURST = 60
#: Looks without any event after which the files are scanned, for events that were missed.
LOOKS = 20


def watched(memory: Memory, stop: threading.Event) -> Iterator[Commit | CrabmemError]:
    """The commits of outside edits as they are made, and what stopped one from being made, until `stop` is set.

    Raises:
        Busy: the workspace is being watched already.
    """
    memory.init()
    lock = WriterLock(Workspace(memory.root).private / "watch")
    try:
        with lock.held(0):
            yield from _recorded(memory, stop)
    except Busy:
        raise Busy(f"{memory.root} is being watched already; one `crabmem watch` is enough") from None


def _recorded(memory: Memory, stop: threading.Event) -> Iterator[Commit | CrabmemError]:
    yield from _adopted(memory)
    began: float | None = None
    idle = 0
    for changes in _events(memory.root, stop):
        idle = 0 if changes else idle + 1
        if changes:
            began = began or time.monotonic()
        ended = not changes or (began and time.monotonic() - began > LONGEST_BURST)
        if (began and ended) or idle >= LOOKS:
            began, idle = None, 0
            yield from _adopted(memory)


def _events(root: Path, stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
    """The changes of our files as they come; an empty set after a while without any."""
    return watch(
        root,
        watch_filter=lambda change, file: _is_ours(root, file),
        debounce=QUIET,
        step=GATHER,
        stop_event=stop,
        rust_timeout=QUIET,
        yield_on_timeout=True,
        raise_interrupt=False,
    )


def _adopted(memory: Memory) -> Iterator[Commit | CrabmemError]:
    try:
        commit = memory.adopt()
    except CrabmemError as error:
        # The next look tries again; nothing is lost by waiting.
        yield error
    else:
        if commit:
            yield commit


def _is_ours(root: Path, file: str) -> bool:
    """Whether an event is about a file of memory rather than a swap file, a backup or `.git`."""
    try:
        return is_kept(Path(file).relative_to(root).as_posix())
    except ValueError:
        return False
