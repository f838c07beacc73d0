"""The Python face: a memory that reads the clock and knows its tools."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import memory
from .prompt import guidance, introduced
from .tools import Result, Tool, Toolbox
from .voice import Voice
from .workspace import root_of

if TYPE_CHECKING:
    from .vectors.embedder import Embedder


def local_time() -> datetime:
    """The time now, in the zone of this machine."""
    return datetime.now().astimezone()


class Memory(memory.Memory):
    """An agent's memory in the folder `root`.

    `root` of None is what the command line would take: $CRABMEM_DIR, else `~/.crabmem`, in it agent
    $CRABMEM_WORKSPACE. `agent` and `session` say who writes, for the history; without an agent's name,
    `is_person` says that it is the person. `soul_editable` overrides the setting, and so does `embedder`: any
    object that makes vectors of texts. `progress` is told how many entries of how many were read, when many
    have to be. The folder is made at the first write.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        soul_editable: bool | None = None,
        is_person: bool = False,
        progress: Callable[[int, int], None] | None = None,
        embedder: "Embedder | None" = None,
    ) -> None:
        folder, own = (None, None) if root is None else (os.fspath(root), "")
        where = root_of(folder, own, os.environ, Path.home())
        voice = Voice(agent, session, is_person)
        super().__init__(where, voice, local_time, soul_editable, progress, embedder, os.environ)
        self._toolbox = Toolbox(self)
        self.recover()

    @property
    def tools(self) -> list[Tool]:
        """The tools to offer to a model, as the settings now allow."""
        return self._toolbox.offered

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        """Call a tool as a host does, with arguments or with the JSON a model wrote; errors are results too."""
        return self._toolbox.call(name, arguments)

    def prompt(self, as_of: str | None = None, limit: int | None = None) -> str:
        """What to put before a conversation: identity, the overview in a `<memory>` block, how to use the tools.

        With `as_of`, identity and overview as they were at that revision or time; the tools are those of today.
        With `limit`, so many characters at most: of a long overview only the beginning, and where the rest is.
        """
        tools = [(tool.name, tool.description.splitlines()[0]) for tool in self.tools]
        overview = self.overview(as_of)
        source = str(self.file(overview.path))
        return introduced(self.identity(as_of).text, overview.text, guidance(tools), limit, source)
