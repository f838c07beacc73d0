"""The session of its host that a call belongs to, by the name that the hooks of that host use, for the history."""

import secrets
from collections.abc import Mapping
from hashlib import blake2b

from ..text.agent_names import session_name
from .protocol import Caller

#: Where hosts name the session in the `_meta` of a call, by the way to it: any client that makes an id of its own,
#: Codex, VS Code. Codex's threads of one session are one session to its hooks.
_IN_META = (
    ("sessionId",),
    ("x-codex-turn-metadata", "session_id"),
    ("threadId",),
    ("vscode.conversationId",),
)
#: The variable in which a host names the session to the servers that it starts, by the name of its client. Only what
#: that client was told is believed: a host started inside of another one inherits the variables of that.
_VARIABLES = {"claude-code": "CLAUDE_CODE_SESSION_ID", "copilot-cli": "COPILOT_AGENT_SESSION_ID"}


class Sessions:
    """The sessions of the clients of one server; `environment` is empty where no host started the server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment, self._run = environment, secrets.token_bytes(16)

    def of(self, caller: Caller) -> str:
        """The session that a call belongs to, in one short line.

        Where neither the client nor the transport names one, all that a client of that name and version does while the
        server runs is one session: over HTTP the protocol of 2026-07-28 has none, and its requests no connection.
        """
        name = caller.name or ""
        named = self._environment.get(_VARIABLES.get(name, ""))
        given = (*_names_in(caller.meta), named, caller.http_session)
        return next(filter(None, map(session_name, given)), None) or self._own_name(f"{name}\0{caller.version}")

    def _own_name(self, client: str) -> str:
        return blake2b(client.encode("utf-8", "replace"), key=self._run, digest_size=8).hexdigest()


def _names_in(meta: object) -> list[object]:
    """The values where hosts name the session, of whatever type."""
    found = []
    for way in _IN_META:
        here = meta
        for key in way:
            here = here.get(key) if isinstance(here, Mapping) else None
        found.append(here)
    return found
