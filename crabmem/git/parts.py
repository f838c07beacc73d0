"""The parts of one repository that all share which read and write it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..disk import state
from ..workspace.workspace import Workspace
from .branch import Branch
from .kept import Keep
from .objects import Objects
from .redo import Redo
from .refs import Refs
from .trees import Trees
from .walk import Graph, Walk


class Parts(NamedTuple):
    """Each part once; `root` is the folder around the repository `git`, `private` that of what is ours in it."""

    root: Path
    git: Path
    private: Path
    redo: Redo
    refs: Refs
    objects: Objects
    trees: Trees
    walk: Walk
    keep: Keep
    branch: Branch

    @classmethod
    def of(cls, workspace: Workspace, redo: Redo) -> Parts:
        """Return the parts of the repository of a workspace."""
        git, private = workspace.git, workspace.private
        refs = Refs(git, private / state.TEMPORARY)
        objects = Objects(git / "objects", private / state.TEMPORARY, redo)
        trees, walk = Trees(objects), Walk(objects, Graph(private))
        keep = Keep(refs, objects, walk)
        branch = Branch(git, refs, keep, walk)
        return cls(workspace.root, git, private, redo, refs, objects, trees, walk, keep, branch)
