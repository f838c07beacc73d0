"""Recording outside edits soon after they are made, and telling what is new. Events are only hints: what counts
is the scan.
"""

import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, watch

from .disk import state
from .disk.lock import WriterLock
from .errors import Busy, CrabmemError, Moved
from .operations import adoption, history, setup
from .operations import files as files_operations
from .results import Commit
from .session.session import Session
from .text.slug import name_key
from .workspace.workspace import Workspace

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
#: Seconds between two tries to be the one that records, and at least between two looks where nothing can be watched.
SOON = 1
# Looks where nothing can be watched take at most one part in so many of the time.
_SHARE = 20

# The blobs of the files, the newest commit, and whether memory is paused.
Seen = tuple[Mapping[str, str], str | None, bool]


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
    """Whether agents' hosts are at work in a workspace: their hooks append a line to `turns` for each message."""

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


def watched(memory: Session, stop: threading.Event, is_hosted: bool = False) -> Iterator[Commit | CrabmemError]:
    """Record each burst of outside edits until `stop` is set: yields its commit, or the error that prevented one.

    With `is_hosted` an agent's host counts as at work even if its hooks left no line: a burst then ends only after
    `SIGNED_WITHIN` seconds, in which a hook can record it in the agent's name.

    Raises:
        Busy: the workspace is being watched already.
        Moved: the workspace is no longer where it was opened.
    """
    setup.init(memory)
    lock = WriterLock(Workspace(memory.root).private / state.WATCH)
    try:
        with lock.held(0):
            quiet = QUIET if memory.profile.quiet is None else memory.profile.quiet
            yield from _recorded(memory, stop, _Hosts(Workspace(memory.root).private / state.TURNS, is_hosted, quiet))
    except Busy:
        raise Busy(f"{memory.root} is being watched already; one `crabmem watch` is enough") from None


def watched_in_turn(memory: Session, stop: threading.Event) -> Iterator[Commit | CrabmemError]:
    """What `watched` says for a host, from when nobody else watches and there is a history, until `stop` is set.

    That the workspace was moved is said once; it may come back.
    """
    is_moved = False
    while not stop.wait(SOON):
        try:
            if history.newest(memory):
                is_moved = False
                yield from watched(memory, stop, is_hosted=True)
        except Busy:
            continue
        except Moved as error:
            if not is_moved:
                yield error
            is_moved = True
        except CrabmemError as error:
            yield error


def followed(memory: Session, stop: threading.Event) -> Iterator[News]:
    """Yield what is new as it happens, until `stop` is set. Records nothing.

    The first news is empty: from then on no change is missed. So is that of a pause that began or ended. If the folder
    does not exist, wait for it.
    """
    seen = _seen(memory, ({}, None, False))
    yield News()
    while not os.path.isdir(memory.root):
        if stop.wait(GATHER / 1_000):
            return
    looked = float("-inf")  # what happened before the events began
    for changes in _events(memory, stop):
        if isinstance(changes, CrabmemError):
            continue  # said by the one that records
        now = time.monotonic()
        if changes or now - looked >= LOOK_AGAIN:
            before, seen, looked = seen, _seen(memory, seen), now
            if before != seen:
                yield _news(before, seen)


def _seen(memory: Session, otherwise: Seen) -> Seen:
    """The state of this moment; `otherwise` while it cannot be read."""
    try:
        return files_operations.blobs(memory), history.newest(memory), memory.engine.pause() is not None
    except CrabmemError:
        return otherwise


def _news(before: Seen, after: Seen) -> News:
    (old, head, _), (new, newest, _) = before, after
    differ = {path for path, _ in old.items() ^ new.items()}
    return News(frozenset(differ), frozenset(old.keys() ^ new.keys()), head != newest)


def _recorded(memory: Session, stop: threading.Event, hosts: _Hosts) -> Iterator[Commit | CrabmemError]:
    """Record each burst of changes once it ends, and begin a sync; yield commits and errors.

    `began` and `last` are the times of the first and last change of a burst, `looked` that of the last recording.
    """
    began, last, looked = None, 0.0, float("-inf")
    for changes in _events(memory, stop):
        if isinstance(changes, CrabmemError):
            yield changes
            continue
        now = time.monotonic()
        quiet = hosts.quiet(now)
        if any(_is_ours(memory, file) for file in changes):
            began, last = now if began is None else began, now
        elif began is None and now - looked >= LOOK_AGAIN:
            # A change without an event may be of this moment: if hosts are at work, give a hook time to sign it.
            began, last = now, now if hosts.are_at_work(now) else float("-inf")
        if began is not None and (now - last >= quiet or now - began >= LONGEST_BURST):
            began, looked = None, now
            yield from _adopted(memory)
            _sync(memory)


def _sync(memory: Session) -> None:
    """Begin to sync where the settings say so, after a pause between edits: nobody waits for it."""
    from .sync.auto import begin

    with suppress(CrabmemError):  # settings that cannot be read are told of elsewhere
        begin(memory, in_pause=True)


def _events(memory: Session, stop: threading.Event) -> Iterator[set[str] | CrabmemError]:
    """The files that change as they do, and an empty set after a while without any.

    Where they cannot be watched, an error that says so, and from then on what a look at all files finds.
    """
    try:
        yield from _watched_files(memory, stop)
    except (OSError, RuntimeError) as error:  # watchfiles has an error of its own, which is a RuntimeError
        yield _unwatched(memory.root, error)
        yield from _polled_files(memory, stop)


def _watched_files(memory: Session, stop: threading.Event) -> Iterator[set[str]]:
    """Yield the paths below the workspace whose changes the system reports.

    Begin a new watch when a folder of memory appears: watchfiles keeps quiet if it cannot watch a new folder.
    """
    pending, is_over, real = set[str](), False, os.path.realpath(memory.root)
    while not is_over:
        is_over = True
        with closing(_watch(real, stop)) as told:
            for found in told:
                changes = {(change, _in_root(memory.root, real, file)) for change, file in found}
                files, pending = pending | {file for _, file in changes}, set()
                came = (file for change, file in changes if change == Change.added)
                if any(_is_folder_of_ours(memory, file) for file in came):
                    pending, is_over = files, False
                    break
                yield files


def _in_root(root: Path, real: str, file: str) -> str:
    """Map a path below `real`, the resolved folder, to the same path below `root`, as the person named it.

    macOS reports real paths in the disk's spelling: `/private/tmp/Notes` for `/tmp/notes`.
    """
    parts, depth = Path(file).parts, len(Path(real).parts)
    is_below = list(map(name_key, parts[:depth])) == list(map(name_key, Path(real).parts))
    return os.path.join(root, *parts[depth:]) if is_below else file


def _watch(root: str, stop: threading.Event) -> Generator[set[tuple[Change, str]], None, None]:
    return watch(
        root,
        # watchfiles would wait for a change that passes a filter, however long the others go on.
        watch_filter=None,
        debounce=GATHER,
        step=GATHER,
        stop_event=stop,
        rust_timeout=GATHER * 2,
        yield_on_timeout=True,
        raise_interrupt=False,
    )


def _unwatched(root: Path, error: Exception) -> CrabmemError:
    """What to say when the folder cannot be watched; the way out is for the limits of Linux."""
    reason = str(error).partition(" about [")[0].rstrip(".")
    is_limit = not isinstance(error, FileNotFoundError | PermissionError)
    way_out = "; to watch it, raise fs.inotify.max_user_instances and fs.inotify.max_user_watches" if is_limit else ""
    return CrabmemError(f"{root} cannot be watched ({reason}): it is looked at every few seconds instead{way_out}")


def _polled_files(memory: Session, stop: threading.Event) -> Iterator[set[str]]:
    """Yield the files that differ between two looks, at first all; for systems where nothing can be watched.

    The pause between looks grows with their duration, so that they take at most 1/`_SHARE` of the time. A new commit is
    reported as a change of `.git`.
    """
    everything, pause = memory.of_kind("main"), 0.0
    seen: Seen = ({}, None, False)
    while not stop.wait(pause):
        began, before = time.monotonic(), seen
        seen = _seen(everything, before)
        pause = max(SOON, _SHARE * (time.monotonic() - began))
        news = _news(before, seen)
        paths = {*news.changed, ".git"} if news.committed else news.changed
        yield {str(memory.file(path)) for path in paths}


def _adopted(memory: Session) -> Iterator[Commit | CrabmemError]:
    """Record outside edits; yield the commit, and the error for a loss too large to record unconfirmed.

    Raises:
        Moved: the workspace is no longer where it was opened.
    """
    try:
        commit, held = adoption.adopt(memory), adoption.unrecorded(memory)
    except Moved:
        raise
    except CrabmemError as error:
        # The next look tries again; nothing is lost by waiting.
        yield error
    else:
        if commit:
            yield commit
        if held:
            yield held.error


def _is_ours(memory: Session, file: str) -> bool:
    """Whether an event is about a file of memory, or a folder of such, rather than a swap file, a backup or `.git`."""
    path = _path_in(memory, file)
    return path is not None and (memory.layout.is_kept(path) or _is_folder_of_ours(memory, file))


def _is_folder_of_ours(memory: Session, file: str) -> bool:
    path = _path_in(memory, file)
    return path is not None and memory.layout.may_hold_files(path) and os.path.isdir(file)


def _path_in(memory: Session, file: str) -> str | None:
    """The path of a file in the workspace; None for one elsewhere."""
    try:
        return Path(file).relative_to(memory.root).as_posix()
    except ValueError:
        return None
