"""Entries as they were at commits. What recall knows of a commit is kept, so that it is worked out once.

It is kept by an id of all entries, which is the same at all commits between two changes of an entry: in memory, and on
disk beside the index of today, whose rules hold here too: derived, checked against the folder each time, and
disposable. The index of a commit is made from one that is like it, so that only what differs is read.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from .. import search
from ..disk import fs, state
from ..disk.derived import Cache
from ..disk.fork_lock import Guard
from ..disk.scan import Unusable
from ..disk.stat import BLOB, SIZE, unstamped
from ..errors import Unreadable
from ..git.timeline import Timeline
from ..search import Document, Index, rules
from ..text.entry import Entry
from ..workspace.workspace import Workspace
from .catalog import Catalog
from .entries import Entries
from .labels import document
from .synced import differing

#: Moments on disk, and their bytes, at most; the last one asked for stays in any case.
MOST, MOST_BYTES = 16, 64_000_000
_OPEN = 4


class PastEntries:
    """The entries of one workspace at commits, with an LRU cache of moments."""

    def __init__(
        self, workspace: Workspace, timeline: Timeline, catalog: Catalog, blob: Callable[[str], bytes]
    ) -> None:
        """`blob` tells the bytes that are stored under an id."""
        self._timeline = timeline
        self._catalog = catalog
        self._blob = blob
        self._guard = Guard()
        self._cache = Cache(workspace.private, state.PAST)
        self._open: OrderedDict[tuple[str, bytes], Entries] = OrderedDict()

    def at(self, commit: str, language: str, keep: bool = True) -> Entries:
        """The entries at a commit, with their words stemmed by `language`.

        With `keep` their index is saved for other processes. Leave it out to look at many commits, which would push
        each other out of the files that are kept.
        """
        key = self._timeline.entries_id(commit), rules(language)
        with self._guard:
            if self._cache.renew():
                self._open.clear()  # they have words of what was purged
            found = self._open.get(key) or self._opened(commit, key[0], language, keep)
            self._open[key] = found
            self._open.move_to_end(key)
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return found

    def _opened(self, commit: str, name: str, language: str, keep: bool) -> Entries:
        """Make the index of a commit from the most similar one at hand: saved for it, open, of today, or empty.

        `name` is the id of its entries, the name under which its index is saved.
        """
        blobs, sign = self._timeline.entries_at(commit), rules(language)
        marks = {path: unstamped(blob) + sign for path, blob in blobs.items()}
        place = self._cache.place / f"{name}-{sign.hex()}"
        kept = search.load(place)
        others = [each.index for each in reversed(self._open.values())]
        bases = [*([kept] if kept is not None else []), *others, self._catalog.known(), Index()]
        base, paths = _nearest(bases, marks)
        changes = {path: self._document(path, marks.get(path), language) for path in paths}
        broken = [path for path in changes if path in marks and changes[path] is None]
        if base is kept and len(broken) == len(changes):  # all there is: what is broken is in no index
            _use(place)
            index = base
        else:
            index = base.updated(changes)
            if keep:
                self._cache.keep(lambda folder: _keep(index, place))
        return Entries(
            index=index,
            read=lambda path: self._entry(path, index.marks()[path]),
            unreadable=tuple(Unusable(path, f"{path} could not be read as a fact") for path in broken),
            is_past=True,
        )

    def _document(self, path: str, mark: bytes | None, language: str) -> Document | None:
        """What the index is to know of a file with that mark; None for one that is not there, or no entry."""
        with suppress(Unreadable):
            if mark is not None:
                return document(self._entry(path, mark), mark, language)
        return None

    def _entry(self, path: str, mark: bytes) -> Entry:
        blob = mark[BLOB].hex()
        return self._catalog.reader.read(path, blob, lambda: self._data(path, blob))

    def _data(self, path: str, blob: str) -> bytes:
        """The bytes of a file, unless it is one that is not taken on disk either."""
        data = self._blob(blob)
        if len(data) > fs.MAX_BYTES:
            raise Unreadable(f"{path} is larger than {fs.MAX_BYTES} bytes")
        return data


def _nearest(bases: Iterable[Index], wanted: Mapping[str, bytes]) -> tuple[Index, list[str]]:
    """The index that lacks the fewest documents, and the paths in which it differs.

    The first of equals: the caller puts the one saved for this moment first, so that it is not saved again.
    """
    found = [(base, *differing(base.marks(), wanted, SIZE)) for base in bases]
    base, new, gone = min(found, key=lambda item: (len(item[1]), len(item[2])))
    return base, sorted([*new, *gone])


def _use(place: Path) -> None:
    """Mark the index as the most recently used, by its modification time.

    The time is 1 ns after the newest in the folder, not now: two uses may fall into one tick of a system's clock.
    """
    with suppress(OSError):
        fs.set_modified(place, max(map(_last_used, place.parent.iterdir())) + 1)


def _last_used(place: Path) -> int:
    return place.stat().st_mtime_ns


def _keep(index: Index, place: Path) -> None:
    """Save an index for the next process, and remove the least recently used ones above the bounds."""
    if search.save(index, place):
        _use(place)
        with suppress(OSError):
            _trim(place.parent)


def _trim(folder: Path) -> None:
    room = MOST_BYTES
    places = sorted(filter(Path.is_dir, folder.iterdir()), key=_last_used, reverse=True)
    for number, place in enumerate(places):
        room -= sum(file.stat().st_size for file in place.iterdir())
        if number and (number >= MOST or room < 0):
            fs.remove_tree(place)
