"""Runs `crabmem` in a fork of a server: `python -I -S fork_client.py SOCKET WORD…`. Loads only what is built in."""

import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import posix
import sys

_SCM_RIGHTS = b"\0\0\0\0\1\0\0\0\2\0\0\0"  # three file descriptors


def main() -> int:
    """The status of the fork; a signal that ended it ends this process too."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    words = [word.encode("utf-8", "surrogateescape") for word in sys.argv[2:]]
    surroundings = [name + b"=" + value for name, value in posix.environ.items()]
    parts = [posix.getcwdb(), str(len(words)).encode(), *words, *surroundings]
    data = b"\0".join(parts)
    server.sendmsg([len(data).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _SCM_RIGHTS)])
    while data:
        data = data[server.send(data) :]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: server.send(bytes([number])))
    answer = b""
    while len(answer) < 4:
        answer += server.recv(4 - len(answer)) or b"\0\0\1\0"[len(answer) :]
    status = int.from_bytes(answer, "big", signed=True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        posix.kill(posix.getpid(), -status)
    return status


if __name__ == "__main__":
    posix._exit(main())
