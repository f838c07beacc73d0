"""Texts for a move that cannot be taken back here: where its fact is now, and the command that brings it back.

The other side of a move is looked for in the memories that the session sees (`others`); else from the memories that it
does not see, but that may see both sides (`elsewhere`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from shlex import quote
from typing import NamedTuple, TypeAlias

from ..errors import CrabmemError, Inapplicable
from ..results import Commit
from ..session.scopes import command_for, others, scope_of
from ..session.session import Session
from ..text.commands import command
from ..text.entry import entry_in
from ..text.hashes import short
from .undo import Undo

#: A session on one of both memories of a move, and the commit there.
Side: TypeAlias = tuple[Session, Commit]

# So many commits of the other memory are looked at for its side of a move.
_LOOKED_AT = 2_000


class _Change(NamedTuple):
    """A file that the commit of one side of a move changed: its blobs before and after, None for no file."""

    side: Session
    commit: Commit
    path: str
    before: str | None
    after: str | None


def other_side(session: Session, commit: Commit) -> Side | None:
    """The other memory of a move, with its newest commit of that move; None if the session sees no such memory."""
    found = ((other, _newest_of_move(other, commit)) for other in others(session).values())
    return next(((other, theirs) for other, theirs in found if theirs), None)


def way_back(session: Session, commit: Commit) -> str:
    """Say how to take back the move that `commit` is part of: the command, run where both memories are seen."""
    if found := other_side(session, commit):
        return _undo_or_move(session, [(session, commit), found])
    return way_from_elsewhere(session, commit)


def way_from_elsewhere(session: Session, commit: Commit) -> str:
    """Say how to take back a move whose other side `session` does not see: by a command in a memory that sees both."""
    for other in _elsewhere(session):
        if (theirs := _newest_of_move(other, commit)) and (here := others(other).get(scope_of(other, session))):
            return _undo_or_move(other, [(other, theirs), (here, commit)])
    return "undo it where both are seen"


def way_to_the_fact(session: Session, sides: Sequence[Side]) -> str:
    """Say how to bring back a fact when its move cannot be undone: as it is now, else as it was before the move.

    The commands are for `session`, which sees both `sides`.
    """
    changes = [change for side, commit in sides for change in _changes(side, commit)]
    put = next((change for change in changes if change.after is not None), None)
    removed = next((change for change in changes if change.after is None), None)
    if removed is None:
        return "`crabmem log` says where it went"
    source, source_commit, old_path = removed.side, removed.commit, removed.path
    if source.engine.store.scan().files.get(old_path):
        name = _address_of(session, source, old_path)
        return f"`{command_for(session)} rename {quote(name)} NAME` makes room for it, as another fact has its place"
    if put and (name := _current_address(session, put.side, put.path)):
        to = scope_of(session, source) or session.engine.scopes.own
        return f"`{command('move', name, f'--to {to}', command_for(session))}` moves it back as it is now"
    name = source_commit.entries[0] if source_commit.entries else old_path
    before = f"--to {short(source_commit.parents[0])}"
    return f"`{command('restore', name, before, command_for(source))}` brings it back as it was"


def _undo_or_move(session: Session, sides: Sequence[Side]) -> str:
    """Name `undo` (or `undo --redo`, if the move was undone) if it would take that move next; else the way to the fact.

    The first of `sides` is the one on the memory of `session`.
    """
    undo, (_, commit) = Undo(session.timeline), sides[0]
    choose, verb = (undo.to_redo, "undo --redo") if commit.tool == "undo" else (undo.to_undo, "undo")
    with suppress(Inapplicable):
        if choose().moved == commit.moved:
            return f"`{command_for(session)} {verb}` takes that back on both sides"
    return way_to_the_fact(session, sides)


def _newest_of_move(session: Session, commit: Commit) -> Commit | None:
    """The newest commit in the memory of `session` that is part of the same move as `commit`; None if there is none."""
    newest = islice(session.timeline.commits(None, None, None), _LOOKED_AT)
    return next((each for each in newest if each.moved == commit.moved), None)


def _elsewhere(session: Session) -> Iterator[Session]:
    """Sessions on the memories that this one does not see, but that may see it, as far as they can be opened."""
    for engine in session.engine.scopes.elsewhere():
        with suppress(CrabmemError):
            yield Session(engine, session.actor, session.kind)


def _changes(side: Session, commit: Commit) -> Iterator[_Change]:
    for path, (before, after) in Undo(side.timeline).changes(commit.commit).items():
        yield _Change(side, commit, path, before, after)


def _address_of(session: Session, side: Session, path: str) -> str:
    """The address, from `session`, of the entry at `path` on `side`."""
    entry, scope = entry_in(path, side.read(path) or b""), scope_of(session, side)
    name = entry.name if entry else path
    return f"{scope}:{name}" if scope else name


def _current_address(session: Session, side: Session, path: str) -> str:
    """The address, from `session`, of the entry that a move put at `path` on `side`; "" if it is gone.

    Renames since are followed: each is the newest commit on the path so far, and newer than the rename before. So this
    ends even if an entry came back to its first path.
    """
    while (last := next(side.timeline.commits(path, None, None), None)) and last.renamed and last.renamed[0] == path:
        path = last.renamed[1]
    return _address_of(session, side, path) if side.read(path) is not None else ""
