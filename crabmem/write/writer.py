"""The one way memory is written: lock, record what the person changed, put files in place, commit.

Files come first and the commit second, so that a crash in between leaves a file that the next
writer finds; the journal says whose it was.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from ..disk import fs, spelling, state
from ..disk.lock import WriterLock
from ..disk.scan import File, Scan
from ..disk.seal import Seal
from ..disk.store import Placed
from ..errors import CrabmemError, MassLoss, Unwritable
from ..git.index import Settled
from ..git.objects import LARGEST
from ..text.hashes import blob_id
from ..text.values import replace
from .actor import SOMEBODY, Actor
from .adoption import Adoption, IsLater
from .after_rebase import KEPT_NOTE, changes_to_bring_back
from .beside import checkout_steps, left, marked, no_longer_left, settled
from .bylines import bylines_for
from .draft import Draft, Written
from .intent import Intent, Step
from .losses import LEAST_OF_FEW, losses_of_change
from .recorder import Recorder, bytes_of
from .recovery import Recovery

if TYPE_CHECKING:
    from ..git.rewrite.repository import Put  # which no write needs

T = TypeVar("T")

_ADVICE = (
    ((errno.ENOSPC, errno.EDQUOT), "free some space and try again"),
    ((errno.ENOENT,), "try again, or name another folder"),
    ((errno.EROFS,), "it is mounted read-only, and nothing can be remembered there until that changes"),
    (
        (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ELOOP, errno.EINVAL, errno.ENXIO),
        "something else stands there: move it away and try again",
    ),
)


class Writer:
    """Writes one workspace. `seal` is what this user seals journals with.

    Here is the way of a write; what others wrote is recorded by `Adoption`, what a crash left is finished by
    `Recovery`, and all of them commit by one `Recorder`.
    """

    def __init__(self, recorder: Recorder, seal: Seal) -> None:
        self._recorder = recorder
        self._layout = recorder.workspace.layout
        self._store, self._history, self._settings = recorder.store, recorder.history, recorder.settings
        self._lock = WriterLock(recorder.workspace.private / state.LOCK)
        self._adoption = Adoption(recorder)
        self._recovery = Recovery(recorder, seal)
        #: The temporary files, by blob, that hold what is about to be written.
        self._ahead: dict[str, str] = {}
        # What can be asked without the lock.
        self.outside_edits, self.repairs = recorder.outside_edits, recorder.repairs
        self.lost_outside = self._adoption.lost_outside
        self.is_interrupted, self.begun_elsewhere = self._recovery.is_interrupted, self._recovery.begun_elsewhere

    def write(self, decide: Callable[[Scan], Draft[T]], actor: Actor = SOMEBODY) -> Written[T]:
        """Record outside edits, ask `decide` with the files as they then are, and write what it says.

        Of what an agent writes, that is not written which waits for a person by the settings: here alone it is asked
        for, and who does not say who they are is an agent.

        Raises:
            Busy: another writer holds the lock.
            Unwritable: the disk refused.
            MassLoss: it would cost too many facts at once.
            Full: it would wait, and so much does already that no person would go through it.
        """
        with self._alone():
            scan = self._adopt_outside()
            draft = decide(scan)
            if not (draft.changes and actor.may_wait(self._settings().review)):
                return self._apply(draft, scan)
            from .reviewer import Reviewer  # late: few settings ask for one

            before = {path: scan.data(path) for path in draft.changes}
            head = self._history.head_if_any()
            goes_on, waits = Reviewer(self._recorder, head, actor.proposes).parted(before, draft.changes, draft.note)
            return replace(self._apply(replace(draft, changes=goes_on), scan), waits=waits)

    @contextmanager
    def ahead(self, texts: Iterable[bytes], progress: Callable[[int], None]) -> Iterator[None]:
        """Put what will be written on the disk before a lock is held: then the write within has only to place it.

        What cannot be prepared, or somebody clears away, the write makes itself. `progress` is told how many are done.
        """
        names = dict[str, str]()
        try:
            with suppress(OSError), fs.durability(self._settings().durability == "full"):
                for done, data in enumerate(self._history.recording.put_ahead(texts), 1):
                    names[blob_id(data)] = self._store.stage_ahead(data)
                    progress(done)
            self._ahead.update(names)
            yield
        finally:
            for blob in names:
                self._ahead.pop(blob, None)
            with suppress(OSError):  # another thread that prepares something makes it again
                self._store.clear_ahead(own=True)

    def record_ahead(self, progress: Callable[[int, int], None]) -> None:
        """Store the texts of outside edits before a lock is held, of which somebody may have made thousands.

        `progress` is told how many of how many are stored.
        """
        with suppress(OSError, CrabmemError), fs.durability(self._settings().durability == "full"):
            self._history.ownership.prepare()
            scan = self._store.scan()
            paths = [path for path, file in self.outside_edits(scan).items() if file]
            texts = (bytes_of(scan, path) for path in paths)
            for done, _ in enumerate(self._history.recording.put_ahead(texts), 1):
                progress(done, len(paths))

    def adopt(self, even_if_many: bool = False) -> str | None:
        """Record outside edits, the loss of many facts at once only with `even_if_many`; the head after it."""
        with self._alone():
            self._adopt_outside(even_if_many)
            return self._history.head()

    def adopt_written(self, paths: Iterable[str], actor: Actor) -> str | None:
        """Record what is at `paths` as written by `actor`, after other outside edits; the head after it.

        Other edits of a moment ago that nobody told of stay for a later look: of tools that run at once each tells
        of its own file.
        """
        bylines = bylines_for(self._recorder.workspace.root, own := sorted(set(paths)), *actor.names, actor.proposes)
        self._adoption.bylines.add(bylines)  # who has the lock now, or comes before us, records them right
        with self._alone():
            # Again: a writer that looked before the files were there has cleared it, and recorded nothing of them.
            self._adoption.bylines.add(bylines)
            self._adopt_outside(is_later=self._adoption.is_later_than(own))
            return self._history.head()

    def rewrite(self, work: Callable[[Scan, Put], T]) -> T:
        """Record outside edits, and do to history and files what no other write does; what `work` says.

        It is given the files as they then are, and what puts those in place that it changes: that is taken back unless
        the history is exchanged afterwards.
        """
        with self._alone():
            scan = self._adopt_outside()
            self._history.mending.harden()
            try:
                done = work(scan, self._recovery.put)
            except (OSError, CrabmemError):
                with suppress(OSError, CrabmemError):  # the next write does it
                    self._recovery.finish()
                raise
            finally:
                self._history.forget()
                self._recorder.forget()
                self._adoption.forget()
            self._history.index.settle({})
            return done

    def left_beside(self) -> list[str]:
        """Return the files that are not memory and that syncs left as they are, though the head has another text."""
        if not marked(self._history):
            return []
        with self._alone():
            self._history.index.settle(no_longer_left(self._history, self._recorder.workspace))
            return left(self._history, self._recorder.workspace)

    def between_writes(self, work: Callable[[Scan], T]) -> T:
        """Record outside edits, and do `work` while nobody writes; it commits nothing on the branch."""
        with self._alone():
            return work(self._adopt_outside())

    def locked(self, work: Callable[[], T]) -> T:
        """Do to references beside the branch what `work` says, while nobody writes.

        Else a write of another process takes their locks for what a crash left: a sync that had pushed said that the
        disk refused.
        """
        with self._alone():
            return work()

    def finish_interrupted(self) -> None:
        """Finish what a crash interrupted; Busy at once when somebody is writing."""
        with self._alone(timeout=0):
            pass

    def repair(self) -> list[str]:
        """Finish what was interrupted, put back what the history lost and the disk has; what was done.

        A person asked for it: what was begun by another user, or on another machine, is finished too.
        """
        before = self.repairs()
        with self._alone():
            self._recovery.finish_waiting()
            scan = self._store.scan()
            self._recorder.put_back(scan, scan.files)
            self._recorder.forget()
            files = self._history.files(self._history.head()).items()
            self._history.index.settle({path: Settled.file(blob) for path, blob in files if self._layout.is_kept(path)})
        return self.repairs()[len(before) :]

    @contextmanager
    def _alone(self, timeout: float | None = None) -> Iterator[None]:
        """The writer's lock in a repository that is whole, every crash before us cleared up."""
        rules, is_done = self._settings(), False
        try:
            with fs.durability(rules.durability == "full"):
                self._history.ownership.prepare()
                with self._lock.held(rules.lock_timeout if timeout is None else timeout):
                    # While this waited, the folder may have been moved away, and another put in its place.
                    self._history.place.check()
                    self._recorder.report(self._history.mending.clear_leftovers())
                    with self._history.writing():
                        self._recorder.report(self._history.mending.mend())
                        self._recovery.finish()
                        self._history.index.settle({})  # the paths that Git's index does not say yet
                        yield
                        is_done = True
        except OSError as error:
            if not is_done:  # else a mark of ours could not be removed: the next write does that
                raise unwritable(error) from error

    def _adopt_outside(self, even_if_many: bool = False, is_later: IsLater = lambda path, file: False) -> Scan:
        """The files, after what others changed was recorded, and what a rebase kept from the files is in them again.

        Files that agents wrote with tools of their hosts go back to what they said before, where that has to wait.
        """
        scan = self._adoption.adopt(even_if_many, is_later)
        for held in self._adoption.held:
            self._apply(Draft(held.changes, held.note, None, even_if_many=True), scan)
        if self._adoption.held:
            self._adoption.bylines.clear()
            scan = self._store.scan()
        if waiting := self._history.recording.waiting():
            changes = changes_to_bring_back(self._history, self._layout, waiting, scan, self._recorder.report)
            if changes is None:
                return scan
            if changes:
                self._apply(Draft(changes, KEPT_NOTE, None, even_if_many=True), scan)
                scan = self._store.scan()
            self._history.recording.forget_waiting()
        return scan

    def _apply(self, draft: Draft[T], scan: Scan) -> Written[T]:
        """Stage, note in the journal, put in place, commit: what a draft changes of the files of `scan`."""
        changes = {path: data for path, data in draft.changes.items() if scan.data(path) != data}
        unrecorded = self._adoption.unrecorded
        before, secrets = {path: scan.data(path) for path in draft.changes}, self._settings().secrets
        if not changes and not draft.join:
            return Written(None, before, draft.changes, secrets, draft.result, unrecorded)
        self._refuse_unusable(changes, scan)
        if len(changes) >= LEAST_OF_FEW and not draft.even_if_many:
            cost = losses_of_change(before, changes, scan.files, self._layout)
            if cost.are_many:
                words = f"that would delete or empty {cost.share}, more than a third, so nothing was changed"
                raise MassLoss(words, cost.count, cost.total, may_be_meant=True)
        self._adoption.record_replaced(changes, scan)
        intent = self._begin(changes, draft, scan)
        self._history.index.settle_first(settled(self._recorder.workspace.root, intent.beside, intent.steps))
        placed = {path: self._place(path, step, path in intent.beside) for path, step in intent.steps.items()}
        self._store.sync(list(placed))
        commit = self._commit(intent, placed)
        self._conclude(intent, placed)
        displaced = {path: placed[path].displaced for path in changes}
        is_foreign = self._history.index.is_foreign
        return Written(commit, before | displaced, draft.changes, secrets, draft.result, unrecorded, is_foreign)

    def _place(self, path: str, step: Step, is_beside: bool) -> Placed:
        limit = LARGEST if is_beside else fs.MAX_BYTES
        placed = self._store.place(path, step.temporary, step.new is not None, step.old is not None, limit)
        # Thousands of files of a project are not held in memory: only what the person saved this moment.
        is_known = is_beside and placed.displaced is not None and blob_id(placed.displaced) == step.old
        return replace(placed, displaced=None) if is_known else placed

    def _refuse_unusable(self, changes: Mapping[str, bytes | None], scan: Scan) -> None:
        """Refuse, before anything is begun, to replace what could not be kept in the history."""
        reasons = {item.path: item.reason for item in scan.unusable}
        for path in changes:
            if path in reasons:
                raise Unwritable(f"{path} cannot be replaced: {reasons[path]}; move it away")
            self._store.check_place(path)
            if changes[path] is not None and path not in scan.files:
                spelling.check_new(self._recorder.workspace.root, path)

    def _begin(self, changes: Mapping[str, bytes | None], draft: Draft[T], scan: Scan) -> Intent:
        """The write, in the journal and staged: from here on it can be finished by anybody, or taken back.

        The journal comes first: it tells whose a temporary file is that a crash leaves.
        """
        steps = {
            path: Step(
                old=scan.blob(path),
                new=None if data is None else self._history.recording.put(data),
                temporary=self._store.temporary_name(),
            )
            for path, data in changes.items()
        }
        others = checkout_steps(self._recorder, draft.join.beside) if draft.join and draft.join.beside else {}
        steps |= others
        if len(steps) > 1:  # what one file holds is on the disk under its temporary name, and then under its own
            self._history.recording.flush()
        intent = Intent(draft.note, self._recorder.clock(), steps, self._history.head(), draft.join)
        self._recovery.journal.begin(intent)
        for path, data in changes.items():
            if data is not None:
                self._stage(steps[path].temporary, data, scan.files.get(path))
        for step in others.values():
            if step.new:
                self._store.stage(step.temporary, self._history.blob(step.new), step.mode)
        return intent

    def _stage(self, name: str, data: bytes, before: File | None) -> None:
        """Put `data` into the temporary file `name`; it may have been staged ahead."""
        is_plain = before is None or before.stamp.mode & 0o777 == fs.PRIVATE_FILE
        ahead = self._ahead.pop(blob_id(data), None) if is_plain else None
        if not (ahead and self._store.take_ahead(ahead, name)):
            self._store.stage(name, data, before.stamp.mode & 0o777 if before else None)

    def _commit(self, intent: Intent, placed: Mapping[str, Placed]) -> str | None:
        """Commit what was put in place, after what it displaced that no commit holds yet."""
        displaced = {path: place.displaced for path, place in placed.items()}
        self._recovery.record_raced(intent, displaced)
        blobs, join = {path: step.new for path, step in intent.steps.items()}, intent.join
        if join:
            return self._recorder.record({**blobs, **join.beside}, intent.note, join.when, True, join.commit)
        return self._recorder.record(blobs, intent.note, intent.when, journalled=True)

    def _conclude(self, intent: Intent, placed: Mapping[str, Placed]) -> None:
        """Do what follows a commit. A failure is none of the write, which stands: its journal stays, and the next
        write makes it good."""
        try:
            beside = intent.beside
            files = {path: Settled.file(step.new) for path, step in intent.steps.items()}
            rows = {path: Settled(beside[path]) if path in beside else row for path, row in files.items()}
            self._history.index.settle({path: row._replace(stamp=placed[path].stamp) for path, row in rows.items()})
            if not self._history.recording.late_failures:
                return self._recovery.end(intent)
            failed: OSError | CrabmemError = self._history.recording.late_failures[0]
        except (OSError, CrabmemError) as error:
            failed = error
        with suppress(OSError):  # the disk is full, say: the report is worth less than the write
            self._recorder.report(
                f"after a write that stands, something failed, and the next write made it good: {failed}"
            )


def unwritable(error: OSError) -> CrabmemError:
    """Return what a user is told of a disk that refuses."""
    where = error.filename or "the memory"
    advice = next((words for errors, words in _ADVICE if error.errno in errors), "try again")
    return Unwritable(f"the disk refused to write {where}: {fs.reason(error)}. Nothing is lost: {advice}")
