"""What a crash leaves, and how the next write finishes it: the intent of the write under way, and displaced files.

The intent is durable before the first file is touched, and cleared at the end of the write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..disk import fs, state, system
from ..disk.jsonl import JsonLines, encoded, moment, text, text_or_none
from ..disk.seal import Seal
from ..disk.stat import changed_ns
from ..errors import Unreadable
from ..git.commits import Note, identity
from ..git.index import Settled
from ..text.hashes import blob_id, blob_or_none
from ..text.values import replace, value
from ..workspace.layout import Layout
from .beside import is_safe, settled, text_at
from .intent import Intent, Join, Step
from .recorder import Recorder

if TYPE_CHECKING:
    from ..git.rewrite.repository import FileChange  # which no write needs

#: Nanoseconds for which a replaced file is kept at least, as an editor may have it open and write to it. With leases
#: (Linux) such editors are seen, and their files kept for as long as they are open.
LATE_NS = 2_000_000_000 if system.TELLS_WRITERS else 10_000_000_000
# Bytes of a stranger's journal that is read: decoded it takes many times as much memory.
_LARGEST_FOREIGN = 1_000_000
_PURGE = Note("purge: files as the new history has them", identity("crabmem"))
_STAGED = re.compile(r"write-[0-9a-f]{16}\Z")
_BLOB = re.compile(r"([0-9a-f]{40})?\Z")
_KEY = re.compile(r"[A-Z][A-Za-z-]*\Z")
_AUTHOR = re.compile(r"[^<>\0\r\n]+ <[^<>\0\r\n]*>\Z")


@value
class Pending:
    """A write that did not end. `is_ours`: this user began it on this machine, so it may be finished unasked."""

    intent: Intent
    is_ours: bool


class Journal:
    """The file with the write under way, and the journals of strangers that were set aside.

    `private` is `.git/crabmem`. Only the holder of the writer's lock changes it.
    """

    def __init__(self, private: Path, layout: Layout, seal: Seal) -> None:
        self._file = private / state.JOURNAL
        self._aside = private / state.ASIDE
        self._layout = layout
        self._seal = seal

    def begin(self, intent: Intent) -> None:
        """Make `intent` durable."""
        fresh = not self._file.exists()
        fs.overwrite(self._file, self._seal.sealed(_encode(intent)) + b"\n")
        if fresh:
            fs.sync_folder(self._file.parent)

    def clear(self) -> None:
        """Forget the intent. One that comes back after a power cut is recognised as done."""
        fs.hint(self._file, b"")

    def pending(self) -> Pending | None:
        """Return the write that did not end; None if there is none, or its journal is incomplete: no file was touched.

        None also for a journal that names anything but files of ours: it is never carried out, whoever wrote it.
        """
        return self._read(self._file)

    def set_aside(self, pending: Pending) -> Path:
        """Move somebody else's journal out of the way of our writes, to wait for a person; return its new path."""
        fs.make_folder(self._aside)
        place = self._aside / f"journal-{blob_id(_encode(pending.intent))[:12]}"
        fs.rename(self._file, place)
        return place

    def waiting(self) -> dict[Path, Intent]:
        """The intents that were set aside, and where each is."""
        found = {place: self._read(place) for place in sorted(fs.called(self._aside, "journal-"))}
        return {place: pending.intent for place, pending in found.items() if pending}

    def is_open(self) -> bool:
        """Return whether the journal has anything in it; False where it cannot be looked at."""
        try:
            return self._file.lstat().st_size > 0
        except OSError:
            return False

    def _read(self, file: Path) -> Pending | None:
        """Return the write in a journal; None where it is damaged, too large or names files that are not ours.

        A stranger's journal keeps only its steps for files of memory.
        """
        try:
            data, is_ours = self._seal.opened(fs.read(file)[0].removesuffix(b"\n"))
            if not is_ours and len(data) > _LARGEST_FOREIGN:
                return None
            intent = _decode(data)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        if not is_ours:  # no stranger's journal writes files outside memory: the next sync makes the join again
            kept = {path: step for path, step in intent.steps.items() if self._layout.is_kept(path)}
            intent = replace(intent, join=None, steps=kept)
        may_name = is_safe if is_ours and intent.is_taken_back else self._layout.is_kept
        return Pending(intent, is_ours) if _names_only_ours(intent, may_name) else None


def _encode(intent: Intent) -> bytes:
    steps = {path: vars(step) for path, step in intent.steps.items()}
    said = vars(intent.note) | vars(intent) | {"steps": steps, "join": vars(intent.join) if intent.join else None}
    del said["note"]
    return encoded(said)


def _decode(data: bytes) -> Intent:
    said = json.loads(data)
    steps = {path: _step(step) for path, step in said["steps"].items()}
    trailers = tuple((text(key), text(words)) for key, words in said["trailers"])
    note = Note(text(said["subject"]), text(said["author"]), text(said["body"]), trailers)
    head, join = text_or_none(said.get("head")), said.get("join") and _join(said["join"])
    is_taken_back = said.get("is_taken_back") is True
    return Intent(note, moment(said["when"]), steps, head, join, is_taken_back)


def _step(said: Any) -> Step:
    old, new, mode = text_or_none(said["old"]), text_or_none(said["new"]), said.get("mode")
    return Step(old, new, text(said["temporary"]), None if mode is None else int(mode) & 0o777)


def _join(said: Any) -> Join:
    beside = {text(path): item and (int(item[0]), text(item[1])) for path, item in said["beside"].items()}
    return Join(text(said["commit"]), moment(said["when"]), beside)


def _names_only_ours(intent: Intent, may_name: Callable[[str], bool]) -> bool:
    """Return whether every path, id and text of an intent has a form that we could have written."""
    steps = all(
        (may_name(path) or (path in intent.beside and is_safe(path)))
        and _STAGED.match(step.temporary)
        and _BLOB.match(step.old or "")
        and _BLOB.match(step.new or "")
        for path, step in intent.steps.items()
    )
    note = intent.note
    trailers = all(_KEY.match(key) and "\0" not in value for key, value in note.trailers)
    return steps and trailers and bool(_AUTHOR.match(note.author)) and "\0" not in note.subject + note.body


class Displaced:
    """Files that writes replaced, kept for a while: an editor that still has one open may yet write to it.

    Which temporary file stood at which path. `private` is the folder of crabmem's own files. Only used under the
    writer's lock.
    """

    def __init__(self, private: Path, layout: Layout) -> None:
        self._file = private / state.DISPLACED
        self._lines = JsonLines(self._file, dict, _names)
        self._layout = layout

    def add(self, paths: Mapping[str, str]) -> None:
        """Note where displaced files stood: by the name of each temporary file its path."""
        if paths:
            self._lines.append([dict(paths)])

    def all(self) -> dict[str, str]:
        """Return the noted paths of memory, by the names of the temporary files."""
        noted = {name: path for line in self._lines.read() for name, path in line.items()}
        return {name: path for name, path in noted.items() if self._layout.is_kept(path)}

    def keep(self, paths: dict[str, str]) -> None:
        """Forget all but these."""
        fs.hint(self._file, self._lines.encoded([paths] if paths else []))


def _names(said: Any) -> dict[str, str]:
    return {text(name): text(path) for name, path in said.items()}


class Recovery:
    """Finishes the write that a crash interrupted, and clears what writes leave behind.

    `seal` is what this user seals journals with: one of somebody else is not finished before a person says so.
    """

    def __init__(self, recorder: Recorder, seal: Seal) -> None:
        self._recorder = recorder
        self._store = recorder.store
        self._history = recorder.history
        self._private, self._root = recorder.workspace.private, recorder.workspace.root
        self._layout = recorder.workspace.layout
        self.journal = Journal(self._private, recorder.workspace.layout, seal)
        self._displaced = Displaced(self._private, recorder.workspace.layout)
        #: The displaced files whose text was found in the history, and how they were then.
        self._known: dict[str, bytes] = {}

    def end(self, intent: Intent) -> None:
        """End a write: note the files that it displaced, which stay a while for editors, and clear the journal."""
        left = self._store.leftovers()  # a new fact displaces no file
        self._displaced.add({step.temporary: path for path, step in intent.steps.items() if step.temporary in left})
        self.journal.clear()

    def record_raced(self, intent: Intent, displaced: Mapping[str, bytes | None]) -> None:
        """Record those of the `displaced` texts that somebody saved between our scan and our exchange."""
        raced = {
            path: data
            for path, data in displaced.items()
            if data is not None and blob_id(data) not in (intent.steps[path].old, intent.steps[path].new)
        }
        if raced:
            self._recorder.record_saved(raced, journalled=True)

    def is_interrupted(self) -> bool:
        """Return whether there is something to finish unasked.

        That is a write that this user began on this machine, what a power cut took from the history, or what a purge
        left behind.
        """
        is_own = fs.is_own_folder(self._private)
        if is_own and self.journal.is_open():
            pending = self.journal.pending()
            return pending is not None and pending.is_ours
        return self._history.mending.has_left_purge() or (is_own and self._history.mending.has_lost())

    def begun_elsewhere(self) -> list[str]:
        """Return the unfinished writes of other users or machines, in words; they wait for a person's word."""
        if not fs.is_own_folder(self._private):
            return []
        pending = self.journal.pending()
        theirs = [pending.intent] if pending and not pending.is_ours else []
        return [f"the write {intent.note.subject!r}" for intent in (*theirs, *self.journal.waiting().values())]

    def finish(self) -> None:
        """Finish this user's interrupted write, or drop it if no file was changed yet; then clear leftovers.

        Somebody else's is set aside instead, and reported as a repair.
        """
        pending = self.journal.pending()
        if pending and pending.is_ours:
            self._carry_on(pending.intent)
        elif pending:
            place = self.journal.set_aside(pending)
            self._recorder.report(
                f"a write that was begun elsewhere waits in {place}; `crabmem doctor --fix` finishes it"
            )
        elif self.journal.is_open():
            self.journal.clear()
        self._clear_leftovers()

    def finish_waiting(self) -> None:
        """Finish what others began: a person asked for it."""
        for place, intent in self.journal.waiting().items():
            self._carry_on(intent)
            fs.unlink(place)
            self._recorder.report(f"a write that was begun elsewhere was finished: {intent.note.subject}")

    def put(self, files: Sequence[FileChange]) -> None:
        """Put files in place as a purge wants them.

        The journal marks that as to be taken back: after a crash `finish` restores the old files, unless `.git`, and
        this journal with it, was exchanged meanwhile. What somebody saves at this moment stays as it is.
        """
        steps = {
            each.path: Step(
                each.was,
                None if each.data is None else self._history.recording.put(each.data),
                self._store.temporary_name(),
            )
            for each in files
        }
        self._history.recording.flush()
        now, head = self._recorder.clock(), self._history.head()
        self.journal.begin(Intent(_PURGE, now, steps, head, is_taken_back=True))
        for each in files:
            if each.data is not None:
                self._store.stage(steps[each.path].temporary, each.data, each.mode)
        for path, step in steps.items():
            displaced = self._store.place(path, step.temporary, bool(step.new), bool(step.old)).displaced
            if blob_or_none(displaced) != step.old:
                self._store.place(path, step.temporary, displaced is not None, bool(step.new))
        self._store.sync(list(steps))

    def _take_back(self, intent: Intent) -> None:
        """Put the files of a purge back as they were; a file that somebody changed since stays."""
        for path, step in intent.steps.items():
            before = Step(step.new, step.old, step.temporary)
            if self._blob_at(path) == before.old != before.new and (name := self._stage_again(before)):
                self._store.place(path, name, bool(before.new), bool(before.old))
        self._store.sync(list(intent.steps))

    def _carry_on(self, intent: Intent) -> None:
        """Decide what becomes of a write by how far it came.

        Committed: only Git's index is brought in step. Some file is new: the others follow, and the commit. None is:
        the write is dropped.
        """
        if intent.is_taken_back:
            self._take_back(intent)
            return self._drop(intent)
        on_disk = {path: self._blob_at(path) for path in intent.steps}
        if self._history.has_recorded(intent.note, intent.when, intent.head):
            self._settle(intent.steps.keys() - intent.beside.keys(), intent)
            self.end(intent)
        elif any(blob == intent.steps[path].new for path, blob in on_disk.items()):
            self._roll_forward(intent, on_disk)
            self.end(intent)
        else:
            self._settle((), intent)
            self._drop(intent)

    def _drop(self, intent: Intent) -> None:
        """Forget a write that left no file changed: remove its staged files and clear the journal."""
        for step in intent.steps.values():
            # Any other text under the name was displaced and may be a person's: `_clear_leftovers` secures it.
            if step.new and blob_or_none(self._store.staged(step.temporary)) == step.new:
                self._store.discard(step.temporary)
        self._history.mending.harden()  # else, after a power cut, the redo log would move the branch to its commit
        self.journal.clear()

    def _settle(self, paths: Iterable[str], intent: Intent) -> None:
        """Bring Git's index in step with the head, for `paths` of memory and for other files that a join brought."""
        head = self._history.items(self._history.head())
        others = settled(self._root, {path: head.get(path) for path in intent.beside}, intent.steps)
        self._history.index.settle({path: Settled(head.get(path)) for path in paths} | others)

    def _blob_at(self, path: str) -> str | None:
        """Return the blob of what is at `path`, None for no file, "" (equal to no blob) for what cannot be read."""
        if not self._layout.is_kept(path):
            return text_at(self._root, path)
        try:
            return blob_or_none(self._store.read(path))
        except Unreadable:
            return ""

    def _roll_forward(self, intent: Intent, on_disk: Mapping[str, str | None]) -> None:
        """Put the files in place that are still old, and commit as the write would have done.

        What the person saved meanwhile is recorded first.
        """
        for path, step in intent.steps.items():
            if on_disk[path] == step.old != step.new and (name := self._stage_again(step)):
                self._store.place(path, name, step.new is not None, step.old is not None)
        self._store.sync(list(intent.steps))
        self.record_raced(intent, {path: self._store.staged(step.temporary) for path, step in intent.steps.items()})
        join, beside = intent.join, intent.beside
        memory = {path: step for path, step in intent.steps.items() if path not in beside}
        blobs = {path: step.new for path, step in memory.items() if self._is_stored(path, step.new)}
        if join and self._history.has(join.commit) and not self._history.reaches(join.commit):
            self._history.index.settle_first(settled(self._root, beside, intent.steps))
            self._recorder.record({**blobs, **beside}, intent.note, join.when, journalled=True, joined=join.commit)
        else:
            self._recorder.record(blobs, intent.note, intent.when, journalled=True)
        self._settle(blobs, intent)

    def _stage_again(self, step: Step) -> str | None:
        """Return the name of a step's staged file; a missing or damaged one is staged again from the history.

        None where the history does not have its blob.
        """
        try:
            if step.new is None or blob_or_none(self._store.staged(step.temporary)) == step.new:
                return step.temporary
        except OSError:
            return step.temporary  # a displaced file that cannot be read any more: it is put back as it is
        if not self._history.has(step.new):
            return None
        name = self._store.temporary_name()
        self._store.stage(name, self._history.blob(step.new), step.mode)
        return name

    def _is_stored(self, path: str, blob: str | None) -> bool:
        """Return whether the history has `blob`; stores it again from the file if a `git prune` took it since."""
        if blob is None or self._history.has(blob):
            return True
        return self._blob_at(path) == blob and self._history.recording.put(self._store.read(path) or b"") == blob

    def _clear_leftovers(self) -> None:
        """Remove temporary files once their text is kept elsewhere, displaced ones after a while."""
        self._store.clear_ahead()
        displaced, staying = self._displaced.all(), {}
        waiting = {step.temporary for intent in self.journal.waiting().values() for step in intent.steps.values()}
        known, self._known = self._known, {}
        for name in (each for each in self._store.leftovers() if each not in waiting):
            path = displaced.get(name)
            # Taken before the text is read: a write in between changes the stamp, and the text is read again next time.
            stamp = self._store.stamp_of(name)
            stays = path and (self._store.age_ns(stamp) < LATE_NS or self._store.is_open(name))
            is_known = stays and known.get(name) == stamp
            if not (is_known or self._secure(name, path, stamp)):
                continue
            if path and stays:
                staying[name], self._known[name] = path, stamp
            else:
                self._store.discard(name)
        if staying != displaced:
            self._displaced.keep(staying)

    def _secure(self, name: str, path: str | None, stamp: bytes) -> bool:
        """Have the history keep the text of a temporary file, which was displaced from `path`; return whether it does.

        A text that cannot be read, is too large or stood nobody knows where is moved to `recovered`, for the person.
        """
        try:
            data = self._store.staged(name)
        except OSError:
            self._recorder.report(f"a file that cannot be read was kept in {self._store.set_aside(name)}")
            return False
        if not data or self._history.has(blob_id(data)):
            return True
        if path is None or len(data) > fs.MAX_BYTES:
            since = datetime.fromtimestamp(changed_ns(stamp) / 1e9).astimezone()
            self._recorder.report(
                f"a write failed on {since:%Y-%m-%d at %H:%M}; its text is in {self._store.set_aside(name)}: "
                "delete that if you wrote it again"
            )
            return False
        self._record_late(path, data)
        return True

    def _record_late(self, path: str, data: bytes) -> None:
        """Record what an editor wrote to a file after it was replaced, then the replacement again, which stays."""
        if self._blob_at(path) == blob_id(data):
            return  # a power cut left both names to one file: it is in its place, and will be recorded as such
        current = self._history.files(self._history.head()).get(path)
        self._recorder.record_saved({path: data})
        self._recorder.record({path: current}, Note("keep: what replaced it stays", identity("crabmem")))
