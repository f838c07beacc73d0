"""One memory as it is served: which tools it offers, and for which client."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from anyio import to_thread
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, PaginatedRequestParams

from ..errors import CrabmemError, InvalidArguments, InvalidSettings, NotFound
from ..session.session import Session
from ..text.limits import MAX_WHO
from ..tools import guide
from ..tools.result import without_root
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .sessions import Sessions

Context = ServerRequestContext[object, object]
P = ParamSpec("P")
T = TypeVar("T")


class Served:
    """A memory for clients, each of which writes under its own name unless an `agent` is named."""

    def __init__(
        self,
        memory: Session,
        agent: str | None,
        session: str | None,
        names: Sequence[str] | None = None,
        gives_data: bool = False,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`names` are the tools to offer; None for those that memory offers by itself.

        With `gives_data` answers have data for programs beside the text, unless a client's address says otherwise.
        Without a `session` each call is of the one that its host names: `environment` is what the host gave the process
        that it started, nothing where a person did.

        Raises:
            NotFound: one of them does not exist.
            InvalidSettings: the settings of the workspace cannot be read.
        """
        self.memory, self.gives_data = memory, gives_data
        self._agent, self._session = agent, session
        self._sessions = Sessions(environment)
        #: The tools to offer, allowed at the moment or not: a call of one that is not is answered with the reason.
        self.names = Toolbox(memory).usual if names is None else names
        self._offered = Toolbox(memory).chosen(self.names)

    @property
    def tools(self) -> list[Tool]:
        """The tools that the settings allow now; the last ones while the settings cannot be read."""
        with suppress(InvalidSettings):
            self._offered = Toolbox(self.memory).chosen(self.names)
        return self._offered

    @property
    def guidance(self) -> str:
        """How to use memory with these tools."""
        return guide.guidance(self.memory, self.tools)

    def memory_for(self, context: Context) -> Session:
        """The memory for the client that asks, with its name and session."""
        client = context.session.client_params
        name = client.client_info.name[:MAX_WHO] if client else None
        return self.memory.for_actor(self._agent or name, self._session or self._sessions.of(context))


async def in_thread(memory: Session, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Run `work` on a memory in a thread, and wait for its end even when the client cancelled.

    Raises:
        MCPError: memory refused; the message is its own.
    """

    def attempt() -> T | CrabmemError:
        try:
            return work(*given, **named)
        except CrabmemError as error:
            return error

    done = await to_thread.run_sync(attempt)
    if isinstance(done, CrabmemError):
        asked = isinstance(done, NotFound | InvalidArguments)
        raise MCPError(INVALID_PARAMS if asked else INTERNAL_ERROR, without_root(done.text(), memory.root))
    return done


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Refuse the cursor of a list that has one page.

    Raises:
        MCPError: there is a cursor; we gave none.
    """
    if params is not None and params.cursor is not None:
        raise unknown_cursor(params.cursor)


def unknown_cursor(cursor: str) -> MCPError:
    """The error for a cursor that we never gave."""
    return MCPError(INVALID_PARAMS, f"no such cursor: {cursor[:80]}; begin without one")
