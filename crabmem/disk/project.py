"""Projects: a folder belongs to the Git repository around it, all of whose worktrees are one project.

Memory of a project is chosen by where its repository lies, and nothing in that repository may say that it lies
elsewhere: it may be a stranger's. So a link is not followed, `commondir` is no more than checked, and a `.git` file is
believed only where the repository that it names knows this very folder as a worktree, or lies in the folder.
"""

from __future__ import annotations

import os
import stat

from ..text.slug import slug_of
from ..text.values import field, replace, value
from . import fs

# A worktree's own folder in a repository lies there.
_WORKTREES = "worktrees"
_POINTS = "gitdir: "
_DIGITS = 16
# Bytes of a file that says where something lies.
_LARGEST = 65_536


@value
class Project:
    """A project: `place` is its repository, or where that cannot be believed its folder, both without links.

    `problem` says why the repository that the folder names is not believed; "" for nothing. `name` is for a folder of
    its memory: it tells people which project that is, and differs for each place. `top` is the worktree's folder.
    """

    place: str
    problem: str = ""
    top: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The name of a folder for what belongs to this project alone."""
        import hashlib

        folder, last = os.path.split(self.place)
        called = (last if last.strip(".") != "git" and last[:1] != "." else os.path.basename(folder)) or "root"
        digest = hashlib.sha256(self.place.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
        return f"{slug_of(called.removesuffix('.git'))}-{digest}"


def project_of(folder: str) -> Project | None:
    """The project that a folder belongs to, by the first repository on the way up; None where there is none."""
    here = os.path.realpath(folder)
    while True:
        if found := _project_at(here):
            return replace(found, top=here)
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _project_at(folder: str) -> Project | None:
    """Return the project whose `.git` stands in `folder` itself; None where there is no repository.

    A `.git` folder is taken as it is. A `.git` file is believed only if the repository that it names lists this folder
    as a worktree, or lies in the folder. Otherwise the project is the folder, with a `problem`.
    """
    git = os.path.join(folder, ".git")
    try:
        mode = os.lstat(git).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return Project(git) if _is_repository(git) else None  # Git ignores such a `.git`, too
    if not stat.S_ISREG(mode):
        return Project(folder, "its .git is a link, which may lead anywhere")
    named = _named_in(git, _POINTS)
    if named is None:
        return Project(folder, "its .git file names no repository")
    own = os.path.realpath(os.path.join(folder, named))
    common = os.path.dirname(os.path.dirname(own))
    if os.path.basename(os.path.dirname(own)) == _WORKTREES and _is_repository(common) and _knows(common, own, folder):
        return Project(common)
    if own.startswith(os.path.join(folder, "")) and _is_repository(own):
        return Project(own)
    return Project(folder, f"{own} does not know it as a worktree; `git worktree repair` tells it, if it is one")


def _knows(common: str, own: str, folder: str) -> bool:
    """Return whether the repository `common` lists `folder` as the worktree whose data lies in its folder `own`.

    `own/gitdir` has to name `folder/.git`, and `own/commondir` has to lead back to `common`.
    """
    file, back = _named_in(os.path.join(own, "gitdir")), _named_in(os.path.join(own, "commondir"))
    if file is None or back is None or os.path.realpath(os.path.join(own, back)) != common:
        return False
    place, name = os.path.split(os.path.join(own, file))
    return name == ".git" and os.path.realpath(place) == folder


def _is_repository(folder: str) -> bool:
    parts = ("objects", "refs")
    return os.path.isfile(os.path.join(folder, "HEAD")) and all(
        os.path.isdir(os.path.join(folder, part)) for part in parts
    )


def _named_in(file: str, begins: str = "") -> str | None:
    """Return the path in a file of one line, behind the text that it `begins` with; None where it has no such line."""
    try:
        said = os.fsdecode(fs.read(file, limit=_LARGEST)[0])
    except OSError:
        return None
    path = said.removeprefix(begins).rstrip("\r\n")
    return path if said.startswith(begins) and path and "\0" not in path else None
