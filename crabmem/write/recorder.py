"""Recording: what lies in files becomes commits, and it is remembered what files and history agree on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from ..disk import fs, spelling, state
from ..disk.scan import File, Scan
from ..disk.store import Store
from ..errors import Unreadable
from ..git.commits import Note
from ..git.history import History
from ..git.index import Settled
from ..git.repository import is_sparse
from ..git.trees import Item
from ..text.values import value
from ..workspace.layout import SETTINGS
from ..workspace.settings import Settings
from ..workspace.workspace import Workspace
from .outside_edits import Edit, edit_note


@value
class Agreed:
    """The state that files and history agree on: all files of `scan` are in the commit `head`, apart from `doubts`.

    These are the paths that differed when they were compared, and those committed since. They are compared again at the
    next look.
    """

    scan: Scan
    head: str | None
    doubts: frozenset[str]


class Recorder:
    """The files and the history of one workspace, and the commits that bring the second in step with the first.

    `Writer`, `Adoption` and `Recovery` share one. `clock` gives the time of commits; `settings` is called at each
    write. Commits are made under the writer's lock; `outside_edits` and `repairs` need none.

    `record_files` settles Git's index itself, as it commits what the disk has. After `record` the caller does so, once
    its files are in place. A text of `record_saved` is in no file any more: the commit that follows replaces it.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        history: History,
        clock: Callable[[], datetime],
        settings: Callable[[], Settings],
    ) -> None:
        self.workspace = workspace
        self.store = store
        self.history = history
        self.clock = clock
        self.settings = settings
        self._agreed: Agreed | None = None

    def forget(self) -> None:
        """Forget what files and history agree on: somebody changed both in another way."""
        self._agreed = None

    def outside_edits(self, scan: Scan) -> dict[str, File | None]:
        """What differs from the head on disk, by path; None for a file that is gone.

        A text other than Markdown counts from the first commit on that has it: until something of ours is written
        there, it may be a program's, a log that grows, or somebody's keys.
        """
        head = self.history.head_if_any()
        found = {path: scan.files.get(path) for path in self._differing(scan, head)}
        excused = self._excused(found, scan, head)
        # A hidden or unusable file may change without a scan noticing: then nothing is known to agree.
        self._agreed = None if excused or scan.unusable else Agreed(scan, head, frozenset(found))
        return {path: file for path, file in found.items() if path not in excused}

    def _differing(self, scan: Scan, head: str | None) -> Iterable[str]:
        """The paths at which scan and head differ; all are compared only where nothing is known to agree."""
        agreed, since = self._agreed, scan.since(self._agreed.scan) if self._agreed else None
        if agreed and agreed.head == head and since is not None:
            paths = since | agreed.doubts
            known = {path: self.history.file(head, path) for path in paths}
            return [path for path in paths if scan.blob(path) != known[path] and counts_as_edit(path, known)]
        files = self.history.files(head)
        paths = {path for path, blob in scan.files.blobs() if files.get(path) != blob and counts_as_edit(path, files)}
        return [*paths, *filter(self.workspace.layout.is_kept, files.keys() - scan.files.keys())]

    def _excused(self, found: Mapping[str, File | None], scan: Scan, head: str | None) -> set[str]:
        """Those paths of `found` that differ though nobody edited them: a sparse checkout leaves them out, a scan does
        not see what stands there, or the disk has one file for two names."""
        gone = {path for path, file in found.items() if file is None}
        is_left_out = bool(gone) and is_sparse(self.workspace.git)
        excused = gone if is_left_out else {path for path in gone if self._stands(scan, path)}
        self._excuse_twins(excused, found, scan, head)
        return excused

    def _excuse_twins(self, excused: set[str], found: Mapping[str, File | None], scan: Scan, head: str | None) -> None:
        """Settle which names are `excused` where the disk folds case, and so has one file for two names of the head."""
        for path, twin in spelling.twins(self.workspace.root, excused, scan.files).items():
            if self.history.file(head, twin) is None:
                excused.discard(path)  # renamed to the twin, by case alone: an edit
            elif (file := found.get(twin)) and file.blob == self.history.file(head, path):
                excused.add(twin)  # a checkout wrote the text of `path` over the twin's: neither is an edit

    def _stands(self, scan: Scan, path: str) -> bool:
        """Whether something is at `path`, or keeps us from looking there, that a scan does not take for a file."""
        return scan.is_hidden(path) or os.path.lexists(self.workspace.file(path))

    def record(
        self,
        blobs: Mapping[str, str | Item | None],
        note: Note,
        when: datetime | None = None,
        journalled: bool = False,
        joined: str | None = None,
    ) -> str | None:
        """Commit blobs by path, at this moment unless one is given; None when the head has them already.

        What files and history agree on stays known while nobody else commits. With `joined` the commit stands on that
        one, too.
        """
        commit = self.history.recording.record(blobs, note, when or self.clock(), journalled, joined)
        agreed = self._agreed
        if commit and agreed:
            follows = self.history.parent(commit) == agreed.head
            # A scan has no files outside memory: beside it those that a join commits would look removed.
            doubts = agreed.doubts | {path for path in blobs if self.workspace.layout.is_kept(path)}
            self._agreed = Agreed(agreed.scan, commit, doubts) if follows else None
        return commit

    def record_files(self, files: Mapping[str, File | None], note: Note, scan: Scan) -> None:
        """Commit `files` (None: gone) with the bytes of `scan`.

        Then bring Git's index in step, so that `git status` is clean.
        """
        blobs = {
            path: self.history.recording.put(bytes_of(scan, path)) if file else None for path, file in files.items()
        }
        self.record(blobs, note)
        settled = {path: Settled.file(blobs[path], file.stamp if file else None) for path, file in files.items()}
        self.history.index.settle(settled)

    def record_saved(self, texts: Mapping[str, bytes], journalled: bool = False) -> None:
        """Commit what the person saved to files that hold something else by now."""
        blobs = {path: self.history.recording.put(data) for path, data in texts.items()}
        self.record(blobs, self.edit_note(texts), journalled=journalled)

    def edit_note(self, edits: Mapping[str, bytes | None]) -> Note:
        """The words for outside edits of the person: the bytes by path, None for a file that is gone."""
        return edit_note(self.edits_of(edits), self.settings().person, self.workspace.layout)

    def edits_of(self, edits: Mapping[str, bytes | None]) -> dict[str, Edit]:
        """Files before, as the head has them, and after."""
        head = self.history.files(self.history.head())
        known = {path: head[path] for path in edits if path in head and self.history.has(head[path])}
        before = {path: self.history.blob(blob) for path, blob in known.items()}
        return {path: Edit(before.get(path), data) for path, data in sorted(edits.items())}

    def put_back(self, scan: Scan, paths: Iterable[str]) -> None:
        """Store again the texts that a prune, or a power cut, took from the history while they are on disk."""
        for path in self.history.recording.without_text({path: scan.files[path].blob for path in paths}):
            self.history.recording.put(bytes_of(scan, path))
            self.report(f"the text of {path} was missing from the history and was put back")
        self.history.recording.flush()

    def report(self, repair: str | None) -> None:
        """Note a repair for `doctor`; None for none."""
        if repair:
            line = f"{self.clock():%Y-%m-%d %H:%M} {repair}\n"
            fs.append(self.workspace.private / state.REPAIRS, line.encode())

    def repairs(self) -> list[str]:
        """What writes had to repair, a line each, oldest first."""
        file = self.workspace.private / state.REPAIRS
        try:
            is_ours = fs.is_own_folder(self.workspace.private)
            return fs.read(file)[0].decode("utf-8", "replace").splitlines() if is_ours else []
        except PermissionError as error:
            raise Unreadable(f"{file} cannot be read: {fs.reason(error)}") from None
        except OSError:
            return []  # there is none; one that is no file of ours is named by `doctor`


def bytes_of(scan: Scan, path: str) -> bytes:
    """The bytes of a file that `scan` has."""
    data = scan.data(path)
    assert data is not None, f"{path} is in no scan"  # else an empty text would be committed in its place
    return data


def counts_as_edit(path: str, known: Mapping[str, str | None]) -> bool:
    """Whether a difference is an edit: Markdown and settings always, another text where the head, `known`, has it."""
    return path.endswith((".md", SETTINGS)) or known.get(path) is not None
