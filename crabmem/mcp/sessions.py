"""The session of a host that a call belongs to, under the same name that the host's hooks get, for the history."""

import secrets
from collections.abc import Mapping
from hashlib import blake2b

from ..text.agent_names import session_name
from .protocol import Caller

#: Where hosts name the session in the `_meta` of a call, as paths of keys: any client that makes an id of its own,
#: Codex (two), VS Code. Codex's threads of one session are one session to its hooks, so its session id comes before
#: `threadId`.
_IN_META = (
    ("sessionId",),
    ("x-codex-turn-metadata", "session_id"),
    ("threadId",),
    ("vscode.conversationId",),
)
#: The variable in which a host names the session to the servers that it starts, by the name of the host's client. Only
#: the caller's own variable is read: a host that was started inside of another host inherits that one's variable, too.
_VARIABLES = {"claude-code": "CLAUDE_CODE_SESSION_ID", "copilot-cli": "COPILOT_AGENT_SESSION_ID"}


class Sessions:
    """Names the sessions of the clients of one server. `environment` is empty if no host started the server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment, self._run = environment, secrets.token_bytes(16)

    def of(self, caller: Caller) -> str:
        """Return the name of the session that a call belongs to, in one short line.

        If neither the client nor the transport names one, all calls of a client of this name and version while the
        server runs are one session: over HTTP, today's protocol knows neither sessions nor connections.
        """
        name = caller.name or ""
        named = self._environment.get(_VARIABLES.get(name, ""))
        given = (*_names_in(caller.meta), named, caller.http_session)
        return next(filter(None, map(session_name, given)), None) or self._own_name(f"{name}\0{caller.version}")

    def _own_name(self, client: str) -> str:
        """Return a name for the session of a client: the same while this server runs, another in the next run."""
        return blake2b(client.encode("utf-8", "replace"), key=self._run, digest_size=8).hexdigest()


def _names_in(meta: object) -> list[object]:
    """Return the value at each path of `_IN_META`, of whatever type; None where there is none."""
    found = []
    for way in _IN_META:
        here = meta
        for key in way:
            here = here.get(key) if isinstance(here, Mapping) else None
        found.append(here)
    return found
