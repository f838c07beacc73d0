"""An index kept in a folder: derived, and disposable at any time. What is not whole and ours counts as absent.

Two files: the large segment, read in place, and a small one of what changed since. Writers do not wait for
one another: each file is exchanged whole, and changes say which segment they belong to.
"""

from __future__ import annotations

import mmap
import os
from _thread import get_ident

from .index import Index
from .segment import Segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_BASE = "base"
_LATER = "later"


def load(folder: Path | str) -> Index | None:
    """The index that was kept in `folder`; None when there is none, or none that can be trusted."""
    base, later = _read(folder, _BASE), _read(folder, _LATER)
    if base is None:
        return None
    return Index([base, later] if later and later.base == base.identity else [base])


def save(index: Index, folder: Path) -> bool:
    """Keep `index` in `folder`, and whether that worked: a cache that cannot be written is none."""
    try:
        kept = _read(folder, _BASE)
        if kept is None or kept.identity != index.base().identity:
            _write(folder, _BASE, index.base())
        _write(folder, _LATER, index.later())
    except OSError:
        return False
    return True


def _read(folder: Path | str, name: str) -> Segment | None:
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return Segment(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # nothing there, an empty file, or `Damaged`
        return None


def _write(folder: Path, name: str, segment: Segment) -> None:
    from contextlib import suppress

    from .. import fs  # far more than a process that only asks needs

    own = folder / f"{name}.{os.getpid()}-{get_ident()}"
    try:
        fs.make_folder(folder)
        fs.hint(own, bytes(segment.data))
        fs.rename(own, folder / name)
    except OSError:
        with suppress(OSError):
            fs.unlink(own)
        raise
