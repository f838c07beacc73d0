"""Asks the process that stands by (room `standby`). Runs before anything else is loaded, so it loads nothing itself.

Whatever is wrong, and whoever does not answer in time: the process then does by itself what was asked.
"""

import os
import sys
import time

from . import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence

#: The verbs that may be asked for: they only read. Of `hook`, see `READING_HOOKS`; of files, only showing them.
VERBS = frozenset(
    ["blame", "diff", "hook", "identity", "links", "list", "log", "overview", "prompt", "recall", "show", "status"]
)
READING_HOOKS = frozenset(["prompt", "session-start", "subagent-start", "stop", "pre-compact"])
#: Seconds until a process no longer waits for an answer. A hook has 1.4 in all.
WAIT = 0.5
# Bytes of the size before each text.
_NUMBER = 8
# Bytes of standard input that are handed on. What a host writes has some thousand.
_MOST = 1 << 20


def state_path(environment: "Mapping[str, str]") -> str | None:
    """The folder of what crabmem keeps for a user; None when the environment names no home."""
    chosen = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(chosen):  # the specification: a relative path is to be ignored
        return os.path.join(chosen, "crabmem")
    home = environment.get("HOME") or ""
    return os.path.join(home, ".local", "state", "crabmem") if os.path.isabs(home) else None


def place(environment: "Mapping[str, str]") -> str:
    """The socket of this user and this version; "" where there is no home, or a person wants none (`CRABMEM_ALONE`)."""
    folder = None if environment.get("CRABMEM_ALONE") else state_path(environment)
    return f"{folder}/standby/{__version__}" if folder else ""


def is_private(folder: str) -> bool:
    """Whether a folder is this user's, and nobody else may enter it."""
    status = os.lstat(folder)
    return status.st_uid == os.geteuid() and status.st_mode & 0o170077 == 0o040000


def identity(environment: "Mapping[str, str]") -> bytes:
    """All that a process has from its beginning on and that an answer may depend on.

    The code, the file system that it sees (another container may share the folder), how Python reads and prints texts.
    """
    root = os.stat("/")
    streams = [(each.encoding, each.errors) for each in (sys.stdin, sys.stdout)]
    code = __version__, os.path.dirname(__file__), sys.version, environment.get("CRABMEM_PORTABLE", "")
    sees = os.readlink("/proc/self/ns/mnt"), root.st_dev, root.st_ino, sys.getfilesystemencoding()
    return repr((code, sees, streams)).encode("utf-8", "replace")


def ask(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> bytes:
    """Print what the process that stands by answers, and end; return what was read of standard input where none does.

    `arguments` begin with the name of the program.
    """
    said = bytearray()
    try:
        where = place(environment)
        # A terminal has a person at it, who is shown colours; `-` is a text on standard input.
        if is_private(os.path.dirname(where)) and not (os.isatty(1) or os.isatty(2) or "-" in arguments):
            _ask(where, arguments, environment, said)
    except (OSError, EOFError, ValueError, AttributeError):
        pass  # nobody stands by, or not for us
    return bytes(said)


def _ask(where: str, arguments: "Sequence[str]", environment: "Mapping[str, str]", said: bytearray) -> None:
    import _socket  # `socket` takes longer than all else here

    end, us = time.monotonic() + WAIT, identity(environment)
    # Where both streams are one file, the order of what is written counts.
    is_one = os.path.samestat(os.fstat(1), os.fstat(2))
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        server.settimeout(WAIT)
        server.connect(where)
        if user_of(server) != os.geteuid() or ("hook" in arguments and not _read_all(said, end)):
            return
        words = [b"one" * is_one, os.getcwdb(), str(len(arguments)).encode()]
        words += [os.fsencode(each) for each in arguments]
        words += [os.fsencode(f"{name}={value}") for name, value in environment.items()]
        send(server, us, b"\0".join(words), said)
        they, status, out, err = received(server, 4, end)
        if they == us:
            _print(out, err)
            server.send(b"\1")  # heard: now it counts
            os._exit(int(status))
    finally:
        server.close()


def user_of(other: "socket") -> int:
    """The user at the other end."""
    import _socket

    return int.from_bytes(other.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)


def send(other: "socket", *texts: bytes | bytearray) -> None:
    """Send texts, each behind its size."""
    other.sendall(b"".join(part for text in texts for part in (len(text).to_bytes(_NUMBER), text)))


def received(other: "socket", count: int, end: float) -> list[bytes]:
    """So many texts that were sent, until `end` by the monotonic clock.

    Raises:
        OSError: the other end is gone, or too slow.
    """
    data, texts = b"", list[bytes]()
    while len(texts) < count:
        size = int.from_bytes(data[:_NUMBER]) + _NUMBER if len(data) >= _NUMBER else sys.maxsize
        if len(data) >= size:
            texts.append(data[_NUMBER:size])
            data = data[size:]
            continue
        other.settimeout(max(0.001, end - time.monotonic()))
        piece = other.recv(1 << 18)
        if not piece:
            raise EOFError
        data += piece
    return texts


def _read_all(said: bytearray, end: float) -> bool:
    """Read standard input, as far as it has come; whether that was all."""
    import select

    while not os.isatty(0) and len(said) <= _MOST:
        if not select.select([0], [], [], max(0, end - time.monotonic()))[0]:
            break
        piece = os.read(0, 1 << 16)
        if not piece:
            return True
        said += piece
    return False


def _print(out: bytes, err: bytes) -> None:
    is_begun = False
    for handle, data in ((1, out), (2, err)):
        while data:
            try:
                data = data[os.write(handle, data) :]
            except OSError:
                if is_begun:
                    os._exit(1)  # whoever reads has read enough, or the disk is full
                raise
            is_begun = True
