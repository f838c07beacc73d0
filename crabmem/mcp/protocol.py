"""What both transports know of the protocol: versions, error codes, and the checks of what a request brings.

"The older protocol" is every version that begins with the handshake `initialize`; "today's" is the one without, in
which each request names version and client itself. Loads nothing, so that the first answer need not wait.
"""

from __future__ import annotations

from .. import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    #: The parameters of a request.
    Params: TypeAlias = Mapping[str, Any]
    #: A result, or a whole message, as it is sent.
    Answer: TypeAlias = dict[str, Any]
    #: The method and the parameters of a notification.
    Notice: TypeAlias = tuple[str, Answer]

#: The versions of the older protocol, oldest first, and that of today's.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TODAY = "2026-07-28"
BATCHES = "2025-03-26"  # the only version in which a line may be a list of messages

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

#: How many addresses a client may subscribe to, and how many characters of each count in the older protocol.
MAX_ADDRESSES, MAX_ADDRESS = 10_000, 1_000

SERVER = {
    "name": "crabmem",
    "title": "crabmem",
    "version": __version__,
    "description": "Plain-file memory for AI agents, with its history in Git",
}


class Caller:
    """Who sent a request: the client's name (None: it gave none) and version, and the `_meta` of the request.

    Over HTTP also `http_session`, the id that the library gives each client of the older protocol, and `wants_data`:
    whether the address of the server asks for data beside the texts (`?data=1`); None if it does not say.
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
    """The answer to a request is an error of the protocol: a code, a message, and data; None for no data."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def answer(self, id: object) -> Answer:
        """Return the error as the response to the request with this id; None for a request whose id is not known."""
        more = {} if self.data is None else {"data": self.data}
        return {"jsonrpc": "2.0", "id": id, "error": {"code": self.code, "message": self.message, **more}}


def todays(method: str, result: Answer) -> Answer:
    """Return a result in the form of today's protocol: with our name and version, and for a method that is `CACHEABLE`,
    that no client may keep it.
    """
    holds = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {"resultType": "complete", **holds, **result, "_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}


def text_in(params: Params, name: str) -> str:
    """Return the parameter `name`, which must be a text.

    Raises:
        Refused: the parameter is missing, or no text.
    """
    return str(_of_type(params, name, str, "a string"))


def table_in(params: Params, name: str, is_optional: bool = False) -> Params:
    """Return the parameter `name`, which must be an object; an empty one if it `is_optional` and missing or null.

    Raises:
        Refused: the parameter is missing, or no object.
    """
    if is_optional and params.get(name) is None:
        return {}
    table: Params = _of_type(params, name, dict, "an object")
    return table


def cursor_in(params: Params) -> str | None:
    """Return the cursor, from which a list goes on; None for the beginning of the list.

    Raises:
        Refused: the cursor is no text.
    """
    return None if params.get("cursor") is None else text_in(params, "cursor")


def refuse_cursor(params: Params) -> None:
    """Refuse the cursor of a list that has one page.

    Raises:
        Refused: the request has a cursor, although we never gave one.
    """
    if (cursor := cursor_in(params)) is not None:
        raise unknown_cursor(cursor)


def unknown_cursor(cursor: str) -> Refused:
    """Return the error for a cursor that we never gave."""
    return Refused(INVALID_PARAMS, f"no such cursor: {cursor[:80]}; begin without one")


def _of_type(params: Params, name: str, kind: type, words: str) -> Any:
    if name not in params:
        raise Refused(INVALID_PARAMS, f"Invalid request parameters: `{name}` is missing")
    if not isinstance(params[name], kind):
        raise Refused(INVALID_PARAMS, f"Invalid request parameters: `{name}` must be {words}")
    return params[name]
