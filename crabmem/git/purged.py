"""The record of purges, which travels: which commits became which, and which texts are gone. Ids alone, never a text.

It is a commit on a reference of its own, which stands on nothing: a file for each purge, called by the id of what it
says. The records of two machines are joined by having the files of both, and equal records are one commit.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import DamagedHistory, Untrusted
from ..text.hashes import blob_id, short
from .commits import COMMITTER, NEVER, Note, raw_commit
from .objects import Objects, oid_of
from .trees import REGULAR, parsed_row, read_rows, row_of

#: Most purges of a record, and most rows in all: a row takes some 90 bytes, and 1 µs to read.
MOST_PURGES, MOST_ROWS = 10_000, 500_000
_MOST_BYTES = 100 * MOST_ROWS
#: A purge by a person; what a machine made of several purges of the same commits; and where it put commits that stood
#: on purged ones, so that others do not put them twice. Nothing is believed, or goes unasked, for what a record calls
#: itself.
PURGE, JOIN, PUT = "purge", "join", "replay"
_HEADS = {f"crabmem {kind} 1".encode(): kind for kind in (PURGE, JOIN, PUT)}
_FORM = re.compile(
    rb"[a-z0-9 ]+\n(?:(?:commit [0-9a-f]{40} [0-9a-f]{40}|(?:blob|part) [0-9a-f]{40} (?:[0-9a-f]{40}|-))\n)*"
)
_NONE = "-"
_NOTE = Note("purges: which commits became which, and which texts are gone", COMMITTER)

#: All that one id became by purges; None among them where it is gone.
Ends = frozenset[str | None]
#: What a record says of one commit: its old id, and its new one.
Row = tuple[str, str]


@dataclass(frozen=True)
class Erased:
    """What one purge did: the new id of each commit that got one, and of each text that is gone; None for no text.

    `blobs`: removed everywhere, never imported again. `parts`: removed at some paths, still used at others. `kind` is
    PURGE, JOIN or PUT.
    """

    commits: Mapping[str, str]
    blobs: Mapping[str, str | None] = field(default_factory=dict)
    parts: Mapping[str, str | None] = field(default_factory=dict)
    kind: str = PURGE

    @cached_property
    def ends(self) -> frozenset[str]:
        """The texts that the purge put in the place of removed ones."""
        return frozenset(filter(None, self.blobs.values()))

    @cached_property
    def data(self) -> bytes:
        """The bytes of the purge's file in the record; `of` reads them."""
        kinds = {"commit": self.commits, "blob": self.blobs, "part": self.parts}
        rows = (f"{kind} {old} {new or _NONE}\n" for kind, ids in kinds.items() for old, new in sorted(ids.items()))
        return f"crabmem {self.kind} 1\n{''.join(rows)}".encode()

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(self.commits) + len(self.blobs) + len(self.parts)

    @classmethod
    def of(cls, data: bytes) -> "Erased":
        """Return the purge in the bytes of a file.

        Raises:
            Untrusted: they are not exactly what `data` makes, or of a form that a newer crabmem writes.
        """
        head, _, rows = data.partition(b"\n")
        if head not in _HEADS:
            raise Untrusted("the record of purges has a form that this crabmem does not know: see for a newer one")
        if len(data) > _MOST_BYTES or not _FORM.fullmatch(data):
            raise _strange()
        found: dict[str, dict[str, str]] = {"commit": {}, "blob": {}, "part": {}}
        for row in rows.decode("ascii").splitlines():
            kind, old, new = row.split(" ")
            found[kind][old] = new
        blobs, parts = (
            {old: None if new == _NONE else new for old, new in found[kind].items()} for kind in ("blob", "part")
        )
        erased = cls(found["commit"], blobs, parts, _HEADS[head])
        if erased.data != data:
            raise _strange()
        return erased


class PurgeRecord:
    """All purges that one machine knows of, maybe from others: claims about commits, until these have been compared.

    `doubted` are rows that a comparison here has refuted: all methods ignore them.
    """

    def __init__(self, purges: Iterable[Erased] = (), doubted: Iterable[Row] = ()) -> None:
        self._purges = {blob_id(each.data): each for each in purges if each.commits or each.blobs}
        self.doubted = frozenset(doubted)

    def __len__(self) -> int:
        return len(self._purges)

    def __or__(self, other: "PurgeRecord") -> "PurgeRecord":
        return PurgeRecord([*self._purges.values(), *other._purges.values()], self.doubted | other.doubted)

    def without(self, rows: Iterable[Row]) -> "PurgeRecord":
        """Return the same record with these rows doubted too."""
        return PurgeRecord(self._purges.values(), {*self.doubted, *rows})

    def part(self, purges: Collection[str]) -> "PurgeRecord":
        """Return the record of those of its purges that have these ids."""
        return PurgeRecord(each for oid, each in self._purges.items() if oid in purges)

    @property
    def purges(self) -> Iterable[str]:
        """The id of each purge."""
        return self._purges.keys()

    @property
    def erased(self) -> Iterable[Erased]:
        """The purges themselves."""
        return self._purges.values()

    def _rows(self, is_put: bool) -> Iterator[Mapping[str, str]]:
        """Yield the undoubted rows of commits of each purge: of the kind PUT, or of all other kinds."""
        for each in self._purges.values():
            if (each.kind == PUT) == is_put:
                yield {old: new for old, new in each.commits.items() if (old, new) not in self.doubted}

    @property
    def size(self) -> int:
        """How many rows it has."""
        return sum(each.size for each in self._purges.values())

    def news(self, other: "PurgeRecord") -> int:
        """Return how many purges by a person `other` knows of that this does not."""
        return sum(each.kind == PURGE for oid, each in other._purges.items() if oid not in self._purges)

    @cached_property
    def _commits(self) -> "_Steps":
        """The steps of commits by PURGE and JOIN, without those of commits that were PUT: these follow `_put` alone."""
        put = self._put.steps
        return _Steps({old: new for old, new in ids.items() if old not in put} for ids in self._rows(is_put=False))

    @cached_property
    def overtaken(self) -> frozenset[str]:
        """The commits that purges made of commits which another machine had PUT on a purged line at the same time.

        The PUT one counts; these are to give way to it.
        """
        return frozenset(new for new, _ in self._overtaking)

    @cached_property
    def _overtaking(self) -> list[tuple[str, str]]:
        """For each overtaken commit: itself, and the one as which its source was PUT."""
        put, others = self._put.steps, self._rows(is_put=False)
        pairs = ((new, put.get(old)) for ids in others for old, new in ids.items())
        return [(new, end) for new, end in pairs if end and end != new]

    @cached_property
    def rivals(self) -> Mapping[str, frozenset[str]]:
        """Groups of commits that were all made of one: by purges, and by a PUT. Each commit has its whole group."""
        found = dict[str, set[str]]()
        for new, end in self._overtaking:
            found.setdefault(end, {end}).add(new)
        return {each: frozenset(group) for group in found.values() for each in group}

    @cached_property
    def _blobs(self) -> "_Steps":
        return _Steps(each.blobs for each in self._purges.values())

    @cached_property
    def _texts(self) -> "_Steps":
        return _Steps(ids for each in self._purges.values() for ids in (each.blobs, each.parts))

    @cached_property
    def _put(self) -> "_Steps":
        return _Steps(self._rows(is_put=True))

    @cached_property
    def _made(self) -> frozenset[str]:
        return frozenset(end for each in self._purges.values() for end in each.commits.values())

    @cached_property
    def siblings(self) -> Mapping[str, frozenset[str]]:
        """Groups of commits that independent purges made of one commit. Each commit of a group has the whole group."""
        forks = (frozenset(filter(None, ends)) for ends in self._commits.forks())
        return {each: fork for fork in forks for each in fork}

    @cached_property
    def refused(self) -> frozenset[str]:
        """The ids that may not come back: purged commits and texts, and the several results of rival purges."""
        commits = {*self._commits.steps, *self._put.steps, *self.siblings, *self.overtaken}
        return frozenset({*commits, *self._blobs.steps, *self._twins})

    @cached_property
    def _twins(self) -> frozenset[str]:
        return frozenset(each for ends in self._blobs.forks() for each in ends if each)

    def concerns(self, commit: str) -> bool:
        """Return whether a commit is to be replaced: it became another one, or is one of several made of one commit."""
        return self.is_old(commit) or commit in self.siblings or commit in self.overtaken

    def rows(self, commit: str, ends: Collection[str]) -> set[Row]:
        """Return the rows of a commit that lead only to commits in `ends`."""
        after = {*self._commits.after(commit), *self._put.after(commit)}
        return {(commit, each) for each in after if each and self.ends(each) <= {*ends}}

    def is_old(self, commit: str) -> bool:
        """Return whether a commit became another one."""
        return commit in self._commits.steps or commit in self._put.steps

    def is_purged(self, commit: str) -> bool:
        """Return whether something was purged from a commit."""
        return commit in self._commits.steps or commit in self.siblings

    def ends(self, commit: str) -> frozenset[str]:
        """Return all commits that a commit finally became; only itself if no purge has it, none for a circle."""
        ends = _ends(commit, lambda each: self._commits.after(each) or self._put.after(each))
        return frozenset(filter(None, ends))

    def is_end(self, commit: str) -> bool:
        """Return whether a purge, of whatever kind, made this commit of another one."""
        return commit in self._made

    def commit(self, oid: str) -> str | None:
        """Return the one commit that a commit finally became; itself if no purge has it, None if there are several."""
        ends = self.ends(oid)
        return min(ends) if len(ends) == 1 else None

    def has_blob(self, blob: str) -> bool:
        """Return whether a text may not come back: it was removed, or is one of several results of the same text."""
        return blob in self._blobs.steps or blob in self._twins

    def blob(self, oid: str) -> str | None:
        """Return what a text finally became; itself if no purge has it, None if one of them left nothing of it.

        Of several results the one with the least id.
        """
        ends = self._blobs.ends(oid)
        return None if None in ends else min(filter(None, ends), default=None)

    def left(self, blob: str) -> Ends:
        """Return all that became of a text that purges removed everywhere, None if nothing; of any other, itself."""
        return self._blobs.ends(blob)

    def became(self, blob: str) -> Ends:
        """Return all texts that a text became at some path, None for nothing: unlike `left`, also one still used."""
        return self._texts.ends(blob)

    def sources(self, blob: str) -> frozenset[str]:
        """Return the texts that became this one."""
        return frozenset(self._sources.get(blob, ()))

    @cached_property
    def _sources(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in self._texts.steps:
            for end in filter(None, self._texts.ends(each)):
                found.setdefault(end, []).append(each)
        return found

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield kind and bytes of the Git objects in which the record is stored: blobs, the tree, last the commit."""
        rows = []
        for oid, each in sorted(self._purges.items()):
            yield "blob", each.data
            rows.append(row_of(oid.encode(), REGULAR, oid))
        yield "tree", (tree := b"".join(rows))
        yield "commit", raw_commit(oid_of("tree", tree), [], _NOTE, NEVER, 0)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of `objects`, in the same order; empty for a record without purges."""
        return tuple(oid_of(kind, data) for kind, data in self.objects()) if self._purges else ()

    @property
    def tip(self) -> str | None:
        """The commit of the record, which `refs/crabmem/purged` names; None for a record without purges."""
        return self.ids[-1] if self.ids else None


class _Steps:
    """Which id became which others, by any of the given rows. `steps` has the first successor of each id."""

    def __init__(self, rows: Iterable[Mapping[str, str | None] | Mapping[str, str]]) -> None:
        self.steps: dict[str, str | None] = {}
        # Few ids became several others: a set for each of all would take most of the memory.
        self._more: dict[str, set[str | None]] = {}
        for ids in rows:
            for old, new in ids.items():
                if self.steps.setdefault(old, new) != new:
                    self._more.setdefault(old, set()).add(new)

    def after(self, oid: str) -> set[str | None]:
        return {self.steps[oid], *self._more.get(oid, ())} if oid in self.steps else set()

    def ends(self, oid: str | None) -> Ends:
        """Return the final successors of an id; itself if it has none, nothing for a circle."""
        return _ends(oid, self.after)

    def forks(self) -> Iterator[Ends]:
        """Yield the ends of each id that has more than one."""
        ends = map(self.ends, self._more)
        return (each for each in ends if len(each) > 1)


def _ends(oid: str | None, after: Callable[[str], Set[str | None]]) -> Ends:
    """Follow `after` from an id; return the ids without successors, None among them for what is gone."""
    ends, seen, waiting = set[str | None](), set[str | None](), [oid]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            steps = after(each) if each else set()
            waiting += steps
            ends |= set() if steps else {each}
    return frozenset(ends)


def read_record(objects: Objects, commit: str | None) -> PurgeRecord:
    """Return the record in a commit, an empty one for None.

    Raises:
        Untrusted: the commit is not exactly what `PurgeRecord.objects` makes, cannot be read, or is too large.
    """
    if commit is None:
        return PurgeRecord()
    found, rows = list[Erased](), 0
    try:
        names = [parsed_row(row) for row in read_rows(objects.header(commit).tree, objects)]
        if len(names) > MOST_PURGES or any(mode != REGULAR or name != oid.encode() for name, mode, oid in names):
            raise _strange()
        for *_, oid in names:
            found.append(Erased.of(objects.blob(oid)))
            rows += found[-1].size
            if rows > MOST_ROWS:
                raise _strange()
    except DamagedHistory as error:
        raise Untrusted(f"the record of purges, {short(commit)}, cannot be read: {error}") from error
    record = PurgeRecord(found)
    if record.tip != commit:
        raise _strange()
    return record


def _strange() -> Untrusted:
    return Untrusted(
        f"what stands on refs/crabmem/purged is no record of purges, or has more than {MOST_ROWS:,} rows: nothing was "
        "changed; see who pushed that, and have it deleted"
    )
