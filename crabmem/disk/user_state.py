"""Where crabmem keeps what one person said or made on this machine: outside every workspace.

A workspace may come from a stranger, so nothing in it can speak for the person who opens it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from .caches import state_path


def state_folder(environment: Mapping[str, str], root: Path | None = None) -> Path | None:
    """The folder of this user, which need not exist; None when the environment names no home.

    `$XDG_STATE_HOME/crabmem`, else `~/.local/state/crabmem`, as the XDG base directory specification says. None also
    when it lies in the workspace `root`: there it may have come along with the rest.
    """
    folder = state_path(environment)
    if folder is None or (root is not None and _is_within(folder, root)):
        return None
    return Path(folder)


def _is_within(folder: str, root: Path) -> bool:
    try:
        return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root))
    except ValueError:
        return False  # no folder has that name, which who opens it says
