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

#: How the library checks what a request brings, of those that need more than to say what they are.
_PARAMS: dict[str, type[RequestParams]] = {
    "tools/call": CallToolRequestParams,
    "resources/read": ReadResourceRequestParams,
    "prompts/get": GetPromptRequestParams,
    "completion/complete": CompleteRequestParams,
}
#: What the library gives each client of the older protocol; a request with another is refused before us.
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
        """Options that announce notifications of changed lists, whichever transport asks."""
        options = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(options, *given, **named)

    async def notify(self, notices: list[Notice]) -> None:
        """Notify clients; who comes now is told how to use the tools that there are now."""
        self.instructions = self.served.instructions
        await self.listeners.notify(notices)

    async def _answered(self, context: ServerRequestContext[Any, Any], params: object) -> Answer:
        """Answer in a thread, and wait for its end even when the client cancelled."""

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
    client = context.session.client_params
    name, version = (client.client_info.name, client.client_info.version) if client else (None, "")
    request = context.request if isinstance(context.request, Request) else None
    asked = request.query_params.get("data") if request else None
    session = request.headers.get(_SESSION) if request else None
    return Caller(name, version, context.meta, session, None if asked is None else asked in _YES)
