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
#: Bytes of a line: the largest files there are, twice escaped, are far from it.
_MAX_LINE = 64 << 20
#: Seconds that a client which hung up has to read on.
PATIENCE = 5.0
_LOOK_MILLISECONDS = 250
# Linux alone tells of a socket that is closed in one direction.
_HUNG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)
# In the place of a line that is longer; no JSON.
_TOO_LONG = b"\0"
# Halves of surrogate pairs.
_HALF = frozenset(map(chr, range(0xD800, 0xE000)))


class Wire:
    """A client at the other end: `lines` for one thread, `send` for any."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._sending = threading.Lock()
        #: Nobody reads any more what is sent.
        self.is_broken = False
        self._is_over = False

    def lines(self) -> Iterator[bytes]:
        """The lines that come, without blank ones and an unfinished last one; `_TOO_LONG` for one that is too long."""
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
        """The bytes that can be read; b"" at the end."""
        while True:
            try:
                return os.read(self._source, _READ_BYTES)
            except BlockingIOError:  # the host made its end non-blocking, and ours is the same file
                _wait(self._source, select.POLLIN)
            except OSError:  # a socket that was reset, a terminal that is gone
                return b""

    def send(self, message: Answer) -> None:
        """Send a message, if anybody reads."""
        with self._sending:
            data = memoryview(to_json(message) + b"\n")
            while data and not self.is_broken:
                try:
                    # Such a part is written at once; a larger one could block for ever.
                    if self._is_read():
                        data = data[os.write(self._sink, data[: select.PIPE_BUF]) :]
                    else:
                        self.is_broken = True
                except BlockingIOError:
                    continue
                except OSError:
                    self.is_broken = True

    def _is_read(self) -> bool:
        """Wait until the client has read enough; false if it hung up and reads nothing."""
        since = time.monotonic()
        while not _wait(self._sink, select.POLLOUT, _LOOK_MILLISECONDS):
            if not self._is_over and not _wait(self._source, _HUNG_UP, 0) & _HUNG_UP:
                since = time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                return False
        return True


def _wait(handle: int, event: int, milliseconds: int | None = None) -> int:
    """Return what happened at a handle; 0 when the time is over."""
    poll = select.poll()
    poll.register(handle, event)
    return next((happened for _, happened in poll.poll(milliseconds)), 0)


def parse_line(line: bytes) -> object:
    """The JSON in a line. Texts with half a surrogate pair are let through: a tool says what is wrong with them.

    Raises:
        Refused: it holds none.
    """
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError):
        words = f"not a line of JSON in UTF-8 of at most {_MAX_LINE >> 20} MiB"
        raise Refused(PARSE_ERROR, words) from None


def message_in(data: object) -> Answer:
    """Data that is a message of JSON-RPC 2.0.

    Raises:
        Refused: it is none.
    """
    if isinstance(data, dict) and data.get("jsonrpc") == "2.0" and _has_the_parts(data):
        return data
    raise Refused(INVALID_REQUEST, "not a message of JSON-RPC 2.0")


def id_of(data: object) -> int | str | None:
    """The id of data as a request; None where that cannot be one, or could not be sent back."""
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
    """A message as JSON, with ? for half of a surrogate pair, which not every client reads."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
