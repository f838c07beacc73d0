"""The way back: files, a past state, or what somebody did, always as one more commit. Nothing is erased."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import get_args

from ..disk.scan import Scan
from ..errors import CrabmemError, Disabled, Inapplicable, InvalidArguments, NotFound
from ..git.commits import Note, is_join
from ..git.timeline import State, Timeline
from ..results import Commit, Restored, Reverted
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.hashes import short
from ..text.merge import Conflict, Conflicting, Side, Take, merge
from ..text.values import replace
from ..text.words import counted
from ..write.draft import Draft, Written
from .adoption import adopt
from .changes import diff_of
from .reading import path_at
from .undo import Undo, going_back


def restore(session: Session, *, dry_run: bool = False) -> Restored:
    """Bring back the files that were deleted on disk without being forgotten, and the entries that were emptied there.

    These are the losses that `unrecorded` reports, and all other files deleted since the last write. An agent cannot
    bring back the settings, nor the identity if it may not write that. With `dry_run` nothing is written, and the
    answer says what would be.
    """
    engine, head = session.engine, session.timeline.head()
    scan = engine.store.scan()
    outside = engine.writer.outside_edits(scan)
    held = engine.writer.lost_outside(scan)
    gone = {path for path, file in outside.items() if file is None} | set(held.paths if held else ())
    blobs = {path: engine.history.file(head, path) for path in gone - rules.kept_from_actor(session)}
    if not blobs:
        return Restored(None, head or "", (), "")
    note = rules.note(session, "restore", counted(len(blobs), "file"))
    return _write_back(session, head or "", lambda scan: blobs, note, dry_run)


def rollback(
    session: Session,
    to: str,
    name: str | None = None,
    *,
    if_version: str | None = None,
    dry_run: bool = False,
    even_if_many: bool = False,
) -> Restored:
    """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

    With `name`, that entry alone, with the name and file name it had; with `if_version` too, only if it still is that
    version ("": there is none). With `dry_run` nothing is written, and the answer says what would be.

    Raises:
        NotFound: there is no such revision, the history begins later, or there was no such entry then.
        Inapplicable: another entry now has the file name that the entry had then.
        Stale: the entry is not at `if_version` any more.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    timeline, history = session.timeline, session.engine.history
    commit = timeline.commit_at(to)
    words = f"to {short(commit)}" if commit.startswith(to) else f"to {to} ({short(commit)})"
    if name is None:
        state = timeline.state_of(commit)
        note = noted(rules.note(session, "rollback", words), restored=commit)
        return _write_back(
            session, commit, lambda scan: {**dict.fromkeys(scan.files), **state}, note, dry_run, even_if_many
        )
    path, note = path_at(session, name, commit), rules.note(session, "rollback", f"{name} {words}")
    then = timeline.path_at(path, commit)
    blob = history.file(commit, then)
    if blob is None:
        is_fact = session.layout.is_entry(path)
        way = "`crabmem forget` removes what is there now" if is_fact else f"to have none again, delete {path}"
        raise NotFound(f"there was no {then} at {to}; {way}")
    if then != path and then in session.engine.store.scan().files:
        raise Inapplicable(f"{then}, where it was at {to}, is another fact now; rename that one first")

    def wanted(scan: Scan) -> State:
        timeline.check_version(path, scan.files.get(path), if_version, session.view.allows)
        return {path: None, then: blob}

    return _write_back(session, commit, wanted, note, dry_run)


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
    """Take back `commits`, or all that a session or an agent did, as one new commit; later work stays.

    For a session or an agent, `since` leaves out what was done up to that revision or time; commits that were taken
    back before are left out, too. Where the same lines were changed since, `take` decides: "ours" keeps what is there
    now, "theirs" takes the lines back all the same. A commit of which something was kept does not count as taken back:
    its session can be reverted again, with "theirs". Taking back a merge takes back what it brought into the branch; a
    merge by which a sync joined two machines is refused, as both sides brought something. With `dry_run` nothing is
    written, and the answer says what would be.

    Raises:
        Conflicting: the same lines were changed since, and `take` is None.
        NotFound: there is no such commit.
        Inapplicable: a commit joined two machines, or moved a fact between memories.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    named = (commits,) if isinstance(commits, str) else tuple(commits)
    memory.view.check_whole()
    unwanted, reverting = Unwanted(named, session, agent, since), Reverting(memory.timeline)
    chosen = reverting.chosen(unwanted)
    if moved := next((commit for commit in chosen if commit.moved), None):
        from .move_ways import way_back  # late: few facts are moved between memories

        words = f"{short(moved.commit)} moved a fact between memories ({moved.subject})"
        raise Inapplicable(f"{words}: {way_back(memory, moved)}")

    def decide(now: Snapshot) -> Draft[set[str]]:
        files, kept = reverting.without(chosen, now.scan, take)
        _check_may_restore(memory, set(files))
        whole = [commit for commit in chosen if commit.commit not in kept]
        note = noted(rules.note(memory, "revert", subject(chosen, unwanted)), whole)
        return Draft(files, note, kept, even_if_many)

    done = memory.write(decide, dry_run=dry_run)
    in_part = tuple(commit for commit in chosen if commit.commit in done.result)
    return Reverted(done.commit, tuple(chosen), tuple(done.after), diff_of(done), in_part, done.proposal)


def undo(
    session: Session, *, even_if_many: bool = False, stops_at_person: bool = False, dry_run: bool = False
) -> Restored:
    """Take back the newest commit as a new one; undoing again takes back the one before it, and so on.

    Outside edits are recorded first: then they are the newest commit. Commits that changed no file of memory are passed
    over. If the commit applied a proposal, and a person undoes it, the proposal waits again. A move between memories is
    taken back in both. With `stops_at_person` a person's commit is refused: an agent means its own. With `dry_run`
    nothing is written, and the answer says what would be, in this memory.

    Raises:
        Inapplicable: there is nothing to undo, its files were changed since, a person made it and `stops_at_person`, or
            there are outside edits and `dry_run`.
        MassLoss: too many of the entries would be gone at once, and they were there before that commit, in memory
            or on the disk; `even_if_many` says that this is meant.
    """

    def is_meant(commit: Commit) -> bool:
        # What an operation added was not there before; what a commit recorded, or brought back, was.
        was_there = commit.tool in (None, "restore") or commit.reverts or commit.restores
        return even_if_many or not was_there

    done = _take_back(session, "undo", lambda undo: _checked(undo.to_undo(), stops_at_person), is_meant, dry_run)
    if done.commit and done.operation and done.operation.applies:
        from .proposals import restore_proposal  # late: most of what is undone waited for nobody

        with suppress(CrabmemError):  # Git may have removed it
            restore_proposal(session, done.operation.applies)
    return done


def redo(
    session: Session, *, even_if_many: bool = False, stops_at_person: bool = False, dry_run: bool = False
) -> Restored:
    """Bring back what the newest undo took back; after several undos, each redo brings back one more.

    If that applies a proposal again, the proposal waits no more. `stops_at_person` and `dry_run` are as for `undo`.

    Raises:
        Inapplicable: something else was written since, here or outside, or nothing was undone.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    done = _take_back(
        session, "redo", lambda undo: _checked(undo.to_redo(), stops_at_person), lambda commit: even_if_many, dry_run
    )
    if done.commit and done.operation and (proposal := done.operation.applies):
        with suppress(CrabmemError):  # decided on meanwhile; or another process writes, and it waits on
            session.engine.writer.locked(lambda: session.engine.history.aside.drop(proposal))
    return done


def _checked(commit: Commit, stops_at_person: bool) -> Commit:
    """Return the commit that undo or redo has chosen.

    Raises:
        Inapplicable: a person made it, and with `stops_at_person` nobody but a person takes that back by just undoing.
    """
    if stops_at_person and commit.is_person:
        raise Inapplicable(
            f"the last change is a person's, and no agent takes it back unasked: {commit.subject}. "
            f"`crabmem undo {short(commit.commit)}` takes back that one, `crabmem undo --in SESSION` or "
            "`crabmem undo --by AGENT` what an agent did"
        )
    return commit


def _take_back(
    session: Session, verb: str, choose: Callable[[Undo], Commit], is_meant: Callable[[Commit], bool], dry_run: bool
) -> Restored:
    """Take back the commit that `choose` returns, in both memories if it moved a fact.

    `choose` is called again under the lock, after outside edits were recorded: these may be the newest commit.

    Raises:
        Inapplicable: with `dry_run` there are outside edits, of which no commit can be chosen yet.
    """
    if dry_run:
        engine = session.engine
        scan = engine.store.scan()
        lost = engine.writer.lost_outside(scan)
        edits = engine.writer.outside_edits(scan).keys() - set(lost.paths if lost else ())
        if edits:
            are = "edited file is" if len(edits) == 1 else "edited files are"
            raise Inapplicable(f"{len(edits)} {are} not in the history yet: `crabmem record` first, then this again")
        return _take_back_here(session, verb, choose, is_meant, dry_run)
    undo = Undo(session.timeline)
    if (moved := _move_to_take_back(session, undo, choose)) is None:
        return _take_back_here(session, verb, choose, is_meant)
    from .moving import both_sides  # late: few facts are moved between memories

    done = dict[Session, Restored]()

    def take_back(side: Session, commit: Commit) -> None:
        done[side] = _take_back_here(side, verb, lambda undo: commit, is_meant)

    both_sides(session, moved, take_back)
    return done[session]


def _move_to_take_back(session: Session, undo: Undo, choose: Callable[[Undo], Commit]) -> Commit | None:
    """The chosen commit if it moved a fact between memories, else None. Outside edits are recorded before it is."""
    with suppress(Inapplicable):
        if choose(undo).moved:
            adopt(session)
            commit = choose(undo)
            return commit if commit.moved else None
    return None


def _take_back_here(
    session: Session,
    verb: str,
    choose: Callable[[Undo], Commit],
    is_meant: Callable[[Commit], bool],
    dry_run: bool = False,
) -> Restored:
    """Take back the commit that `choose` returns, in this memory alone.

    `choose` is called under the lock, after outside edits were recorded. The commit of the undo or redo (`verb`) names
    the operation that was undone in the end, not the undo that it takes back.
    """
    undo = Undo(session.timeline)

    def decide(now: Snapshot) -> Draft[tuple[Commit, Commit]]:
        commit = choose(undo)
        operation = undo.operation(commit)
        note = noted(rules.note(session, verb, going_back(operation.subject)), [commit])
        if commit.moved:
            note = replace(note, trailers=(*note.trailers, ("Moved", commit.moved)))
        files = _files_with(session, undo.without(commit, now.scan), now.scan)
        return Draft(files, note, (commit, operation), is_meant(commit))

    done = session.write(decide, dry_run=dry_run, is_seeded=False)  # a fresh clone's seeds would be the newest commit
    commit, operation = done.result
    return replace(_as_restored(done, commit.parents[0]), operation=operation)


def _write_back(
    session: Session,
    to: str,
    wanted: Callable[[Scan], State],
    note: Note,
    dry_run: bool = False,
    even_if_many: bool = False,
) -> Restored:
    """Write the blobs that `wanted` returns by path (None: no file) for the files as they are; return what changed."""

    def decide(now: Snapshot) -> Draft[None]:
        return Draft(_files_with(session, wanted(now.scan), now.scan), note, None, even_if_many)

    return _as_restored(session.write(decide, dry_run=dry_run), to)


def _files_with(session: Session, blobs: State, scan: Scan) -> dict[str, bytes | None]:
    """The bytes to write, by path, for those of `blobs` (None: no file) that differ from the files in `scan`.

    Raises:
        Disabled: an agent would change the identity or the settings.
    """
    changed = {path for path, blob in blobs.items() if blob != scan.blob(path)}
    _check_may_restore(session, changed)
    read = session.engine.history.blob
    return {path: read(blob) if (blob := blobs[path]) else None for path in sorted(changed)}


def _check_may_restore(session: Session, paths: set[str]) -> None:
    """Refuse an agent to change the identity or the settings by going back.

    Raises:
        Disabled: one of `paths` is such a file.
    """
    if changed := sorted(paths & rules.kept_from_actor(session)):
        raise Disabled(f"that would change {changed[0]}, which an agent may not; a person may go back")


def _as_restored(done: Written[object], to: str) -> Restored:
    gone = tuple(path for path, data in done.after.items() if data is None)
    return Restored(done.commit, to, tuple(done.after), diff_of(done), gone, proposal=done.proposal)


# Which commits are meant, and what files then say


@dataclass(frozen=True)
class Unwanted:
    """The work to take back: named `commits`, or those of a `session`, an `agent` or both, maybe only after `since`."""

    commits: tuple[str, ...] = ()
    session: str | None = None
    agent: str | None = None
    since: str | None = None

    def __post_init__(self) -> None:
        named = self.session is not None or self.agent is not None
        if bool(self.commits) == named:
            raise InvalidArguments("name either the commits to take back, or a session or an agent")
        if self.since is not None and not named:
            raise InvalidArguments("commits are named one by one; `since` goes with a session or an agent")

    @property
    def words(self) -> str:
        """Whose work it is, as "session s1 agent mia"; "" for named commits."""
        keys = {"session": self.session, "agent": self.agent, "since": self.since}
        return " ".join(f"{key} {value}" for key, value in keys.items() if value is not None)


class Reverting:
    """Takes back commits of one workspace. Writes nothing."""

    def __init__(self, timeline: Timeline) -> None:
        self._history, self._timeline = timeline.history, timeline

    def chosen(self, unwanted: Unwanted) -> list[Commit]:
        """The commits to take back, newest first; for a session or an agent, those that were not taken back before.

        Raises:
            NotFound: there is no such commit.
            Inapplicable: a named commit joined two machines.
        """
        wanted = {self._timeline.commit_at(name) for name in unwanted.commits}
        head = self._timeline.head()
        commits = self._history.commits(head, with_paths=False) if head else iter(())
        if wanted:
            found = _commits_in(commits, wanted)
            if joined := next(filter(is_join, found), None):
                raise Inapplicable(
                    f"{short(joined.commit)} joined the work of two machines, and both stay: revert what one of them "
                    "did; `crabmem log` lists it"
                )
            return found
        log = list(commits)
        theirs = [commit for commit in self._since(log, unwanted.since) if _is_by(commit, unwanted)]
        if not theirs:
            raise NotFound(f"there is no commit of {unwanted.words}; `crabmem log` says who wrote what")
        return _not_taken_back(log, theirs)

    def _since(self, log: Sequence[Commit], since: str | None) -> Sequence[Commit]:
        """The commits of `log` made after `since`: those that are no ancestors of the commit that was the head then."""
        start = None if since is None else self._timeline.before(since)
        if start is None:
            return log
        before = {commit.commit for commit in self._history.commits(start, with_paths=False)}
        return [commit for commit in log if commit.commit not in before]

    def without(self, commits: Sequence[Commit], scan: Scan, take: Take) -> tuple[dict[str, bytes | None], set[str]]:
        """The bytes of the files that change when `commits`, newest first, are taken back; and the ids of the commits
        of which something stays, as the same lines were changed since and `take` is "ours".

        Raises:
            InvalidArguments: `take` is no side.
            Conflicting: the same lines were changed since, and `take` is None.
            Unreadable: this user may not read a file, so that nobody can tell whether it was changed.
        """
        if take not in (None, *get_args(Side)):
            raise InvalidArguments(f"take is {' or '.join(map(repr, get_args(Side)))}, not {take!r}")
        files, conflicts, kept = dict[str, bytes | None](), list[Conflict](), set[str]()
        for path, steps in self._steps(commits).items():
            scan.check_not_denied(path)
            data = scan.data(path)
            for step in steps:
                done = merge(path, self._data(step.after), data, self._data(step.before), take)
                data = done.data
                conflicts += done.conflicts
                kept |= step.commits if done.conflicts and take == "ours" else set()
            if data != scan.data(path):
                files[path] = data
        if conflicts and take is None:
            raise Conflicting(tuple(dict.fromkeys(conflicts)))
        return files, kept

    def _steps(self, commits: Sequence[Commit]) -> dict[str, list["_Step"]]:
        """The steps to take back for each file, newest first. Steps with no foreign change between them are joined."""
        steps = dict[str, list[_Step]]()
        for commit in commits:
            for path, before, after in self._history.changes.of(commit.commit):
                if self._timeline.is_restorable(path):
                    _prepend(steps.setdefault(path, []), _Step(before, after, frozenset([commit.commit])))
        return {path: [step for step in found if step.before != step.after] for path, found in sorted(steps.items())}

    def _data(self, blob: str | None) -> bytes | None:
        return None if blob is None else self._history.blob(blob)


@dataclass(frozen=True)
class _Step:
    """The blobs of a file before and after some `commits`, each of which began with what the one before left."""

    before: str | None
    after: str | None
    commits: frozenset[str]


def _prepend(steps: list[_Step], step: _Step) -> None:
    """Add an earlier step: joined with the last of `steps` if that began with what this one left."""
    if steps and steps[-1].before == step.after:
        steps[-1] = _Step(step.before, steps[-1].after, steps[-1].commits | step.commits)
    else:
        steps.append(step)


def _commits_in(log: Iterable[Commit], wanted: set[str]) -> list[Commit]:
    """The commits `wanted` in the order of `log`, which is read no further than to the last of them.

    Raises:
        NotFound: one of them is not in `log`.
    """
    found = list(islice((commit for commit in log if commit.commit in wanted), len(wanted)))
    if strange := wanted - {commit.commit for commit in found}:
        raise NotFound(f"{short(min(strange))} is not in the history of this memory; `crabmem log` lists it")
    return found


def _is_by(commit: Commit, unwanted: Unwanted) -> bool:
    return unwanted.session in (None, commit.session) and unwanted.agent in (None, commit.agent)


def _not_taken_back(log: Sequence[Commit], theirs: Sequence[Commit]) -> list[Commit]:
    """The commits of `theirs` that are not taken back now, by other commits of `log`, newest first.

    A revert that was itself taken back does not count. A rollback takes back what lies between its parents and the
    commit whose files it restored.
    """
    wanted, gone = {commit.commit for commit in theirs}, set[str]()
    parents = {commit.commit: commit.parents for commit in log}
    for commit in log:
        if commit.commit not in gone and commit.commit not in wanted:
            gone.update(commit.reverts)
            if commit.restores in parents:  # a rollback takes back only what it stands on
                gone |= _ancestors(parents, commit.parents) - _ancestors(parents, [commit.restores])
    return [commit for commit in theirs if commit.commit not in gone]


def _ancestors(parents: Mapping[str, Sequence[str]], tips: Iterable[str]) -> set[str]:
    """The commits `tips` and their ancestors, as far as `parents` has them."""
    seen, waiting = set[str](), [*tips]
    while waiting:
        commit = waiting.pop()
        if commit not in seen and commit in parents:
            seen.add(commit)
            waiting += parents[commit]
    return seen


def subject(commits: Sequence[Commit], unwanted: Unwanted) -> str:
    """The words behind `revert: ` in the message of a commit that takes back `commits`."""
    if len(commits) == 1:
        return commits[0].subject
    count = f"{len(commits)} commits"
    return f"{unwanted.words} ({count})" if unwanted.words else count


def noted(note: Note, reverted: Sequence[Commit] = (), restored: str | None = None) -> Note:
    """`note` with trailers for the commits it takes back, or the one whose files it restores; see `_not_taken_back`."""
    keys = [*(("Reverts", commit.commit) for commit in reverted), *([("Restores", restored)] if restored else [])]
    return replace(note, trailers=(*note.trailers, *keys))
