"""Recording outside edits soon after they are made, and telling what is new. Events are only hints: what counts
is the scan.
"""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, watch

from .errors import Busy, CrabmemError
from .lock import WriterLock
from .memory import Memory
from .results import Commit
from .workspace import Workspace

#: Seconds without a change after which a burst of edits has ended, unless the profile says otherwise.
QUIET = 0.5
#: The same where hosts of agents are at work: so long a hook of theirs may take to sign what one of their tools wrote.
SIGNED_WITHIN = 3
#: Seconds without a word from a host after which none is at work.
SESSION = 3_600
#: Seconds after which a burst is recorded even if it goes on.
LONGEST_BURST = 60
#: Seconds after which the files are looked at without any event, for those that were missed.
LOOK_AGAIN = 10
#: Milliseconds in which events are gathered.
GATHER = 100
#: Seconds between two tries to be the one that records, and between two looks where the system tells nothing.
SOON = 1

Seen = tuple[dict[str, str], str | None]


@dataclass(frozen=True)
class News:
    """What is new since the last look, whoever did it.

    `changed` are the paths of files that were written, `listed` those that came or went; `committed` tells whether
    the history went on.
    """

    changed: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    committed: bool = False


class _Hosts:
    """Whether hosts of agents are at work in a workspace: those that have hooks there leave a line for each message."""

    def __init__(self, turns: Path, is_hosted: bool, usual: float) -> None:
        self._turns, self._is_hosted, self._usual = turns, is_hosted, usual
        self._stamp: int | None = None
        self._heard = float("-inf")

    def quiet(self, now: float) -> float:
        """Seconds without a change after which a burst has ended: at least `usual`."""
        stamp = _stamp(self._turns)
        if stamp != self._stamp:
            self._stamp, self._heard = stamp, now
        return max(self._usual, SIGNED_WITHIN if self.are_at_work(now) else 0)

    def are_at_work(self, now: float) -> bool:
        """Whether a host may be about to sign what one of its tools wrote."""
        return self._is_hosted or now - self._heard < SESSION


def _stamp(file: Path) -> int | None:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return None


def watched(memory: Memory, stop: threading.Event, is_hosted: bool = False) -> Iterator[Commit | CrabmemError]:
    """The commits of outside edits as they are made, and what stopped one from being made, until `stop` is set.

    `is_hosted` says that a host is at work even if nobody heard of it.

    Raises:
        Busy: the workspace is being watched already.
    """
    memory.init()
    lock = WriterLock(Workspace(memory.root).private / "watch")
    try:
        with lock.held(0):
            quiet = QUIET if memory.profile.quiet is None else memory.profile.quiet
            yield from _recorded(memory, stop, _Hosts(Workspace(memory.root).turns, is_hosted, quiet))
    except Busy:
        raise Busy(f"{memory.root} is being watched already; one `crabmem watch` is enough") from None


def watched_in_turn(memory: Memory, stop: threading.Event) -> Iterator[Commit | CrabmemError]:
    """What `watched` says for a host, from when nobody else watches and there is a history, until `stop` is set."""
    while not stop.wait(SOON):
        try:
            if memory.newest():
                yield from watched(memory, stop, is_hosted=True)
        except Busy:
            continue
        except CrabmemError as error:
            yield error


def followed(memory: Memory, stop: threading.Event) -> Iterator[News]:
    """What is new, as it comes, until `stop` is set; first nothing, when all after it will be told. Records nothing."""
    seen = _seen(memory, ({}, None))
    yield News()
    while not os.path.isdir(memory.root):
        if stop.wait(GATHER / 1_000):
            return
    looked = float("-inf")  # what happened before the events began
    for changes in _events(memory.root, stop):
        now = time.monotonic()
        if changes or now - looked >= LOOK_AGAIN:
            before, seen, looked = seen, _seen(memory, seen), now
            if before != seen:
                yield _news(before, seen)


def _seen(memory: Memory, otherwise: Seen) -> Seen:
    """The blobs of the files and the newest commit; `otherwise` while they cannot be read."""
    try:
        return memory.blobs(), memory.newest()
    except CrabmemError:
        return otherwise


def _news(before: Seen, after: Seen) -> News:
    (old, head), (new, newest) = before, after
    differ = {path for path, _ in old.items() ^ new.items()}
    return News(frozenset(differ), frozenset(old.keys() ^ new.keys()), head != newest)


def _recorded(memory: Memory, stop: threading.Event, hosts: _Hosts) -> Iterator[Commit | CrabmemError]:
    began, last, looked = None, 0.0, float("-inf")
    for changes in _events(memory.root, stop):
        now = time.monotonic()
        quiet = hosts.quiet(now)
        if any(_is_ours(memory, file) for _, file in changes):
            began, last = now if began is None else began, now
        elif began is None and now - looked >= LOOK_AGAIN:
            # Nobody told when it changed what a look may find: where hosts are at work, that may be just now.
            began, last = now, now if hosts.are_at_work(now) else float("-inf")
        if began is not None and (now - last >= quiet or now - began >= LONGEST_BURST):
            began, looked = None, now
            yield from _adopted(memory)


def _events(root: Path, stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
    """All changes below `root` as they come, and an empty set after a while without any, or where nobody tells.

    Unfiltered: watchfiles would wait for one that passes, however long the others go on.
    """
    try:
        yield from _told(root, stop)
    except OSError:  # the system tells of no more folders than so many
        while not stop.wait(SOON):
            yield set()


def _told(root: Path, stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
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
