"""Workspaces: the folder that is meant, and where things lie in it. Touches no disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidArguments
from ..text.slug import slug_of
from ..text.values import once
from .layout import AGENTS, ORDINARY, Layout

#: The place of a workspace itself, among those of its agents and projects.
ALL = "."
#: Where the memories of projects are. No layout takes what begins with a dot for memory, nor does Git.
PROJECTS = ".projects"


class Workspace:
    """One folder of memory. `root` is absolute, and so is a `profile` that is a file; "" is the usual one.

    `folder` is the same as a text, which is quicker to join.
    """

    def __init__(self, root: Path | str, layout: Layout = ORDINARY, profile: str = "") -> None:
        self.root = Path(root)
        self.folder = os.fspath(root)
        self.layout = layout
        self.profile = profile

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workspace) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Workspace({self.folder!r}, {self.layout.name!r}, {self.profile!r})"

    @property
    def _key(self) -> tuple[str, Layout, str]:
        return self.folder, self.layout, self.profile

    def file(self, path: str) -> Path:
        """The file at `path`."""
        return self.root.joinpath(*path.split("/"))

    @once
    def git(self) -> Path:
        """The repository; `.git/crabmem` in it holds what is ours and no history."""
        return self.root / ".git"

    @once
    def private(self) -> Path:
        """The folder of crabmem's own files, which `disk/state` names."""
        return self.git / "crabmem"

    @property
    def private_folder(self) -> str:
        """The same as a text."""
        return os.path.join(self.folder, ".git", "crabmem")

    @property
    def repository_folders(self) -> tuple[str, ...]:
        """The folders that must be entered to read the repository, that itself first."""
        git = os.path.join(self.folder, ".git")
        return (git, *(f"{git}/{name}" for name in ("objects", "refs", "refs/heads", "crabmem")))

    @property
    def around(self) -> Path | None:
        """The folder of the workspace that a named agent's own one lies in; None for any other."""
        parent = os.path.dirname(self.folder)
        return self.root.parent.parent if os.path.basename(parent) == AGENTS else None


def folder_of(
    folder: str | None, workspace: str | None, environment: Mapping[str, str], home: str, project: str = ""
) -> str:
    """The folder of a workspace: `folder`, else $CRABMEM_DIR, else `~/.crabmem`; in it the memory of `project`, and in
    that the one of agent `workspace`.

    `workspace=None` takes $CRABMEM_WORKSPACE, "" means no agent. Parent folders are never searched: a cloned project
    must not bring memory along.
    """
    chosen = folder or environment.get("CRABMEM_DIR")
    root = _expanded(chosen) if chosen else os.path.join(home, ".crabmem")
    root = os.path.join(root, PROJECTS, project) if project else root
    agent = environment.get("CRABMEM_WORKSPACE") if workspace is None else workspace
    return os.path.join(root, AGENTS, agent_folder(agent)) if agent else root


def _expanded(folder: str) -> str:
    """A folder that was named, `~` in it replaced, as `Path` writes it."""
    try:
        return str(Path(folder).expanduser())
    except RuntimeError:
        raise InvalidArguments(f"nobody here has the home folder of {folder}; give the whole path") from None


def agent_folder(name: str) -> str:
    """The folder of the agent called `name`.

    Raises:
        InvalidArguments: nothing of `name` can be a folder's name.
    """
    if not name.strip():
        raise InvalidArguments("the agent's name is empty")
    return slug_of(name)
