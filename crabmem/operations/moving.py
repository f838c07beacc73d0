"""Moving facts between two memories that a session sees: a commit on each side, which undo and redo treat as one.

The side that gets the fact is written first: after a crash in between it is in both memories, never in none.
"""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..errors import CrabmemError, Disabled, Inapplicable, InvalidArguments, NotFound, Unwritable
from ..git.commits import Note
from ..results import Commit, MovedFact
from ..session import rules
from ..session.scopes import addressed, command_for, others, scope, scope_of
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.commands import command
from ..text.entry import Entry, Fact, checked, decode, with_sources_of
from ..text.sources import SOURCES, SOURCES_OF
from ..text.values import replace
from ..write.draft import Draft
from .move_ways import Side, other_side, way_from_elsewhere, way_to_the_fact
from .plan import Plan
from .undo import Undo


def move(session: Session, name: str, to: str) -> MovedFact:
    """Move the entry called `name` into the memory called `to`. Its file keeps its bytes, but for `sources_of`.

    That key says which project the entry's sources are files of. A move out of the project's memory adds it, and a move
    back removes it.

    `name` may be an address, as in the answers of recall: `me:Editor` moves from the memory `me`. A bare name that the
    memory at hand does not have is looked for in the others that the session sees.

    Raises:
        NotFound: there is no such entry, or no memory called `to` is seen.
        InvalidArguments: the entry is in that memory already.
        AlreadyThere: another fact in that memory has the entry's name.
        Disabled: writes of this actor may have to wait for a person, in one of both memories.
    """
    rules.check_may_write(session)
    target = scope(session, to)
    source, name = _find(session, name)
    if target.root == source.root:
        raise InvalidArguments(f"{name} is in {to} already")
    for side in (source, target):
        if side.actor.may_wait(side.settings.review):
            raise Disabled("a person moves facts where what is written waits for one")
    entry, data = source.look(lambda now: _with_data(now, name))
    came_from = scope_of(session, source)
    token = secrets.token_hex(8)  # both commits get it, so that undo finds one by the other
    note = _note(target, f"{entry.name} from {came_from or session.engine.scopes.own}", entry, token)
    path, is_added = _put(target, entry, _data_for(target, source, entry, data), note)

    if not is_added:  # it was there: if a move that was cut short put it there, this one goes on with its token
        last = next(target.timeline.commits(path, None, None), None)
        token = last.moved if last and last.moved and last.tool == "move" else token

    def decide(now: Snapshot) -> Draft[None]:
        source.timeline.check_version(entry.path, now.scan.files.get(entry.path), entry.version, now.view.allows)
        return Draft({entry.path: None}, _note(source, f"{entry.name} to {to}", entry, token), None)

    try:
        done = source.write(decide)
    except CrabmemError:
        # Take the copy back; but where somebody else has moved the entry meanwhile, it is the only one left.
        if is_added and source.read(entry.path) is not None:
            returned = _note(target, f"{entry.name} back", entry, token)
            target.write(lambda now: Draft({path: None}, returned, None))
        raise
    # `crabmem undo` in the memory at hand does not take back a move between two others: this command does.
    is_elsewhere = session.root not in (source.root, target.root)
    back = command("move", f"{to}:{entry.name}", f"--to {came_from}", command_for(session)) if is_elsewhere else ""
    return MovedFact(entry.name, path, entry.path, to, done.commit, back)


def _find(session: Session, name: str) -> tuple[Session, str]:
    """The session on the memory that has the entry a name or an address means, and the entry's name there.

    Raises:
        NotFound: no memory that is seen has such an entry.
    """
    one, own = addressed(session, name)
    try:
        one.look(lambda now: now.get(own))
    except NotFound:
        for other in others(session).values() if own == name else ():
            with suppress(NotFound):
                other.look(lambda now: now.get(own))
                return other, own
        raise
    return one, own


def both_sides(session: Session, commit: Commit, take_back: Callable[[Session, Commit], None]) -> None:
    """Take back, or bring back, both commits of the move that `commit` is part of: each by `take_back`, or neither.

    If the other side was done already, as before a crash in between, only this side is.

    Raises:
        Inapplicable: no memory that is seen here has the other side, or the fact was changed since on either side.
    """
    found = other_side(session, commit)
    if found is None:
        words = f"its other side is in a memory that is not seen from here: {commit.subject}"
        older = f"`{command_for(session)} undo ID` takes back an older change, by its id in `crabmem log`"
        raise Inapplicable(f"{words}; {way_from_elsewhere(session, commit)}; {older}")
    sides = [(session, commit), *([found] if found[1].tool == commit.tool else [])]
    both = [(session, commit), found]
    try:
        states = [Undo(side.timeline).without(each, side.engine.store.scan()) for side, each in sides]
    except Inapplicable:  # its message may name a commit of the other memory
        words = f"it was changed since: {commit.subject}"
        raise Inapplicable(f"{words}; nothing was taken back, {way_to_the_fact(session, both)}") from None
    if not _is_one_text(sides):
        words = f"the two sides of it do not say the same any more, as after a purge: {commit.subject}"
        raise Inapplicable(f"{words}; nothing was taken back, {way_to_the_fact(session, both)}")
    # The side that gets the fact comes first; None is the state of a file that goes.
    ordered = [side for _, side in sorted(zip(states, sides, strict=True), key=lambda item: None in item[0].values())]
    take_back(*ordered[0])
    try:
        for side in ordered[1:]:
            take_back(*side)
    except CrabmemError:
        first, _ = ordered[0]  # its head is what `take_back` has just written: take that back
        take_back(first, first.engine.history.commit(first.timeline.head() or ""))
        raise


def _is_one_text(sides: Sequence[Side]) -> bool:
    """Whether the text that comes back on one side is the one that goes on the other, apart from `sources_of`."""
    texts = set()
    for session, commit in sides:
        for path, blobs in Undo(session.timeline).changes(commit.commit).items():
            text = decode(path, session.engine.history.blob(next(filter(None, blobs))))
            with suppress(Unwritable):  # a move leaves a header that cannot be read as it is
                text = with_sources_of(path, text, None)
            texts.add(text)
    return len(texts) <= 1


def _with_data(now: Snapshot, name: str) -> tuple[Entry, bytes]:
    entry = now.get(name)
    return entry, now.read(entry.path) or b""


def _data_for(target: Session, source: Session, entry: Entry, data: bytes) -> bytes:
    """The bytes of an entry's file for `target`: with `sources_of` if it has sources of another project."""
    of = entry.keys.get(SOURCES_OF, source.engine.sources.own) if SOURCES in entry.keys else ""
    if not (of and isinstance(of, str)):
        return data
    said = None if of == target.engine.sources.own else of
    return with_sources_of(entry.path, decode(entry.path, data), said).encode()


def _put(target: Session, entry: Entry, data: bytes, note: Note) -> tuple[str, bool]:
    """Write the file of an entry into `target`; return its path there, and whether it was written.

    False: a copy was there already, as after a move that was cut short.

    Raises:
        AlreadyThere: another fact there has the entry's name.
    """
    fact = checked(Fact(entry.name, entry.description, entry.content, entry.aliases, entry.tags))
    screen = rules.screen(target, fact.words)

    def decide(now: Snapshot) -> Draft[str]:
        plan = Plan(now, screen)
        path = plan.add(fact, may_replace=False)
        return Draft(plan.files if path in now.scan.files else {path: data}, note, path)

    done = target.write(decide)
    return done.result, done.commit is not None


def _note(session: Session, words: str, entry: Entry, token: str) -> Note:
    """The message of one of the two commits of a move; the trailer `Moved` has the `token` that both share."""
    note = rules.note(session, "move", words)
    return replace(note, trailers=(*note.trailers, ("Entry", entry.name), ("Moved", token)))
