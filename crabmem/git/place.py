"""The place of a repository: whether one is there, and whether it is still the one that was opened."""

import os
from collections.abc import Callable
from contextlib import suppress

from ..disk import fs, state
from ..errors import DamagedHistory, Moved
from ..text.hashes import short
from ..workspace.workspace import Workspace
from . import repository
from .objects import denied
from .parts import Parts

#: The identity of a folder, by `fs.identity`; None for none.
Identity = tuple[int, int] | None


class Place:
    """The folder of one repository and the one around it, as the process knows them that opened the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        parts: Parts,
        forget: Callable[[], None],
        identities: tuple[Identity, Identity] | None = None,
    ) -> None:
        """`forget` has all be read anew where another repository is in its place.

        `identities` are those of the repository and of the folder around it when whoever opened the workspace did so;
        None: they are as now.
        """
        self.root, self._git, self._private = parts.root, parts.git, parts.private
        self._objects, self._branch, self._forget = parts.objects, parts.branch, forget
        self._looked_into = workspace.repository_folders
        self._is_free_of_links = False
        self._links = repository.LinkSearch(self._git)
        #: The identities of the repository, None before there is one, and of the folder around it; its newest commit.
        self._repository, self._around = identities or (
            None if os.path.islink(self._git) else fs.identity(self._git),
            fs.identity(self.root),
        )
        self._last: str | None = None

    def exists(self) -> bool:
        """Return whether there is a repository.

        Raises:
            DamagedHistory: `.git` is something else than a folder, or waits beside its place for the next write.
            DeniedHistory: this user may not look into it.
            Moved: there was one, and it is gone.
        """
        try:
            for folder in self._looked_into:
                fs.check_folder(folder)
        except PermissionError as error:
            raise denied(error) from None
        if os.path.islink(self._git) or (os.path.exists(self._git) and not os.path.isdir(self._git)):
            raise DamagedHistory(
                f"{self._git} is not a folder (a worktree, a submodule or a link); "
                "memory needs a repository of its own: use another folder"
            )
        if not self._is_free_of_links and (link := self._links.found()):
            raise DamagedHistory(
                f"{link} is a symbolic link, which may lead anywhere and is not followed: put the folder itself there"
            )
        self._is_free_of_links = True
        known = self._repository  # asked for first: another thread may begin the repository just now
        is_there = os.path.isdir(self._git)
        if not is_there and repository.is_beside(self.root):
            raise DamagedHistory(
                f"a purge was interrupted and left the history in {self.root / state.BESIDE}: the next write puts it "
                "back, and so does `mv`, to `.git`"
            )
        if known and not is_there:
            if fs.identity(self.root) != self._around or not os.listdir(self.root):
                raise Moved(
                    f"{self.root} is not where it was: it was moved or deleted after this process had opened it; "
                    "put it back, or start again to begin a new memory there"
                )
            self._forget()  # somebody deleted the repository, and not the files around it
            self._repository = self._last = None
        if known and self._last is None:  # no link is in the way of reading it, as was found out above
            self._last = self._branch.tip()
        return is_there

    def check(self) -> None:
        """Refuse to write where the memory that this process opened is not any more.

        Raises:
            Moved: it was moved, or another is in its place.
        """
        if self.exists():
            self._check_same()
            self._last = self._branch.tip() or self._last

    def make(self) -> None:
        """Make the repository where there is none, or put back what a purge left beside its place.

        Raises:
            Moved: another is in the place of the one that this process opened.
        """
        self._is_free_of_links = False  # somebody may have changed the folder since
        repository.put_back(self.root)
        if not self.exists():
            repository.create(self.root)
        self._check_same()

    def note(self, commit: str) -> None:
        """Note the newest commit: a repository that somebody puts in place of this one is accepted if it has that."""
        self._last = commit

    def _check_same(self) -> None:
        """Refuse to write into another repository than before, unless it has the newest commit that was known.

        So a clone or a copy that a person put in place goes on. So does the repository that a purge by another process
        put in place, whose commits may all have new ids: it says which folder it replaced.
        """
        identity = fs.identity(self._git)
        if self._repository and identity != self._repository:
            self._forget()
            if self._last and not (self._has_replaced(self._repository) or self._objects.has(self._last)):
                raise Moved(
                    f"{self.root} is not the memory that this process had opened: its history lacks commit "
                    f"{short(self._last)}; start again if it is the one you mean, or put the other back"
                )
        self._repository, self._around = identity, fs.identity(self.root)

    def _has_replaced(self, folder: tuple[int, int]) -> bool:
        """Return whether a purge made the present repository in the place of the one with this identity."""
        with suppress(OSError):
            return b"%d %d" % folder in fs.read(self._private / state.PURGES)[0].splitlines()
        return False
