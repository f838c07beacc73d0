"""Which workspace a folder is: its settings say how it is laid out, or whose way of working it follows."""

import os
from dataclasses import replace
from pathlib import Path

from . import fs, settings
from .workspace import DEFAULT, LAYOUTS, SETTINGS, Layout, Workspace


def workspace_at(root: Path, profile: str | None = None) -> Workspace:
    """The workspace in the folder `root`, with the layout of `profile`, or of what its settings name.

    Raises:
        InvalidArguments: there is no such profile.
        InvalidSettings: the profile cannot be read.
    """
    said, layout = settings.layout_in(_settings_text(root))
    name = profile_at(root, said) if profile is None else _whole(Path(), profile)
    return Workspace(root, _layout(root, name) or LAYOUTS[layout], name)


def profile_at(root: Path, said: str) -> str:
    """The profile of the workspace in `root`, whose own settings name the profile `said`; "" for none.

    An agent's own workspace that names none has the profile of the workspace around it.
    """
    around = Workspace(root).around
    if said or around is None:
        return _whole(root, said)
    return profile_at(around, settings.layout_in(_settings_text(around))[0])


def _whole(folder: Path, profile: str) -> str:
    """The name of a profile, "" of the usual one; of one that is a file, the path from anywhere."""
    if profile == DEFAULT:
        return ""
    return os.path.abspath(folder / os.path.expanduser(profile)) if profile.endswith(".toml") else profile


def _layout(root: Path, profile: str) -> Layout | None:
    if not profile:
        return None
    from .profile import layout_of, named  # late: most workspaces name none

    layout = layout_of(profile, named(profile))
    return layout and _as_spelled(root, layout)


def _as_spelled(root: Path, layout: Layout) -> Layout:
    """`layout` with the names that identity and overview have in `root`: an older `memory.md` is the `MEMORY.md`."""
    identity, overview = (_spelled(root, path) for path in (layout.identity, layout.overview))
    return replace(layout, identity=identity, overview=overview)


def _spelled(root: Path, path: str) -> str:
    """`path`, or where nothing is called exactly so, how the name is written there in another case."""
    folder, slash, name = path.rpartition("/")
    try:
        there = os.listdir(root / folder)
    except OSError:
        return path
    alike = sorted(other for other in there if other.casefold() == name.casefold())
    return path if name in alike else folder + slash + (alike or [name])[0]


def _settings_text(root: Path) -> str:
    """What the settings of a folder say; "" where they cannot be read: who needs them says what is wrong."""
    if not os.path.exists(f"{root}/{SETTINGS}"):
        return ""
    try:
        return fs.read(root / SETTINGS)[0].decode("utf-8", "replace")
    except OSError:
        return ""
