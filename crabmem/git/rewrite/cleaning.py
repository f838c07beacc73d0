"""Commits without what purges took, however it came into them: the last step onto the purged line.

Purged text can be in a file that was moved and rewritten, that a join made of two, or that another purge left; a list
of all such ways would miss one. So each commit that is to stay is searched, with all its ancestors.
"""

from collections.abc import Callable, Mapping

from ...text.frontmatter import parts_of
from ...text.marks import MARKS
from ..objects import Objects
from ..trees import FOLDER, parsed_row, read_rows, row_of, to_text
from .comparison import parted, put_together
from .went import Went, told, without


class Cleaning:
    """Makes commits anew that have what `went`, or whose parents became others.

    `ids` has the new id of each commit that became another, and grows meanwhile. `is_purged(old, new)` tells whether
    `new` is `old` with marks in the place of text. `cut` has the texts from which lines were taken here, and what was
    left of each, None for nothing.
    """

    def __init__(
        self, went: Went, objects: Objects, is_purged: Callable[[str, str], bool], ids: Mapping[str, str]
    ) -> None:
        self._went, self._objects, self._is_purged, self._ids = went, objects, is_purged, ids
        self._commits, self._trees = dict[str, str](), dict[str, str | None]()
        self._clean_rows = set[bytes]()
        self._blobs = dict[str, str | None]()
        self.cut = dict[str, str | None]()

    def commit(self, tip: str) -> str:
        """Return a commit cleaned, after all its ancestors; itself if nothing had to change. Results are cached.

        Raises:
            DamagedHistory: an object is missing or broken.
        """
        waiting = [tip]
        while waiting:
            oid = waiting[-1]
            parents = self._objects.header(oid).parents
            if oid not in self._commits and (below := [each for each in parents if each not in self._commits]):
                waiting += below
                continue
            if oid not in self._commits:
                self._commits[oid] = self._new(oid)
            waiting.pop()
        return self._commits[tip]

    def _new(self, oid: str) -> str:
        says = self._objects.header(oid)
        tree = self._tree(says.tree) or self._objects.put("tree", b"")
        parents = [self.place(each) for each in says.parents]
        if tree == says.tree and parents == [*says.parents]:
            return oid
        return self._objects.put("commit", put_together(tree, parents, *parted(self._objects.raw(oid)[1])))

    def place(self, oid: str) -> str:
        """Return what a commit became in the end, by `ids` or by cleaning; itself if it became no other."""
        seen = {oid}
        while (end := self._ids.get(oid, self._commits.get(oid, oid))) not in seen:
            seen.add(end)
            oid = end
        return oid

    def _tree(self, oid: str) -> str | None:
        """Return a tree cleaned; None if nothing is left in it."""
        if oid not in self._trees:
            rows = [*read_rows(oid, self._objects)]
            new = {row: self._row(row) for row in {*rows} - self._clean_rows}
            self._clean_rows.update(row for row, became in new.items() if became == row)
            left = [new.get(row, row) for row in rows]
            if left == rows:
                self._trees[oid] = oid
            else:
                self._trees[oid] = self._objects.put("tree", b"".join(left)) if any(left) else None
        return self._trees[oid]

    def _row(self, row: bytes) -> bytes:
        name, mode, oid = parsed_row(row)
        became = self._tree(oid) if mode == FOLDER else self.blob(oid)
        return row if became == oid else row_of(name, mode, became) if became else b""

    def blob(self, oid: str) -> str | None:
        """Return a text cleaned; None if nothing is left of it."""
        if oid not in self._blobs:
            self._blobs[oid] = None  # for a record that goes round in a circle
            self._blobs[oid] = self._new_blob(oid)
        return self._blobs[oid]

    def _new_blob(self, oid: str) -> str | None:
        """Return what is left of a text: of one that went, what purges left, if that is here and holds; of any other,
        the text without the lines that went. None for nothing.
        """
        if self._went.is_gone(oid):
            end = self._went.end(oid)
            is_good = end and self._objects.is_there(end) and self._is_purged(oid, end)
            return self.blob(end) if end and end != oid and is_good else None
        if not self._went.lines:
            return oid
        data = self._objects.blob(oid)
        if not (went := told(data) & self._went.lines):
            return oid
        kept = without(data, went)
        has_more = any(each.strip() not in ("", MARKS[0][0]) for each in parts_of(to_text(kept)).content.splitlines())
        self.cut[oid] = self._objects.put("blob", kept) if has_more else None
        return self.cut[oid]
