"""What an installation is asked for."""

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from .desired import Default, Desired, Element, Hook, Server, Setting, Switch, Trait, Trust
from .host import NAME, SESSION_START, SUBAGENT_START, WROTE, Host
from .surroundings import Surroundings

#: Whose memory an agent has: crabmem's alone, the host's as it is beside it, or the host's in our workspace.
Whose: TypeAlias = Literal["only", "beside", "inside"]
WHOSE: tuple[Whose, ...] = get_args(Whose)
# A hook answers within 1.4 seconds, or within five where its answer would be missed for a whole session. One that takes
# longer has failed, and the host need not wait for it: a session has both before its first request. Codex lets the end
# of a session wait for three seconds at most, and warns of more.
_SECONDS = 3
_LONGER = {SESSION_START: 6, SUBAGENT_START: 6, WROTE: 6}
# What `sh` does with a hook: whatever becomes of the program, it ends with 0, and prints an object or nothing at all.
# Hosts take a status of 2 for a veto, Gemini CLI any but 0 and 1, and what is no JSON for words to the model. The
# program writes to the shell and not to the host: one that stops waiting stops the shell alone, and Gemini CLI goes on
# only when nobody holds the other end of its pipe.
# The name is one that no environment has, as Gemini CLI puts values of its environment into its settings.
_CAREFULLY = (
    'exec 2>/dev/null; crabmem_said=$("$0" "$@") && [ ${#crabmem_said} -lt 1000000 ] && '
    'case $crabmem_said in {*) printf "%s\\n" "$crabmem_said"; esac; exit 0'
)


@dataclass(frozen=True)
class InstallOptions:
    """What an installation is asked for: the host, how crabmem is called on this machine, and what to register.

    `program` is the command with the options that choose a workspace, `folder` the folder of the facts, `tools` the
    names of the tools. `allow`: the agent need not ask before it uses them. `memory`: whose memory the agent has.
    `here` is the person's machine; None where that is another one.

    The methods are what the entries in `table` say the content of a config with: that module is loaded by every hook,
    and imports nothing that edits configs.
    """

    host: Host
    program: tuple[str, ...]
    folder: Path
    with_hooks: bool = True
    with_server: bool = True
    allow: bool = False
    memory: Whose = "beside"
    tools: tuple[str, ...] = ()
    here: Surroundings | None = None

    setting, default, element, switch, hook = Setting, Default, Element, Switch, Hook

    def server(self, key: str = "mcpServers", **more: object) -> list[Desired]:
        """The entry of the server below `key`, as nearly every host writes it."""
        return self.server_as((key,), lambda command: {**more, "command": command[0], "args": [*command[1:]]})

    def server_as(self, path: Sequence[str], entry: Callable[[Sequence[str]], dict[str, Any]]) -> list[Desired]:
        """The entry of the server below `path`, which `entry` makes of the command that starts it."""
        if not self.with_server:
            return []
        return [Server((*path, NAME), entry(self._server_command))]

    def hooks(
        self,
        entry: Callable[[str, int], dict[str, Any]],
        is_grouped: bool = True,
        leave_out: Collection[str] = (),
    ) -> list[Desired]:
        """A command for each event of the host, which `entry` makes of the line and the seconds to wait for it.

        `is_grouped`: the host has groups of commands.
        The event of a file that was written is left out, as it is of use only where the host's own memory is the
        workspace.
        """
        if not self.with_hooks or self.host.hooks is None:
            return []
        return [
            Hook(
                ("hooks", name),
                entry(self.hook_line(event), self.seconds(event)),
                {} if is_grouped else None,
            )
            for name, event in self.host.hooks.events.items()
            if event not in (WROTE, *leave_out)
        ]

    def with_trust(self, hooks: Sequence[Desired], file: Path, path: Sequence[str]) -> list[Desired]:
        """The notes that the host makes at `path` when the person trusts these hooks in `file`, and then the hooks."""
        notes = [Trust((*path,), str(file), hook) for hook in hooks if isinstance(hook, Hook)]
        return [*notes, *hooks]

    def seconds(self, event: str) -> int:
        """Seconds that a host is to wait for a hook."""
        return _LONGER.get(event, _SECONDS)

    def hook_line(self, event: str) -> str:
        """The line that the host's shell runs for an event, which ends well whatever becomes of the program.

        `sh` sees to that, as a person's own shell may be any. It begins with what a person reads who is asked to trust
        it: hosts show its first words.
        """
        is_start = event == SESSION_START
        words = [*self.program, "hook", event]
        if is_start and self.with_server and not (self.host.hooks and self.host.hooks.shows_instructions):
            words.append("--guide")
        if is_start and self.memory == "inside":  # such a host reads the overview in the workspace by itself
            words += ["--without", "overview"]
        words += ["--host", self.host.name]
        return f": {NAME} hook {event}; {shlex.join(['exec', 'sh', '-c', _CAREFULLY, *words])}"

    def trait(self, trait: str, value: object, key: str = "mcpServers") -> Trait:
        """A value in the entry of the server, which need not be registered by the same installation."""
        program, *arguments = self._server_command
        server = Server((key, NAME), {"command": program, "args": arguments})
        return Trait((key, NAME, trait), value, server)

    @property
    def _server_command(self) -> tuple[str, ...]:
        return (*self.program, "--agent", self.host.name, "mcp")

    def if_allowed(self, *content: Desired) -> Sequence[Desired]:
        """`content`, when the agent may use the tools without asking."""
        return content if self.allow and self.with_server else ()

    def if_server(self, *content: Desired) -> Sequence[Desired]:
        """`content`, when the server is registered."""
        return content if self.with_server else ()

    def if_ours(self, *content: Desired) -> Sequence[Desired]:
        """`content`, when our memory is the agent's only one."""
        return content if self.memory == "only" else ()

    def if_hooks(self, *content: Desired) -> Sequence[Desired]:
        """`content`, when hooks are registered."""
        return content if self.with_hooks else ()
