"""HTTP clients that want notifications.

A client of today's protocol asks for them by a call that stays open. One of the older protocol is notified of all
changed lists, and of the addresses to which it subscribes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import event_from_wire, event_matches, event_to_notification
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    NotificationParams,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from .addresses import is_address, no_resource
from .protocol import MAX_ADDRESS, MAX_ADDRESSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Notice

Context = ServerRequestContext[Any, Any]

#: Sessions of the older protocol that are remembered, the newest. Nothing says when one is over.
_MAX_SESSIONS = 1_000
#: Seconds that a client may take to read a notification.
_PATIENCE = 5
#: The lists that every client of the older protocol is notified of.
_EVERYTHING = SubscriptionFilter(tools_list_changed=True, resources_list_changed=True)


@dataclass
class _Session:
    """A client of the older protocol: it is notified of every list, and of the addresses it subscribed to."""

    session: ServerSession
    uris: set[str] = field(default_factory=set)


class Listeners:
    """Notifies clients of both protocols. Subscriptions are confirmed only after `begin`."""

    def __init__(self) -> None:
        #: The clients of today's protocol: the library sends them what is published here.
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        #: The clients of the older protocol, by the id of their handshake (see `_session_of`).
        self._sessions: dict[int, _Session] = {}
        self._began = anyio.Event()

    def begin(self) -> None:
        """Confirm subscriptions, also those that wait: from now on no change is missed."""
        self._began.set()

    def close(self) -> None:
        """End the open calls of `listen`."""
        self._handler.close()

    async def notify(self, notices: Iterable[Notice]) -> None:
        """Send each notice to the clients that asked for its kind.

        A client of the older protocol that reads too slowly misses it, so that the others need not wait.
        """
        for event in [event for notice in notices if (event := event_from_wire(*notice))]:
            await self._bus.publish(event)
            for each in list(self._sessions.values()):
                if event_matches(_EVERYTHING, frozenset(each.uris), event):
                    with anyio.move_on_after(_PATIENCE):
                        await each.session.send_notification(event_to_notification(event, {}))

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Today's protocol: notify of what `params` ask for; return only when the call is over."""
        await self._began.wait()
        return await self._handler(context, params)

    async def initialized(self, context: Context, params: NotificationParams) -> None:
        """The older protocol: remember a session that has begun, so that it is notified of changed lists."""
        self._session_of(context.session)

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """The older protocol: notify of this address, too.

        Raises:
            MCPError: no resource can be at the address, or the session subscribes to `MAX_ADDRESSES` already.
        """
        await self._began.wait()
        if not is_address(uri := str(params.uri)):
            raise MCPError(INVALID_PARAMS, no_resource(uri).message, {"uri": uri})
        uris = self._session_of(context.session).uris
        if len(uris) >= MAX_ADDRESSES:
            raise MCPError(INVALID_PARAMS, f"a session subscribes to {MAX_ADDRESSES} addresses at most")
        uris.add(str(params.uri)[:MAX_ADDRESS])
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """The older protocol: stop notifying of this address."""
        self._session_of(context.session).uris.discard(str(params.uri)[:MAX_ADDRESS])
        return EmptyResult()

    def _session_of(self, session: ServerSession) -> _Session:
        """Return what is known of a session; remember a new one, and forget the oldest of more than `_MAX_SESSIONS`."""
        # The library makes a new session object for each request, but keeps the handshake's parameters. `_Session`
        # keeps them alive, so that their id is not given to another session.
        key = id(session.client_params)
        found = self._sessions.setdefault(key, _Session(session))
        if len(self._sessions) > _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return found
