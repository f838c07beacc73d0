"""Which workspace a folder is: its settings say how it is laid out."""

import os
from pathlib import Path

from . import fs, settings
from .workspace import LAYOUTS, SETTINGS, Workspace


def workspace_at(root: Path) -> Workspace:
    """The workspace in the folder `root`, with the layout that its settings name."""
    if not os.path.exists(f"{root}/{SETTINGS}"):
        return Workspace(root)
    try:
        text = fs.read(root / SETTINGS)[0].decode("utf-8", "replace")
    except OSError:
        return Workspace(root)  # who needs settings says what is wrong with them
    return Workspace(root, LAYOUTS[settings.layout_in(text)])
