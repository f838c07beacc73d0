"""The slow facts about a whole memory, kept and brought up to date when asked: how it grew, what is gone, and
which links lead where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from threading import Lock

from ..git.walk import key as path_key
from ..results import CREATOR, Reference
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.values import value
from ..workspace.layout import SETTINGS
from .forgotten import Removal, removals
from .links import references

#: The name for all authors together who wrote less than the first few.
OTHERS = "others"
_NAMED = 5


@value
class Stride:
    """A stretch of time: when it began, how many commits each author made in it, how many files of memory there were
    at its end, without the overview and the identity."""

    begin: datetime
    writes: Mapping[str, int]
    files: int


@value
class _Step:
    """A commit, and how many files of memory there were after it."""

    time: datetime
    author: str
    is_person: bool
    files: int


class Chronicle:
    """The past and the links of one memory. Safe between threads."""

    def __init__(self, session: Session) -> None:
        """Raises Disabled: the session may not see all of it."""
        session.view.check_whole()
        self._session = session
        self._lock = Lock()
        self._head: str | None = None
        #: The steps up to the commit `_head`, and the keys of the paths that are there then.
        self._steps: list[_Step] = []
        self._there = set[bytes]()
        #: The head and its removals; the files, blob by path, and the links in them.
        self._gone: tuple[str | None, list[Removal]] = None, []
        self._linked: tuple[Mapping[str, str], tuple[Reference, ...]] = {}, ()

    def gone(self) -> list[Removal]:
        """The files that are gone from memory, newest first; read again only when the head has moved."""
        head = self._session.engine.history.head_if_any()
        with self._lock:
            if self._gone[0] != head:
                self._gone = head, removals(self._session) if head else []
            return self._gone[1]

    def links(self, path: str) -> tuple[list[Reference], list[Reference]]:
        """The links out of the file at `path`, and the links of other files into it."""
        found = self._session.look(self._references)
        return [link for link in found if link.path == path], [link for link in found if link.to == path != link.path]

    def _references(self, now: Snapshot) -> tuple[Reference, ...]:
        files = dict(now.files)
        with self._lock:
            if self._linked[0] != files:
                self._linked = files, tuple(references(now.whole.listing, now.view.allows))
            return self._linked[1]

    def strides(self, most: int) -> list[Stride]:
        """The time since the first commit in at most `most` equal stretches of about a day or longer; [] before it.

        The authors with the most commits are named, all the rest count as `OTHERS`. A stretch without a commit has as
        many files as the one before.
        """
        steps = self._read()
        if not steps:
            return []
        begin, end = min(step.time for step in steps), max(step.time for step in steps)
        seconds = (end - begin).total_seconds()
        count = max(1, min(most, ceil(seconds / timedelta(days=1).total_seconds())))
        names = {name for name, _ in Counter(step.author for step in steps).most_common(_NAMED)}
        writes, files = [Counter[str]() for _ in range(count)], [0] * count
        for step in steps:
            at = min(count - 1, int((step.time - begin).total_seconds() / seconds * count)) if seconds else 0
            writes[at][step.author if step.author in names else OTHERS] += 1
            files[at] = step.files
        for at in range(1, count):
            files[at] = files[at] if writes[at] else files[at - 1]
        begins = (begin + timedelta(seconds=seconds * at / count) for at in range(count))
        return [Stride(*each) for each in zip(begins, writes, files, strict=True)]

    def people(self) -> set[str]:
        """The names under which persons wrote."""
        return {step.author for step in self._read() if step.is_person}

    def _read(self) -> Sequence[_Step]:
        """All steps, oldest first; only new commits are read, or all again after a rewrite of the history."""
        history = self._session.engine.history
        head = history.head_if_any()
        with self._lock:
            if head != self._head:
                known = self._head if self._head and head and history.reaches(self._head) else None
                if known is None:
                    self._steps, self._there = [], set()
                self._steps = [*self._steps, *self._since(known)]
                self._head = head
            return self._steps

    def _since(self, known: str | None) -> Iterator[_Step]:
        """Yield the steps after the commit `known` (None: all), oldest first, and update `_there` commit by commit.

        crabmem's own commits, as the first one of a workspace, are no steps; what they add counts.
        """
        history, layout = self._session.engine.history, self._session.layout
        others = set(map(path_key, (layout.identity, layout.overview, SETTINGS)))
        for commit in reversed(list(history.ids(known))):
            row = history.changes.row(commit)
            listed = ((path_key(each.path), each.after) for each in history.changes.of(commit))
            for name, after in listed if row.changes is None else row.written():
                (self._there.add if after and name not in others else self._there.discard)(name)
            about = history.commit(commit, with_paths=False)
            if about.author != CREATOR:
                yield _Step(about.time, about.author, about.is_person, len(self._there))
