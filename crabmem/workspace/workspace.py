"""Workspaces: the folder that is meant, and where things lie in it. Touches no disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import InvalidArguments
from ..text.slug import slug_of
from .layout import AGENTS, ORDINARY, Layout


@dataclass(frozen=True)
class Workspace:
    """One folder of memory. `root` is absolute, and so is a `profile` that is a file; "" is the usual one."""

    root: Path
    layout: Layout = ORDINARY
    profile: str = ""

    def file(self, path: str) -> Path:
        """The file at `path`."""
        return self.root.joinpath(*path.split("/"))

    @cached_property
    def git(self) -> Path:
        """The repository; `.git/crabmem` in it holds what is ours and no history."""
        return self.root / ".git"

    @cached_property
    def private(self) -> Path:
        """The folder of crabmem's own files, which `disk/state` names."""
        return self.git / "crabmem"

    @property
    def around(self) -> Path | None:
        """The folder of the workspace that a named agent's own one lies in; None for any other."""
        return self.root.parent.parent if self.root.parent.name == AGENTS else None


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
