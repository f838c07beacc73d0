"""A host as a value: where its configs are, what is registered there, and what is left for the person to do."""

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from .desired import Wish
from .document import Format
from .hooks.dialects import HOSTS as KNOWN
from .hooks.dialects import SESSION_START

NAME = "crabmem"
ABOUT = "Plain-file memory for AI agents, with its history in Git"
#: How a line ends on Windows so that all is well: for PowerShell and Git's Bash, and for `cmd`.
IN_POWERSHELL, IN_CMD = "; exit 0", " & exit 0"
# What `sh` does with a hook: whatever becomes of the program, it ends with 0, and says an object or nothing at all.
# Hosts take a status of 2 for a veto, Gemini CLI any but 0 and 1, and what is no JSON for words to the model. The
# program writes to the shell and not to the host: one that stops waiting stops the shell alone, and Gemini CLI goes on
# only when nobody holds the other end of its pipe.
# The name is one that no environment has, as Gemini CLI puts values of its environment into its settings.
_CAREFULLY = (
    'exec 2>/dev/null; crabmem_said=$("$0" "$@") && [ ${#crabmem_said} -lt 1000000 ] && '
    'case $crabmem_said in {*) printf "%s\\n" "$crabmem_said"; esac; exit 0'
)
#: Whose memory an agent has: crabmem's alone, the host's as it is beside it, or the host's in our workspace.
Whose: TypeAlias = Literal["ours", "host", "both"]
WHOSE: tuple[Whose, ...] = get_args(Whose)


@dataclass(frozen=True)
class Surroundings:
    """The machine as the face found it; `project` is the folder that a project's configs lie in."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    system: str

    def folder(self, variable: str, default: str) -> Path:
        """The folder that an environment variable names, else `default` below the home folder."""
        named = self.environment.get(variable)
        return Path(named) if named else self.home / default

    @property
    def applications(self) -> Path:
        """Where programs with windows keep their settings."""
        match self.system:
            case "darwin":
                return self.home / "Library/Application Support"
            case "win32":
                return self.folder("APPDATA", "AppData/Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True)
class Order:
    """What an installation is asked for: how crabmem is called on this machine, and what to register.

    `program` is the command with the options that choose a workspace; `folder` the one of the facts, `tools` the names
    of the tools. `allow`: the agent need not ask before it uses them. `memory`: whose memory the agent has.
    """

    program: tuple[str, ...]
    system: str
    folder: Path
    hooks: bool = True
    with_server: bool = True
    allow: bool = False
    memory: Whose = "host"
    tools: tuple[str, ...] = ()

    def server(self, host: str) -> tuple[str, ...]:
        """The command that starts the server."""
        return (*self.program, "--agent", host, "mcp")

    def hook(self, host: str, event: str, *more: str, on_windows: str = IN_POWERSHELL) -> str:
        """The line that a host's shell runs for an event, which ends well whatever becomes of the program.

        `sh` sees to that, as a person's own shell may be any; on Windows the end of the line `on_windows` does. It says
        how to use the tools where there are tools and nobody else says that.
        """
        is_guide = event == SESSION_START and self.with_server and not KNOWN[host].shows_instructions
        words = [*self.program, "hook", event, *(["--guide"] if is_guide else []), *more, "--host", host]
        if self.system == "win32":
            return subprocess.list2cmdline(words) + on_windows
        return shlex.join(["exec", "sh", "-c", _CAREFULLY, *words])


def nothing(order: Order) -> Sequence[Wish]:
    """What a config is to say that has no part in something."""
    return ()


@dataclass(frozen=True)
class Config:
    """One file of a host. Of `names`, the first that exists, else the first.

    `wishes` are what registers crabmem, `choices` what the person decides: permissions, and whose memory is used.
    """

    folder: Callable[[Surroundings], Path]
    names: tuple[str, ...]
    format: Format
    wishes: Callable[[Order], Sequence[Wish]]
    choices: Callable[[Order], Sequence[Wish]] = nothing

    def file(self, surroundings: Surroundings) -> Path:
        """Where it is."""
        files = [self.folder(surroundings) / name for name in self.names]
        return next((file for file in files if file.exists() or file.is_symlink()), files[0])

    def wanted(self, order: Order) -> list[Wish]:
        """All that it is to say."""
        return [*self.wishes(order), *self.choices(order)]

    def everything(self, order: Order) -> list[Wish]:
        """All that it may say because of an order like this one, whatever part was ordered and whatever was chosen."""
        return [*self.wishes(replace(order, hooks=True, with_server=True)), *self.options(order)]

    def options(self, order: Order) -> list[Wish]:
        """All that a person may decide about it."""
        found = list[Wish]()
        for allow, memory in product((True, False), WHOSE):
            chosen = self.choices(replace(order, with_server=True, allow=allow, memory=memory))
            found += [wish for wish in chosen if wish not in found]
        return found


@dataclass(frozen=True)
class OwnMemory:
    """The memory that a host keeps itself: where it `lies` for all projects or for this one, and how it ends.

    `note` is what only the person can do about it. `unites`: it can lie in the workspace. `source` is what an import
    calls its files; None where they are texts like any.
    """

    title: str
    lies: Callable[[Surroundings, bool], Sequence[Path]] = lambda here, in_project: ()
    note: str = ""
    unites: bool = False
    source: str | None = None


@dataclass(frozen=True)
class Host:
    """A program that runs agents. `user` and `project` are its configs for each scope; none where it has no such.

    `asks` is what the person can do about its questions where no config takes a permission; `own` is its memory.
    """

    name: str
    title: str
    program: str
    home: Callable[[Surroundings], Path]
    user: tuple[Config, ...]
    project: tuple[Config, ...]
    to_do: str
    to_do_in_project: str = ""
    asks: str = ""
    own: OwnMemory | None = None
