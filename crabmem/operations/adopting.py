"""Making a workspace of a folder that a host uses, in place: its settings say what it is, and no other file changes."""

import os
from pathlib import Path
from typing import Literal

from ..disk import fs
from ..errors import InvalidArguments, Unwritable
from ..session.locate import settings_file
from ..text import toml_edit as tables
from ..workspace.layout import SETTINGS
from ..workspace.settings import layout_in
from ..workspace.workspace import Workspace


def prepared(root: Path, key: Literal["profile", "layout"], value: str, is_meant: bool = False) -> None:
    """Have the settings of the folder `root` say what it is; with `is_meant`, also inside a repository.

    Raises:
        InvalidArguments: it is no folder, a workspace of something else, or has settings of its own.
        Unreadable: its settings are no text.
        Unwritable: it lies in a repository, or the disk refused.
    """
    if not os.path.isdir(root):
        raise InvalidArguments(f"there is no folder {root} to adopt")
    before = settings_file(root)
    if before and dict(zip(("profile", "layout"), layout_in(before), strict=True))[key] == value:
        return
    if fs.is_own_folder(Workspace(root).private):
        way = f"init --profile {value}` makes it one of {value}" if key == "profile" else "adopt` records your edits"
        raise InvalidArguments(f"{root} is a workspace already; `crabmem --dir {root} {way}")
    line = tables.put("", (key,), value)
    if before is not None and not line.encode().startswith(
        before
    ):  # half of it is left where a crash or a full disk cut it
        raise InvalidArguments(f"{root / SETTINGS} says something else; add `{line.strip()}` at its top")
    _refuse_repository(root, is_meant)
    try:
        (fs.create if before is None else fs.overwrite)(root / SETTINGS, line.encode())
    except OSError as error:
        raise Unwritable(f"{root / SETTINGS} cannot be written: {fs.reason(error)}") from error


def _refuse_repository(root: Path, is_meant: bool) -> None:
    around = next((folder for folder in (root, *root.parents) if os.path.exists(folder / ".git")), None)
    if around and fs.is_own_folder(Workspace(around).private):
        raise InvalidArguments(f"{root} is part of the workspace {around}, which has its history")
    if around and not is_meant:
        where = "is a Git repository" if around == root else f"lies in a Git repository, {around}"
        raise Unwritable(
            f"{root} {where}, perhaps a project's; --yes-really if memory is to have a history of its own there"
        )
