"""The way back: files, a past state, or what somebody did, always as one more commit. Nothing is erased."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..disk.store import Scan
from ..errors import Disabled, InvalidArguments, NotFound
from ..git import Note
from ..git.revert import Unwanted, noted, subject
from ..git.timeline import State, going_back
from ..results import Commit, Restored, Reverted
from ..text.hashes import short
from ..text.merge import Take
from ..text.words import counted
from ..workspace.layout import SETTINGS
from ..write.writer import Draft, Written
from .proposing import Proposing
from .writing import diff_of


class Restoring(Proposing):
    """Brings back what was, or takes back what was done since."""

    def restore(self) -> Restored:
        """Bring back the files that are gone from disk and were not forgotten, and the entries that were emptied there.

        Those that `unrecorded` tells of, and any others that were deleted since the last write. An agent does not
        bring back the identity, which it may not write, or the settings.
        """
        scan, head = self._store.scan(), self._timeline.head()
        outside = self._writer.outside(scan)
        held = self._writer.unrecorded(scan)
        gone = {path for path, file in outside.items() if file is None} | set(held.paths if held else ())
        blobs = {path: self._history.file(head, path) for path in gone - self._kept_from_agents()}
        if not blobs:
            return Restored(None, head or "", (), "")
        return self._restored(head or "", lambda scan: blobs, self._note("restore", counted(len(blobs), "file")))

    def rollback(
        self, to: str, name: str | None = None, *, dry_run: bool = False, even_if_many: bool = False
    ) -> Restored:
        """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

        With `name`, that entry alone, with the name and file name it had. With `dry_run` nothing is written, and the
        answer says what would be.

        Raises:
            NotFound: there is no such revision, the history begins later, or there was no such entry then.
            InvalidArguments: another entry has the file name that it had.
            MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
        """
        commit = self._timeline.commit_at(to)
        words = f"to {short(commit)}" if commit.startswith(to) else f"to {to} ({short(commit)})"
        if name is None:
            state = self._timeline.state_of(commit)
            note = noted(self._note("rollback", words), restored=commit)
            return self._restored(
                commit, lambda scan: {**dict.fromkeys(scan.files), **state}, note, dry_run, even_if_many
            )
        path, note = self._path_at(name, commit), self._note("rollback", f"{name} {words}")
        then = self._timeline.path_at(path, commit)
        blob = self._history.file(commit, then)
        if blob is None:
            raise NotFound(f"there was no {then} at {to}; `crabmem forget` removes what is there now")
        if then != path and then in self._store.scan().files:
            raise InvalidArguments(f"{then}, where it was at {to}, is another entry now; rename that one first")
        return self._restored(commit, lambda scan: {path: None, then: blob}, note, dry_run)

    def revert(
        self,
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
        self._check_whole()
        unwanted = Unwanted(named, session, agent, since)
        chosen, kept = self._reverting.chosen(unwanted), set[str]()

        def decide(scan: Scan) -> Draft:
            found = self._reverting.without(chosen, scan, take)
            self._check_may_restore(set(found.files))
            kept.clear()
            kept.update(found.kept)
            whole = [commit for commit in chosen if commit.commit not in kept]
            note = noted(self._note("revert", subject(chosen, unwanted)), whole)
            return Draft(found.files, note, even_if_many)

        done = self._tried(decide) if dry_run else self._write(decide)
        in_part = tuple(commit for commit in chosen if commit.commit in kept)
        return Reverted(done.commit, tuple(chosen), tuple(done.after), diff_of(done), in_part)

    def undo(self, *, even_if_many: bool = False) -> Restored:
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

        return self._taken_back("undo", self._timeline.to_undo, is_meant)

    def redo(self, *, even_if_many: bool = False) -> Restored:
        """Bring back what the newest undo took back; after several, doing it again brings back the next.

        Raises:
            InvalidArguments: something else was written since, here or outside, or nothing was undone.
            MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
        """
        return self._taken_back("redo", self._timeline.to_redo, lambda commit: even_if_many)

    def _taken_back(self, verb: str, choose: Callable[[], Commit], is_meant: Callable[[Commit], bool]) -> Restored:
        """Take back the commit to `choose`, which is asked when outside edits are recorded and nobody else writes."""
        chosen = list[Commit]()

        def decide(scan: Scan) -> Draft:
            commit = choose()
            operation = self._timeline.operation(commit)
            chosen[:] = [commit, operation]
            note = noted(self._note("rollback", going_back(verb, operation.subject)), [commit])
            return self._draft(self._timeline.without(commit, scan), scan, note, is_meant(commit))

        done = self._write(decide, is_seeded=False)  # what a clone begins with would be the newest commit
        commit, operation = chosen
        return replace(_restored(done, commit.parents[0]), operation=operation)

    def _restored(
        self,
        to: str,
        wanted: Callable[[Scan], State],
        note: Note,
        dry_run: bool = False,
        even_if_many: bool = False,
    ) -> Restored:
        """Write the blobs that `wanted` names by path (None: no file), and say what that changed."""

        def decide(scan: Scan) -> Draft:
            return self._draft(wanted(scan), scan, note, even_if_many)

        return _restored(self._tried(decide) if dry_run else self._write(decide), to)

    def _draft(self, blobs: State, scan: Scan, note: Note, even_if_many: bool) -> Draft:
        """What writes those of `blobs` that the files do not say yet."""
        changed = {path for path, blob in blobs.items() if blob != scan.blob(path)}
        self._check_may_restore(changed)
        data = {path: self._history.blob(blob) if (blob := blobs[path]) else None for path in sorted(changed)}
        return Draft(data, note, even_if_many)

    def _check_may_restore(self, paths: set[str]) -> None:
        """Refuse an agent the way back to an identity or settings that the person has changed since."""
        if changed := sorted(paths & self._kept_from_agents()):
            raise Disabled(f"that would change {changed[0]}, which an agent may not; a person may go back")

    def _kept_from_agents(self) -> set[str]:
        """The files that whoever speaks here may not bring back: an agent those that are the person's."""
        if not self._voice.agent:
            return set()
        return {SETTINGS} if self.soul_editable else {SETTINGS, self.layout.identity}


def _restored(done: Written, to: str) -> Restored:
    """What a write changed that went back to the commit `to`."""
    gone = tuple(path for path, data in done.after.items() if data is None)
    return Restored(done.commit, to, tuple(done.after), diff_of(done), gone)
