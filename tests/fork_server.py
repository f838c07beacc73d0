"""Forks a process that has crabmem loaded for each client of a socket: `python fork_server.py SOCKET`, see `forked`."""

import array
import atexit
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent / "crabmem"
# Rooms whose libraries come with an extra, and which take longer to load than all else.
_SERVERS = frozenset(["loopback", "mcp", "web"])
_LATE = ("bm25s", "dulwich.repo", "importlib.metadata", "tomlkit")  # what verbs load when they need it


class Server:
    """A socket, and the forks that are under way with the clients who wait for them."""

    def __init__(self, place: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(place)
        self._socket.listen(100)
        self._selector.register(self._socket, selectors.EVENT_READ, self._accept)

    def serve(self) -> None:
        """Until this process is ended, or whoever started it is gone."""
        self._selector.register(0, selectors.EVENT_READ, sys.exit)
        print("ready", flush=True)
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _accept(self) -> None:
        client, _ = self._socket.accept()
        with suppress(OSError, EOFError):  # who is gone before it has asked
            folder, words, surroundings, streams = _asked(client)
            load(not {"mcp", "ui"}.isdisjoint(words))
            if not (child := os.fork()):
                _be(folder, words, surroundings, streams)
            for stream in streams:
                os.close(stream)
            ended = os.pidfd_open(child)
            self._selector.register(client, selectors.EVENT_READ, lambda: self._heard(client, child))
            self._selector.register(ended, selectors.EVENT_READ, lambda: self._ended(client, child, ended))
            return
        client.close()

    def _heard(self, client: socket.socket, child: int) -> None:
        """A client was sent a signal, or is gone."""
        if client.fileno() < 0:
            return  # its fork has just ended
        numbers = b""
        with suppress(ConnectionError):
            numbers = client.recv(100)
        for number in numbers or [signal.SIGKILL]:
            os.kill(child, number)  # it is there until it was waited for
        if not numbers:
            self._selector.unregister(client)

    def _ended(self, client: socket.socket, child: int, ended: int) -> None:
        self._selector.unregister(ended)
        os.close(ended)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(KeyError):
            self._selector.unregister(client)
        with suppress(OSError):
            client.sendall(status.to_bytes(4, "big", signed=True))
        client.close()


def _asked(client: socket.socket) -> tuple[bytes, list[str], dict[bytes, bytes], list[int]]:
    """The folder, words, surroundings and streams of a client."""
    size, rights, _, _ = client.recvmsg(8, socket.CMSG_SPACE(12))
    streams = array.array("i", rights[0][2])
    left, data = int.from_bytes(size, "big"), b""
    while len(data) < left:
        part = client.recv(left - len(data))
        if not part:
            raise EOFError
        data += part
    folder, count, *rest = data.split(b"\0")
    words = [os.fsdecode(word) for word in rest[: int(count)]]
    surroundings = dict(each.split(b"=", 1) for each in rest[int(count) :])
    return folder, words, surroundings, list(streams)


@cache
def load(is_server: bool) -> None:
    """Everything that a verb may load without the library of an extra, once; what servers load where one is meant."""
    for file in sorted(_PACKAGE.rglob("*.py")):
        parts = file.relative_to(_PACKAGE.parent).with_suffix("").parts
        if parts[1] not in ("__main__.py", "adapters", "fleet") and (is_server or parts[1] not in _SERVERS):
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    for name in _LATE:
        importlib.import_module(name)
    gc.freeze()


def _be(folder: bytes, words: list[str], surroundings: dict[bytes, bytes], streams: list[int]) -> None:
    """Be the process that a client asked for."""
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, max(streams) + 100)
        os.chdir(folder)
        os.environb.clear()
        os.environb.update(surroundings)
        time.tzset()
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.argv = [str(_PACKAGE / "__main__.py"), *words]
        code = _status()
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _status() -> int:
    from crabmem.__main__ import main

    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 0


if __name__ == "__main__":
    sys.path[0] = str(_PACKAGE.parent)  # where tests are run of a tree that is not installed
    Server(sys.argv[1]).serve()
