"""The server over standard input and output, a message a line.

Waits for bytes without a thread, so that a signal ends it at once, and answers lines that are no message.
"""

import json
import os
import select
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from .served import Served
from .server import MemoryServer, running

_READ = 1 << 20
# Bytes of a line: the largest files there are, twice escaped, are far from it.
_LONGEST = 64 << 20
# In the place of a line that is longer; no JSON.
_TOO_LONG = b"\0"
# A pipe that has room has room for so many bytes.
_WRITE = select.PIPE_BUF

_NO_ID = object()

Outbox = MemoryObjectSendStream[SessionMessage]


def over_stdio(served: Served, wire: tuple[int, int]) -> None:
    """Serve the client at the other end, until it closes the connection or a signal comes."""
    anyio.run(_serve, served, *wire)


async def _serve(served: Served, source: int, sink: int) -> None:
    server = MemoryServer(served)
    into, inbox = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbox, out = anyio.create_memory_object_stream[SessionMessage]()
    async with running(server), anyio.create_task_group() as tasks:
        tasks.start_soon(_read, source, into, outbox.clone())
        tasks.start_soon(_write, sink, out)
        await server.run(inbox, outbox, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _read(source: int, into: MemoryObjectSendStream[SessionMessage | Exception], outbox: Outbox) -> None:
    with suppress(anyio.BrokenResourceError):  # nobody takes answers any more
        async with into, outbox:
            async for line in _lines(source):
                message = parse_message(line)
                if isinstance(message, Refusal):
                    await outbox.send(SessionMessage(message.answer))
                else:
                    await into.send(SessionMessage(message))


async def _lines(source: int) -> AsyncIterator[bytes]:
    """The lines that come, without blank ones and an unfinished last one; `_TOO_LONG` for one that is too long."""
    pending = bytearray()
    while chunk := await _chunk(source):
        looked = len(pending)
        pending += chunk
        while (end := pending.find(b"\n", looked)) >= 0:
            line, looked = bytes(pending[:end]) if end <= _LONGEST else _TOO_LONG, 0
            del pending[: end + 1]
            if line.strip():
                yield line
        del pending[_LONGEST + 1 :]


async def _chunk(source: int) -> bytes:
    """The bytes that can be read; b"" at the end."""
    if not _is_ready(source, select.POLLIN | select.POLLHUP):
        await anyio.wait_readable(source)
    try:
        return os.read(source, _READ)
    except OSError:  # a socket that was reset, a terminal that is gone
        return b""


async def _write(sink: int, out: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with out:
        with suppress(OSError):  # nobody reads any more
            async for item in out:
                line = memoryview(to_json(item.message) + b"\n")
                for start in range(0, len(line), _WRITE):
                    if not _is_ready(sink, select.POLLOUT):
                        await anyio.wait_writable(sink)
                    data = line[start : start + _WRITE]
                    while data:
                        data = data[os.write(sink, data) :]


def _is_ready(handle: int, what: int) -> bool:
    """Whether a handle is ready; a file always is, and cannot be waited for."""
    poll = select.poll()
    poll.register(handle, what)
    return bool(poll.poll(0))


@dataclass(frozen=True)
class Refusal:
    """The answer to a line that is no message."""

    answer: JSONRPCError


def parse_message(line: bytes) -> JSONRPCMessage | Refusal:
    """Parse the message in a line, or make the answer that says what is wrong with it."""
    try:
        found = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _parse_with_care(line)
    # The library takes a request whose id cannot be one for a notification; its sender waits for an answer.
    is_odd = isinstance(found, JSONRPCNotification) and b'"id"' in line
    return _parse_with_care(line) if is_odd else found


def _parse_with_care(line: bytes) -> JSONRPCMessage | Refusal:
    """Parse more slowly. Texts with half a surrogate pair are let through: a tool says what is wrong with them."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return Refusal(_error(None, PARSE_ERROR, f"not a line of JSON in UTF-8 of at most {_LONGEST >> 20} MiB"))
    id = data.get("id", _NO_ID) if isinstance(data, dict) else None
    try:
        found = jsonrpc_message_adapter.validate_python(data, by_name=False)
    except ValidationError:
        found = None
    if found is None or (isinstance(found, JSONRPCNotification) and id is not _NO_ID):
        return Refusal(_error(id, INVALID_REQUEST, "not a message of JSON-RPC 2.0"))
    return found


def to_json(message: JSONRPCMessage) -> bytes:
    """A message as JSON."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:  # an answer that quotes half a surrogate pair, which not every client reads
        data = message.model_dump(by_alias=True, exclude_unset=True)
        return json.dumps(data, ensure_ascii=False).encode(errors="replace")


def _error(id: object, code: int, words: str) -> JSONRPCError:
    known = id if isinstance(id, int | str) and not isinstance(id, bool) else None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=words))
