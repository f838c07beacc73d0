"""Whose repository it is: how memory begins in one, and which are not taken for memory."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from ..disk import fs, state
from ..errors import DamagedHistory, Unwritable
from ..workspace.layout import AGENTS, SETTINGS
from ..workspace.workspace import PROJECTS, Workspace
from . import repository
from .past import Past


class Ownership:
    """Whose one repository is."""

    def __init__(self, workspace: Workspace, past: Past, claim_caches: Callable[[Path], None]) -> None:
        """`claim_caches` is called when there is a place for caches."""
        self._root, self._git, self._private = workspace.root, workspace.git, workspace.private
        self._layout, self._past = workspace.layout, past
        self._claim_caches = claim_caches
        self._is_claimed = False
        self._home: Path | None = None

    def holds_memory(self) -> bool:
        """Return whether this repository holds a memory: it has a commit and our private folder, and is no project's.

        If the history is damaged, or this user may not read it, the private folder alone decides.
        """
        try:
            is_begun = self._past.place.exists() and os.path.isdir(self._private) and self._past.head() is not None
            return is_begun and not self.is_of_project()
        except DamagedHistory:
            return os.path.isdir(self._private)

    def keep_out_of_projects(self, home: Path) -> None:
        """Let `prepare` refuse to begin a memory below a project's repository: the person has not asked for one there.

        A repository in the person's `home` folder, or above it, does not count as a project.
        """
        self._home = home

    def prepare(self) -> None:
        """Make the repository, or what is ours in one that was cloned or begun by hand.

        Raises:
            Unwritable: it is the repository of something else, or would lie in a project's.
        """
        if self._home and not self._past.place.exists() and (project := self._project_around(self._home)):
            beside, own = shlex.quote(str(project)), shlex.quote(str(self._root))
            raise Unwritable(
                f"{self._root} lies in a project's repository, {project}. For a memory beside it: "
                f"`crabmem --project {beside}`; for one with a history of its own in that folder: "
                f"`crabmem --dir {own} init`"
            )
        self._past.place.make()
        self._refuse_foreign_format()
        if self.is_of_project():
            raise Unwritable(
                f"{self._root} is a project's repository. For a memory beside it: `crabmem --project "
                f"{shlex.quote(str(self._root))}`; to put memory into the project's own history: "
                f"`crabmem --dir {shlex.quote(str(self._root))} init`"
            )
        if not os.path.isdir(self._private):
            self.claim()
        if not os.path.isdir(self._private / state.TEMPORARY):
            fs.make_folder(self._private / state.TEMPORARY)
        self._claim_caches(self._private)

    def _project_around(self, home: Path) -> Path | None:
        """Return the project that encloses this folder, in which no memory should begin; None if there is none.

        The memories of agents and projects lie in folders that crabmem made, whatever encloses them.
        """
        if self._root.parent.name in (AGENTS, PROJECTS):
            return None
        around = next((folder for folder in self._root.parents if os.path.lexists(folder / ".git")), None)
        if around is None or around in (home, *home.parents):
            return None
        private = Workspace(around).private
        return None if fs.is_own_folder(private) and not os.path.lexists(private / state.PROJECT) else around

    def is_of_project(self) -> bool:
        """Return whether the repository is a project's whose present branch has no memory: it has files, none of ours.

        Each branch is looked at by itself: the person may have agreed to memory on another one. Markdown in a folder
        `memory/` proves nothing, as a project may keep its own documents there.
        """
        is_ours = os.path.isdir(self._private) and not os.path.lexists(self._private / state.PROJECT)
        if self._is_claimed or is_ours or not self._past.place.exists():
            return False
        layout, head = self._layout, self._past.head()
        signs = (layout.identity, layout.overview, SETTINGS)
        if head is None:
            own = (*signs, layout.memory)
            return os.listdir(self._root) != [".git"] and not any(os.path.lexists(self._root / each) for each in own)
        if not layout.memory:
            return not any(map(layout.is_kept, self._past.files(head)))
        past, folder = self._past, layout.entries[0]
        facts = past.files_in(head, folder, with_folders=False) if past.folder(head, folder) else {}
        return not (facts and all(map(layout.is_entry, facts))) and not any(past.file(head, each) for each in signs)

    def claim(self, dry_run: bool = False) -> None:
        """Put what is ours into a repository that somebody else made. With `dry_run` only refuse what cannot be.

        Raises:
            Unwritable: it is a project's, which has something where memory would lie.
        """
        self._refuse_foreign_format()
        layout, head = self._layout, self._past.head()
        if (
            layout.is_guest
            and self.is_of_project()
            and any(files for _, _, files in os.walk(self._root / layout.memory))
        ):
            raise Unwritable(
                f"{self._root / layout.memory} has files of the project, and memory would lie there. For a memory "
                f"beside it: `crabmem --project {shlex.quote(str(self._root))}`"
            )
        if dry_run:
            return
        is_all_ours = not layout.is_guest and all(
            layout.is_kept(path) or path.rpartition("/")[2][0] == "." for path in self._past.files(head)
        )
        folders = None if is_all_ours else [each for each in layout.folders if "/" not in each]
        repository.furnish(self._git, self._private, folders, layout.is_guest)
        self._is_claimed = True

    def _refuse_foreign_format(self) -> None:
        form = repository.foreign_format(self._git)
        if form:
            raise DamagedHistory(
                f"{self._git} has Git's {form} format, which crabmem does not write; use another folder"
            )
