"""Lines of JSON-RPC 2.0 over two handles. Loads nothing of memory."""

from __future__ import annotations

import json
import os
import select
import threading
import time

from .protocol import INVALID_REQUEST, PARSE_ERROR, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .protocol import Answer

_READ_BYTES = 1 << 20
#: Bytes of a line at most: far above the largest file of memory, even escaped twice.
_MAX_LINE = 64 << 20
#: Seconds until a client that closed its end, and reads nothing, is given up.
PATIENCE = 5.0
_LOOK_MILLISECONDS = 250
# Linux alone tells of a socket that is closed in one direction.
_HUNG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)
# Stands for a line of more than `_MAX_LINE`. It is no JSON, so `parse_line` refuses it.
_TOO_LONG = b"\0"
# Lone surrogates, which UTF-8 cannot encode.
_HALF = frozenset(map(chr, range(0xD800, 0xE000)))


class Wire:
    """A client at the other end: `lines` for one thread, `send` for any."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._sending = threading.Lock()
        #: Whether a message could not be sent: nobody reads any more.
        self.is_broken = False
        #: Whether `lines` has come to the end of what the client sends.
        self._is_over = False

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that come, but no blank ones and no unfinished last one.

        A line that is too long is `_TOO_LONG`; no more than its beginning is held in memory.
        """
        pending = bytearray()
        while chunk := self._chunk():
            looked = len(pending)
            pending += chunk
            while (end := pending.find(b"\n", looked)) >= 0:
                line, looked = bytes(pending[:end]) if end <= _MAX_LINE else _TOO_LONG, 0
                del pending[: end + 1]
                if line.strip():
                    yield line
            del pending[_MAX_LINE + 1 :]
        self._is_over = True

    def _chunk(self) -> bytes:
        """Wait for bytes and return them; b"" at the end."""
        while True:
            try:
                return os.read(self._source, _READ_BYTES)
            except BlockingIOError:  # the host set O_NONBLOCK at its end, which is the same open file as ours
                _wait(self._source, select.POLLIN)
            except OSError:  # a socket that was reset, a terminal that is gone
                return b""

    def send(self, message: Answer) -> None:
        """Send a message; wait while the client reads slowly, and set `is_broken` once nobody reads."""
        with self._sending:
            data = memoryview(to_json(message) + b"\n")
            while data and not self.is_broken:
                try:
                    # When poll says POLLOUT, a write of at most PIPE_BUF does not block; a larger one could for ever.
                    if self._is_read():
                        data = data[os.write(self._sink, data[: select.PIPE_BUF]) :]
                    else:
                        self.is_broken = True
                except BlockingIOError:
                    continue
                except OSError:
                    self.is_broken = True

    def _is_read(self) -> bool:
        """Wait until there is room to write; return False if the client closed its end and has read nothing for
        `PATIENCE` seconds. A client that is there may take as long as it likes.
        """
        since = time.monotonic()
        while not _wait(self._sink, select.POLLOUT, _LOOK_MILLISECONDS):
            if not self._is_over and not _wait(self._source, _HUNG_UP, 0) & _HUNG_UP:
                since = time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                return False
        return True


def _wait(handle: int, event: int, milliseconds: int | None = None) -> int:
    """Wait for `event` at a handle; return the poll flags that came, 0 if none did in time. None waits for ever."""
    poll = select.poll()
    poll.register(handle, event)
    return next((happened for _, happened in poll.poll(milliseconds)), 0)


def parse_line(line: bytes) -> object:
    """Return the JSON in a line. Lone surrogates are let through: the tool that gets one says what is wrong.

    Raises:
        Refused: the line is no JSON, not UTF-8, nested too deeply, or too long.
    """
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError):
        words = f"not a line of JSON in UTF-8 of at most {_MAX_LINE >> 20} MiB"
        raise Refused(PARSE_ERROR, words) from None


def message_in(data: object) -> Answer:
    """Return `data` if it is a message of JSON-RPC 2.0.

    Raises:
        Refused: `data` is no such message.
    """
    if isinstance(data, dict) and data.get("jsonrpc") == "2.0" and _has_the_parts(data):
        return data
    raise Refused(INVALID_REQUEST, "not a message of JSON-RPC 2.0")


def id_of(data: object) -> int | str | None:
    """Return the id in `data`; None if it has none that is an integer or a text, or one that UTF-8 cannot encode."""
    id = data.get("id") if isinstance(data, dict) else None
    is_name = isinstance(id, int) and not isinstance(id, bool)
    return id if is_name or (isinstance(id, str) and not _HALF.intersection(id)) else None


def _has_the_parts(message: Answer) -> bool:
    if "id" in message and id_of(message) is None:
        return False
    if "method" in message:
        return isinstance(message["method"], str) and isinstance(message.get("params"), dict | None)
    return "id" in message and isinstance(message.get("result", message.get("error")), dict)


def to_json(message: Answer) -> bytes:
    """Return a message as JSON in UTF-8, with ? for each lone surrogate, which not every client can read."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
