"""The entries of a workspace as they are on disk, and the index that is kept in step with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..disk.scan import File, Scan, Unusable
from ..disk.stat import BLOB
from ..errors import Unreadable
from ..search import Document, Index, rules
from ..text.entry import Entry
from ..text.values import named_value, replace
from ..workspace.layout import Layout
from ..workspace.workspace import Workspace
from .entries import Entries
from .labels import document
from .reader import EntryReader
from .synced import WORTH_SAVING, SyncedIndex

#: Told how many entries of how many were read.
Progress = Callable[[int, int], None]
_TOLD_EVERY = 500


@named_value
class Listing(Entries):
    """The entries of a scan, for writes: these look into files that are no entries, too, and put new ones beside."""

    scan: Scan
    layout: Layout


class Catalog(SyncedIndex):
    """The entries of scans, and their index, which is updated for changed files only and kept on disk."""

    def __init__(self, workspace: Workspace, language: Callable[[Scan], str], progress: Progress | None = None) -> None:
        """`language` returns the language of a scan's settings, by which words are stemmed."""
        super().__init__(workspace)
        self._layout = workspace.layout
        self.reader = EntryReader(workspace.layout)
        self._language = language
        self._indexed_language = ""
        self._progress = progress or (lambda done, total: None)
        #: The scan that the index is in step with; None for none.
        self._scan: Scan | None = None
        self._listing: Listing
        # Files of that scan that are in no index: unreadable ones, and ones that were being written.
        self._broken: dict[str, Unusable] = {}
        self._being_written: dict[str, Entry] = {}

    def marks(self) -> Mapping[str, bytes]:
        """The marks of the files that are indexed, by path: stamp, blob id and the rules for words."""
        return self.index.marks()

    def listing(self, scan: Scan) -> Listing:
        """The entries among the files of `scan`."""
        with self.guard:
            if scan is not self._scan or self._language(scan) != self._indexed_language:
                self._follow(scan)
            elif self._listing.index is not self.index:  # a thread has joined its segments: same content, faster
                self._listing = replace(self._listing, index=self.index)
            return self._listing

    def known(self) -> Index:
        """The index as it is, without a look at the files; empty after a purge."""
        with self.guard:
            self.forget_purged()
            return self.index

    def entry(self, scan: Scan, path: str) -> Entry:
        """The entry in a file of `scan`, which is known to be one."""
        return self.reader.read(path, scan.files[path].blob, lambda: scan.data(path) or b"")

    def _forget(self) -> None:
        self._scan = None

    def _follow(self, scan: Scan) -> None:
        """Bring the index in step with `scan`, and set `_listing` to its entries."""
        language, layout = self._language(scan), self._layout
        if language != self._indexed_language:
            self._indexed_language, self._scan = language, None
        paths = self._differing(scan)
        self.change(dict(self._read(scan, paths)))
        self._scan = scan
        halves = tuple(self._being_written[path] for path in sorted(self._being_written))
        unusable = (item for item in scan.unusable if not item.is_beside)
        broken = [
            *(each for each in unusable if layout.is_recalled(each.path) or layout.is_entry_folder(each.path)),
            *self._broken.values(),
            *(Unusable(half.path, f"{half.path} is being written at this moment") for half in halves),
        ]
        self._listing = Listing(
            index=self.index,
            read=lambda path: self.entry(scan, path),
            unreadable=tuple(broken),
            being_written=halves,
            scan=scan,
            layout=layout,
        )

    def _differing(self, scan: Scan) -> list[str]:
        """The paths whose entries must be read again: all that may have changed since the index was last in step.

        If the scan does not know what changed since then (first scan of a process, other language), compare marks.
        """
        since = scan.since(self._scan) if self._scan else None
        if since is not None:
            return sorted(filter(self._layout.is_recalled, since))
        known, files, words = self.marks(), scan.files, rules(self._indexed_language)
        other = {path for path, mark in known.items() if not mark.endswith(words)}  # of another language
        other |= known.keys() - files.known.keys() - files.read.keys()  # gone
        other.update(path for path in known if not self._layout.is_recalled(path))  # of another layout
        read = {path: file for path, file in files.read.items() if self._layout.is_recalled(path)}
        same = {path for path, file in read.items() if path not in other and _is_same(known.get(path, b""), file)}
        # Touched, or once too young to be known by their times: many are indexed anew, so that others know them.
        remarked = {path for path in same if known[path] != self._mark(read[path])}
        if len(remarked) >= WORTH_SAVING:
            same -= remarked
        # Files that the scan knows by their marks are as the index has them, unless only the searcher had their marks.
        unindexed = filter(self._layout.is_recalled, files.known.keys() - known.keys())
        return sorted({*other, *(read.keys() - same), *unindexed, *self._broken, *self._being_written})

    def _mark(self, file: File) -> bytes:
        """What the index remembers a file by."""
        return file.remembered + rules(self._indexed_language)

    def _read(self, scan: Scan, paths: Sequence[str]) -> Iterator[tuple[str, Document | None]]:
        for done, path in enumerate(paths):
            self._broken.pop(path, None)
            self._being_written.pop(path, None)
            yield path, self._document(scan, path)
            if done % _TOLD_EVERY == 0 or done == len(paths) - 1:
                self._progress(done + 1, len(paths))

    def _document(self, scan: Scan, path: str) -> Document | None:
        """The document for the index; None if the file does not belong into it.

        It does not if it is gone or not recalled, if it cannot be read (then it is added to `_broken`), or if somebody
        was writing it when it was read (then it is added to `_being_written`).
        """
        file = scan.files.get(path)
        if file is None or not self._layout.is_recalled(path):
            return None
        try:
            entry = self.entry(scan, path)
        except Unreadable as error:
            self._broken[path] = Unusable(path, str(error))
            return None
        if file.is_partial:
            self._being_written[path] = entry
            return None
        return document(entry, self._mark(file), self._indexed_language)


def _is_same(mark: bytes, file: File) -> bool:
    """Whether a file still has the bytes of its mark; only its times may differ."""
    return not file.is_partial and mark[BLOB] == bytes.fromhex(file.blob)
