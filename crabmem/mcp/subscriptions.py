"""What the client at the other end of a wire wants to be notified of.

Today's protocol asks by a request that stays open, the older one names addresses and is notified of every list.
"""

from __future__ import annotations

import threading

from .protocol import (
    INVALID_PARAMS,
    MAX_ADDRESS,
    MAX_ADDRESSES,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
    UPDATED,
    Refused,
    table_in,
    text_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .protocol import Answer, Notice, Params

_ID = "io.modelcontextprotocol/subscriptionId"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
#: The flags of a request to listen, and what each asks for; prompts never change.
_FLAGS = {"toolsListChanged": TOOLS_CHANGED, "promptsListChanged": "", "resourcesListChanged": RESOURCES_CHANGED}
_ADDRESSES = "resourceSubscriptions"
#: Requests to listen that are open at once.
_MAX_LISTENERS = 1_000


class _Listener:
    """The wishes of one request to listen, or of a session of the older protocol: notifications of these methods, and
    of changes at the addresses `uris`. `meta` is sent with each, so that the client knows which request it belongs to.
    """

    def __init__(self, methods: Iterable[str] = (), uris: Iterable[str] = (), meta: Answer | None = None) -> None:
        self.methods, self.uris, self.meta = {*methods}, {*uris}, meta

    def wants(self, method: str, params: Params) -> bool:
        return params["uri"] in self.uris if method == UPDATED else method in self.methods


class Subscriptions:
    """Sends a client the notifications it asked for. Its subscriptions are confirmed only after `begin`."""

    def __init__(self, send: Callable[[Answer], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        #: Confirmations that wait for `begin`; None once it was called.
        self._held: list[Answer] | None = []
        #: The notifications for a client of the older protocol.
        self._session = _Listener()
        #: The requests of today's protocol to listen, by their ids.
        self._listeners: dict[int | str, _Listener] = {}

    def begin(self) -> None:
        """Confirm subscriptions, also those that wait: from now on no change is missed. May be called again."""
        with self._lock:
            held, self._held = self._held or [], None
        for message in held:
            self._send(message)

    def begin_session(self) -> None:
        """Notify a client of the older protocol of all changed lists from now on: it is ready."""
        self._session.methods = {TOOLS_CHANGED, RESOURCES_CHANGED}

    def subscribe(self, id: int | str, params: Params) -> None:
        """The older protocol: notify of this address, too.

        Raises:
            Refused: no resource can be at this address, or the client subscribes to `MAX_ADDRESSES` already.
        """
        from .addresses import is_address, no_resource  # late: the first answer need not wait for it

        uri = text_in(params, "uri")[:MAX_ADDRESS]
        if not is_address(uri):
            raise no_resource(uri)
        if len(self._session.uris) >= MAX_ADDRESSES:
            raise Refused(INVALID_PARAMS, f"a session subscribes to {MAX_ADDRESSES} addresses at most")
        self._session.uris.add(uri)
        self._confirm({"jsonrpc": "2.0", "id": id, "result": {}})

    def unsubscribe(self, id: int | str, params: Params) -> None:
        """The older protocol: stop notifying of this address."""
        self._session.uris.discard(text_in(params, "uri")[:MAX_ADDRESS])
        self._confirm({"jsonrpc": "2.0", "id": id, "result": {}})

    def listen(self, id: int | str, params: Params) -> None:
        """Today's protocol: notify of what the request asks for, until it is cancelled.

        Raises:
            Refused: a parameter is missing or of a wrong type, or there are too many such requests or addresses.
        """
        wanted = table_in(params, "notifications")
        if any(not isinstance(wanted.get(flag), bool | None) for flag in _FLAGS):
            raise Refused(INVALID_PARAMS, "Invalid request parameters: a flag of `notifications` is true or false")
        uris = wanted.get(_ADDRESSES) or []
        if not (isinstance(uris, list) and all(isinstance(uri, str) for uri in uris)):
            raise Refused(INVALID_PARAMS, f"Invalid request parameters: `{_ADDRESSES}` must be a list of addresses")
        if len(self._listeners) >= _MAX_LISTENERS or len(uris) > MAX_ADDRESSES:
            raise Refused(INVALID_PARAMS, f"at most {_MAX_LISTENERS} subscriptions, to {MAX_ADDRESSES} addresses each")
        flags = [flag for flag in _FLAGS if wanted.get(flag)]
        meta = {_ID: id}
        with self._lock:
            self._listeners[id] = _Listener((_FLAGS[flag] for flag in flags), uris, meta)
        kept = {**dict.fromkeys(flags, True), **({_ADDRESSES: uris} if uris else {})}
        self._confirm(_message(_ACKNOWLEDGED, {"notifications": kept, "_meta": meta}))

    def end(self, id: int | str) -> None:
        """End a request to listen, if there is one of that id."""
        with self._lock:
            self._listeners.pop(id, None)

    def notify(self, notices: Iterable[Notice]) -> None:
        """Send the notifications that were asked for."""
        with self._lock:
            listeners = [self._session, *self._listeners.values()]
        for method, params in notices:
            for each in listeners:
                if each.wants(method, params):
                    meta = {"_meta": each.meta} if each.meta else {}
                    self._send(_message(method, {**params, **meta}))

    def _confirm(self, message: Answer) -> None:
        """Send a confirmation, or keep it until `begin`."""
        with self._lock:
            if self._held is not None:
                self._held.append(message)
                return
        self._send(message)


def _message(method: str, params: Params) -> Answer:
    return {"jsonrpc": "2.0", "method": method, "params": params}
