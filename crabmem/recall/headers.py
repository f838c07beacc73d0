"""The headers of entries, kept in a table on disk: for a list of thousands no file is read that is as it was.

Derived, and disposable: a row belongs to the bytes of a file, by their id, so that none is ever behind.
"""

from __future__ import annotations

from ..disk import derived, state
from ..disk.derived import Cache
from ..disk.fork_lock import Guard
from ..disk.stat import BLOB
from ..text.entry import Entry
from ..workspace.workspace import Workspace
from .entries import Entries, PathFilter
from .synced import WORTH_SAVING

_LABEL = "headers 2"
# Between fields, and between labels in one: no text of an entry has the first, and what has the second has no row.
_BETWEEN, _INSIDE = "\0", "\x01"
_FIELDS = 5


class Header:
    """What a list says of the entry at `path`: `about` is its description, or where that is blank its content."""

    JSON = ("path", "name", "about", "labels")
    __slots__ = ("_labels", "about", "name", "path")

    def __init__(self, path: str, name: str, about: str, labels: str) -> None:
        self.path = path
        self.name = name
        self.about = about
        self._labels = labels

    def __repr__(self) -> str:
        return f"Header({self.path!r}, {self.name!r}, {self.about!r}, {self.labels!r})"

    @property
    def labels(self) -> tuple[str, ...]:
        """What a filter by tags goes by."""
        return tuple(self._labels.split(_INSIDE)) if self._labels else ()


class Headers:
    """The headers of the entries of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._cache = Cache(workspace.private_folder, state.HEADERS)
        self._guard = Guard()
        # By path: the id of the blob, the name, the description and the labels.
        self._rows: dict[str, tuple[str, str, str, str]] | None = None

    def of(self, entries: Entries, fits: PathFilter | None = None) -> list[Header]:
        """The headers of the entries that fit, by path. Reads files that have no row yet, and saves many new rows."""
        with self._guard:
            if self._cache.renew() or self._rows is None:
                self._rows = self._load_rows()
            found, rows, new = list[Header](), self._rows, 0
            marks = entries.index.marks()
            for path in entries.paths:
                if fits is not None and not fits(path):
                    continue
                blob = marks[path][BLOB].hex()
                row = rows.get(path)
                if row is not None and row[0] == blob:
                    found.append(Header(path, *row[1:]))
                    continue
                entry = entries.at(path)
                found.append(Header(path, entry.name, entry.about, _INSIDE.join(entry.labels)))
                if _has_row(entry):
                    rows[path] = blob, entry.name, entry.description, _INSIDE.join(entry.labels)
                    new += 1
            if new >= WORTH_SAVING:
                self._save_rows({path: rows[path] for path in entries.paths if path in rows})
            return found

    def _load_rows(self) -> dict[str, tuple[str, str, str, str]]:
        """The rows as the last process kept them; none where they cannot be believed."""
        body = derived.load(self._cache.path, _LABEL)
        if body is None:
            return {}
        parts = str(body, "utf-8", "surrogatepass").split(_BETWEEN)
        columns = [parts[at::_FIELDS] for at in range(_FIELDS)]
        return dict(zip(columns[0], zip(*columns[1:], strict=False), strict=False))

    def _save_rows(self, rows: dict[str, tuple[str, str, str, str]]) -> None:
        text = _BETWEEN.join([part for path, row in rows.items() for part in (path, *row)])
        data = derived.packed(_LABEL, text.encode("utf-8", "surrogatepass"))
        try:
            self._cache.keep(lambda file: derived.save(file, data))
        except OSError:
            return  # a cache that cannot be written is none


def _has_row(entry: Entry) -> bool:
    """Whether a row can hold the header: no separator in any text, and a description, as the content is not kept."""
    said = (entry.path, entry.name, entry.description, *entry.labels)
    is_plain = not any(_BETWEEN in text or _INSIDE in text for text in said)
    return bool(entry.description) and is_plain and all(entry.labels)
