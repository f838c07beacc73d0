"""What answers a request about memory, over either transport: a function from its parameters to plain values."""

from __future__ import annotations

from ..errors import CrabmemError, InvalidArguments, NotFound
from ..tools.result import without_root
from .prompts import complete, get_prompt, list_prompts
from .protocol import INTERNAL_ERROR, INVALID_PARAMS, Caller, Refused
from .resources import list_resources, list_templates, read_resource
from .tools import call_tool, list_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Params
    from .served import Served

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


class Answers:
    """Answers requests about one memory, in any thread."""

    def __init__(self, served: Served) -> None:
        self._served = served

    @property
    def instructions(self) -> str:
        """How a model uses memory with the tools that are offered now."""
        return self._served.guidance

    def answer(self, method: str, params: Params, caller: Caller) -> Answer:
        """The result of a request.

        Raises:
            Refused: the request is wrong, or memory refused; the message is its own.
        """
        try:
            return METHODS[method](self._served, params, caller)
        except CrabmemError as error:
            asked = isinstance(error, NotFound | InvalidArguments)
            words = without_root(error.text(), self._served.memory.root)
            raise Refused(INVALID_PARAMS if asked else INTERNAL_ERROR, words) from None
