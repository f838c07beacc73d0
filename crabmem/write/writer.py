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
        """Record outside edits, call `decide` with the files as they then are, and write the draft that it returns.

        What an agent writes and a person has to approve, by the settings, becomes a proposal instead (`waits` of the
        result). No other place checks that. An actor that does not say who it is counts as an agent.

        Raises:
            Busy: another writer holds the lock.
            Unwritable: the disk refused.
            MassLoss: the draft would delete or empty too many facts at once.
            Full: the draft has to wait for a person, and too many proposals wait already.
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
        """Store and stage `texts` before the lock is held, so that the write within the block has only to place them.

        A text that could not be prepared, or was cleared away, the write stages itself. `progress` is called with the
        number of texts done.
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
            with suppress(OSError):  # this may also remove what another thread prepared: its write stages that again
                self._store.clear_ahead(own=True)

    def record_ahead(self, progress: Callable[[int, int], None]) -> None:
        """Store the texts of outside edits before the lock is held, as a person may have made thousands of them.

        `progress` is called with the number of texts stored, and of all. A failure is left to the write that follows.
        """
        with suppress(OSError, CrabmemError), fs.durability(self._settings().durability == "full"):
            self._history.ownership.prepare()
            scan = self._store.scan()
            paths = [path for path, file in self.outside_edits(scan).items() if file]
            texts = (bytes_of(scan, path) for path in paths)
            for done, _ in enumerate(self._history.recording.put_ahead(texts), 1):
                progress(done, len(paths))

    def adopt(self, even_if_many: bool = False) -> str | None:
        """Record outside edits, the loss of many facts at once only with `even_if_many`; return the head afterwards."""
        with self._alone():
            self._adopt_outside(even_if_many)
            return self._history.head()

    def adopt_written(self, paths: Iterable[str], actor: Actor) -> str | None:
        """Record what is at `paths` as written by `actor`, and other outside edits; return the head afterwards.

        Unsigned edits of the last seconds at other paths stay for a later look: when a host runs several tools at once,
        the hook of each reports only its own file.
        """
        bylines = bylines_for(self._recorder.workspace.root, own := sorted(set(paths)), *actor.names, actor.proposes)
        self._adoption.bylines.add(bylines)  # so a writer that has the lock now, or gets it first, credits the agent
        with self._alone():
            # Again: a writer that looked before the files were there has cleared it, and recorded nothing of them.
            self._adoption.bylines.add(bylines)
            self._adopt_outside(is_later=self._adoption.is_later_than(own))
            return self._history.head()

    def rewrite(self, work: Callable[[Scan, Put], T]) -> T:
        """Record outside edits, then let `work` rewrite history and files, as a purge does; return its result.

        `work` is given the files as they then are and `Recovery.put`, which puts changed files in place. After a
        failure these are put back as they were, unless `.git` had been exchanged.
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
        """Record outside edits, run `work` with the files under the lock, and return its result.

        `work` commits nothing on the branch.
        """
        with self._alone():
            return work(self._adopt_outside())

    def locked(self, work: Callable[[], T]) -> T:
        """Run `work`, which changes references other than the branch, under the lock; return its result.

        Without it, a write of another process takes the lock files of these references for leftovers of a crash and
        removes them. A sync once failed so after its push.
        """
        with self._alone():
            return work()

    def finish_interrupted(self) -> None:
        """Finish what a crash interrupted; Busy at once when somebody is writing."""
        with self._alone(timeout=0):
            pass

    def repair(self) -> list[str]:
        """Finish interrupted writes and store texts again that the history lost and the files have.

        Return the repairs made, a line each. A person asked for this, so writes that another user or machine began are
        finished, too.
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
        """Hold the writer's lock, in a repository that was made if it was missing and mended after crashes.

        Raises:
            Busy: another writer held the lock for `timeout` seconds, by default those of the settings.
            Unwritable: the disk refused, here or in the block.
        """
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
            if not is_done:  # after the block only marks of ours are removed: the next write does that
                raise unwritable(error) from error

    def _adopt_outside(self, even_if_many: bool = False, is_later: IsLater = lambda path, file: False) -> Scan:
        """Record outside edits, bring back what a rebase kept from the files, and return the files as they then are.

        A file that an agent wrote with a tool of its host gets its former text back if the change has to wait for a
        person: it is a proposal by then.
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
        """Write what a draft changes of the files of `scan`: journal, stage, put in place, commit, settle Git's index.

        Raises:
            Unwritable: a file that would be replaced cannot be kept in the history, or another one is in the way.
            MassLoss: the draft would delete or empty too many facts at once.
        """
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
        """Put the file of a step in place. `is_beside`: it is no memory, and may be as large as an object of Git's."""
        limit = LARGEST if is_beside else fs.MAX_BYTES
        placed = self._store.place(path, step.temporary, step.new is not None, step.old is not None, limit)
        # Thousands of files of a project are not held in memory: only what the person saved this moment.
        is_known = is_beside and placed.displaced is not None and blob_id(placed.displaced) == step.old
        return replace(placed, displaced=None) if is_known else placed

    def _refuse_unusable(self, changes: Mapping[str, bytes | None], scan: Scan) -> None:
        """Raise Unwritable, before anything changes, if a path cannot be written or what is there could not be kept."""
        reasons = {item.path: item.reason for item in scan.unusable}
        for path in changes:
            if path in reasons:
                raise Unwritable(f"{path} cannot be replaced: {reasons[path]}; move it away")
            self._store.check_place(path)
            if changes[path] is not None and path not in scan.files:
                spelling.check_new(self._recorder.workspace.root, path)

    def _begin(self, changes: Mapping[str, bytes | None], draft: Draft[T], scan: Scan) -> Intent:
        """Note a write in the journal and stage its files: from here on the next writer can finish it, or drop it.

        The journal comes before the staged files, as it alone tells which write a leftover temporary file belongs to.
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
        if len(steps) > 1:  # of a single file the text is durable as the staged file, and then in its place
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
        """Bring Git's index in step and close the journal.

        The write stands, so a failure here is not raised: the journal stays open, and the next write makes it good.
        """
        try:
            beside = intent.beside
            files = {path: Settled.file(step.new) for path, step in intent.steps.items()}
            rows = {path: Settled(beside[path]) if path in beside else row for path, row in files.items()}
            self._history.index.settle({path: row._replace(stamp=placed[path].stamp) for path, row in rows.items()})
            self._adoption.settle(files.keys())
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
    """Return the error for a user whose disk refuses: the file, the reason and, if known, the way out."""
    where = error.filename or "the memory"
    advice = next((words for errors, words in _ADVICE if error.errno in errors), "try again")
    return Unwritable(f"the disk refused to write {where}: {fs.reason(error)}. Nothing is lost: {advice}")
