"""Memory for Hermes Agent, as its memory provider: identity and overview, recall before each turn, the tools.

`pip install crabmem` into the environment of Hermes, and `memory.provider: crabmem` in its config. A Hermes that does
not look for installed providers has to be told: `$HERMES_HOME/plugins/crabmem/__init__.py` says
`from crabmem.adapters.hermes import register  # a MemoryProvider`.
"""

import json
from typing import Any

from ..memory import Memory
from ..operations.context import context
from ..prompt.profile import checked_kind

try:
    from agent.memory_provider import MemoryProvider
except ImportError as error:
    words = "crabmem.adapters.hermes runs in Hermes Agent: install crabmem into the environment of that"
    raise ImportError(words) from error

_AGENT = "hermes"
# Hermes has a tool `memory` of its own, and lets no provider have one of that name.
_TAKEN = frozenset(["memory"])
# Our kind of a session, by the context that Hermes names.
_KINDS = {"cron": "scheduled", "subagent": "subagent"}
# The types of a chat in Hermes in which nobody else reads along.
_ALONE = ("", "dm", "private")


class HermesMemory(MemoryProvider):
    """A memory for one Hermes: by default that of the environment, `$CRABMEM_DIR` or `~/.crabmem`.

    Every commit names Hermes' session. Conversations are not saved: the model stores what matters by the tools. Edits
    of the files are recorded as the person's when a session ends.
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory or Memory(agent=_AGENT)

    @property
    def name(self) -> str:
        """The name that `memory.provider` says."""
        return "crabmem"

    def is_available(self) -> bool:
        """Always True: the memory needs neither the net nor a key."""
        return True

    def initialize(self, session_id: str, **about: Any) -> None:
        """Begin a session. Its kind, and so what it may see, follows from `agent_context` and `chat_type`."""
        others = about.get("chat_type") or ""
        kind = _KINDS.get(about.get("agent_context", ""), "main" if others in _ALONE else "group")
        self._memory = self._memory.of_kind(checked_kind(kind)).for_actor(_AGENT, session_id)

    def system_prompt_block(self) -> str:
        """The identity, the overview, and how to use the tools."""
        return context(self._memory, self._names).text

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return the facts that bear on a message, each once in a session; "" for none."""
        return self._of(session_id).before_turn(query)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the settings allow, without one whose name Hermes itself uses."""
        tools = self._memory.tools_named(self._names)
        return [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in tools]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **about: Any) -> str:
        """Call a tool; return its answer as JSON with either `result` or `error`."""
        done = self._of(about.get("session_id") or "").call(tool_name, args, self._names)
        return json.dumps({"error" if done.is_error else "result": done.text}, ensure_ascii=False)

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """Commit what was edited in the files, as the person's."""
        self._memory.adopt()

    def on_session_switch(self, new_session_id: str, **about: Any) -> None:
        """Write under another session id from now on."""
        self._memory = self._memory.for_actor(_AGENT, new_session_id)

    def backup_paths(self) -> list[str]:
        """Return the folder of the memory, which Hermes' own backup would miss."""
        return [str(self._memory.root)]

    def shutdown(self) -> None:
        """Close the memory."""
        self._memory.close()

    @property
    def _names(self) -> list[str]:
        return [tool.name for tool in self._memory.tools if tool.name not in _TAKEN]

    def _of(self, session: str) -> Memory:
        """Return the memory for the session that a call names, which need not be the current one; "" is the current."""
        return self._memory.for_actor(_AGENT, session) if session else self._memory


def register(hermes: Any) -> None:
    """Register the provider with Hermes, which looks for this name."""
    hermes.register_memory_provider(HermesMemory())
