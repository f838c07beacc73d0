"""The server: what answers each request, and what runs beside it."""

import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio import from_thread, to_thread
from anyio.abc import TaskStatus
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import NotificationParams

from .. import __version__
from ..errors import CrabmemError
from ..sync.auto import begin
from ..watch import News, followed, watched_in_turn
from .addresses import events
from .listeners import Listeners
from .prompts import Prompts
from .resources import Resources
from .served import Served
from .tools import Tools


class MemoryServer(Server[Any]):
    """The protocol's server over one memory."""

    def __init__(self, served: Served) -> None:
        self.served, self.listeners = served, Listeners()
        tools, resources, prompts = Tools(served), Resources(served), Prompts(served)
        super().__init__(
            "crabmem",
            version=__version__,
            title="crabmem",
            description="Plain-file memory for AI agents, with its history in Git",
            instructions=served.guidance,
            on_list_tools=tools.list_tools,
            on_call_tool=tools.call_tool,
            on_list_resources=resources.list_resources,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
            on_subscribe_resource=self.listeners.subscribe,
            on_unsubscribe_resource=self.listeners.unsubscribe,
            on_subscriptions_listen=self.listeners.listen,
            on_list_prompts=prompts.list_prompts,
            on_get_prompt=prompts.get_prompt,
            on_completion=prompts.complete,
        )
        self.add_notification_handler("notifications/initialized", NotificationParams, self.listeners.initialized)

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *given: Any, **named: Any
    ) -> InitializationOptions:
        """Options that announce notifications of changed lists, whichever transport asks."""
        options = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(options, *given, **named)

    async def notify(self, news: News) -> None:
        """Notify clients of `news`, and of the tools where the settings offer others now."""
        await self.listeners.notify(events(news, self.served.memory.layout))
        # Asked for at the first look too: what was changed between our start and that is in no news.
        instructions = self.served.guidance
        if instructions != self.instructions:
            self.instructions = instructions
            await self.listeners.notify([ToolsListChanged()])


@asynccontextmanager
async def running(server: MemoryServer, end: Callable[[], None] | None = None) -> AsyncIterator[None]:
    """Record outside edits and notify clients, until the block ends or a signal comes.

    As it begins and ends, so does a session, and a sync where the settings say so.

    `end` is called at a signal; None cancels the block.
    """
    stop = threading.Event()
    async with anyio.create_task_group() as tasks:
        await tasks.start(_end_at_signal, end or tasks.cancel_scope.cancel)
        tasks.start_soon(to_thread.run_sync, _follow, server, stop)
        tasks.start_soon(to_thread.run_sync, _record, server, stop)
        tasks.start_soon(to_thread.run_sync, _sync, server)
        try:
            yield
        finally:
            stop.set()
            tasks.cancel_scope.cancel()
            _sync(server)


async def _end_at_signal(end: Callable[[], None], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            end()


def _follow(server: MemoryServer, stop: threading.Event) -> None:
    """Notify clients of what changes, from a thread."""
    for news in followed(server.served.memory, stop):
        from_thread.run_sync(server.listeners.begin)
        from_thread.run(server.notify, news)


def _sync(server: MemoryServer) -> None:
    """Begin to sync where the settings say so: nobody waits for it."""
    with suppress(CrabmemError):  # settings that cannot be read are told of elsewhere
        begin(server.served.memory)


def _record(server: MemoryServer, stop: threading.Event) -> None:
    """Record outside edits, from a thread; an error is printed once."""
    last = ""
    for item in watched_in_turn(server.served.memory, stop):
        if isinstance(item, CrabmemError) and str(item) != last:
            last = str(item)
            print(f"crabmem: {last}", file=sys.stderr, flush=True)
