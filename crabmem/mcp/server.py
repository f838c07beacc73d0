"""The library's server, which speaks HTTP, over the answers that both transports have."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import (
    CallToolRequestParams,
    CompleteRequestParams,
    GetPromptRequestParams,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from starlette.requests import Request

from .listeners import Listeners
from .protocol import SERVER, TODAY, Caller, Refused, todays
from .served import METHODS, Served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Notice

#: The types by which the library checks the parameters of a request; for all other methods `PaginatedRequestParams`.
_PARAMS: dict[str, type[RequestParams]] = {
    "tools/call": CallToolRequestParams,
    "resources/read": ReadResourceRequestParams,
    "prompts/get": GetPromptRequestParams,
    "completion/complete": CompleteRequestParams,
}
#: The header with the session id that the library gives each client of the older protocol. The library itself refuses
#: requests with an id that it never gave.
_SESSION = "mcp-session-id"
_YES = ("1", "true")


class MemoryServer(Server[Any]):
    """The protocol's server over one memory."""

    def __init__(self, served: Served) -> None:
        self.served, self.listeners = served, Listeners()
        super().__init__(
            SERVER["name"],
            version=SERVER["version"],
            title=SERVER["title"],
            description=SERVER["description"],
            instructions=served.instructions,
        )
        for method in METHODS:
            self.add_request_handler(method, _PARAMS.get(method, PaginatedRequestParams), self._answered)
        listeners = self.listeners
        self.add_request_handler("resources/subscribe", SubscribeRequestParams, listeners.subscribe)
        self.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, listeners.unsubscribe)
        self.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listeners.listen)
        self.add_notification_handler("notifications/initialized", NotificationParams, listeners.initialized)

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *given: Any, **named: Any
    ) -> InitializationOptions:
        """Return the library's options, which announce that the lists of resources and tools may change."""
        options = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(options, *given, **named)

    async def notify(self, notices: list[Notice]) -> None:
        """Notify clients, and renew the instructions that clients get when they connect: the tools may have changed."""
        self.instructions = self.served.instructions
        await self.listeners.notify(notices)

    async def _answered(self, context: ServerRequestContext[Any, Any], params: object) -> Answer:
        """Answer in a thread, and wait for it even if the client cancels: a write that has begun is finished.

        Raises:
            MCPError: the request was refused.
        """

        def attempt() -> Answer | Refused:
            try:
                return self.served.answer(context.method, context.params or {}, _caller(context))
            except Refused as refusal:
                return refusal

        done = await to_thread.run_sync(attempt)
        if isinstance(done, Refused):
            raise MCPError(done.code, done.message, done.data)
        return todays(context.method, done) if context.protocol_version == TODAY else done


def _caller(context: ServerRequestContext[Any, Any]) -> Caller:
    """Return who sent a request, by the library's session, the HTTP headers, and `?data=` in the address."""
    client = context.session.client_params
    name, version = (client.client_info.name, client.client_info.version) if client else (None, "")
    request = context.request if isinstance(context.request, Request) else None
    asked = request.query_params.get("data") if request else None
    session = request.headers.get(_SESSION) if request else None
    return Caller(name, version, context.meta, session, None if asked is None else asked in _YES)
