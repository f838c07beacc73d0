"""In the background: a module of ours, which nobody waits for, or work that is waited for so long and no longer."""

import os
import sys
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

#: Seconds after which such a process is ended whatever it does: what it had no time for, the next one goes on with.
LONGEST = 1_800
_CODE = (
    f"import faulthandler, sys; faulthandler.dump_traceback_later({LONGEST}, exit=True); "
    "sys.path.insert(0, sys.argv[1]); from crabmem.{} import main; main(sys.argv[2])"
)

# Children of this process that may still run. Each start polls them: an ended child that nobody polls stays a zombie.
_begun: "list[subprocess.Popen[bytes]]" = []


def start(module: str, root: Path) -> "subprocess.Popen[bytes] | None":
    """Start `main` of a module of ours for a workspace, waiting for nothing; None where no process can be started."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    import subprocess  # most hooks begin none

    # Without -P, whatever lies in the current folder could be imported in our place.
    code, ours = _CODE.format(module), os.fspath(Path(__file__).parent.parent.parent)
    command, none = [sys.executable, "-P", "-c", code, ours, os.fspath(root)], subprocess.DEVNULL
    _begun[:] = (each for each in _begun if each.poll() is None)
    with suppress(OSError):
        begun = subprocess.Popen(command, stdin=none, stdout=none, stderr=none, cwd=root.anchor, start_new_session=True)
        _begun.append(begun)
        return begun
    return None


def in_time(work: "Callable[[], T]", end: "float | Callable[[], float]") -> "T":
    """Run `work` in a thread, and return or raise what it does if it ends before `end`, by the monotonic clock.

    A callable `end` may move the deadline while `work` runs. A late thread is left running, as a daemon. This is for
    what has no timeout of its own: looking up a name, a slow HTTP header, a network file system.

    Raises:
        TimeoutError: `work` was not done at `end`.
    """
    import threading
    import time
    from queue import Empty, SimpleQueue

    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def working() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:
            done.put((None, error))

    threading.Thread(target=working, name="crabmem waits", daemon=True).start()
    while True:
        left = (end() if callable(end) else end) - time.monotonic()
        try:
            result, error = done.get(timeout=max(0.01, left))
            break
        except Empty:
            if left <= 0 or not callable(end):
                raise TimeoutError from None
    if error:
        raise error
    return result  # type: ignore[return-value]  # without an error it is what `work` returned
