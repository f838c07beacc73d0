"""The Python face: a memory that reads the clock and knows its tools."""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .agents import Agents
from .errors import CrabmemError
from .text.agent_names import refuse_taken
from .text.words import counted
from .tools import Result, Tool, Toolbox, listed
from .workspace.settings import Settings
from .workspace.workspace import root_of
from .write.actor import Voice

if TYPE_CHECKING:
    from .embeddings.embedder import Embedder
    from .prompt.context import Context
    from .prompt.profile import Kind, Say


def local_time() -> datetime:
    """The time now, in the zone of this machine; in UTC where that is none that there can be."""
    try:
        return datetime.now().astimezone()
    except ValueError:  # TZ names a zone that is more than a day away
        return datetime.now(UTC)


class Memory(Agents):
    """An agent's memory in the folder `root`.

    `root` of None is what the command line would take: $CRABMEM_DIR, else `~/.crabmem`, in it agent
    $CRABMEM_WORKSPACE. `agent` and `session` say who writes, for the history; without an agent's name,
    `is_person` says that it is the person. `soul_editable` overrides the setting, and so does `embedder`: any
    object that makes vectors of texts. `progress` is told how many entries of how many were read, when many
    have to be. `profile` overrides the setting: the name of a family, or a TOML file. `kind` is that of the session:
    who is there to read along. `is_parent_named`, for an agent's own workspace: the folder around it was named as the
    workspace, and gives what the agent lacks also before its first commit. The folder is made at the first write.
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
        profile: str | None = None,
        kind: str = "main",
        is_parent_named: bool = False,
    ) -> None:
        folder, own = (None, None) if root is None else (os.fspath(root), "")
        where = root_of(folder, own, os.environ, Path.home())
        voice = Voice(agent, session, is_person)
        given = (soul_editable, progress, embedder, os.environ, profile, kind)
        super().__init__(where, voice, local_time, *given, is_parent_named or root is None)
        if agent:
            refuse_taken(agent, self._person())
        self._toolbox = Toolbox(self)
        self.recover()

    def spoken_by(self, agent: str | None, session: str | None) -> Self:
        """The same memory for another who writes. All else is shared: closing one closes both."""
        other = super().spoken_by(agent, session)
        other._toolbox = Toolbox(other)
        return other

    def of_kind(self, kind: "Kind") -> Self:
        """The same memory for a session of another kind. All else is shared: closing one closes both."""
        other = super().of_kind(kind)
        other._toolbox = Toolbox(other)
        return other

    def _person(self) -> str:
        """What the settings call the person; the usual name while they cannot be read."""
        try:
            return self.settings.person
        except (CrabmemError, OSError):  # who needs the settings says what is wrong with them
            return Settings().person

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

    def call(self, name: str, arguments: Mapping[str, Any] | str, names: Iterable[str] | None = None) -> Result:
        """Call a tool as a host does, with arguments or with the JSON a model wrote; errors are results too.

        It runs what was offered: `tools`, or those called `names` for a host that offers `tools_named(names)`.
        """
        return self._toolbox.call(name, arguments, names)

    def guidance(self, tools: Iterable[Tool] | None = None) -> str:
        """How to use memory with these tools; None for those that are offered."""
        from .prompt.context import guidance

        return guidance(self.profile.parts_for(self.kind), listed(self.tools if tools is None else tools))

    def context(
        self,
        kind: "Kind | None" = None,
        as_of: str | None = None,
        *,
        guide: bool = True,
        overview: bool = True,
        limit: int | None = None,
    ) -> "Context":
        """What goes before a conversation of that kind (None: the kind of this session), and the account of it.

        The files are those of the revision or time `as_of`; the tools are those of today. Without `guide` nothing
        of the tools, for hosts that offer none; without `overview` nothing of that, for hosts that read the file
        themselves. With `limit`, so many characters at most: of the last files only
        the beginning, and where the rest is.

        Raises:
            InvalidArguments: there is no such kind of session.
            NotFound: there is no such revision or time.
        """
        if kind is not None and kind != self.kind:
            return self.of_kind(kind).context(None, as_of, guide=guide, overview=overview, limit=limit)
        from .prompt.context import assembled

        tools = self.tools if guide else []
        sayings: dict[Say, str] = {"tools": listed(tools), **self._sayings(as_of)}
        pieces = [piece for piece in self.pieces(as_of) if overview or piece.path != self.layout.overview]
        return assembled(self.profile, self.kind, pieces, sayings, [tool.name for tool in tools], limit, self.root)

    def prompt(
        self,
        as_of: str | None = None,
        *,
        kind: "Kind | None" = None,
        guide: bool = True,
        overview: bool = True,
        limit: int | None = None,
    ) -> str:
        """The text of `context`: who the agent is, what is always in view, how to use the tools."""
        return self.context(kind, as_of, guide=guide, overview=overview, limit=limit).text

    def _sayings(self, as_of: str | None) -> "dict[Say, str]":
        """What the parts of the profile say that are in no file; what matters now did not at another time."""
        makers: dict[Say, Callable[[], str]] = {
            "time": self._time_said,
            "place": self._place_said,
            "notes": self._notes_said,
            "salient": self.salient_text,
        }
        wanted = {part.say for part in self.profile.parts_for(self.kind)} - ({"salient"} if as_of else set())
        return {say: make() for say, make in makers.items() if say in wanted}

    def _time_said(self) -> str:
        now = self._clock()
        return f"It is {now:%A, %Y-%m-%d, %H:%M} ({now.tzname()}, UTC{now:%z})."

    def _place_said(self) -> str:
        import platform  # late: few profiles say it

        host = f"Host: {platform.node()} ({platform.system()} {platform.release()})"
        runtime = f"Runtime: Python {platform.python_version()}"
        return "\n".join([f"Workspace: {self.root}", f"Working directory: {os.getcwd()}", host, runtime])

    def _notes_said(self) -> str:
        folder = self.file(self.layout.note_path(self._today())).parent
        return f"{counted(len(self.notes()), 'daily note')} in {folder}"
