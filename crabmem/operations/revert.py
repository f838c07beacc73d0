"""The way back: files, a past state, or what somebody did, always as one more commit. Nothing is erased."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..disk.scan import Scan
from ..errors import Disabled, InvalidArguments, NotFound
from ..git import Note
from ..git.revert import Reverting, Unwanted, noted, subject
from ..git.timeline import State, going_back
from ..results import Commit, Restored, Reverted
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.edit import counted
from ..text.hashes import short
from ..text.merge import Take
from ..write.writer import Draft, Written
from .changes import diff_of
from .paths import path_at


def restore(session: Session) -> Restored:
    """Bring back the files that are gone from disk and were not forgotten, and the entries that were emptied there.

    Those that `unrecorded` tells of, and any others that were deleted since the last write. An agent does not
    bring back the identity, which it may not write, or the settings.
    """
    engine, head = session.engine, session.timeline.head()
    scan = engine.store.scan()
    outside = engine.writer.outside(scan)
    held = engine.writer.unrecorded(scan)
    gone = {path for path, file in outside.items() if file is None} | set(held.paths if held else ())
    blobs = {path: engine.history.file(head, path) for path in gone - rules.kept_from_actor(session)}
    if not blobs:
        return Restored(None, head or "", (), "")
    return _restored(
        session, head or "", lambda scan: blobs, rules.note(session, "restore", counted(len(blobs), "file"))
    )


def rollback(
    session: Session, to: str, name: str | None = None, *, dry_run: bool = False, even_if_many: bool = False
) -> Restored:
    """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

    With `name`, that entry alone, with the name and file name it had. With `dry_run` nothing is written, and the
    answer says what would be.

    Raises:
        NotFound: there is no such revision, the history begins later, or there was no such entry then.
        InvalidArguments: another entry has the file name that it had.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    timeline, history = session.timeline, session.engine.history
    commit = timeline.commit_at(to)
    words = f"to {short(commit)}" if commit.startswith(to) else f"to {to} ({short(commit)})"
    if name is None:
        state = timeline.state_of(commit)
        note = noted(rules.note(session, "rollback", words), restored=commit)
        return _restored(
            session, commit, lambda scan: {**dict.fromkeys(scan.files), **state}, note, dry_run, even_if_many
        )
    path, note = path_at(session, name, commit), rules.note(session, "rollback", f"{name} {words}")
    then = timeline.path_at(path, commit)
    blob = history.file(commit, then)
    if blob is None:
        raise NotFound(f"there was no {then} at {to}; `crabmem forget` removes what is there now")
    if then != path and then in session.engine.store.scan().files:
        raise InvalidArguments(f"{then}, where it was at {to}, is another entry now; rename that one first")
    return _restored(session, commit, lambda scan: {path: None, then: blob}, note, dry_run)


def revert(
    memory: Session,
    commits: str | Sequence[str] = (),
    *,
    session: str | None = None,
    agent: str | None = None,
    since: str | None = None,
    take: Take = None,
    dry_run: bool = False,
    even_if_many: bool = False,
) -> Reverted:
    """Take back `commits`, or what a session or an agent did, as one new commit; later work stays.

    Of a session or an agent, only what was done after the revision or time `since`, and was not taken back
    before. Where the same lines were changed since, `take` decides: "ours" keeps what is there now, "theirs"
    takes them back all the same. A commit of which something was kept does not count as taken back: its session
    can be reverted again, with "theirs". Of a merge, what it brought into the branch is taken back. With `dry_run`
    nothing is written, and the answer says what would be.

    Raises:
        Conflicting: the same lines were changed since, and `take` is None.
        NotFound: there is no such commit.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    named = (commits,) if isinstance(commits, str) else tuple(commits)
    memory.view.check_whole()
    unwanted, reverting = Unwanted(named, session, agent, since), Reverting(memory.engine.history, memory.timeline)
    chosen = reverting.chosen(unwanted)

    def decide(now: Snapshot) -> Draft[set[str]]:
        found = reverting.without(chosen, now.scan, take)
        _check_may_restore(memory, set(found.files))
        whole = [commit for commit in chosen if commit.commit not in found.kept]
        note = noted(rules.note(memory, "revert", subject(chosen, unwanted)), whole)
        return Draft(found.files, note, set(found.kept), even_if_many)

    done = memory.write(decide, dry_run=dry_run)
    in_part = tuple(commit for commit in chosen if commit.commit in done.result)
    return Reverted(done.commit, tuple(chosen), tuple(done.after), diff_of(done), in_part)


def undo(session: Session, *, even_if_many: bool = False) -> Restored:
    """Take back the newest commit as a new one; undoing again takes back the one before it, and so on.

    What was changed outside and not recorded yet is recorded first: then that is the newest. A commit that holds
    nothing of memory is passed over.

    Raises:
        InvalidArguments: there is nothing to undo, or its files were changed since.
        MassLoss: too many of the entries would be gone at once, and they were there before that commit, in memory
            or on the disk; `even_if_many` says that this is meant.
    """

    def is_meant(commit: Commit) -> bool:
        # What an operation added was not there before; what a commit recorded, or brought back, was.
        was_there = commit.tool in (None, "restore") or commit.reverts or commit.restores
        return even_if_many or not was_there

    return _taken_back(session, "undo", session.timeline.to_undo, is_meant)


def redo(session: Session, *, even_if_many: bool = False) -> Restored:
    """Bring back what the newest undo took back; after several, doing it again brings back the next.

    Raises:
        InvalidArguments: something else was written since, here or outside, or nothing was undone.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    return _taken_back(session, "redo", session.timeline.to_redo, lambda commit: even_if_many)


def _taken_back(
    session: Session, verb: str, choose: Callable[[], Commit], is_meant: Callable[[Commit], bool]
) -> Restored:
    """Take back the commit to `choose`, which is called when outside edits are recorded and nobody else writes."""
    timeline = session.timeline

    def decide(now: Snapshot) -> Draft[tuple[Commit, Commit]]:
        commit = choose()
        operation = timeline.operation(commit)
        note = noted(rules.note(session, "rollback", going_back(verb, operation.subject)), [commit])
        files = _files_with(session, timeline.without(commit, now.scan), now.scan)
        return Draft(files, note, (commit, operation), is_meant(commit))

    done = session.write(decide, is_seeded=False)  # what a clone begins with would be the newest commit
    commit, operation = done.result
    return replace(_result(done, commit.parents[0]), operation=operation)


def _restored(
    session: Session,
    to: str,
    wanted: Callable[[Scan], State],
    note: Note,
    dry_run: bool = False,
    even_if_many: bool = False,
) -> Restored:
    """Write the blobs that `wanted` names by path (None: no file), and say what that changed."""

    def decide(now: Snapshot) -> Draft[None]:
        return Draft(_files_with(session, wanted(now.scan), now.scan), note, None, even_if_many)

    return _result(session.write(decide, dry_run=dry_run), to)


def _files_with(session: Session, blobs: State, scan: Scan) -> dict[str, bytes | None]:
    """What writes those of `blobs` that the files do not say yet."""
    changed = {path for path, blob in blobs.items() if blob != scan.blob(path)}
    _check_may_restore(session, changed)
    read = session.engine.history.blob
    return {path: read(blob) if (blob := blobs[path]) else None for path in sorted(changed)}


def _check_may_restore(session: Session, paths: set[str]) -> None:
    """Refuse an agent the way back to an identity or settings that the person has changed since."""
    if changed := sorted(paths & rules.kept_from_actor(session)):
        raise Disabled(f"that would change {changed[0]}, which an agent may not; a person may go back")


def _result(done: Written[object], to: str) -> Restored:
    """What a write changed that went back to the commit `to`."""
    gone = tuple(path for path, data in done.after.items() if data is None)
    return Restored(done.commit, to, tuple(done.after), diff_of(done), gone)
