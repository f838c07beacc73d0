"""The record of purges, which travels: which commits became which, and which texts are gone. Ids alone, never a text.

It is a commit on a reference of its own, which stands on nothing: a file for each purge, called by the id of what it
says. The records of two machines are joined by having the files of both, and equal records are one commit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from ..errors import DamagedHistory, Untrusted
from ..text.hashes import blob_id, short
from .commits import COMMITTER, Note, raw_commit
from .objects import Objects, oid_of
from .trees import REGULAR, parsed_row, read_rows, row_of

#: So many purges a record may have, and so many lines in all.
MOST_PURGES, MOST_ROWS = 10_000, 2_000_000
# The first line, of a purge by a person, and of what a machine made of commits that came after one.
_HEADS = {False: "crabmem purge 1", True: "crabmem replay 1"}
_ROW = re.compile(r"(commit|blob|part) ([0-9a-f]{40}) ([0-9a-f]{40}|-)")
_NONE = "-"
_NOTE = Note("purges: which commits became which, and which texts are gone", COMMITTER)
_NEVER = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class Erased:
    """What one purge did: the new id of each commit that got one, and of each text that is gone; None for no text.

    `blobs` stand nowhere any more, and may not come back; `parts` are gone from some places, and stand at others.
    `is_replay` where a machine put commits on a line that others purged.
    """

    commits: Mapping[str, str]
    blobs: Mapping[str, str | None] = field(default_factory=dict)
    parts: Mapping[str, str | None] = field(default_factory=dict)
    is_replay: bool = False

    @cached_property
    def data(self) -> bytes:
        """The file of it."""
        kinds = {"commit": self.commits, "blob": self.blobs, "part": self.parts}
        rows = (f"{kind} {old} {new or _NONE}" for kind, ids in kinds.items() for old, new in sorted(ids.items()))
        return "".join(f"{row}\n" for row in (_HEADS[self.is_replay], *rows)).encode()

    @classmethod
    def of(cls, data: bytes) -> "Erased":
        """Return what a file says.

        Raises:
            Untrusted: it is none of ours.
        """
        head, *rows = data.decode("ascii", "replace").splitlines()[: MOST_ROWS + 2] or [""]
        found: dict[str, dict[str, str | None]] = {"commit": {}, "blob": {}, "part": {}}
        if head not in _HEADS.values():
            raise Untrusted("the record of purges has a form that this crabmem does not know: see for a newer one")
        for row in rows:
            if not (match := _ROW.fullmatch(row)) or (match[1] == "commit" and match[3] == _NONE):
                raise _strange()
            found[match[1]][match[2]] = None if match[3] == _NONE else match[3]
        commits = {old: new for old, new in found["commit"].items() if new}
        erased = cls(commits, found["blob"], found["part"], head == _HEADS[True])
        if erased.data != data:
            raise _strange()
        return erased


class PurgeRecord:
    """All purges that somebody knows of."""

    def __init__(self, purges: Iterable[Erased] = ()) -> None:
        self._purges = {blob_id(each.data): each for each in purges if each.commits or each.blobs}
        self._commits, self._blobs = dict[str, set[str | None]](), dict[str, set[str | None]]()
        self._touched = set[str]()
        for each in self._purges.values():
            for old, new in each.commits.items():
                self._commits.setdefault(old, set()).add(new)
            for old, text in each.blobs.items():
                self._blobs.setdefault(old, set()).add(text)
            self._touched |= each.blobs.keys() | each.parts.keys()

    def __len__(self) -> int:
        return len(self._purges)

    def __or__(self, other: "PurgeRecord") -> "PurgeRecord":
        return PurgeRecord([*self._purges.values(), *other._purges.values()])

    def news(self, other: "PurgeRecord") -> int:
        """Return how many purges by a person `other` knows of that this does not."""
        return sum(not each.is_replay for oid, each in other._purges.items() if oid not in self._purges)

    @cached_property
    def refused(self) -> frozenset[str]:
        """The commits and texts that may not come back, and those that one of two purges of the same one left."""
        return frozenset(self._commits.keys() | self._blobs.keys() | self.twins.keys()).union(*self.forks())

    def is_old(self, commit: str) -> bool:
        """Return whether a commit became another one."""
        return commit in self._commits

    def commit(self, oid: str) -> str | None:
        """Return what a commit became in the end; itself where it is in no purge, None where that is not one commit."""
        ends = {end for end in _ends(oid, self._commits) if end}
        return ends.pop() if len(ends) == 1 else None

    def has_blob(self, blob: str) -> bool:
        """Return whether a text may not come back."""
        return blob in self._blobs

    def blob(self, oid: str) -> str | None:
        """Return what a text became in the end; itself where it is in no purge, None where it is gone."""
        ends = _ends(oid, self._blobs)
        return None if None in ends else min(filter(None, ends), default=None)

    def touches(self, blob: str) -> bool:
        """Return whether a purge took a text from anywhere."""
        return blob in self._touched

    def forks(self) -> Iterator[frozenset[str]]:
        """Yield the commits that one commit became by several purges, of machines that knew nothing of each other."""
        return (frozenset(filter(None, ends)) for ends in self._forks(self._commits))

    @cached_property
    def twins(self) -> Mapping[str, frozenset[str | None]]:
        """The texts, and None for no text, that one text became by several such purges; by each of them."""
        return {each: ends for ends in self._forks(self._blobs) for each in ends if each}

    @staticmethod
    def _forks(steps: Mapping[str, set[str | None]]) -> Iterator[frozenset[str | None]]:
        ends = (frozenset(_ends(oid, steps)) for oid in steps)
        return (each for each in ends if len(each) > 1)

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield kind and bytes of the objects that the record is stored as, its commit last."""
        rows = []
        for oid, each in sorted(self._purges.items()):
            yield "blob", each.data
            rows.append(row_of(oid.encode(), REGULAR, oid))
        yield "tree", (tree := b"".join(rows))
        yield "commit", raw_commit(oid_of("tree", tree), [], _NOTE, _NEVER, 0)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of these objects; of the commit last, which the reference names. None for a record of nothing."""
        return tuple(oid_of(kind, data) for kind, data in self.objects()) if self._purges else ()

    @property
    def tip(self) -> str | None:
        """The commit that the reference names; None for a record of nothing."""
        return self.ids[-1] if self.ids else None


def read_record(objects: Objects, commit: str | None) -> PurgeRecord:
    """Return the record in a commit, an empty one for None.

    Raises:
        Untrusted: it is no record, or larger than any.
    """
    if commit is None:
        return PurgeRecord()
    found, rows = list[Erased](), 0
    try:
        names = [parsed_row(row) for row in read_rows(objects.header(commit).tree, objects)]
        if len(names) > MOST_PURGES:
            raise _strange()
        for name, mode, oid in names:
            if mode != REGULAR or name != oid.encode():
                raise _strange()
            found.append(Erased.of(objects.blob(oid)))
            rows += len(found[-1].commits) + len(found[-1].blobs) + len(found[-1].parts)
            if rows > MOST_ROWS:
                raise _strange()
    except DamagedHistory as error:
        raise Untrusted(f"the record of purges, {short(commit)}, cannot be read: {error}") from error
    record = PurgeRecord(found)
    if record.tip != commit:
        raise _strange()
    return record


def _ends(oid: str, steps: Mapping[str, set[str | None]]) -> set[str | None]:
    """Return where the ways from an id end; nowhere for one that goes round in a circle."""
    ends, seen, waiting = set[str | None](), set[str](), [oid]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if each not in steps:
            ends.add(each)
        for step in steps.get(each, ()):
            if step is None:
                ends.add(None)
            else:
                waiting.append(step)
    return ends


def _strange() -> Untrusted:
    return Untrusted(
        "what stands on refs/crabmem/purged is no record of purges, or is larger than any: nothing was changed; see "
        "who pushed that, and have it deleted"
    )
