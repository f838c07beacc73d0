"""Where things are: the paths of a workspace, and which folder is meant. Touches no disk.

A `path` is text relative to the workspace with `/` between its parts, as Git writes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .errors import InvalidArguments
from .slug import slug_of

IDENTITY = "Crab.md"
OVERVIEW = "memory/MEMORY.md"
ENTRIES = "memory/entries"
SETTINGS = "crabmem.toml"
MEMORY = "memory"
AGENTS = "agents"


@dataclass(frozen=True)
class Workspace:
    """One folder of memory. `root` is absolute."""

    root: Path

    def file(self, path: str) -> Path:
        """The file at `path`."""
        return self.root.joinpath(*path.split("/"))

    @cached_property
    def git(self) -> Path:
        """The repository; `.git/crabmem` in it holds what is ours and no history."""
        return self.root / ".git"

    @cached_property
    def private(self) -> Path:
        """Lock, journal and temporary files."""
        return self.git / "crabmem"

    @cached_property
    def index(self) -> Path:
        """What recall need not read again: derived, and may be deleted at any time."""
        return self.private / "index"

    @cached_property
    def turns(self) -> Path:
        """Which versions of entries were injected before turns."""
        return self.private / "turns"

    @cached_property
    def bylines(self) -> Path:
        """Which files a host has said to be an agent's."""
        return self.private / "bylines"

    @cached_property
    def repairs(self) -> Path:
        """A line for each repair that a write had to make."""
        return self.private / "repairs.log"

    @property
    def parent(self) -> "Workspace | None":
        """The workspace a named agent's own one lies in; None for any other."""
        return Workspace(self.root.parent.parent) if self.root.parent.name == AGENTS else None


def entry_path(slug: str) -> str:
    """The path of the entry with that slug."""
    return f"{ENTRIES}/{slug}.md"


def is_entry(path: str) -> bool:
    """Whether `path` lies directly in the folder of entries."""
    return path.startswith(f"{ENTRIES}/") and path.count("/") == 2


def is_kept(path: str) -> bool:
    """Whether crabmem keeps the history of `path`: the settings, and Markdown at the top and below `memory/`.

    Names with a leading dot (and with them editors' swap files and `.git`) are nobody's memory.
    """
    parts = path.split("/")
    if any(part.startswith(".") or not part for part in parts):
        return False
    if path == SETTINGS:
        return True
    return path.endswith(".md") and (len(parts) == 1 or parts[0] == MEMORY)


def root_of(folder: str | None, workspace: str | None, environment: Mapping[str, str], home: Path) -> Path:
    """The workspace that is meant: `folder`, else $CRABMEM_DIR, else `~/.crabmem`; in it, agent `workspace`.

    A `workspace` of "" is none, whatever the environment says. Never a folder merely found on the
    way up: a cloned project must not bring memory along.
    """
    chosen = folder or environment.get("CRABMEM_DIR")
    try:
        root = Path(chosen).expanduser() if chosen else home / ".crabmem"
    except RuntimeError:
        raise InvalidArguments(f"nobody here has the home folder of {chosen}; give the whole path") from None
    agent = environment.get("CRABMEM_WORKSPACE") if workspace is None else workspace
    return root / AGENTS / agent_folder(agent) if agent else root


def agent_folder(name: str) -> str:
    """The folder of the agent called `name`.

    Raises:
        InvalidArguments: nothing of `name` can be a folder's name.
    """
    if not name.strip():
        raise InvalidArguments("the agent's name is empty")
    return slug_of(name)
