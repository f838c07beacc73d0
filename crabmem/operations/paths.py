"""Where what is called so lies: an entry, or a whole file as the overview; now, or when history last knew it."""

from __future__ import annotations

from ..errors import NotFound
from .reading import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.session import Session
    from ..session.snapshot import Snapshot


def whole_file(now: Snapshot, name: str) -> str | None:
    """The path of MEMORY.md, Crab.md or the settings, where `name` means one; an entry's path means the entry."""
    path = now.layout.whole_file(name)
    is_of_entry = path is not None and now.layout.is_entry(name) and name in now.files
    return None if is_of_entry else path


def path_of(session: Session, name: str) -> str:
    """Where the entry called `name` is, or was when it was last written about; or MEMORY.md, Crab.md.

    Raises:
        NotFound: there is none, nor ever was, that this session may see.
    """
    try:
        path = session.look(lambda now: whole_file(now, name)) or get(session, name).path
    except NotFound:
        last = session.timeline.last_path(name)
        if last is None or not session.view.allows(last):
            raise
        return last
    if not session.view.allows(path):
        raise NotFound(f"no fact called {name}")
    return path


def path_at(session: Session, name: str, commit: str) -> str:
    """Where the entry called `name` is, or else was at `commit`, or else when it was last written about."""
    try:
        return path_of(session, name)
    except NotFound:
        return get(session, name, commit).path
