"""Several indexes searched as one: a word is as rare as it is in all of them together, so that scores compare."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from ..text.addresses import address, parted
from .index import Index, Recent
from .segment import Segment


class Union(Index):
    """The documents of `members`, each index by its name. Scores are those of one index that has them all.

    The key of a document is its address: the member's name, and its key there. Equal scores are in the order of the
    members. A union is never updated: make another one when a member changes.
    """

    def __init__(self, members: Mapping[str, Index]) -> None:
        held: list[tuple[str, Segment]] = []
        self._dead = set()
        start = 0
        for name, index in members.items():
            segments, dead = index.segments()
            self._dead.update(map(start.__add__, dead))
            held += ((name, segment) for segment in segments if len(segment))
            start += sum(map(len, segments))
        *firsts, self._start = accumulate((len(segment) for _, segment in held), initial=0)
        self._parts = [(first, segment) for first, (_, segment) in zip(firsts, held, strict=True)]
        # Part by part the first position, and the name of the member that it is of.
        self._begins, self._names = firsts, [name for name, _ in held]
        self._order = {name: place for place, name in enumerate(members)}
        self._has_passages = any(segment.has_passages for _, segment in held)
        self._count = sum(map(len, members.values()))
        self._passages = sum(index.passages for index in members.values())
        self._words = sum(index._words for index in members.values())
        self._recent, self._size = Recent(), 0
        self._own = {}
        self._begin()

    def marks(self) -> Mapping[str, bytes]:
        """The mark of every document, by its key."""
        if self._marks is None:
            self._marks = {
                address(name, key): mark
                for name, (first, segment) in zip(self._names, self._parts, strict=True)
                for key, mark, at in zip(segment.keys.all(), segment.marks(), segment.firsts, strict=True)
                if first + at not in self._dead
            }
        return self._marks

    def _find(self, key: str) -> int | None:
        whose, own = parted(key)
        for name, (first, segment) in zip(self._names, self._parts, strict=True):
            if name == whose and (at := segment.find(own)) is not None and first + at not in self._dead:
                return first + at
        return None

    def _key(self, position: int) -> str:
        key = self._found_keys.get(position)
        if key is None:
            at = bisect_right(self._begins, position) - 1
            own = self._parts[at][1].key(position - self._begins[at])
            key = self._found_keys[position] = address(self._names[at], own)
        return key

    def _place(self, position: int) -> int:
        return self._order[self._names[bisect_right(self._begins, position) - 1]]
