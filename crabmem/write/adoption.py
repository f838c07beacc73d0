"""Adoption: what others wrote to files is recorded as theirs before a write of ours, or when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Set
from typing import TypeAlias

from ..disk import state
from ..disk.scan import File, Scan
from ..disk.stat import changed_ns
from ..git.commits import Note
from ..text.values import value
from ..workspace.layout import SETTINGS
from .actor import Actor
from .after_rebase import KEPT_NOTE
from .bylines import Byline, Bylines
from .losses import LEAST_OF_FEW, Losses, Unconfirmed, is_blank, losses
from .outside_edits import Edit, written_note
from .recorder import Recorder, counts_as_edit

#: Whether the edit of a file, None for one that is gone, waits for a later look.
IsLater: TypeAlias = Callable[[str, File | None], bool]


#: Nanoseconds within which a host tells of what its tools wrote at once.
AT_ONCE_NS = 10_000_000_000
#: How many of the files that were changed last are looked up in the history, as a prune may have taken their texts.
_RECENT = 8


@value
class Held:
    """Files that an agent wrote with a tool of its host, and that were to wait for a person: what they are to say."""

    changes: Mapping[str, bytes | None]
    note: Note


class Adoption:
    """Records outside edits of one workspace: the person's, those of agents that signed them, and our own."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._history = recorder.history
        self._layout = recorder.workspace.layout
        self.bylines = Bylines(recorder.workspace.private / state.BYLINES)
        #: What the last look found lost outside, and did not record.
        self.unrecorded: Losses | None = None
        self._unconfirmed = Unconfirmed(recorder.workspace.private)
        #: The last scan whose newest files were looked up in the history.
        self._examined: Scan | None = None
        #: Agents' edits that the last `adopt` made proposals of. The holder of the lock then puts the files back.
        self.held: tuple[Held, ...] = ()

    def forget(self) -> None:
        """Forget which files were looked up in the history: it is another one."""
        self._examined = None

    def adopt(self, even_if_many: bool, is_later: IsLater) -> Scan:
        """Record edits that differ from the head and are whole, as their authors'; return the files.

        Three kinds are not recorded: the loss of many facts, unless `even_if_many` (it goes to `unrecorded`, and
        writes go on without it); agents' edits that wait for a person (`held`); edits for which `is_later` is true.
        """
        scan = self._recorder.store.scan()
        since = scan.since(self._examined) if self._examined else None
        self._recorder.put_back(scan, scan.files.newest(_RECENT) if since is None else since & scan.files.keys())
        self._examined = scan
        edits = {
            path: file
            for path, file in self._recorder.outside_edits(scan).items()
            if not (file and file.is_partial) and not is_later(path, file)
        }
        self.unrecorded = None if even_if_many else self._lost(edits, scan)
        lost = self.unrecorded.paths if self.unrecorded else ()
        self._unconfirmed.note(lost)
        edits = {path: file for path, file in edits.items() if path not in lost}
        self.held = tuple(self._held(edits, scan)) if edits else ()
        back = {path for each in self.held for path in each.changes}
        self._record({path: file for path, file in edits.items() if path not in back}, scan)
        if not self.held:  # else they count until the files are as they are to be
            self.bylines.clear()
        return scan

    def is_later_than(self, own: Container[str]) -> IsLater:
        """Return a test for unsigned edits of the last seconds at paths other than `own`.

        When a host runs tools at once, the hook of each signs its own file, a little later.
        """
        since = int(self._recorder.clock().timestamp() * 1_000_000_000) - AT_ONCE_NS
        known = self.bylines.signed()

        def is_later(path: str, file: File | None) -> bool:
            if file is None or path in own:
                return False
            return changed_ns(file.mark) > since and (path, file.blob) not in known

        return is_later

    def record_replaced(self, changes: Mapping[str, bytes | None], scan: Scan) -> None:
        """Record what a write is about to replace, of what the last look left unrecorded.

        That is half a save, which otherwise waits until it is whole; a file that somebody emptied, which waits to be
        confirmed; and a text other than Markdown that no commit has.
        """
        lost = self.unrecorded.paths if self.unrecorded else ()
        files = {path: file for path in changes if (file := scan.files.get(path))}
        head = self._history.head() if files else None
        known = {path: self._history.file(head, path) for path in files}  # to list all takes longer than the write
        self._record(
            {
                path: file
                for path, file in files.items()
                if (file.is_partial or path in lost or not counts_as_edit(path, known)) and known.get(path) != file.blob
            },
            scan,
        )

    def settle(self, written: Set[str]) -> None:
        """Note losses no longer at paths that were written: who loses the same files later is asked, or not, anew."""
        if self.unrecorded:
            self._unconfirmed.note(set(self.unrecorded.paths) - written)

    def lost_outside(self, scan: Scan) -> Losses | None:
        """Return the facts lost outside if they are so many that a person has to confirm the loss; else None."""
        return self._lost(self._recorder.outside_edits(scan), scan)

    def _lost(self, edits: Mapping[str, File | None], scan: Scan) -> Losses | None:
        """Return what edits would lose if that is too many facts, with all files that went along; else None.

        A loss that the person was told of stays too much until they decide, however many new facts came since.
        """
        if not edits:
            return None
        noted = self._unconfirmed.among(edits)
        if not noted and sum(map(self._layout.is_entry, edits)) < LEAST_OF_FEW:
            return None
        head = self._history.files(self._history.head())
        came = {file.blob for path, file in edits.items() if file and path not in head}
        gone = (path for path in edits if path in head and head[path] not in came)
        emptied = {path for path in gone if self._is_emptied(path, head[path], scan)}
        found = losses(emptied, head, self._layout)
        if not found.are_many:
            found = losses(emptied & noted, head, self._layout)
        return found if found.paths else None

    def _is_emptied(self, path: str, blob: str, scan: Scan) -> bool:
        """Whether the text of `blob`, which was at `path`, is gone from there without another one."""
        return is_blank(scan.data(path)) and (
            path not in scan.files or (self._history.has(blob) and not is_blank(self._history.blob(blob)))
        )

    def _record(self, edits: Mapping[str, File | None], scan: Scan) -> None:
        """Commit edits by author: ours that a rebase kept back, the person's, and agents' that their hosts signed."""
        if edits:
            recorder, ours = self._recorder, self._kept_by_us(edits)
            if ours:
                recorder.record_files({path: edits[path] for path in ours}, KEPT_NOTE, scan)
            rest = {path: file for path, file in edits.items() if path not in ours}
            bylines = self.bylines.of({path: file.blob if file else None for path, file in rest.items()})
            theirs = {path: file for path, file in rest.items() if path not in bylines}
            if theirs:
                recorder.record_files(theirs, recorder.edit_note({path: scan.data(path) for path in theirs}), scan)
            for note, own in self._signed(bylines, scan):
                recorder.record_files({path: rest[path] for path in own}, note, scan)

    def _held(self, edits: Mapping[str, File | None], scan: Scan) -> Iterator[Held]:
        """Yield signed edits of agents that have to wait for a person, with the texts their files get back.

        Makes a proposal of each.
        """
        head = self._history.head_if_any()
        may_wait = self._recorder.settings().review.is_on or scan.blob(SETTINGS) != self._history.file(head, SETTINGS)
        bylines = self.bylines.of({path: file.blob if file else None for path, file in edits.items()})
        for proposes in (False, True) if may_wait else (True,):
            some = {path: byline for path, byline in bylines.items() if byline.proposes is proposes}
            for note, own in self._signed(some, scan) if some else ():
                from .reviewer import Reviewer  # late: few have anything wait

                before = {path: edit.before for path, edit in own.items()}
                after = {path: edit.after for path, edit in own.items()}
                changes, waits = Reviewer(self._recorder, head, proposes).parted(before, after, note)
                if waits:
                    yield Held({path: changes[path] for path in waits}, note)

    def _signed(self, bylines: Mapping[str, Byline], scan: Scan) -> Iterator[tuple[Note, Mapping[str, Edit]]]:
        """Yield for each agent and session the words of its commit, and its edits by path."""
        for agent, session in dict.fromkeys((byline.agent, byline.session) for byline in bylines.values()):
            own = [path for path, byline in bylines.items() if (byline.agent, byline.session) == (agent, session)]
            edits = self._recorder.edits_of({path: scan.data(path) for path in own})
            yield written_note(edits, Actor(agent, session), self._recorder.settings().person, self._layout), edits

    def _kept_by_us(self, edits: Mapping[str, File | None]) -> set[str]:
        """Return the paths of edits that are writes of ours, kept off the branch by a rebase or merge of the person."""
        kept = self._history.kept()
        if kept is None or kept == self._history.head():
            return set()
        blobs = self._history.files(kept)
        return {path for path, file in edits.items() if file and blobs.get(path) == file.blob}
