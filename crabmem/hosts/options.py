"""What an installation is asked for."""

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from .desired import Default, Desired, Element, Hook, Server, Setting, Switch, Trait, Trust
from .host import NAME, SESSION_START, SUBAGENT_START, WROTE, Host
from .surroundings import Surroundings

#: Whose memory an agent has: crabmem's alone, the host's own beside it, or the host's own kept in our workspace.
Whose: TypeAlias = Literal["only", "beside", "inside"]
WHOSE: tuple[Whose, ...] = get_args(Whose)
# Seconds that a host waits for a hook. Hooks answer within 1.4 seconds, or within five if a missing answer would harm a
# whole session (`hooks.command`); one that takes longer has failed. Codex lets a hook at the end of a session have
# three seconds at most, and warns of more.
_SECONDS = 3
_LONGER = {SESSION_START: 6, SUBAGENT_START: 6, WROTE: 6}
# The script by which `sh` runs a hook: whatever becomes of the program, it exits with 0, and prints a JSON object or
# nothing. Hosts take a status of 2 for a veto, Gemini CLI any but 0 and 1, and give output that is no JSON to the
# model. The program writes into the shell's variable and not to the host: a host that stops waiting kills only the
# shell, and Gemini CLI goes on only once no process holds the other end of its pipe. `crabmem_said` is no name of a
# variable that anybody sets: Gemini CLI replaces names of its environment in its settings.
_CAREFULLY = (
    'exec 2>/dev/null; crabmem_said=$("$0" "$@") && [ ${#crabmem_said} -lt 1000000 ] && '
    'case $crabmem_said in {*) printf "%s\\n" "$crabmem_said"; esac; exit 0'
)


@dataclass(frozen=True)
class InstallOptions:
    """What an installation is asked for: the host, how crabmem is called on this machine, and what to register.

    `program` is the command with the options that choose a workspace, `folder` the folder of the facts, `tools` the
    names of the tools. `allow`: the agent need not ask before it uses them. `memory`: whose memory the agent has.
    `here` is the person's machine; None if the content is made for other machines, too.

    The entries of `table` make the content of configs by these methods, and by the classes of `desired` that are
    attributes here: every hook loads `table`, so it must not import what edits configs itself.
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
        """Return the entry of the server below `key`, in the form of nearly every host; `more` are additional keys."""
        return self.server_as((key,), lambda command: {**more, "command": command[0], "args": [*command[1:]]})

    def server_as(self, path: Sequence[str], entry: Callable[[Sequence[str]], dict[str, Any]]) -> list[Desired]:
        """Return the entry of the server below `path`, made by `entry` from the command that starts it.

        [] if the server is not to be registered.
        """
        if not self.with_server:
            return []
        return [Server((*path, NAME), entry(self._server_command))]

    def hooks(
        self,
        entry: Callable[[str, int], dict[str, Any]],
        is_grouped: bool = True,
        leave_out: Collection[str] = (),
    ) -> list[Desired]:
        """Return a command for each event of the host, made by `entry` from the line to run and the seconds to wait for
        it.

        [] if hooks are not to be registered. `is_grouped`: the host has groups of commands. `WROTE` is left out: it is
        of use only if the host's own memory is the workspace, and then the entry in `table` adds it.
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
        """Return the notes that the host makes at `path` when the person trusts these hooks of `file`, then the hooks.

        The notes come first because their removal looks for the hooks.
        """
        notes = [Trust((*path,), str(file), hook) for hook in hooks if isinstance(hook, Hook)]
        return [*notes, *hooks]

    def seconds(self, event: str) -> int:
        """Seconds that a host is to wait for a hook."""
        return _LONGER.get(event, _SECONDS)

    def hook_line(self, event: str) -> str:
        """Return the line that the host's shell runs for an event. It exits with 0 whatever becomes of the program.

        `sh` runs the script that does so, as the person's own shell may be any. The line begins with a `:` command that
        does nothing, but names the hook: hosts that ask the person to trust a hook show its first words.
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
        """Return a value named `trait` for the entry of the server, which may be from an earlier installation."""
        program, *arguments = self._server_command
        server = Server((key, NAME), {"command": program, "args": arguments})
        return Trait((key, NAME, trait), value, server)

    @property
    def _server_command(self) -> tuple[str, ...]:
        return (*self.program, "--agent", self.host.name, "mcp")

    def if_allowed(self, *content: Desired) -> Sequence[Desired]:
        """Return `content` if the server is registered and the agent may use its tools without asking; else nothing."""
        return content if self.allow and self.with_server else ()

    def if_server(self, *content: Desired) -> Sequence[Desired]:
        """Return `content` if the server is registered; else nothing."""
        return content if self.with_server else ()

    def if_ours(self, *content: Desired) -> Sequence[Desired]:
        """Return `content` if our memory is to be the agent's only one; else nothing."""
        return content if self.memory == "only" else ()

    def if_hooks(self, *content: Desired) -> Sequence[Desired]:
        """Return `content` if hooks are registered; else nothing."""
        return content if self.with_hooks else ()
