"""A server stands by for others: it listens, and starts the process that answers when somebody asks."""

import os
import select
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from ..ask import is_private, place
from ..disk import fs
from ..disk.lock import WriterLock
from ..errors import CrabmemError

#: Seconds until a server begins to stand by, or tries again where another one does.
SOON = 1.0
_BACKLOG = 64
_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from crabmem.__main__ import stand_by; stand_by(int(sys.argv[2]))"


@contextmanager
def offering(environment: Mapping[str, str]) -> Iterator[None]:
    """Stand by within the block, in a thread, for all workspaces of this user.

    Of several servers one stands by; when it ends, another takes over. Do nothing where the system lacks what it takes.
    """
    where = place(environment)
    # SO_PEERCRED tells which user asks. Files in memory hold the output of a verb back until all of it can be sent.
    if not (where and sys.executable and hasattr(socket, "SO_PEERCRED") and hasattr(os, "memfd_create")):
        yield
        return
    stop, stopping = os.pipe()
    thread = threading.Thread(target=_offer, args=(where, stop), name="crabmem stands by", daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(stopping)  # makes `stop` readable, which wakes the thread
        thread.join()
        os.close(stop)


def _offer(where: str, stop: int) -> None:
    """Stand by at the socket `where` as soon as no other server does.

    End when the other end of the pipe `stop` is closed, or when the helper cannot start.
    """
    folder, is_broken = Path(where).parent, False
    while not is_broken and not _ready(SOON, stop):
        # Tried again later: the disk is full or read-only, the path too long for a socket, another server stands by.
        with suppress(OSError, CrabmemError):
            fs.make_folder(folder)
            if is_private(str(folder)):
                with WriterLock(folder / "lock").held(0), _listening(where) as listens:
                    is_broken = not _answer(listens, stop)


@contextmanager
def _listening(where: str) -> Iterator[socket.socket]:
    """Yield a socket that listens at the path `where`; remove the path afterwards. The caller holds the lock."""
    with socket.socket(socket.AF_UNIX) as listens:
        with suppress(FileNotFoundError):
            fs.unlink(Path(where))  # left over from a server that was killed, as we hold the lock
        listens.bind(where)
        listens.listen(_BACKLOG)
        listens.setblocking(False)
        try:
            yield listens
        finally:
            fs.unlink(Path(where))


def _answer(listens: socket.socket, stop: int) -> bool:
    """Start the helper whenever a client asks and none runs, until `stop` is readable. Return False if it cannot start.

    The helper writes one byte to its stdout once it accepts clients itself; the end of its stdout tells that it ended.
    """
    asked = listens.fileno()
    while stop not in _ready(None, asked, stop):
        with _helper(asked) as helper:
            assert helper.stdout
            told = helper.stdout.fileno()
            while not {told, stop}.intersection(_ready(None, asked, told, stop)):
                with suppress(BlockingIOError):  # the helper became ready just now, and took the client
                    listens.accept()[0].close()  # while the helper loads, clients run their verbs themselves
            if told in _ready(0, told) and not os.read(told, 1):
                return False  # its stdout ended without that byte
            _ready(None, told, stop)  # until it ends
    return True


def _ready(timeout: float | None, *handles: int) -> list[int]:
    """The handles that are readable, after at most `timeout` seconds; None waits without a limit."""
    return select.select(handles, [], [], timeout)[0]


@contextmanager
def _helper(asked: int) -> Iterator["Popen[bytes]"]:
    """Start the process that answers, and end it after the block.

    It also ends when its standard input does, and so even when this process is killed.
    """
    command = [sys.executable, "-P", "-c", _CODE, os.fspath(Path(__file__).parent.parent.parent), str(asked)]
    with Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", pass_fds=[asked], start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
