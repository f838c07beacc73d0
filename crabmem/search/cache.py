"""An index kept in a folder: derived, and disposable at any time. What is not whole and ours counts as absent.

Its segments, read in place, and a small one of what changed since, rewritten by every save. Writers do not wait for
one another: each file is exchanged whole, and changes say which segment they belong to.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..disk import derived, fs
from .index import Index
from .segment import Damaged, Segment

# Files. `base` is the large segment, `more` belongs to it, and `later` to the last of these that counts.
_SETTLED = ("base", "more")
_LATER = "later"


def load(folder: Path | str) -> Index | None:
    """The index that was kept in `folder`; None when there is none, or none that can be trusted."""
    base, more, later = (_read(folder, name) for name in (*_SETTLED, _LATER))
    if base is None:
        return None
    if _belongs(later, base) or more is None or not _belongs(more, base):
        return Index([base], later if _belongs(later, base) else None)
    return Index([base, more], later if _belongs(later, more) else None)


def _belongs(later: Segment | None, segment: Segment) -> bool:
    return later is not None and later.base == segment.identity


def save(index: Index, folder: Path) -> bool:
    """Write `index` into `folder`, a settled segment only where it changed; return whether that could be done."""
    if derived.is_elsewhere(folder / _LATER):
        return False
    try:
        fs.make_folder(folder)
        _sweep(folder)
        for name, segment in zip(_SETTLED, index.settled(), strict=False):
            kept = _read(folder, name)
            if kept is None or kept.identity != segment.identity:
                derived.save(folder / name, bytes(segment.data))
        derived.save(folder / _LATER, bytes(index.later().data))
    except OSError:
        return False
    return True


def _read(folder: Path | str, name: str) -> Segment | None:
    data = derived.mapped(os.path.join(folder, name))
    try:
        return None if data is None else Segment(data)
    except Damaged:
        return None


def _sweep(folder: Path) -> None:
    """Remove the temporary files, `name.PID.…`, of writers that were killed: no process has that id now."""
    for file in folder.glob("*.*.*"):
        pid = file.name.split(".")[1]
        if pid.isdigit() and not fs.is_alive(int(pid)):
            fs.unlink(file)
