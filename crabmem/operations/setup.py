"""Making a workspace: a new one, one with a profile, or one of a folder that a host uses already.

`session/init.py` makes the files of a new workspace and its first commit, as the first write needs it, too.
"""

import os
import shlex
from pathlib import Path
from typing import Literal

from ..disk import fs
from ..disk.scan import Scan
from ..errors import CrabmemError, Inapplicable, InvalidArguments, Unwritable, Way
from ..git.commits import Note, identity, one_line
from ..results import CREATOR, Begun
from ..session.init import init as init
from ..session.init import init_with, seeds
from ..session.locate import outside, settings_file, workspace_at
from ..session.session import Session
from ..sync import standing
from ..text.entry import decode
from ..text.values import replace
from ..workspace.layout import SETTINGS
from ..workspace.settings import layout_in
from ..workspace.workspace import Workspace


def branch_of_project(session: Session) -> str:
    """Return where commits would go in a project's repository that holds no memory, as "branch main"; else ""."""
    if not session.engine.history.ownership.is_of_project():
        return ""
    name = standing.branch(session)
    return "no branch (HEAD is detached)" if name == "HEAD" else f"branch {name}"


def use_profile(session: Session, claim: bool = False, dry_run: bool = False) -> Begun:
    """Name the profile that the session was opened with in the settings, and make the files that it begins with.

    All in one commit, which may be the first. A file that is there, or was once, is not made again. `claim` and
    `dry_run` are as for `init`. A profile outside of the workspace is allowed to be read from now on. `unread` of the
    answer are files that the new profile does not use as identity or overview any more.

    Raises:
        Unwritable: with `claim`, the folder is a project's repository, and the profile would make its Markdown memory.
    """
    from ..prompt.seeding import with_setting  # late: few writes seed anything

    if claim and not session.layout.is_guest and session.engine.history.ownership.is_of_project():
        name, root = session.engine.profile_name, session.root
        raise Unwritable(
            f"{root} is a project's repository, and with the profile {name} its Markdown would be memory: use another "
            f"folder, or `crabmem adopt {shlex.quote(str(root))} --profile {shlex.quote(name)} --yes-really` if it is"
        )
    unread = _no_longer_read(session)
    file = Path(session.engine.profile_name)
    # A profile in the workspace is named by its relative path, which is right wherever the workspace is moved.
    name = (
        file.relative_to(session.root).as_posix() if file.is_relative_to(session.root) else session.engine.profile_name
    )

    def wanted(scan: Scan) -> dict[str, bytes]:
        text = with_setting(decode(SETTINGS, scan.data(SETTINGS) or b""), "profile", name)
        return {SETTINGS: text.encode(), **seeds(session, scan)}

    if not dry_run:
        session.engine.allowed.allow_profile(session.root, outside(session.root, session.engine.profile_name))
    note = Note(f"init: the profile {one_line(name)}", identity(CREATOR))
    return replace(init_with(session, wanted, note, claim, dry_run), unread=unread)


def _no_longer_read(session: Session) -> dict[str, str]:
    """The present identity and overview that the new profile does not read: old path to the path it reads instead."""
    try:
        before = workspace_at(session.root, None, session.engine.allowed).layout
    except CrabmemError:  # settings that cannot be used may be why the person names another profile
        return {}
    files, now = session.look(lambda now: now.files), session.layout
    pairs = ((before.identity, now.identity), (before.overview, now.overview))
    return {old: new for old, new in pairs if old != new and old in files}


def declare(
    root: Path, key: Literal["profile", "layout"], value: str, is_meant: bool = False, dry_run: bool = False
) -> None:
    """Write the setting `key = value` into `crabmem.toml` in the folder `root`, which is to become a workspace.

    With `is_meant`, also in a folder inside a repository. Nothing is done if the settings say so already. With
    `dry_run` nothing is written, but the same is refused.

    Raises:
        InvalidArguments: `root` is no folder, is a workspace already or part of one, or has other settings.
        Unreadable: its settings are no text.
        Unwritable: it lies in a repository, and `is_meant` is not given; or the disk refused.
    """
    from ..text import toml_edit  # late: it loads what reads TOML

    if not os.path.isdir(root):
        raise InvalidArguments(f"there is no folder {root} to adopt")
    before = settings_file(root)
    if before and dict(zip(("profile", "layout"), layout_in(before), strict=True))[key] == value:
        return
    if fs.is_own_folder(Workspace(root).private):
        way = f"init --profile {value}` makes it one of {value}" if key == "profile" else "adopt` records your edits"
        raise Inapplicable(f"{root} is a workspace already; `crabmem --dir {shlex.quote(str(root))} {way}")
    line = toml_edit.put("", (key,), value)
    # The beginning of the line is what a crash or a full disk left of an earlier try: it is replaced.
    if before is not None and not line.encode().startswith(before):
        raise Inapplicable(f"{root / SETTINGS} says something else; add `{line.strip()}` at its top")
    _refuse_repository(root, is_meant)
    if dry_run:
        return
    try:
        (fs.create if before is None else fs.overwrite)(root / SETTINGS, line.encode())
    except OSError as error:
        raise Unwritable(f"{root / SETTINGS} cannot be written: {fs.reason(error)}") from error


def _refuse_repository(root: Path, is_meant: bool) -> None:
    """Refuse a folder inside a workspace; inside another repository only without `is_meant`.

    Raises:
        Inapplicable: a workspace around it has its history.
        Unwritable: a repository is around it.
    """
    around = next((folder for folder in (root, *root.parents) if os.path.exists(folder / ".git")), None)
    if around and fs.is_own_folder(Workspace(around).private):
        raise Inapplicable(f"{root} is part of the workspace {around}, which has its history")
    if around and not is_meant:
        where = "is a project's repository" if around == root else f"lies in a project's repository, {around}"
        beside = f"For a memory beside it: `crabmem --project {shlex.quote(str(around))}`"
        own = (
            "its Markdown is to be memory, in that history" if around == root else "it is to have a history of its own"
        )
        meant = Way("is_meant=True", f"if {own}: {{}}")
        raise Unwritable(f"{root} {where}. {beside}", meant)
