"""Files with both texts of a merge in them, between marks that Git left: nobody recalls them until a person decides.

A sync leaves none; a `git pull`, a rebase or a forge may.
"""

from __future__ import annotations

from ..errors import Disabled, NotFound
from ..session import rules
from ..text.edit import is_in_conflict, sides_of_conflict
from ..text.merge import Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..results import Changed
    from ..session.session import Session
    from ..session.snapshot import Snapshot
    from ..write.writer import Draft


def marked(session: Session) -> tuple[str, ...]:
    """The paths of the files that hold such marks."""

    def read(now: Snapshot) -> tuple[str, ...]:
        others = {path for path in now.files if not now.layout.is_entry(path)}
        broken = {item.path for item in now.entries.unreadable}
        return tuple(sorted(path for path in others | broken if is_in_conflict(now.shown(path))))

    return session.look(read)


def take_side(session: Session, path: str, side: Side) -> Changed:
    """Have one text instead of both in the file at `path`: "ours" is the first between the marks, "theirs" the second.

    Raises:
        Disabled: an agent asks.
        NotFound: it holds no marks, or not all of them.
    """
    from ..write.writer import Draft
    from .changes import changed

    if session.actor.agent:
        raise Disabled("a person decides between two texts, and no agent; ask the person to run `crabmem resolve`")
    note = rules.note(session, "resolve", f"{path.rpartition('/')[2]}, where Git had left marks")

    def decide(now: Snapshot) -> Draft[None]:
        sides = sides_of_conflict(now.text(path) or "")
        if sides is None:
            raise NotFound(f"{path} has no two texts between whole marks of Git's; edit it")
        return Draft({path: sides[side == "theirs"].encode()}, note, None)

    return changed(session, session.write(decide), path)
