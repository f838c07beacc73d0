"""Deciding between two texts of one file: of two machines, or of a merge by Git.

A text that waits after a sync is a proposal (`proposals.is_of_sync`). A merge by Git leaves both texts in the file,
between conflict marks: recall leaves it out until a person decides. A sync leaves no marks; a `git pull`, a rebase or a
forge may.
"""

from collections.abc import Iterable

from ..errors import Disabled, NotFound
from ..recall.labels import NAME
from ..recall.names import place_for
from ..results import Changed, Commit, Disputed, Proposal
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text import frontmatter
from ..text.edit import is_in_conflict, lenient_text, sides_of_conflict
from ..text.entry import MAX_DESCRIPTION, Entry, entry_in
from ..text.hashes import blob_id
from ..text.merge import Conflict, Conflicting, Side, with_both
from ..text.slug import name_key, spelled
from ..write.draft import Draft
from .changes import changed
from .proposals import Wording, apply_proposal, is_of_sync, proposals, reject_proposal

_DESCRIPTION = "description"


def disputed(session: Session) -> list[Disputed]:
    """The texts of other machines that wait to be decided, the oldest first, with who wrote them and what is there."""
    return [_disputed(session, each) for each in filter(is_of_sync, proposals(session))]


def _disputed(session: Session, proposal: Proposal) -> Disputed:
    """A proposal of a sync, with the newest commit that wrote a line only our text has, and the same for their text.

    Their text is blamed at the commit that wrote it, as the head does not have it.
    """
    history, path = session.engine.history, proposal.path
    now = session.look(lambda now: now.read(path)) or b""
    theirs = proposal.data or b""
    # The path at which it was written: the file may have got another name since.
    then = next((at for at, _, blob in history.changes.of(proposal.id) if blob == blob_id(theirs)), path)
    wrote = history.last_changes({then: blob_id(theirs)}).get(then)
    return Disputed(
        proposal,
        _newest(session, now, theirs, path, [None]),
        _newest(session, theirs, now, then, [wrote.commit] if wrote else []),
    )


def _newest(session: Session, text: bytes, other: bytes, path: str, at: Iterable[str | None]) -> Commit | None:
    """The newest commit that wrote a line of `text` which `other` lacks; None if none did.

    `text` is blamed as the file at `path` in each of the commits `at`; None is the head.
    """
    lacking = {*text.split(b"\n")}.difference(other.split(b"\n"))
    found: list[Commit] = []
    for commit in at:
        owners = session.engine.history.owners(text, path, commit)
        lines = zip(text.split(b"\n"), owners, strict=False)
        found += [owner for line, owner in lines if owner and line in lacking]
    return max(found, key=lambda each: each.time, default=None)


def both_texts(session: Session, proposal: Proposal) -> tuple[bytes, bool]:
    """The file with the lines of both texts, ours first, and whether nothing of either text is lost.

    If only the descriptions clash, they are joined with a semicolon. Any other key with two values keeps ours: then
    something is lost.
    """
    now, theirs = session.look(lambda now: now.read(proposal.path)) or b"", proposal.data or b""
    done = with_both(proposal.path, now, theirs)
    data, entries = done.data or b"", [entry_in(proposal.path, each) for each in (now, theirs)]
    if len(done.conflicts) == 1 and (done.conflicts[0].ours or "").startswith(f"{_DESCRIPTION}:"):
        joined = "; ".join(each.description for each in entries if each)
        return _with_key(data, _DESCRIPTION, joined), len(joined) <= MAX_DESCRIPTION
    return data, not done.conflicts


def keep_both(session: Session, proposal: Proposal) -> tuple[str, ...]:
    """Keep both texts: their lines in one file, or two facts where a key has two values. Return the paths of the facts.

    The second fact gets a free name, as "Editor (2)". The proposal is settled either way: applied, or else rejected.

    Raises:
        Disabled: an agent asks.
        Conflicting: both texts cannot be in one file, and the file is not a fact.
    """
    path, (data, is_all) = proposal.path, both_texts(session, proposal)
    if is_all:
        now = session.look(lambda now: now.read(path))
        apply_proposal(session, proposal.id, {path: Wording(data.decode(), now)})
        return (path,)
    entry = entry_in(path, proposal.data or b"") if session.layout.is_entry(path) else None
    if entry is None or entry.problem:
        texts = Conflict(path, None, lenient_text(proposal.data))
        raise Conflicting((texts,), f"both texts cannot be in one file: `crabmem review resolve {path} --edit`")
    _check_person(session)
    note = rules.note(session, "resolve", f"{entry.name}, both as facts")

    def decide(now: Snapshot) -> Draft[str]:
        name, place = _free(now, entry)
        return Draft({place: _with_key(proposal.data or b"", "name", name)}, note, place)

    second = session.write(decide).result
    reject_proposal(session, proposal.id)
    return path, second


def _check_person(session: Session) -> None:
    if session.actor.is_agent:
        raise Disabled(
            "a person decides between two texts, and no agent; ask the person to run `crabmem review resolve`"
        )


def _free(now: Snapshot, entry: Entry) -> tuple[str, str]:
    """A name that no fact has, made of the name of `entry` and a number, and an unused path for it."""
    names = (f"{spelled(entry.name)} ({number})" for number in range(2, 1_000))
    name = next(each for each in names if not now.entries.having(NAME + name_key(each)))
    return name, place_for(name, now.listing)


def _with_key(data: bytes, key: str, value: str) -> bytes:
    """The bytes of a fact with one key of its header set."""
    parts = frontmatter.parts_of(data.decode())
    keys = frontmatter.with_keys(parts.header or "", {key: value}, parts.newline)
    return f"{parts.bom}{parts.opening}{keys}{parts.closing}{parts.content}".encode()


def marked(session: Session) -> tuple[str, ...]:
    """The paths of the files that hold conflict marks of Git. Of facts only unreadable ones can: the others parse."""

    def read(now: Snapshot) -> tuple[str, ...]:
        others = {path for path in now.files if not now.layout.is_entry(path)}
        broken = {item.path for item in now.entries.unreadable}
        return tuple(sorted(path for path in others | broken if is_in_conflict(now.shown(path))))

    return session.look(read)


def take_side(session: Session, path: str, side: Side) -> Changed:
    """Resolve the conflict marks in the file at `path`: "ours" keeps the first text between them, "theirs" the second.

    Raises:
        Disabled: an agent asks.
        NotFound: the file holds no conflict marks, or not all of them.
    """
    _check_person(session)
    note = rules.note(session, "resolve", f"{path.rpartition('/')[2]}, where Git had left marks")

    def decide(now: Snapshot) -> Draft[None]:
        sides = sides_of_conflict(now.text(path) or "")
        if sides is None:
            raise NotFound(f"{path} has no two texts between whole marks of Git's; edit it")
        return Draft({path: sides[side == "theirs"].encode()}, note, None)

    return changed(session, session.write(decide), path)
