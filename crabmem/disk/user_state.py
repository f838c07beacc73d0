"""Where crabmem keeps what one person said or made on this machine: outside every workspace.

A workspace may come from a stranger, so nothing in it can speak for the person who opens it. Loads next to nothing, for
processes that only ask.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from .. import ask
from . import regular

#: The file of the key by which this user knows again what they made.
KEY = "key"
KEY_SIZE = 32


def state_folder(environment: Mapping[str, str], root: Path | None = None) -> Path | None:
    """The folder of this user, which need not exist; None when the environment names no home.

    `$XDG_STATE_HOME/crabmem`, else `~/.local/state/crabmem`, as the XDG base directory specification says. None also
    when it lies in the workspace `root`: there it may have come along with the rest.
    """
    folder = state_path(environment, root)
    return None if folder is None else Path(folder)


def state_path(environment: Mapping[str, str], root: str | os.PathLike[str] | None = None) -> str | None:
    """`state_folder` as a text, for processes that only ask."""
    folder = ask.state_path(environment)
    return None if folder is None or (root is not None and _is_within(folder, root)) else folder


def key_in(folder: str | os.PathLike[str]) -> bytes | None:
    """The key in a folder; None where there is none."""
    try:
        key = regular.read(os.path.join(folder, KEY), KEY_SIZE)
    except OSError:
        return None
    return key if len(key) == KEY_SIZE else None


def _is_within(folder: str, root: str | os.PathLike[str]) -> bool:
    try:
        inside, outside = map(os.path.realpath, (folder, root))
    except ValueError:
        return False  # no folder can have that name: opening it fails later
    return f"{inside}{os.sep}".startswith(os.path.join(outside, ""))
