"""The Python face: a memory that reads the clock and knows its tools."""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from . import memory
from .prompt import introduced
from .tools import Result, Tool, Toolbox, how_to_use
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

    def spoken_by(self, agent: str | None, session: str | None) -> Self:
        """The same memory for another who writes. All else is shared: closing one closes both."""
        other = super().spoken_by(agent, session)
        other._toolbox = Toolbox(other)
        return other

    @property
    def tools(self) -> list[Tool]:
        """The tools to offer to a model, as the settings now allow."""
        return self._toolbox.offered

    @property
    def usual_tools(self) -> list[str]:
        """The names of the tools that are among `tools` as soon as the settings allow them."""
        return self._toolbox.usual

    def tools_named(self, names: Iterable[str]) -> list[Tool]:
        """Those of the tools called `names` that the settings now allow; among them some that are not in `tools`.

        Raises:
            NotFound: there is no such tool; the message names those there are.
        """
        return self._toolbox.chosen(names)

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        """Call a tool as a host does, with arguments or with the JSON a model wrote; errors are results too."""
        return self._toolbox.call(name, arguments)

    def prompt(self, as_of: str | None = None, *, guide: bool = True, limit: int | None = None) -> str:
        """What to put before a conversation: identity, the overview in a `<memory>` block, how to use the tools.

        With `as_of`, identity and overview as they were at that revision or time; the tools are those of today.
        Without `guide` nothing of the tools, for hosts that offer none. With `limit`, so many characters at most:
        of a long overview only the beginning, and where the rest is.
        """
        guidance = how_to_use(self.tools) if guide else ""
        overview = self.overview(as_of)
        source = str(self.file(overview.path))
        return introduced(self.identity(as_of).text, overview.text, guidance, limit, source)
