"""A host as a value: where its configs are, what is registered there, and what is left for the person to do."""

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..hooks.hosts import HOSTS as KNOWN
from ..hooks.hosts import SESSION_START
from .document import Format
from .wishes import Wish

NAME = "crabmem"


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

    `program` is the command with the options that choose a workspace; `memory` the folder of the facts.
    """

    program: tuple[str, ...]
    system: str
    memory: Path
    hooks: bool = True
    with_server: bool = True
    auto_memory: bool = False

    def server(self, host: str) -> tuple[str, ...]:
        """The command that starts the server."""
        return (*self.program, "--agent", host, "mcp")

    def hook(self, host: str, event: str) -> str:
        """The line that a host's shell runs for an event. It says how to use the tools where there are tools and nobody
        else says that."""
        is_guide = event == SESSION_START and self.with_server and not KNOWN[host].shows_instructions
        words = [*self.program, "hook", event, *(["--guide"] if is_guide else []), "--host", host]
        return subprocess.list2cmdline(words) if self.system == "win32" else shlex.join(words)


@dataclass(frozen=True)
class Config:
    """One file of a host. Of `names`, the first that exists, else the first."""

    folder: Callable[[Surroundings], Path]
    names: tuple[str, ...]
    format: Format
    wishes: Callable[[Order], Sequence[Wish]]

    def file(self, surroundings: Surroundings) -> Path:
        """Where it is."""
        files = [self.folder(surroundings) / name for name in self.names]
        return next((file for file in files if file.exists() or file.is_symlink()), files[0])


@dataclass(frozen=True)
class Host:
    """A program that runs agents. `user` and `project` are its configs for each scope; none where it has no such."""

    name: str
    title: str
    program: str
    home: Callable[[Surroundings], Path]
    user: tuple[Config, ...]
    project: tuple[Config, ...]
    to_do: str
    to_do_in_project: str = ""
    has_auto_memory: bool = False
