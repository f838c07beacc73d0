"""The commits that a head stands on, each by its first parent, with their times: what moments are looked up in.

Walking 10,000 commits takes half a second, so they are kept in a file, which is derived and may be deleted at any time.
"""

import math
import struct
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from operator import le
from pathlib import Path

from ..disk import derived, state
from ..errors import DamagedHistory
from .objects import Objects

_LABEL = "line 3"
_ID = 20
# So many commits that the file does not have are worth writing it.
_WORTH_SAVING = 64


class Line:
    """Commits from the oldest to the newest, each the first parent of the next. Never changed once made."""

    def __init__(self, ids: bytes = b"", times: tuple[int, ...] = ()) -> None:
        """`ids` are those of the commits, 20 bytes each; `times` when their authors say they were made, in seconds."""
        self._ids = ids
        self._times = times

    def __len__(self) -> int:
        return len(self._times)

    def __getitem__(self, place: int) -> str:
        """The commit at a place that is there."""
        return self._ids[place * _ID : place * _ID + _ID].hex()

    def place(self, commit: str) -> int | None:
        """Where `commit` is; None when it is not on the line."""
        name, at = bytes.fromhex(commit), -1
        while (at := self._ids.find(name, at + 1)) >= 0:
            if at % _ID == 0:
                return at // _ID
        return None

    def before(self, seconds: float, now: float = math.inf) -> str | None:
        """The newest commit of that time or earlier; None when the oldest is later.

        Where times fall, a clock was wrong: such a commit counts as made when the next one was that fits the others.
        What was made after `now` fits none.
        """
        times = self._times if self._is_rising else fitted(self._times, now)
        place = bisect_right(times, seconds) - 1
        return self[place] if place >= 0 else None

    @cached_property
    def _is_rising(self) -> bool:
        return all(map(le, self._times, self._times[1:]))

    def followed(self, place: int, newer: list[tuple[str, int]]) -> "Line":
        """The line up to before `place`, and then others, pairs of commit and time."""
        ids = b"".join(bytes.fromhex(commit) for commit, _ in newer)
        return Line(self._ids[: place * _ID] + ids, (*self._times[:place], *(time for _, time in newer)))

    def packed(self) -> bytes:
        """The line as the bytes of a file."""
        return derived.packed(_LABEL, self._ids + struct.pack(f"<{len(self)}q", *self._times))


def fitted(times: Sequence[int], now: float = math.inf) -> list[int]:
    """`times` that never fall: as many as possible as they are, each other that of the next that stays.

    Nobody says which clock was wrong, but most are right: of the times up to `now` the longest row that never falls
    stays. After the last of it only what is later than all before stays, too.
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
    """The places of the longest row of times up to `now` that never falls."""
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


def unpacked(data: "derived.Data") -> Line:
    """The line in the bytes of a file; an empty one when they are not exactly what was once written."""
    body = bytes(derived.body(data, _LABEL) or b"")
    count, rest = divmod(len(body), _ID + 8)
    return Line() if rest else Line(body[: count * _ID], struct.unpack(f"<{count}q", body[count * _ID :]))


class Lines:
    """The line of whichever head is asked for, kept in a file. `private` is the folder of crabmem's own files."""

    def __init__(self, objects: Objects, private: Path) -> None:
        self._objects = objects
        self._cache = derived.Cache(private, state.LINE)
        self._line: Line | None = None

    def to(self, head: str) -> Line:
        """The line that ends with `head`."""
        known = self._known()
        if not len(known) or known[len(known) - 1] != head:
            known = self._line = self._followed(self._checked(known), head)
        return known

    def _known(self) -> Line:
        if self._line is None:
            self._line = self._checked(unpacked(derived.mapped(self._cache.place) or b""))
        return self._line

    def _followed(self, known: Line, head: str) -> Line:
        line, walked = self._joined(known, head)
        if walked >= _WORTH_SAVING:
            self._save(line)
        return line

    def walked(self, end: str) -> Line:
        """The line to a commit that is on no line which is worth keeping."""
        return self._joined(self._known(), end)[0]

    def _joined(self, known: Line, end: str) -> tuple[Line, int]:
        """The line to `end`, with the beginning that it shares with `known`; how many commits had to be read."""
        newer, commit, place = list[tuple[str, int]](), end, known.place(end)
        while place is None:
            newer.append((commit, self._objects.heading(commit).made))
            parents = self._objects.parents(commit)
            if not parents:
                place = -1
            else:
                commit = parents[0]
                place = known.place(commit)
        return known.followed(place + 1, newer[::-1]), len(newer)

    def _checked(self, line: Line) -> Line:
        """The line, if it still begins where the history does: a shallow clone may have become deeper."""
        with suppress(DamagedHistory):
            if len(line) and not self._objects.parents(line[0]):
                return line
        return Line()

    def _save(self, line: Line) -> None:
        """Keep it for the next process; where there is no place, it is walked again."""
        self._cache.renew()  # the line was walked just now: it is that of the history after a purge
        with suppress(OSError):
            self._cache.keep(lambda file: derived.save(file, line.packed()))
