"""One memory as it is served: the tools it offers to which client, and the answers to requests over any transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from ..errors import CrabmemError, InvalidArguments, InvalidSettings, NotFound
from ..session.session import Session
from ..text.limits import MAX_WHO
from ..tools import guide
from ..tools.result import without_root
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .prompts import complete, get_prompt, list_prompts
from .protocol import INTERNAL_ERROR, INVALID_PARAMS, Caller, Refused
from .resources import list_resources, list_templates, read_resource
from .sessions import Sessions
from .tools import call_tool, list_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Params

METHODS = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
}


class Served:
    """A memory for clients. Each writes under its own name, unless an `agent` is named, under which then all write."""

    def __init__(
        self,
        memory: Session,
        agent: str | None,
        session: str | None,
        names: Sequence[str] | None = None,
        gives_data: bool = False,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`names` are the tools to offer; None for the usual ones of the memory.

        With `gives_data` answers have data for programs beside the text, unless a client's address says otherwise.
        Without a `session` each call belongs to the session that its host names. `environment` are the variables of
        this process if a host started it, and empty if a person did.

        Raises:
            NotFound: one of the tools does not exist.
            InvalidSettings: the settings of the workspace cannot be read.
        """
        self.memory, self.gives_data = memory, gives_data
        self._agent, self._session = agent, session
        self._sessions = Sessions(environment)
        #: The names of the tools to offer. Settings may forbid some of them now: a call of those answers with the
        #: reason.
        self.names = Toolbox(memory).usual if names is None else names
        #: The result of `tools` the last time the settings could be read.
        self._offered = Toolbox(memory).chosen(self.names)

    @property
    def tools(self) -> list[Tool]:
        """The tools that the settings allow now; the last ones while the settings cannot be read."""
        with suppress(InvalidSettings):
            self._offered = Toolbox(self.memory).chosen(self.names)
        return self._offered

    @property
    def instructions(self) -> str:
        """How a model uses memory with the tools that are offered now."""
        return guide.guidance(self.memory, self.tools)

    def answer(self, method: str, params: Params, caller: Caller) -> Answer:
        """Return the result of a request. Any thread may call this.

        Raises:
            Refused: the request is wrong, or memory raised an error, whose text is given without the workspace's path.
        """
        try:
            return METHODS[method](self, params, caller)
        except CrabmemError as error:
            asked = isinstance(error, NotFound | InvalidArguments)
            raise Refused(
                INVALID_PARAMS if asked else INTERNAL_ERROR, without_root(error.text(), self.memory.root)
            ) from None

    def memory_for(self, caller: Caller) -> Session:
        """Return the memory as the client that asks: writes get its name and session."""
        name = None if caller.name is None else caller.name[:MAX_WHO]
        return self.memory.for_actor(self._agent or name, self._session or self._sessions.of(caller))

    def wants_data(self, caller: Caller) -> bool:
        """Whether answers to a client have data beside the text.

        Not by default: hosts give their models the data instead of the text, or both.
        """
        return self.gives_data if caller.wants_data is None else caller.wants_data
