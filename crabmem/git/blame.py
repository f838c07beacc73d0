"""Who wrote what stands in a file: line by line as `git blame` tells it, or as a whole."""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from ..text.comparison import lines_of, matched
from .changes import Changes, Origin
from .objects import Objects
from .walk import Walk

#: The number of a line in the version that is looked at, and in the text whose authors are sought.
_Pair = tuple[int, int]


class Blame:
    """Looks for the commits behind the files of one repository."""

    def __init__(self, objects: Objects, changes: Changes, walk: Walk) -> None:
        self._objects = objects
        self._changes = changes
        self._walk = walk

    def owners(self, text: bytes, file: Origin | None) -> list[str | None]:
        """Return the commit that wrote each line of `text`, which came after the version `file`; None for new lines.

        Lines go back from version to version until one has no origin with the same line: that version's commit wrote
        it.
        """
        lines = lines_of(text)
        owners: list[str | None] = [None] * len(lines)
        if file is None:
            return owners
        begun = [(old, new) for new, old in matched(self._lines(file), lines).items()]
        waiting = _Waiting(self._walk)
        waiting.add(file, begun)
        for version, pairs in waiting:
            for origin in self._changes.origins(version):
                same = self._same_lines(origin, version, pairs)
                waiting.add(origin, [(same[here], line) for here, line in pairs if here in same])
                pairs = [pair for pair in pairs if pair[0] not in same]
            for _, line in pairs:
                owners[line] = version.commit
        return owners

    def _same_lines(self, old: Origin, new: Origin, pairs: list[_Pair]) -> dict[int, int]:
        if old.blob == new.blob:
            return {here: here for here, _ in pairs}
        return matched(self._lines(old), self._lines(new)) if pairs else {}

    def _lines(self, version: Origin) -> list[bytes]:
        return lines_of(self._objects.blob(version.blob))

    def writers(self, files: Iterable[Origin]) -> dict[Origin, list[str]]:
        """Return the commits that wrote each of `files` since it was last missing, newest first."""
        found = {file: dict[str, None]() for file in files}
        waiting = _Waiting(self._walk)
        for number, file in enumerate(found):
            waiting.add(file, [(0, number)])
        commits = list(found.values())
        for version, pairs in waiting:
            origins = self._changes.origins(version)
            for origin in origins:
                waiting.add(origin, pairs)
            if not any(origin.blob == version.blob and origin.path == version.path for origin in origins):
                for number in {line for _, line in pairs}:
                    commits[number][version.commit] = None
        return {file: list(row) for file, row in found.items()}


class _Waiting:
    """The versions still to be looked at, newest first, and the lines that each may have to answer for."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._pairs: dict[Origin, list[_Pair]] = {}
        self._row: list[tuple[int, Origin]] = []

    def add(self, version: Origin, pairs: list[_Pair]) -> None:
        if not pairs:
            return
        if version not in self._pairs:
            heappush(self._row, (-self._walk.row(version.commit).committed, version))
        self._pairs.setdefault(version, []).extend(pairs)

    def __iter__(self) -> Iterator[tuple[Origin, list[_Pair]]]:
        while self._row:
            _, version = heappop(self._row)
            yield version, self._pairs.pop(version)
