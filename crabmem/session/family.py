"""Files of an agent's own workspace, and of the one around it, which gives what that lacks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..disk.store import Store
from ..workspace.layout import DEFAULT, Layout
from .view import View

if TYPE_CHECKING:
    from .session import Session


def own_file(session: Session, path: str, at: str | None = None) -> bytes | None:
    """The bytes of a file, now or as it was at a revision or time; None where there is none, or it is hidden."""
    if not session.view.allows(path):
        return None
    if at is not None:
        return session.timeline.file(session.timeline.commit_at(at), path)
    data = session.engine.store.read(path)
    if data is None:
        session.engine.check_not_moved()
    return data


def parents_file(session: Session, path_in: Callable[[Layout], str], at: str | None = None) -> bytes | None:
    """The bytes of a file of the workspace around an agent's own; None where there is none, of either."""
    if (parent := session.engine.parent()) is None:
        return None
    path = path_in(parent.layout)
    if session.kind != "main":
        from ..prompt.profile import load_profile  # late: most sessions are main

        if not View.of(load_profile(parent.profile or DEFAULT), session.kind).allows(path):
            return None
    if at is not None:
        return session.timeline.file_of(parent, session.timeline.commit_at(at), path)
    now_ns = int(session.engine.clock().timestamp() * 1_000_000_000)
    return Store(parent, lambda: now_ns).read(path)


def neighbours(session: Session) -> list[str]:
    """The names of the agents that have a workspace beside this one; none where this is no agent's own."""
    if session.engine.workspace.around is None:
        return []
    return [each.name for each in folders_in(session.root.parent) if each.name != session.root.name]


def folders_in(home: Path) -> list[Path]:
    """The folders in `home`, by name; none that only links lead to."""
    if os.path.islink(home) or not os.path.isdir(home):
        return []
    seen = (each for each in home.iterdir() if each.name[0] != "." and not each.is_symlink())
    return sorted(each for each in seen if each.is_dir())
