"""The one way memory is written: lock, record what the person changed, put files in place, commit.

Files come first and the commit second, so that a crash in between leaves a file that the next
writer finds; the journal says whose it was.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from ..disk import fs, state
from ..disk.lock import WriterLock
from ..disk.scan import File, Scan
from ..disk.seal import Seal
from ..disk.stat import Stamp, changed_ns
from ..disk.store import Placed, Store
from ..errors import CrabmemError, MassLoss, Unreadable, Unwritable
from ..git.commits import Note, identity
from ..git.history import History
from ..git.kept import Stretch
from ..git.repository import is_sparse
from ..text.hashes import SHORT_DIGITS, blob_id
from ..text.merge import merge
from ..workspace.layout import SETTINGS
from ..workspace.settings import Settings
from ..workspace.workspace import Workspace
from ..write.bylines import Byline, Bylines, bylines_for
from ..write.recovery import Displaced, Intent, Journal, Step
from .actor import Actor
from .losses import LEAST_OF_FEW, Losses, Unconfirmed, is_blank, losses, lost
from .outside_edits import Edit, edit_note, written_note

#: Nanoseconds for which a replaced file is kept for an editor that still has it open.
LATE_NS = 2_000_000_000
#: Nanoseconds within which a host tells of what its tools wrote at once.
AT_ONCE_NS = 10_000_000_000
#: So many files that were changed last are looked up in the history, in case a prune took them.
_RECENT = 8
_ADVICE = (
    ((errno.ENOSPC, errno.EDQUOT), "free some space"),
    (
        (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ELOOP, errno.EINVAL, errno.ENXIO),
        "something else stands there: move it away",
    ),
)


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Draft(Generic[T_co]):
    """What an operation wants: bytes by path (None removes the file), and the words of its commit.

    `result` is what the operation has to say of it: it may be asked twice, and only what was written last counts.
    `even_if_many` says that many facts are meant to be lost, if they are.
    """

    changes: Mapping[str, bytes | None]
    note: Note
    result: T_co
    even_if_many: bool = False


@dataclass(frozen=True)
class Written(Generic[T_co]):
    """What a write did: its commit (None when everything was so already), and the bytes before and after.

    `result` is that of its draft.

    `unrecorded` are so many facts that were lost outside that this waits for somebody to confirm it. With
    `is_index_foreign` the person's Git does not know of the write: their next commit would take it back. `secrets`
    is the setting as it was before: nobody has to read the settings, which can fail, of a write that is done.
    """

    commit: str | None
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]
    secrets: str
    result: T_co
    unrecorded: Losses | None = None
    is_index_foreign: bool = False


@dataclass(frozen=True)
class Agreed:
    """What files and history agree on: all files of `scan` are in the commit `head`, apart from `doubts`."""

    scan: Scan
    head: str | None
    doubts: frozenset[str]


class Writer:
    """Writes one workspace. `clock` tells the time of commits; `settings` are asked for at each write.

    `seal` is what this user seals journals with: one of somebody else is not finished before a person says so.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        history: History,
        clock: Callable[[], datetime],
        settings: Callable[[], Settings],
        seal: Seal,
    ) -> None:
        self._workspace = workspace
        self._layout = workspace.layout
        self._store = store
        self._history = history
        self._clock = clock
        self._settings = settings
        self._journal = Journal(workspace.private, workspace.layout, seal)
        self._bylines = Bylines(workspace.private / state.BYLINES)
        self._displaced = Displaced(workspace.private, workspace.layout)
        self._lock = WriterLock(workspace.private / state.LOCK)
        self._repairs = workspace.private / state.REPAIRS
        self._agreed: Agreed | None = None
        #: The temporary files, by blob, that hold what is about to be written.
        self._ahead: dict[str, str] = {}
        #: What the last look found lost outside, and did not record.
        self._unrecorded: Losses | None = None
        self._unconfirmed = Unconfirmed(workspace.private)
        #: The last scan whose newest files were looked up in the history.
        self._examined: Scan | None = None

    def write(self, decide: Callable[[Scan], Draft[T]]) -> Written[T]:
        """Record outside edits, ask `decide` with the files as they then are, and write what it says.

        Raises:
            Busy: another writer holds the lock.
            Unwritable: the disk refused.
            MassLoss: it would cost too many facts at once.
        """
        with self._alone():
            scan = self._adopt_outside()
            return self._apply(decide(scan), scan)

    @contextmanager
    def ahead(self, texts: Iterable[bytes], progress: Callable[[int], None]) -> Iterator[None]:
        """Put what will be written on the disk before a lock is held: then the write within has only to place it.

        What cannot be prepared, or somebody clears away, the write makes itself. `progress` is told how many are done.
        """
        names = dict[str, str]()
        try:
            with suppress(OSError), fs.durability(self._settings().durability == "full"):
                for done, data in enumerate(self._history.put_ahead(texts), 1):
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
            self._history.prepare()
            scan = self._store.scan()
            paths = [path for path, file in self.outside(scan).items() if file]
            texts = (scan.data(path) or b"" for path in paths)
            try:
                for done, _ in enumerate(self._history.put_ahead(texts), 1):
                    progress(done, len(paths))
            finally:
                self._store.clear_ahead(own=True)

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
        bylines = bylines_for(self._workspace.root, own := sorted(set(paths)), *actor.names)
        self._bylines.add(bylines)  # who has the lock now, or comes before us, records them right
        with self._alone():
            self._bylines.add(bylines)
            since, known = int(self._clock().timestamp() * 1_000_000_000) - AT_ONCE_NS, self._bylines.signed()

            def is_later(path: str, file: File | None) -> bool:
                is_new = path not in own and file is not None and _is_since(file, since)
                return is_new and file is not None and (path, file.blob) not in known

            self._adopt_outside(is_later=is_later)
            return self._history.head()

    def rewrite(self, work: Callable[[Scan], T]) -> T:
        """Record outside edits, and do to history and files what no other write does; what `work` says."""
        with self._alone():
            scan = self._adopt_outside()
            try:
                return work(scan)
            finally:
                self._history.forget()
                self._agreed = self._examined = None

    def beside(self, work: Callable[[Scan], T]) -> T:
        """Record outside edits, and do what `work` says to history beside the branch, and to no file."""
        with self._alone():
            return work(self._adopt_outside())

    def recover(self) -> None:
        """Finish what a crash interrupted; Busy at once when somebody is writing."""
        with self._alone(timeout=0):
            pass

    def mend(self) -> list[str]:
        """Finish what was interrupted, put back what the history lost and the disk has; what was done.

        A person asked for it: what was begun by another user, or on another machine, is finished too.
        """
        before = self.repairs()
        with self._alone(believes_others=True):
            for place, intent in self._journal.waiting().items():
                self._carry_on(intent)
                fs.unlink(place)
                self._report(f"a write that was begun elsewhere was finished: {intent.subject}")
            scan = self._store.scan()
            self._put_back(scan, scan.files)
            self._agreed = None
            self._history.settle(
                {path: (blob, None) for path, blob in self._history.files(self._history.head()).items()}
            )
        return self.repairs()[len(before) :]

    def repairs(self) -> list[str]:
        """What writes had to repair, a line each, oldest first."""
        try:
            is_ours = fs.is_own_folder(self._workspace.private)
            return fs.read(self._repairs)[0].decode("utf-8", "replace").splitlines() if is_ours else []
        except PermissionError as error:
            raise Unreadable(f"{self._repairs} cannot be read: {fs.reason(error)}") from None
        except OSError:
            return []  # there is none; one that is no file of ours is named by `doctor`

    def _put_back(self, scan: Scan, paths: Iterable[str]) -> None:
        """Store again the texts that a prune, or a power cut, took from the history while they are on disk."""
        for path in self._history.without_text({path: scan.files[path].blob for path in paths}):
            self._history.put(scan.data(path) or b"")
            self._report(f"the text of {path} was missing from the history and was put back")
        self._history.flush()

    def outside(self, scan: Scan) -> dict[str, File | None]:
        """What differs from the head on disk, by path; None for a file that is gone.

        A text other than Markdown counts from the first commit on that has it: until something of ours is written
        there, it may be a program's, a log that grows, or somebody's keys.
        """
        head = self._history.head() if self._history.exists() else None
        agreed, since = self._agreed, scan.since(self._agreed.scan) if self._agreed else None
        if agreed and agreed.head == head and since is not None:
            paths = since | agreed.doubts
            known = {path: self._history.file(head, path) for path in paths}
            return self._differing(scan, head, [p for p in paths if scan.blob(p) != known[p] and _counts(p, known)])
        files = self._history.files(head)
        paths = {path for path, file in scan.files.items() if files.get(path) != file.blob and _counts(path, files)}
        return self._differing(scan, head, [*paths, *filter(self._layout.is_kept, files.keys() - scan.files.keys())])

    def _differing(self, scan: Scan, head: str | None, paths: Iterable[str]) -> dict[str, File | None]:
        """`paths`, which differ from the head. The others agree with it, as is remembered."""
        found = {path: scan.files.get(path) for path in paths}
        gone = {path for path, file in found.items() if file is None}
        kept = gone if gone and is_sparse(self._workspace.git) else {path for path in gone if self._stands(scan, path)}
        # What hides or is hidden may go without a scan seeing it.
        self._agreed = None if kept or scan.unusable else Agreed(scan, head, frozenset(found))
        return {path: file for path, file in found.items() if path not in kept}

    def _stands(self, scan: Scan, path: str) -> bool:
        """Whether something is at `path`, or keeps us from looking there, that a scan does not take for a file."""
        file = self._workspace.file(path)
        return scan.is_hidden(path) or os.path.lexists(file)

    def unrecorded(self, scan: Scan) -> Losses | None:
        """What was lost outside, when it is so many facts that nobody records it before it is confirmed; else None."""
        return self._lost(self.outside(scan), scan)

    def _lost(self, edits: Mapping[str, File | None], scan: Scan) -> Losses | None:
        """What edits cost, when it is too many facts; then files that went with them are told, too.

        What the person was told of stays too much until they decide, however many new facts there are by then.
        """
        if not edits:
            return None
        shown = self._unconfirmed.among(edits)
        if not shown and sum(map(self._layout.is_entry, edits)) < LEAST_OF_FEW:
            return None
        head = self._history.files(self._history.head())
        came = {file.blob for path, file in edits.items() if file and path not in head}
        gone = (path for path in edits if path in head and head[path] not in came)
        emptied = {path for path in gone if self._is_emptied(path, head[path], scan)}
        found = losses(emptied, head, self._layout)
        if not found.are_many:
            found = losses(emptied & shown, head, self._layout)
        return found if found.paths else None

    def _is_emptied(self, path: str, blob: str, scan: Scan) -> bool:
        """Whether the text of `blob`, which was at `path`, is gone from there without another one."""
        return is_blank(scan.data(path)) and (
            path not in scan.files or (self._history.has(blob) and not is_blank(self._history.blob(blob)))
        )

    def is_interrupted(self) -> bool:
        """Whether this user began a write, or a purge, on this machine, and it did not end."""
        if not fs.is_own_folder(self._workspace.private):
            return False
        if self._journal.is_open():
            pending = self._journal.pending()
            return pending is not None and pending.is_ours
        return self._history.has_own_purge()

    def waiting(self) -> list[str]:
        """What other users, or other machines, began and nobody ended: it waits for a person's word."""
        if not fs.is_own_folder(self._workspace.private):
            return []
        pending = self._journal.pending()
        theirs = [pending.intent] if pending and not pending.is_ours else []
        writes = [f"the write {intent.subject!r}" for intent in (*theirs, *self._journal.waiting().values())]
        return writes + ["a purge"] * self._history.has_foreign_purge()

    @contextmanager
    def _alone(self, timeout: float | None = None, believes_others: bool = False) -> Iterator[None]:
        """The writer's lock in a repository that is whole, every crash before us cleared up."""
        rules, is_done = self._settings(), False
        try:
            with fs.durability(rules.durability == "full"):
                self._history.prepare()
                with self._lock.held(rules.lock_timeout if timeout is None else timeout):
                    # While this waited, the folder may have been moved away, and another put in its place.
                    self._history.check_place()
                    self._lock.check_place()
                    # Before the locks are released that a purge left on every reference.
                    self._report(self._history.resume_purge(believes_others))
                    self._history.recover()
                    with self._history.writing():
                        self._report(self._history.mend())
                        self._finish_interrupted()
                        self._history.settle({})
                        yield
                        is_done = True
        except OSError as error:
            if not is_done:  # else a mark of ours could not be removed: the next write does that
                raise _unwritable(error) from error

    def _adopt_outside(
        self, even_if_many: bool = False, is_later: Callable[[str, File | None], bool] = lambda path, file: False
    ) -> Scan:
        """The files, after what differs from the head, and is whole, was recorded as the person's.

        What may be a mishap is not, unless `even_if_many`: nobody's own write has to wait for that. Nor is what
        `is_later` says of.
        """
        scan = self._store.scan()
        since = scan.since(self._examined) if self._examined else None
        self._put_back(scan, scan.newest(_RECENT) if since is None else since & scan.files.keys())
        self._examined = scan
        edits = {
            path: file
            for path, file in self.outside(scan).items()
            if not _is_partial(file) and not is_later(path, file)
        }
        self._unrecorded = None if even_if_many else self._lost(edits, scan)
        held = self._unrecorded.paths if self._unrecorded else ()
        self._unconfirmed.note(held)
        self._record_outside({path: file for path, file in edits.items() if path not in held}, scan)
        self._bylines.forget()
        waiting = self._history.waiting()
        return self._bring_back(waiting, scan) if waiting else scan

    def _bring_back(self, waiting: Iterable[Stretch], scan: Scan) -> Scan:
        """The files, after what was written during a rebase or merge of the person is in them again.

        A file that says what it said before all that is what `--abort` or `--skip` made of it. What the person changed
        is merged with it; where that is the same lines, theirs stays, and a repair says where the other is.
        """
        changes = dict[str, bytes | None]()
        for path, (base, written, tip) in self._written_meanwhile(waiting).items():
            now = scan.data(path)
            if _is_partial(scan.files.get(path)) or path in {item.path for item in scan.unusable}:
                return scan  # the person is not done; the next write looks again
            done = merge(path, self._data(base), now, self._data(written))
            if done.conflicts:
                self._report(
                    f"{path} was written during your rebase or merge, and you changed the same lines: yours stays; "
                    f"`crabmem show` with --at {tip[:SHORT_DIGITS]} shows the other"
                )
            elif done.data != now:
                changes[path] = done.data
        if changes:
            self._apply(Draft(changes, _later_note(), None, even_if_many=True), scan)
            scan = self._store.scan()
        self._history.forget_waiting()
        return scan

    def _written_meanwhile(self, waiting: Iterable[Stretch]) -> dict[str, tuple[str | None, str | None, str]]:
        """The files that were written: what they said before on the way to the head, what then, and in which commit.

        Not those that the person changed: what they did in the middle of it, they took back themselves.
        """
        found = dict[str, tuple[str | None, str | None, str]]()
        for base, tip, before in waiting:
            behind = base if self._history.reaches(base) or not self._history.reaches(before) else before
            for commit in filter(self._is_asked_for, self._history.commits_between(base, tip)):
                for path, _, written in self._history.changes.of(commit):
                    if self._layout.is_kept(path):
                        found[path] = self._history.file(behind, path), written, commit
        return found

    def _is_asked_for(self, commit: str) -> bool:
        """Whether a commit is of an operation of ours, and no outside edit that was recorded."""
        return self._history.commit(commit).tool is not None

    def _data(self, blob: str | None) -> bytes | None:
        return None if blob is None else self._history.blob(blob)

    def _record_outside(self, edits: Mapping[str, File | None], scan: Scan) -> None:
        """Record edits as the person's, those apart that are writes of ours, or of an agent as its host told."""
        if edits:
            ours = self._kept_by_us(edits)
            if ours:
                self._record_files({path: edits[path] for path in ours}, _later_note(), scan)
            rest = {path: file for path, file in edits.items() if path not in ours}
            bylines = self._bylines.of({path: file.blob if file else None for path, file in rest.items()})
            theirs = {path: file for path, file in rest.items() if path not in bylines}
            if theirs:
                self._record_files(theirs, self._edit_note({path: scan.data(path) for path in theirs}), scan)
            self._record_signed(rest, bylines, scan)

    def _record_signed(self, edits: Mapping[str, File | None], bylines: Mapping[str, Byline], scan: Scan) -> None:
        """Record the edits that are signed, a commit for each agent and session."""
        for agent, session in dict.fromkeys((byline.agent, byline.session) for byline in bylines.values()):
            own = [path for path, byline in bylines.items() if (byline.agent, byline.session) == (agent, session)]
            edits_of_agent = self._edits_of({path: scan.data(path) for path in own})
            note = written_note(edits_of_agent, Actor(agent, session), self._settings().person, self._layout)
            self._record_files({path: edits[path] for path in own}, note, scan)

    def _kept_by_us(self, edits: Mapping[str, File | None]) -> set[str]:
        """Those edits that are writes of ours which a rebase or merge of the person kept off the branch."""
        kept = self._history.kept()
        if kept is None or kept == self._history.head():
            return set()
        blobs = self._history.files(kept)
        return {path for path, file in edits.items() if file and blobs.get(path) == file.blob}

    def _record_files(self, files: Mapping[str, File | None], note: Note, scan: Scan) -> None:
        blobs = {path: self._history.put(scan.data(path) or b"") if file else None for path, file in files.items()}
        self._record(blobs, note, self._clock())
        self._history.settle({path: (blob, _stamp(files[path])) for path, blob in blobs.items()})

    def _record(
        self, blobs: Mapping[str, str | None], note: Note, when: datetime, journalled: bool = False
    ) -> str | None:
        """Commit blobs; what files and history agree on stays known while nobody else commits."""
        commit, agreed = self._history.record(blobs, note, when, journalled), self._agreed
        if commit and agreed:
            follows = self._history.parent(commit) == agreed.head
            self._agreed = Agreed(agreed.scan, commit, agreed.doubts | blobs.keys()) if follows else None
        return commit

    def _apply(self, draft: Draft[T], scan: Scan) -> Written[T]:
        changes = {path: data for path, data in draft.changes.items() if scan.data(path) != data}
        before, secrets = {path: scan.data(path) for path in draft.changes}, self._settings().secrets
        if not changes:
            return Written(None, before, draft.changes, secrets, draft.result, self._unrecorded)
        self._refuse_unusable(changes, scan)
        if len(changes) >= LEAST_OF_FEW and not draft.even_if_many:
            _refuse_mass_loss(lost(before, changes, scan.files, self._layout))
        self._record_replaced(changes, scan)
        intent = self._begin(changes, draft.note, scan)
        placed = self._place(intent)
        commit = self._commit(intent, placed)
        self._conclude(intent, placed)
        displaced = {path: place.displaced for path, place in placed.items()}
        is_foreign = self._history.is_index_foreign()
        return Written(commit, before | displaced, draft.changes, secrets, draft.result, self._unrecorded, is_foreign)

    def _record_replaced(self, paths: Iterable[str], scan: Scan) -> None:
        """Record what is about to be replaced, and what the last look therefore left unrecorded.

        Half a save is, only there, for the next write records the whole one; a text that somebody emptied; and one
        that is no Markdown and that no commit has.
        """
        held = self._unrecorded.paths if self._unrecorded else ()
        files = {path: file for path in paths if (file := scan.files.get(path))}
        known = self._history.files(self._history.head()) if self._history.exists() else {}
        self._record_outside(
            {
                path: file
                for path, file in files.items()
                if (file.is_partial or path in held or not _counts(path, known)) and known.get(path) != file.blob
            },
            scan,
        )

    def _refuse_unusable(self, changes: Mapping[str, bytes | None], scan: Scan) -> None:
        """Refuse, before anything is begun, to replace what could not be kept in the history."""
        reasons = {item.path: item.reason for item in scan.unusable}
        for path in changes:
            if path in reasons:
                raise Unwritable(f"{path} cannot be replaced: {reasons[path]}; move it away")
            self._store.check_place(path)

    def _begin(self, changes: Mapping[str, bytes | None], note: Note, scan: Scan) -> Intent:
        """The write, staged and in the journal: from here on it can be finished by anybody."""
        steps = {
            path: Step(
                old=scan.blob(path),
                new=None if data is None else self._history.put(data),
                temporary=self._stage(data, scan.files.get(path)),
            )
            for path, data in changes.items()
        }
        if len(steps) > 1:  # what one file holds is on the disk under its temporary name, and then under its own
            self._history.flush()
        intent = Intent(note.subject, note.author, note.body, note.trailers, self._clock(), steps, self._history.head())
        self._journal.begin(intent)
        return intent

    def _stage(self, data: bytes | None, before: File | None) -> str:
        """The name of a temporary file with `data`, which may have been staged ahead."""
        is_plain = data is not None and (before is None or before.stamp.mode & 0o777 == fs.PRIVATE_FILE)
        name = self._ahead.pop(blob_id(data), None) if data is not None and is_plain else None
        return (self._store.take_ahead(name) if name else None) or self._store.stage(data, before)

    def _place(self, intent: Intent) -> dict[str, Placed]:
        placed = {
            path: self._store.place(path, step.temporary, step.new is not None, step.old is not None)
            for path, step in intent.steps.items()
        }
        self._store.sync(list(placed))
        return placed

    def _commit(self, intent: Intent, placed: Mapping[str, Placed]) -> str | None:
        """Commit what was put in place, after what it displaced that no commit holds yet."""
        displaced = {path: place.displaced for path, place in placed.items()}
        self._record_raced(intent, displaced)
        blobs = {path: step.new for path, step in intent.steps.items()}
        return self._record(blobs, _note(intent), intent.when, journalled=True)

    def _conclude(self, intent: Intent, placed: Mapping[str, Placed]) -> None:
        """Do what follows a commit. A failure is none of the write, which stands: its journal stays, and the next
        write makes it good."""
        try:
            self._history.settle({path: (intent.steps[path].new, place.stamp) for path, place in placed.items()})
            if not self._history.late_failures:
                return self._end(intent)
            failed: OSError | CrabmemError = self._history.late_failures[0]
        except (OSError, CrabmemError) as error:
            failed = error
        with suppress(OSError):  # the disk is full, say: the report is worth less than the write
            self._report(f"after a write that stands, something failed, and the next write made it good: {failed}")

    def _record_raced(self, intent: Intent, displaced: Mapping[str, bytes | None]) -> None:
        """Record what the person saved between our look and our exchange."""
        raced = {
            path: data
            for path, data in displaced.items()
            if data is not None and blob_id(data) not in (intent.steps[path].old, intent.steps[path].new)
        }
        if raced:
            blobs = {path: self._history.put(data) for path, data in raced.items()}
            self._record(blobs, self._edit_note(dict(raced)), self._clock(), journalled=True)

    def _end(self, intent: Intent) -> None:
        """The write is over; what it displaced stays a while for editors that have it open."""
        self._displaced.add({step.temporary: path for path, step in intent.steps.items()})
        self._journal.finish()

    def _finish_interrupted(self) -> None:
        """Finish the write that a crash interrupted, or take it back where it had changed nothing."""
        pending = self._journal.pending()
        if pending and pending.is_ours:
            self._carry_on(pending.intent)
        elif pending:
            place = self._journal.set_aside(pending)
            self._report(f"a write that was begun elsewhere waits in {place}; `crabmem doctor --fix` finishes it")
        elif self._journal.is_open():
            self._journal.finish()
        self._clear_leftovers()

    def _carry_on(self, intent: Intent) -> None:
        on_disk = {path: self._blob_at(path) for path in intent.steps}
        if self._history.has_recorded(_note(intent), intent.when, intent.head):
            blobs = self._history.files(self._history.head())
            self._history.settle({path: (blobs.get(path), None) for path in intent.steps})
            self._end(intent)
        elif any(blob == intent.steps[path].new for path, blob in on_disk.items()):
            self._roll_forward(intent, on_disk)
            self._end(intent)
        else:
            self._journal.finish()

    def _blob_at(self, path: str) -> str | None:
        """The blob of what is at `path`; "" for what cannot be read, which is nobody's blob."""
        try:
            return _blob_of(self._store.read(path))
        except Unreadable:
            return ""

    def _roll_forward(self, intent: Intent, on_disk: Mapping[str, str | None]) -> None:
        for path, step in intent.steps.items():
            if on_disk[path] == step.old != step.new and (name := self._stage_again(step)):
                self._store.place(path, name, step.new is not None, step.old is not None)
        self._store.sync(list(intent.steps))
        displaced = {path: self._store.staged(step.temporary) for path, step in intent.steps.items()}
        self._record_raced(intent, displaced)
        blobs = {path: step.new for path, step in intent.steps.items() if self._is_stored(path, step.new)}
        self._record(blobs, _note(intent), intent.when, journalled=True)
        self._history.settle({path: (blob, None) for path, blob in blobs.items()})

    def _stage_again(self, step: Step) -> str | None:
        """The name of a step's temporary file; of another one where a power cut took it, or what it held."""
        if step.new is None or _blob_of(self._store.staged(step.temporary)) == step.new:
            return step.temporary
        return self._store.stage(self._history.blob(step.new), None) if self._history.has(step.new) else None

    def _is_stored(self, path: str, blob: str | None) -> bool:
        """Whether history has `blob`, if need be again from the file, after a `git prune` since the crash."""
        if blob is None or self._history.has(blob):
            return True
        return self._blob_at(path) == blob and self._history.put(self._store.read(path) or b"") == blob

    def _clear_leftovers(self) -> None:
        """Remove temporary files whose text is in history, displaced ones after a while; record what is not."""
        self._store.clear_ahead()
        displaced, staying = self._displaced.all(), {}
        waiting = {step.temporary for intent in self._journal.waiting().values() for step in intent.steps.values()}
        for name in (each for each in self._store.leftovers() if each not in waiting):
            path = displaced.get(name)
            # Asked before the look: what is written after it is still there at the next one.
            stays = path and (self._store.is_open(name) or self._store.age_ns(name) < LATE_NS)
            try:
                data = self._store.staged(name)
            except OSError:
                self._report(f"a file that cannot be read was kept in {self._store.set_aside(name)}")
                continue
            if data and not self._history.has(blob_id(data)):
                if path is None:
                    self._report(f"text of an unknown save was kept in {self._store.set_aside(name)}")
                    continue
                self._record_late(path, data)
            if path and stays:
                staying[name] = path
            else:
                self._store.discard(name)
        if staying != displaced:
            self._displaced.keep(staying)

    def _record_late(self, path: str, data: bytes) -> None:
        """Record what an editor wrote to a file after it was replaced; what replaced it stays."""
        if self._blob_at(path) == blob_id(data):
            return  # a power cut left both names to one file: it is in its place, and will be recorded as such
        current = self._history.files(self._history.head()).get(path)
        self._record({path: self._history.put(data)}, self._edit_note({path: data}), self._clock())
        note = Note("keep: what replaced it stays", identity("crabmem"))
        self._record({path: current}, note, self._clock())

    def _report(self, repair: str | None) -> None:
        """Note a repair for `doctor`."""
        if repair:
            line = f"{self._clock():%Y-%m-%d %H:%M} {repair}\n"
            fs.append(self._repairs, line.encode())

    def _edit_note(self, edits: Mapping[str, bytes | None]) -> Note:
        """The words for outside edits of the person: the bytes by path, None for a file that is gone."""
        return edit_note(self._edits_of(edits), self._settings().person, self._layout)

    def _edits_of(self, edits: Mapping[str, bytes | None]) -> dict[str, Edit]:
        """Files before, as the head has them, and after."""
        head = self._history.files(self._history.head())
        known = {path: head[path] for path in edits if path in head and self._history.has(head[path])}
        before = {path: self._history.blob(blob) for path, blob in known.items()}
        return {path: Edit(before.get(path), data) for path, data in sorted(edits.items())}


def _refuse_mass_loss(losses: Losses) -> None:
    if losses.are_many:
        raise MassLoss(
            f"that would delete or empty {losses.share}, more than a third, so nothing was changed",
            losses.count,
            losses.total,
            may_be_meant=True,
        )


def _later_note() -> Note:
    return Note("keep: what was written during a rebase or merge", identity("crabmem"))


def _note(intent: Intent) -> Note:
    return Note(intent.subject, intent.author, intent.body, intent.trailers)


def _counts(path: str, known: Mapping[str, str | None]) -> bool:
    """Whether a file is memory by itself: Markdown and settings are, other texts where the head, `known`, has them."""
    return path.endswith((".md", SETTINGS)) or known.get(path) is not None


def _is_partial(file: File | None) -> bool:
    return file is not None and file.is_partial


def _is_since(file: File, moment: int) -> bool:
    return changed_ns(file.mark) > moment


def _stamp(file: File | None) -> Stamp | None:
    return file.stamp if file else None


def _blob_of(data: bytes | None) -> str | None:
    return None if data is None else blob_id(data)


def _unwritable(error: OSError) -> CrabmemError:
    where = f" ({error.filename})" if error.filename else ""
    reason = fs.reason(error)
    advice = next((f"{words} and " for errors, words in _ADVICE if error.errno in errors), "")
    return Unwritable(f"the disk refused to write{where}: {reason}; nothing is lost: {advice}try again then")
