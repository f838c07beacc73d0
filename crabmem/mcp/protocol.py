"""What both transports know of the protocol: versions, error codes, and the checks of what a request brings.

Loads nothing, so that the first answer need not wait.
"""

from __future__ import annotations

from .. import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    #: What a request brings.
    Params: TypeAlias = Mapping[str, Any]
    #: A result, or a whole message, as it is sent.
    Answer: TypeAlias = dict[str, Any]
    #: The method and the parameters of a notification.
    Notice: TypeAlias = tuple[str, Answer]

#: The versions that begin with `initialize`, oldest first, and the one whose requests say all by themselves.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TODAY = "2026-07-28"
BATCHES = "2025-03-26"  # the one in which a line may be a list of messages

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, UNSUPPORTED_VERSION = -32602, -32603, -32022

#: The notifications: something at an address changed, the list of resources did, that of tools did.
UPDATED = "notifications/resources/updated"
RESOURCES_CHANGED = "notifications/resources/list_changed"
TOOLS_CHANGED = "notifications/tools/list_changed"

#: Methods whose results say for how long they hold, in today's protocol.
CACHEABLE = {
    "prompts/list", "resources/list", "resources/read", "resources/templates/list", "server/discover", "tools/list",
}  # fmt: skip

#: What a client of the older protocol may subscribe to: addresses, and characters that count of each.
MAX_ADDRESSES, MAX_ADDRESS = 10_000, 1_000

SERVER = {
    "name": "crabmem",
    "title": "crabmem",
    "version": __version__,
    "description": "Plain-file memory for AI agents, with its history in Git",
}


class Caller:
    """Who sent a request: the client's name (None: it gave none) and version, and the `_meta` of the request.

    Over HTTP, too: `http_session`, which the library gives each client of the older protocol, and `wants_data`, whether
    the address asks for data beside texts (None: it does not say).
    """

    def __init__(
        self,
        name: str | None = None,
        version: str = "",
        meta: object = None,
        http_session: str | None = None,
        wants_data: bool | None = None,
    ) -> None:
        self.name, self.version, self.meta = name, version, meta
        self.http_session, self.wants_data = http_session, wants_data


class Refused(Exception):
    """The answer to a request is an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def answer(self, id: object) -> Answer:
        """The message that says so, to the request of that id."""
        more = {} if self.data is None else {"data": self.data}
        return {"jsonrpc": "2.0", "id": id, "error": {"code": self.code, "message": self.message, **more}}


def todays(method: str, result: Answer) -> Answer:
    """A result as today's protocol has it: it says who answered, and holds for no longer than until it is read."""
    holds = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {"resultType": "complete", **holds, **result, "_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}


def text_in(params: Params, name: str) -> str:
    """The text that a request must bring.

    Raises:
        Refused: it is missing, or no text.
    """
    return str(_of_type(params, name, str, "a string"))


def table_in(params: Params, name: str, is_optional: bool = False) -> Params:
    """The object that a request must bring; an empty one where it `is_optional` and missing.

    Raises:
        Refused: it is missing, or no object.
    """
    if is_optional and params.get(name) is None:
        return {}
    table: Params = _of_type(params, name, dict, "an object")
    return table


def cursor_in(params: Params) -> str | None:
    """The place from which a list goes on; None for its beginning."""
    return None if params.get("cursor") is None else text_in(params, "cursor")


def refuse_cursor(params: Params) -> None:
    """Refuse the cursor of a list that has one page.

    Raises:
        Refused: there is a cursor; we gave none.
    """
    if (cursor := cursor_in(params)) is not None:
        raise unknown_cursor(cursor)


def unknown_cursor(cursor: str) -> Refused:
    """The error for a cursor that we never gave."""
    return Refused(INVALID_PARAMS, f"no such cursor: {cursor[:80]}; begin without one")


def _of_type(params: Params, name: str, kind: type, words: str) -> Any:
    if name not in params:
        raise Refused(INVALID_PARAMS, f"Invalid request parameters: `{name}` is missing")
    if not isinstance(params[name], kind):
        raise Refused(INVALID_PARAMS, f"Invalid request parameters: `{name}` must be {words}")
    return params[name]
