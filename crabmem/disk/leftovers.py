"""What editors leave beside a file: copies of it, as it was or as it will be."""

from pathlib import Path

_BESIDE = ("{}~", ".{}.sw[a-p]", "#{}#", ".#{}", ".{}.un~", "{}.tmp", "{}.bak", "{}.orig", "{}.rej")


def left_beside(folder: Path, name: str) -> set[Path]:
    """Return what editors left in a folder beside the files whose names match `name`."""
    return {left for form in _BESIDE for left in folder.glob(form.format(name))}
