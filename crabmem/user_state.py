"""Where crabmem keeps what one person said or made on this machine: outside every workspace.

A workspace may come from a stranger, so nothing in it can speak for the person who opens it.
"""

from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder of this user, which need not exist; None when the environment names no home.

    `$XDG_STATE_HOME/crabmem`, else `~/.local/state/crabmem`, as the XDG base directory specification says.
    """
    chosen = environment.get("XDG_STATE_HOME", "")
    if Path(chosen).is_absolute():  # the specification: a relative path is to be ignored
        return Path(chosen) / "crabmem"
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    return Path(home) / ".local" / "state" / "crabmem" if Path(home).is_absolute() else None
