"""Words for a move that cannot be taken back: where its fact is now, and the command that brings it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from shlex import quote
from typing import TypeAlias

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


def other_side(session: Session, commit: Commit) -> Side | None:
    """The other side of a move, with the newest commit there that is of it; None where it is not seen."""
    found = ((other, _newest_of(other, commit)) for other in others(session).values())
    return next(((other, theirs) for other, theirs in found if theirs), None)


def way_back(session: Session, commit: Commit) -> str:
    """How the move that `commit` is of is taken back, where its other side is found, in words that name a command."""
    if found := other_side(session, commit):
        return _undo_or_move(session, [(session, commit), found])
    return way_from_elsewhere(session, commit)


def way_from_elsewhere(session: Session, commit: Commit) -> str:
    """The same where `session` does not see the other side: from a memory that may see both."""
    for other in _elsewhere(session):
        if (theirs := _newest_of(other, commit)) and (here := others(other).get(scope_of(other, session))):
            return _undo_or_move(other, [(other, theirs), (here, commit)])
    return "undo it where both are seen"


def way_to_the_fact(session: Session, sides: Sequence[Side]) -> str:
    """The same, where no undo takes it back: by the fact as it is now, as a session says it that sees both sides."""
    states = [(side, commit, path, blobs) for side, commit in sides for path, blobs in _files(side, commit)]
    put = next(((side, path) for side, _, path, (_, after) in states if after is not None), None)
    gone = next(((side, commit, path) for side, commit, path, (_, after) in states if after is None), None)
    if gone is None:
        return "`crabmem log` says where it went"
    home, commit, free = gone
    if home.engine.store.scan().files.get(free):
        taken = _called(session, home, free)
        return f"`{command_for(session)} rename {quote(taken)} NAME` makes room for it, as another fact has its place"
    if put and (name := _called_now(session, *put)):
        to = scope_of(session, home) or session.engine.scopes.own
        return f"`{command('move', name, f'--to {to}', command_for(session))}` moves it back as it is now"
    name = commit.entries[0] if commit.entries else free
    before = f"--to {short(commit.parents[0])}"
    return f"`{command('restore', name, before, command_for(home))}` brings it back as it was"


def _undo_or_move(session: Session, sides: Sequence[Side]) -> str:
    undo, (_, commit) = Undo(session.timeline), sides[0]
    choose, verb = (undo.to_redo, "undo --redo") if commit.tool == "undo" else (undo.to_undo, "undo")
    with suppress(Inapplicable):
        if choose().moved == commit.moved:
            return f"`{command_for(session)} {verb}` takes that back on both sides"
    return way_to_the_fact(session, sides)


def _newest_of(session: Session, commit: Commit) -> Commit | None:
    """The newest commit of a memory that is of the same move."""
    newest = islice(session.timeline.commits(None, None, None), _LOOKED_AT)
    return next((each for each in newest if each.moved == commit.moved), None)


def _elsewhere(session: Session) -> Iterator[Session]:
    for engine in session.engine.scopes.elsewhere():
        with suppress(CrabmemError):
            yield Session(engine, session.actor, session.kind)


def _files(session: Session, commit: Commit) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    yield from Undo(session.timeline).changes(commit.commit).items()


def _called(session: Session, side: Session, path: str) -> str:
    """The name of the entry at a path of one side, as it is called where `session` works."""
    entry, scope = entry_in(path, side.read(path) or b""), scope_of(session, side)
    name = entry.name if entry else path
    return f"{scope}:{name}" if scope else name


def _called_now(session: Session, side: Session, path: str) -> str:
    """The same of the entry that a move put at a path, which may have got another name since; "" where it is gone."""
    last = next(side.timeline.commits(path, None, None), None)
    if last and last.renamed and last.renamed[0] == path:
        path = last.renamed[1]
    return _called(session, side, path) if side.read(path) is not None else ""
