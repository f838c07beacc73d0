"""The tools over one memory: which of them a session is offered, and `Toolbox.call`, the one way in for every host."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ..errors import CrabmemError, Disabled, InvalidArguments, NotFound, Stale
from ..session.session import Session
from ..text.quoting import visible
from ..text.values import replace
from .result import Result, stale_text, with_waiting, without_root
from .tool import Tool, ToolFunction, described, parsed
from .toolsets import SHARED, SYNC, toolset


class Toolbox:
    """The tools over one memory."""

    def __init__(self, memory: Session, shows_files: bool = True) -> None:
        """`shows_files`: the host shows the model the files of memory. If not, a tool replaces a whole file only if the
        call names the version that was read."""
        self._memory, self._shows_files = memory, shows_files

    @property
    def offered(self) -> list[Tool]:
        """The descriptions of the tools that the profile gives and the settings allow now, in a fixed order."""
        return self.chosen(self.usual)

    @property
    def usual(self) -> list[str]:
        """The names of the tools that the profile gives, whether or not the settings allow them now."""
        return [item.name for item in self._of_profile()]

    def chosen(self, names: Iterable[str]) -> list[Tool]:
        """The descriptions of the tools called `names` that the settings allow now, in the order of `offered`.

        Raises:
            NotFound: there is no such tool.
        """
        wanted, there = set(names), self._by_name()
        if unknown := sorted(wanted - there.keys()):
            raise NotFound(f"no tool named: {', '.join(unknown)} (there are: {', '.join(there)})")
        return [
            described(item, self._memory) for item in there.values() if item.name in wanted and self._is_allowed(item)
        ]

    @property
    def names(self) -> list[str]:
        """The names of the `offered` tools, for a prompt: to make their descriptions takes longer than the prompt."""
        usual = {*self.usual}
        return [item.name for item in self._by_name().values() if item.name in usual and self._is_allowed(item)]

    @property
    def known(self) -> list[str]:
        """The names of all tools that a host may ask for in this session."""
        return [*self._by_name()]

    @property
    def only_look(self) -> bool:
        """Whether the profile gives sessions of this kind only tools that change nothing, or none at all."""
        return all(item.hints.read_only for item in self._of_profile())

    def _is_allowed(self, item: ToolFunction) -> bool:
        return self._memory.settings.tools and not self._is_paused() and item.allowed(self._memory)

    def _is_paused(self) -> bool:
        return self._memory.settings.pause == "all" and self._memory.engine.pause() is not None

    def call(self, name: str, arguments: Mapping[str, Any] | str, names: Iterable[str] | None = None) -> Result:
        """Call the tool `name`, one of `names` that a host chose to offer; None: of `usual`.

        Errors of crabmem are returned as a result with `is_error`, without the workspace's place on this machine.
        `arguments` may be JSON, as models write them; an empty text means no arguments.
        """
        try:
            result = self._checked_call(name, arguments, self.usual if names is None else tuple(names))
        except CrabmemError as error:  # the tool's, or settings or a profile that cannot be read
            result = Result(error.text(), is_error=True)
        text = without_root(result.text, self._memory.root) if result.is_error else result.text
        return replace(result, text=visible(text))

    def _of_profile(self) -> list[ToolFunction]:
        """The tools that the profile gives a session of this kind, in its order; and the sync tool, if the settings
        allow it and the profile does not limit the tools.
        """
        names = self._memory.profile.tools_for(self._memory.kind)
        more = (SYNC,) if self._may_sync() and not self._memory.profile.limits_tools(self._memory.kind) else ()
        return [item for name in (*names, *more) for item in toolset(name)]

    def _may_sync(self) -> bool:
        with suppress(CrabmemError):  # settings that cannot be read are told of by whoever needs them
            return self._memory.settings.sync.tool
        return False

    def _by_name(self) -> dict[str, ToolFunction]:
        """All tools that a host may ask for: the profile's, and the shared ones unless the profile limits this kind."""
        is_limited = self._memory.profile.limits_tools(self._memory.kind)
        others = (item for name in SHARED if not is_limited for item in toolset(name))
        return {item.name: item for item in (*others, *self._of_profile())}

    def _checked_call(self, name: str, arguments: Mapping[str, Any] | str, names: Collection[str]) -> Result:
        """Call one of the tools `names`. Wrong arguments and stale versions are results; other errors are raised.

        If some of its writes wait for a person, the result says so.
        """
        if not self._memory.settings.tools:
            raise Disabled("tools are switched off here; a person may set tools = true in crabmem.toml")
        if self._is_paused():
            raise Disabled("memory is paused by the person, tools included; go on without it")
        item = self._by_name().get(name) if name in names else None
        if item is None:
            offered = ", ".join(tool.name for tool in self.chosen(names)) or "none in this session"
            return Result(f"no tool named: {name} (there are: {offered})", is_error=True)
        memory = self._memory
        rules = memory.settings
        if memory.actor.may_wait(rules.review) or memory.engine.sees_others(rules):
            # A session of its own, whose `withheld` has the proposals of this call alone, here or in memories beside.
            memory = memory.of_kind(memory.kind)
        try:
            given = parsed(item, arguments, memory)
            if item.is_blind and not self._shows_files and given["if_version"] is None:
                given["if_version"] = ""  # "" allows the write only if there is no file yet
            result = item.function(memory, **given)
            if memory is self._memory or not memory.withheld:
                return result
            from ..operations.proposals import places_beside  # late: mostly nothing waits

            scopes = {id: name for id, (name, _) in places_beside(memory, memory.withheld).items()}
            return with_waiting(result, memory.withheld, memory.has_written, scopes)
        except Stale as error:
            data = {"version": error.version, "current": error.current, "diff": error.diff}
            return Result(stale_text(error, self._memory.settings.recall_budget), data, is_error=True)
        except InvalidArguments as error:
            return Result(f"invalid arguments: {error.text()}", is_error=True)
