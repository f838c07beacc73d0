"""Recording outside edits soon after they are made. Events are only hints: what counts is the scan."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from watchfiles import Change, watch

from .errors import Busy, CrabmemError
from .lock import WriterLock
from .memory import Memory
from .results import Commit
from .workspace import Workspace

#: Seconds without a change after which a burst of edits has ended.
QUIET = 0.5
#: Seconds after which a burst is recorded even if it goes on.
LONGEST_BURST = 60
#: Seconds after which the files are looked at without any event, for those that were missed.
LOOK_AGAIN = 10
#: Milliseconds in which events are gathered.
GATHER = 100


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
    began = last = None
    looked = time.monotonic()
    for changes in _events(memory.root, stop):
        now = time.monotonic()
        if any(_is_ours(memory, file) for _, file in changes):
            began, last = began or now, now
        ended = began and last and (now - last >= QUIET or now - began >= LONGEST_BURST)
        if ended or now - looked >= LOOK_AGAIN:
            began, looked = None, now
            yield from _adopted(memory)


def _events(root: Path, stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
    """All changes below `root` as they come, and an empty set after a while without any.

    Unfiltered: watchfiles would wait for one that passes, however long the others go on.
    """
    return watch(
        root,
        watch_filter=None,
        debounce=GATHER,
        step=GATHER,
        stop_event=stop,
        rust_timeout=GATHER * 2,
        yield_on_timeout=True,
        raise_interrupt=False,
    )


def _adopted(memory: Memory) -> Iterator[Commit | CrabmemError]:
    try:
        commit, held = memory.adopt(), memory.unrecorded()
    except CrabmemError as error:
        # The next look tries again; nothing is lost by waiting.
        yield error
    else:
        if commit:
            yield commit
        if held:
            yield held.error


def _is_ours(memory: Memory, file: str) -> bool:
    """Whether an event is about a file of memory rather than a swap file, a backup or `.git`."""
    try:
        return memory.layout.is_kept(Path(file).relative_to(memory.root).as_posix())
    except ValueError:
        return False
