"""The server's side of one connection over a wire, in the protocol version that the client's first request uses.

The thread that reads also answers pings, subscriptions, and, until memory is loaded, the requests that hosts wait for
(`_FIRST`). Worker threads answer all others. Loads nothing of memory.
"""

from __future__ import annotations

import threading
from collections import deque

from .protocol import (
    BATCHES,
    CACHEABLE,
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SERVER,
    TODAY,
    UNSUPPORTED_VERSION,
    Caller,
    Refused,
    table_in,
    text_in,
    todays,
)
from .subscriptions import Subscriptions
from .wire import id_of, message_in, parse_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .first_answers import FirstAnswers
    from .protocol import Answer, Params
    from .served import Served
    from .wire import Wire

    #: What answers requests about memory: before it is loaded, those that hosts ask first.
    Source: TypeAlias = Served | FirstAnswers


_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

#: The methods that both protocols have, those of the older one, those of today's.
_METHODS = CACHEABLE - {"server/discover"} | {"completion/complete", "prompts/get", "tools/call"}
_OLDER = _METHODS | {"initialize", "ping", "resources/subscribe", "resources/unsubscribe"}
_TODAYS = _METHODS | {"server/discover", "subscriptions/listen"}
#: The methods that a host waits for before it shows its model any tool.
_FIRST = {"initialize", "server/discover", "tools/list"}
#: Threads that answer requests about memory.
_WORKERS = 6
#: Requests that may wait for one of these threads; more are refused.
_MAX_WAITING = 1_000
_INVALID = "Invalid request parameters"


class _Request:
    """A request that was read. `is_cancelled` once the client wants no answer any more: then none is sent."""

    def __init__(self, id: int | str, method: str, params: Params, caller: Caller) -> None:
        self.id, self.method, self.params, self.caller = id, method, params, caller
        self.is_cancelled = False


class Conversation:
    """One client at the other end of a wire.

    `first` answers the requests of `_FIRST` until `load` gives the memory itself; without it they wait like the others.
    """

    def __init__(self, wire: Wire, first: Source | None = None) -> None:
        self._wire, self._source = wire, first
        self.subscriptions = Subscriptions(wire.send)
        #: Whether the client speaks today's protocol; None until its first request, which decides.
        self._is_todays: bool | None = None
        #: The older protocol: the client as `initialize` names it; None before.
        self._client: Caller | None = None
        #: The older protocol: whether a line may hold a list of messages.
        self._has_batches = False
        # All threads share what follows; `_changed` guards it.
        self._changed = threading.Condition()
        #: Requests that no worker has taken yet.
        self._waiting: deque[_Request] = deque()
        #: Requests for the workers by their ids, until the answer is sent or dropped.
        self._unanswered: dict[int | str, _Request] = {}
        #: How many requests workers are working on now.
        self._answering = 0
        self._is_loaded = self._is_over = False

    def read(self) -> None:
        """Read messages until the client hangs up; then wait until its requests are answered, or `end` is called.

        Messages that are no valid requests are answered with an error.
        """
        for line in self._wire.lines():
            data: object = None
            try:
                data = parse_line(line)
            except Refused as refusal:
                self._wire.send(refusal.answer(None))
                continue
            # The messages of a batch are answered one by one: only the first requests are answered in order anyway.
            for message in data if self._has_batches and data and isinstance(data, list) else [data]:
                try:
                    self._take(message_in(message))
                except Refused as refusal:
                    self._wire.send(refusal.answer(id_of(message)))
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or not (self._waiting or self._unanswered))

    def load(self, source: Source) -> None:
        """Answer requests of every kind from `source` from now on, those that wait already included. Call it once."""
        with self._changed:
            self._source, self._is_loaded = source, True
        for _ in range(_WORKERS):
            threading.Thread(target=self._work, daemon=True).start()

    def end(self) -> None:
        """Begin no more answers, and wait until the workers have made those they are at.

        Requests that still wait stay without an answer, and an answer may be made but not sent yet.
        """
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._answering)

    def _take(self, message: Answer) -> None:
        """Handle one message: a request, a notification, or a response, which is ignored.

        Raises:
            Refused: the request is one that this connection does not answer.
        """
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            return  # a response: we send no requests
        if "id" not in message:
            return self._take_notification(method, params)
        self._take_request(_Request(message["id"], method, params, self._caller(method, params)))

    def _take_notification(self, method: str, params: Params) -> None:
        """Begin the session of a client of the older protocol, or cancel a request; ignore all other notifications."""
        id = params.get("requestId")
        if method == "notifications/initialized" and self._client:
            self.subscriptions.begin_session()
        elif method == "notifications/cancelled" and isinstance(id, int | str):
            self.subscriptions.end(id)
            with self._changed:
                if id in self._unanswered:
                    self._unanswered[id].is_cancelled = True

    def _take_request(self, request: _Request) -> None:
        """Answer a request on this thread if that is quick, else queue it for the workers.

        Raises:
            Refused: too many requests wait already, or a subscription is not possible.
        """
        match request.method:
            case "ping":
                self._wire.send({"jsonrpc": "2.0", "id": request.id, "result": {}})
            case "subscriptions/listen":
                self.subscriptions.listen(request.id, request.params)
            case "resources/subscribe":
                self.subscriptions.subscribe(request.id, request.params)
            case "resources/unsubscribe":
                self.subscriptions.unsubscribe(request.id, request.params)
            case method if method in _FIRST and self._source and not self._is_loaded:
                self._wire.send(self._answer(request, self._source))
            case _ if len(self._waiting) >= _MAX_WAITING:
                raise Refused(INVALID_REQUEST, f"{_MAX_WAITING} requests wait for their answers already")
            case _:
                with self._changed:
                    self._unanswered[request.id] = request
                    self._waiting.append(request)
                    self._changed.notify()

    # Who asks, in which protocol

    def _caller(self, method: str, params: Params) -> Caller:
        """Return who sent a request. The first request decides which protocol the connection speaks from then on, and
        `initialize` records the client.

        Raises:
            Refused: the request is of the other protocol, lacks what its protocol demands, or has an unknown method.
        """
        meta = params.get("_meta")
        is_todays = method != "initialize" and isinstance(meta, dict) and _VERSION in meta
        if self._is_todays is None:
            self._is_todays = is_todays
        if self._is_todays:
            caller, methods = _caller_of_today(method, params), _TODAYS
        elif is_todays:
            words = "this connection serves the handshake protocol era; requests carrying the 2026-07-28 envelope"
            raise Refused(INVALID_REQUEST, f"{words} are not accepted on it")
        else:
            caller, methods = self._caller_of_older(method, params), _OLDER
        if method not in methods:
            raise Refused(METHOD_NOT_FOUND, "Method not found", method)
        return caller

    def _caller_of_older(self, method: str, params: Params) -> Caller:
        """Return the client that `initialize` named. `initialize` itself is checked here, and its client recorded.

        Raises:
            Refused: a parameter is missing or of a wrong type, or `initialize` has not come yet; `ping` may precede it.
        """
        if method == "initialize":
            version, _ = text_in(params, "protocolVersion"), table_in(params, "capabilities")
            self._client, self._has_batches = _client_in(table_in(params, "clientInfo")), version == BATCHES
        elif self._client is None and method in _OLDER and method != "ping":
            raise Refused(INVALID_PARAMS, f"{_INVALID}: `initialize` comes first")
        meta = table_in(params, "_meta", is_optional=True)
        return Caller(self._client.name, self._client.version, meta) if self._client else Caller(meta=meta)

    # Answers

    def _work(self) -> None:
        """Answer one request after the other, as one of the worker threads, until `end` is called.

        Work on a request is over for `end` once its answer is made, so that a client that reads slowly does not hold it
        up. `read` waits until the answer is sent, too.
        """
        while request := self._next():
            source = self._source
            assert source
            answer = None if request.is_cancelled or self._wire.is_broken else self._answer(request, source)
            with self._changed:
                self._answering -= 1
                self._changed.notify_all()
            if answer and not request.is_cancelled:
                self._wire.send(answer)
            with self._changed:
                if self._unanswered.get(request.id) is request:
                    del self._unanswered[request.id]
                self._changed.notify_all()

    def _next(self) -> _Request | None:
        """Wait for a request, take it from the queue and count it in `_answering`; return None once `end` is called."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            if self._is_over:
                return None
            self._answering += 1
            return self._waiting.popleft()

    def _answer(self, request: _Request, source: Source) -> Answer:
        """Return the response to a request: an error if it is refused or we fail; a fault of ours goes to stderr."""
        try:
            result = self._result(request, source)
        except Refused as refusal:
            return refusal.answer(request.id)
        except Exception:
            import traceback  # late: needed only after a fault of ours

            traceback.print_exc()
            return Refused(INTERNAL_ERROR, "Internal server error").answer(request.id)
        if self._is_todays:
            result = todays(request.method, result)
        return {"jsonrpc": "2.0", "id": request.id, "result": result}

    def _result(self, request: _Request, source: Source) -> Answer:
        """Return the result of a request: versions, capabilities and instructions, or what `source` answers.

        For `initialize` that is the version the client asks for if we have it, else our newest of the older protocol.
        """
        if request.method == "server/discover":
            said: Answer = {"supportedVersions": [TODAY], "capabilities": _capabilities(True)}
        elif request.method == "initialize":
            asked = request.params["protocolVersion"]
            version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            said = {"protocolVersion": version, "serverInfo": SERVER, "capabilities": _capabilities(False)}
        else:
            return source.answer(request.method, request.params, request.caller)
        return {**said, "instructions": source.instructions}


def _capabilities(prompts_change: bool) -> Answer:
    return {
        "completions": {},
        "prompts": {"listChanged": prompts_change},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": True},
    }


def _client_in(info: Params) -> Caller:
    return Caller(text_in(info, "name"), text_in(info, "version"))


def _caller_of_today(method: str, params: Params) -> Caller:
    """Return who sent a request of today's protocol, which says so in the `_meta` of each request.

    Raises:
        Refused: `_meta` lacks a key, has a wrong value or names another version, or the method is `initialize`.
    """
    if method == "initialize":
        asked = params.get("protocolVersion")
        words = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
        raise Refused(UNSUPPORTED_VERSION, words, _supported_versions(asked if isinstance(asked, str) else None))
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        needed = f"'{_VERSION}' and '{_CAPABILITIES}'"
        raise Refused(INVALID_PARAMS, f"params._meta must be an object carrying the required {needed} envelope keys")
    if missing := [key for key in (_VERSION, _CAPABILITIES) if key not in meta]:
        words = f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
        raise Refused(INVALID_PARAMS, words)
    if not isinstance(meta[_VERSION], str):
        raise Refused(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if meta[_VERSION] != TODAY:
        raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", _supported_versions(meta[_VERSION]))
    table_in(meta, _CAPABILITIES)
    client = _client_in(table_in(meta, _CLIENT)) if meta.get(_CLIENT) is not None else Caller()
    return Caller(client.name, client.version, meta)


def _supported_versions(asked: str | None) -> Answer:
    return {"supported": [TODAY]} if asked is None else {"supported": [TODAY], "requested": asked}
