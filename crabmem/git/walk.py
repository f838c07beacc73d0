"""Walking the commits of a repository: what one stands on, the line of first parents, and when commits were made.

Parents and times are kept in a file (`Graph`), as Git keeps its commit-graph, and so is what each commit changed:
reading 10,000 commits takes half a second, and looking for who wrote an entry would else read two folders of thousands
of names for every commit there is. The file is derived, and disposable at any time. It holds ids and digests, no names.
"""

import math
import struct
from _blake2 import blake2b
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from heapq import heappop, heappush, nlargest
from itertools import count
from operator import le
from pathlib import Path
from typing import NamedTuple

from ..disk import derived, state
from ..errors import DamagedHistory, DeniedHistory
from ..text.values import once
from .commits import Header
from .graph import reached
from .objects import Objects

_LABEL = "commits 1"
_ID = 20
_NONE = bytes(_ID)
# The form of the file. `_HEAD`: how many rows there are, and how many of them, the first ones, are the line. Then four
# columns: ids, times of committers, times of authors, and `_BODY`: how many parents and changes a row has, and at which
# byte of the rest of the file they begin. A change is the `key` of a path, then the blob before and the one after.
_HEAD = struct.Struct(">II")
_TIME = struct.Struct(">q")
_BODY = struct.Struct(">BHI")
_KEY = 8
_CHANGE = _KEY + 2 * _ID
_UNKNOWN = 0xFFFF
# The changes of a commit with more, such as a large import, are not kept: its trees are compared each time.
_MOST_CHANGES = 500
#: Commits that are known at most: a tenth of a kilobyte each in the file, half a kilobyte in memory.
MOST_ROWS = 100_000
# New ones that are worth writing the file.
_WORTH_SAVING = 64
# Bits of `Walk.bases`: the sides from which a commit was reached, and whether it is an ancestor of a common one.
_ONE, _OTHER, _BELOW = 1, 2, 4
_BOTH = _ONE | _OTHER
# Hidden commits older than all yielded ones whose parents `newest_first` still looks at, as times may be wrong.
_PATIENCE = 32
# Fewer steps back are quicker than a look for the line.
_STEPS = 16


class Row(NamedTuple):
    """All that the graph knows of a commit. Times are in seconds, as in `Header`.

    `changes` has `_CHANGE` bytes for each file that differs from the first parent, then from each other one; None until
    `Changes.row` compared the commit with them.
    """

    committed: int
    authored: int
    parents: tuple[str, ...]
    changes: bytes | None = None

    def may_touch(self, path: str) -> bool:
        """Return whether the commit may have changed the file at `path`. False is certain; True may be a coincidence of
        keys, or of bytes.
        """
        return self.changes is None or key(path) in self.changes

    def written(self) -> Iterator[tuple[bytes, str | None]]:
        """Yield the `key` of the path of each file that it changed, and the blob after it."""
        changes = self.changes or b""
        for at in range(0, len(changes), _CHANGE):
            yield changes[at : at + _KEY], _named(changes[at + _KEY + _ID : at + _CHANGE])

    def blobs(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield the blobs before and after each change."""
        changes = self.changes or b""
        for at in range(_KEY, len(changes), _CHANGE):
            yield _named(changes[at : at + _ID]), _named(changes[at + _ID : at + 2 * _ID])


class Graph:
    """The rows of commits: those in the file, each of which is parsed on access, and new ones in memory.

    `private` is the folder of crabmem's own files.
    """

    def __init__(self, private: Path) -> None:
        self._cache = derived.Cache(private, state.COMMITS)
        #: The rows that were parsed or added, by commit.
        self._rows: dict[str, Row] = {}
        #: How many of them are not in the file at all; and how often a row was added since it was written.
        self._beside = self._new = 0

    @once
    def _data(self) -> bytes:
        """The bytes of the file; those of an empty one where it is not whole and ours."""
        return bytes(derived.load(self._cache.place, _LABEL) or _HEAD.pack(0, 0))

    @once
    def _places(self) -> dict[bytes, int]:
        """The number of each commit's row in the file, by its id."""
        count, start = _HEAD.unpack_from(self._data)[0], _HEAD.size
        return {self._data[start + _ID * place : start + _ID * (place + 1)]: place for place in range(count)}

    def line(self) -> "Line":
        """Return the line that was kept in the file, maybe an empty one."""
        count, length = _HEAD.unpack_from(self._data)
        ids, authored = _HEAD.size, _HEAD.size + (_ID + 8) * count
        return Line(self._data[ids : ids + _ID * length], struct.unpack_from(f">{length}q", self._data, authored))

    def get(self, commit: str) -> Row | None:
        """Return what is known of a commit; None for nothing."""
        row = self._rows.get(commit)
        if row is None and (place := self._places.get(bytes.fromhex(commit))) is not None:
            row = self._rows[commit] = self._row_at(place)
        return row

    def _row_at(self, place: int) -> Row:
        """Parse the row with the number `place` of the file, whose form is told beside `_HEAD`."""
        count, data = len(self._places), self._data
        times = _HEAD.size + _ID * count
        [committed] = _TIME.unpack_from(data, times + 8 * place)
        [authored] = _TIME.unpack_from(data, times + 8 * (count + place))
        parents, changes, at = _BODY.unpack_from(data, times + 16 * count + _BODY.size * place)
        at += times + (16 + _BODY.size) * count
        ids = data[at : at + _ID * parents].hex()
        at += _ID * parents
        found = None if changes == _UNKNOWN else data[at : at + _CHANGE * changes]
        each = (ids,) if parents == 1 else tuple(ids[n : n + 40] for n in range(0, len(ids), 40))
        return Row(committed, authored, each, found)

    def add(self, commit: str, header: Header, changes: Iterable[tuple[str, str | None, str | None]] | None) -> Row:
        """Return the row of a commit, and remember it unless it has very many parents or changes.

        `changes` are path, blob before and blob after, for each parent in turn; None if they are not known yet. When
        there are more than `MOST_ROWS` rows, the older half is forgotten.
        """
        packed = None if changes is None else b"".join(_packed(*each) for each in changes)
        row = Row(header.committed, header.authored, header.parents, packed)
        if len(header.parents) < 256 and (packed is None or len(packed) <= _MOST_CHANGES * _CHANGE):
            self._beside += self.get(commit) is None
            if self._beside + len(self._places) > MOST_ROWS:
                # A walk through a longer history asks for each of the older commits once: no cache would help it.
                newer = nlargest(MOST_ROWS // 2, self._all().items(), key=lambda item: item[1].committed)
                self._rows, self._data, self._beside = dict(newer), _HEAD.pack(0, 0), len(newer) + 1
                del self._places
            self._rows[commit] = row
            self._new += 1
        return row

    def add_new(self, commit: str, header: Header) -> None:
        """Remember a commit that was just made, if the file was read already: a write does not read it for this.

        The commit does not count as new, so that a process which only writes never writes the file.
        """
        if "_places" in vars(self):
            self.add(commit, header, None)
            self._new -= 1

    def _all(self) -> dict[str, Row]:
        return {key.hex(): self._row_at(place) for key, place in self._places.items()} | self._rows

    def save(self, line: "Line") -> None:
        """Write the rows to the file, those of `line` first, if at least `_WORTH_SAVING` were added.

        After a purge forget all rows instead: they are of commits that it rewrote. A file that cannot be written is no
        error.
        """
        if self._cache.renew():  # the rows are of commits that a purge rewrote
            self._rows, self._data, self._beside, self._new = {}, _HEAD.pack(0, 0), 0, 0
            vars(self).pop("_places", None)
        if self._new < _WORTH_SAVING:
            return
        rows, on_line = self._all(), dict.fromkeys(line)
        is_known = on_line.keys() <= rows.keys()
        rows = {commit: rows[commit] for commit in on_line} | rows if is_known else rows
        bodies, body, at = list[bytes](), list[bytes](), 0
        for _, _, parents, changes in rows.values():
            count = _UNKNOWN if changes is None else len(changes) // _CHANGE
            bodies.append(_BODY.pack(len(parents), count, at))
            body.append(bytes.fromhex("".join(parents)) + (changes or b""))
            at += len(body[-1])
        committed, authored = ([_TIME.pack(row[column]) for row in rows.values()] for column in (0, 1))
        head, ids = _HEAD.pack(len(rows), len(on_line) if is_known else 0), bytes.fromhex("".join(rows))
        data = derived.packed(_LABEL, b"".join([head, ids, *committed, *authored, *bodies, *body]))
        with suppress(OSError):
            if self._cache.keep(lambda file: derived.save(file, data)):
                self._new = 0


@lru_cache(maxsize=64)
def key(path: str) -> bytes:
    """Return what a row calls the file at `path`."""
    return blake2b(path.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()


def _packed(path: str, before: str | None, after: str | None) -> bytes:
    return key(path) + b"".join(bytes.fromhex(oid) if oid else _NONE for oid in (before, after))


def _named(oid: bytes) -> str | None:
    return None if oid == _NONE else oid.hex()


class Walk:
    """The commits of one repository."""

    def __init__(self, objects: Objects, graph: Graph) -> None:
        self._objects = objects
        self.graph = graph
        #: The line that was walked last, and where a shallow clone ended then.
        self._line: tuple[frozenset[bytes], Line] | None = None

    def row(self, commit: str) -> Row:
        """Return the row of a commit, which has its changes only if somebody asked `Changes.row` for them."""
        return self.graph.get(commit) or self.graph.add(commit, self._objects.header(commit), None)

    def parents(self, commit: str) -> list[str]:
        """Return the parents of a commit; none where a shallow clone ends."""
        return [] if commit.encode() in self._objects.shallow() else list(self.row(commit).parents)

    def commits(self, start: str, without: str | None = None) -> Iterator[str]:
        """Yield `start` and what it stands on, newest first; not `without` and what that stands on."""
        return self.newest_first([start], [without] if without else [])

    def commits_since(self, bases: Iterable[str], tips: Iterable[str]) -> list[str]:
        """Return the commits that `tips` stand on and none of `bases` does, newest first."""
        hidden = set[str]()
        found = [*self.newest_first(tips, bases, hidden)]
        return [commit for commit in found if commit not in hidden]

    def newest_first(
        self, tips: Iterable[str], without: Iterable[str] = (), hidden: set[str] | None = None
    ) -> Iterator[str]:
        """Yield `tips` and their ancestors, newest first, without the commits `without` and their ancestors.

        Commits are ordered by the committer's time. With equal or wrong times one may be yielded before it turns out to
        be an ancestor of `without`. Pass a set as `hidden` to learn of it: at the end that has all commits found to be
        excluded.
        """
        hidden = set() if hidden is None else hidden
        waiting, seen, numbers, oldest = list[tuple[int, int, str]](), set[str](), count(), math.inf
        patience = _PATIENCE

        def found(oid: str, is_hidden: bool) -> None:
            if oid not in seen or (is_hidden and oid not in hidden):
                seen.add(oid)
                heappush(waiting, (-self.row(oid).committed, next(numbers), oid))
            if is_hidden:
                hidden.add(oid)

        for oid in without:
            found(oid, True)
        for oid in tips:
            found(oid, False)
        while waiting:
            if -waiting[0][0] >= oldest or any(oid not in hidden for _, _, oid in waiting):
                newness, _, oid = heappop(waiting)
            elif patience:
                patience -= 1
                waiting.sort()  # which a heap may be
                newness, _, oid = waiting.pop()
            else:
                return
            if oid not in hidden:
                oldest = min(oldest, -newness)
                yield oid
            for parent in self.parents(oid):
                found(parent, oid in hidden)

    def bases(self, one: str, other: str) -> list[str]:
        """Return the best common ancestors of two commits, as `git merge-base --all`, sorted by id; none if unrelated.

        There are several after a criss-cross merge: each side merged the other in a commit of its own.
        """
        waiting, sides = list[tuple[int, str]](), dict[str, int]()

        def found(oid: str, side: int) -> None:
            known = sides.get(oid, 0)
            if known | side != known:
                sides[oid] = known | side
                heappush(waiting, (-self.row(oid).committed, oid))

        found(one, _ONE)
        found(other, _OTHER)
        common = set[str]()
        while any(not sides[oid] & _BELOW for _, oid in waiting):
            _, oid = heappop(waiting)
            side = sides[oid]
            if side & _BOTH == _BOTH and not side & _BELOW:
                common.add(oid)
            for parent in self.parents(oid):
                found(parent, side | _BELOW if side & _BOTH == _BOTH else side)
        # With a clock that went back, one may have been found before it was known to be an ancestor of another.
        newest = [oid for oid in common if not sides[oid] & _BELOW]
        return sorted(oid for oid in newest if not any(self.is_ancestor(oid, each) for each in newest if each != oid))

    def reached(self, tips: Iterable[str]) -> Iterator[str]:
        """Yield `tips` and what they stand on, nearest first; the way ends at what cannot be read."""

        def parents(oid: str) -> list[str]:
            with suppress(DamagedHistory):
                return self.parents(oid)
            return []

        return reached(tips, parents)

    def readable(self, commit: str, since: int = 0) -> Iterator[str]:
        """Yield `commit` and its ancestors, nearest first; do not go beyond commits that cannot be read, or are older
        than `since`, in seconds.

        The graph is not used: each commit is read from the repository, so that damage is noticed.
        """

        def parents(commit: str) -> list[str]:
            try:
                return self._objects.parents(commit) if self._objects.header(commit).committed >= since else []
            except DeniedHistory:
                raise
            except DamagedHistory:
                return []

        return reached([commit], parents)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Return whether `new` is `old` or a descendant of it; False where the way between them cannot be read."""
        if not self._objects.has(old):
            return False
        if old in self._objects.parents(new):
            return True
        return any(commit == old for commit in self.readable(new, self._objects.header(old).committed))

    # The line of first parents

    def line(self, end: str) -> "Line":
        """Return the commits up to `end`, each the first parent of the next.

        The line that was walked last is continued, and if it grew, kept, with the graph, for the next process.

        Raises:
            DamagedHistory: a commit cannot be read, or the graph's file makes one its own ancestor.
        """
        ends = self._objects.shallow()
        known = self._known_line(ends)
        newer, commit, place = list[tuple[str, int]](), end, known.place(end)
        seen = set[str]()
        while place is None:
            if commit in seen:
                raise DamagedHistory(f"{commit} stands on itself: delete `.git/crabmem/index`")
            seen.add(commit)
            row = self.row(commit)
            newer.append((commit, row.authored))
            if not row.parents or commit.encode() in ends:
                place = -1
            else:
                commit = row.parents[0]
                place = known.place(commit)
        if not newer and place + 1 == len(known):
            return known
        line = known.continued(place + 1, newer[::-1])
        if newer:
            self._line = ends, line
            self.save()
        return line

    def _known_line(self, ends: frozenset[bytes]) -> "Line":
        """Return the line that was walked last, or is in the graph's file, to be continued.

        Return an empty one if it does not go back to the first commit, as when a shallow clone was deepened since.
        """
        if self._line is None:
            kept = self.graph.line()
            is_whole = len(kept) and (not self.row(kept[0]).parents or kept[0].encode() in ends)
            self._line = ends, kept if is_whole else Line()
        return self._line[1] if self._line[0] == ends else Line()

    def save(self) -> None:
        """Keep what was walked for the next process."""
        self.graph.save(self._line[1] if self._line else self.graph.line())

    def back(self, commit: str, steps: int, head: str | None) -> str | None:
        """Return the commit so many first parents before `commit`; None when the history begins later."""
        line = self.line(head) if head and steps > _STEPS else Line()
        place = line.place(commit)
        if place is not None:
            return line[place - steps] if place >= steps else None
        found: str | None = commit
        while found and steps:
            found, steps = next(iter(self.parents(found)), None), steps - 1
        return found


class Line:
    """Commits from the oldest to the newest, each the first parent of the next. Never changed once made."""

    def __init__(self, ids: bytes = b"", times: tuple[int, ...] = ()) -> None:
        """`ids` are those of the commits, 20 bytes each; `times` when their authors say they were made, in seconds."""
        self._ids = ids
        self._times = times

    def __len__(self) -> int:
        return len(self._times)

    def __getitem__(self, place: int) -> str:
        """Return the commit at a place that is there."""
        return self._ids[place * _ID : place * _ID + _ID].hex()

    def __iter__(self) -> Iterator[str]:
        """Yield the commits, the oldest first."""
        return map(self.__getitem__, range(len(self)))

    def place(self, commit: str) -> int | None:
        """Return where `commit` is; None when it is not on the line."""
        name, at = bytes.fromhex(commit), -1
        while (at := self._ids.find(name, at + 1)) >= 0:
            if at % _ID == 0:
                return at // _ID
        return None

    def before(self, seconds: float, now: float = math.inf) -> str | None:
        """Return the newest commit of that time or earlier; None when the oldest is later.

        Where times fall, a clock was wrong: such a commit counts as made when the next one was that fits the others.
        What was made after `now` fits none.
        """
        times = self._times if self._is_rising else fitted(self._times, now)
        place = bisect_right(times, seconds) - 1
        return self[place] if place >= 0 else None

    @once
    def _is_rising(self) -> bool:
        return all(map(le, self._times, self._times[1:]))

    def continued(self, place: int, newer: list[tuple[str, int]]) -> "Line":
        """Return the line up to before `place`, and then others, pairs of commit and time."""
        ids = bytes.fromhex("".join(commit for commit, _ in newer))
        return Line(self._ids[: place * _ID] + ids, (*self._times[:place], *(time for _, time in newer)))


def fitted(times: Sequence[int], now: float = math.inf) -> list[int]:
    """Return the times of a line's commits without the errors of wrong clocks: the result never falls.

    Most clocks are right, so the longest non-decreasing subsequence of the times up to `now` stays as it is. Each other
    time becomes the next one that stays; behind the last of these, it becomes at least the one before it.
    """
    found, following = [0] * len(times), None
    stays = _rising_places(times, now)
    for place in reversed(range(len(times))):
        if place in stays:
            following = times[place]
        if following is not None:
            found[place] = following
    end = max(stays, default=-1) + 1
    latest = found[end - 1] if end else min(times, default=0)
    for place in range(end, len(times)):
        latest = found[place] = max(latest, times[place])
    return found


def _rising_places(times: Sequence[int], now: float) -> set[int]:
    """Return the places of the longest non-decreasing subsequence of the times up to `now`, by patience sorting."""
    # For each length of a subsequence: the least time that one ends with, and its place; `before` links the places.
    lasts, ends, before = list[int](), list[int](), dict[int, int]()
    for place, time in enumerate(times):
        if time <= now:
            length = bisect_right(lasts, time)
            lasts[length : length + 1] = [time]
            ends[length : length + 1] = [place]
            before[place] = ends[length - 1] if length else -1
    found, place = set[int](), ends[-1] if ends else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return found
