"""The branch that commits of ours go on, and what the person is in the middle of that moves it."""

import os
from contextlib import suppress
from pathlib import Path

from ..errors import CrabmemError, DamagedHistory
from .kept import Keep
from .objects import denied
from .refs import HEADS, MAIN, Head, Refs
from .walk import Walk

# While one of these exists the person is in the middle of something that moves the branch.
_IN_PROGRESS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
# The files that say where Git goes back to when such a thing is aborted.
_BEFORE = ("rebase-merge/orig-head", "rebase-apply/orig-head", "sequencer/head")


class Branch:
    """The branch of one repository. Nothing here moves it."""

    def __init__(self, git: Path, refs: Refs, keep: Keep, walk: Walk) -> None:
        self._git, self._refs, self._keep, self._walk = git, refs, keep, walk

    def head(self) -> str | None:
        """Return the commit the next one stands on: the branch's, None before the first.

        While the person is in the middle of a rebase or merge the branch is theirs, and ours wait in
        `refs/crabmem/keep`.
        """
        return self.base(self._refs.head())

    def base(self, head: Head) -> str | None:
        """Return the same where HEAD was read before."""
        kept = self._keep.tip() if self.in_progress() else None
        return kept if kept and head.commit and self._walk.is_ancestor(head.commit, kept) else head.commit

    def tip(self) -> str | None:
        """Return the commit that the branch names, whole or not; None where even that cannot be read."""
        with suppress(CrabmemError, OSError):
            return self._refs.head().commit
        return None

    def name(self) -> str:
        """Return the reference of the branch that HEAD is on; of the usual one where it is on none."""
        ref = self._refs.head().ref
        return MAIN if ref == "HEAD" else ref

    def short_name(self) -> str:
        """Return the same as people say it: `main`."""
        return self.name().removeprefix(HEADS)

    def is_detached(self) -> bool:
        """Return whether HEAD is on no branch."""
        return self._refs.head().ref == "HEAD"

    def in_progress(self) -> str | None:
        """Return what the person is in the middle of that moves the branch, such as "rebase"; None for nothing."""
        try:
            names = os.listdir(self._git)
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise denied(error) from None
        return next((doing for name, doing in _IN_PROGRESS.items() if name in names), None)

    def before(self) -> str | None:
        """Return where the branch was before the rebase or the row of picks that the person is in the middle of."""
        for file in _BEFORE:
            with suppress(DamagedHistory):
                if before := self._refs.read(file):
                    return before
        return None
