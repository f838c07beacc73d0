"""What two histories of one memory make together: the same on every machine, whichever of them asks, in either order.

The rules, in their order; neither times nor machines play a part:

1. What one side alone changed is as that side has it. What one side removed and the other changed stays, changed.
2. A file that one side gave another name goes there with what the other side changed. Where both gave it a name, a
   person's stands before an agent's, else the name that sorts first.
3. A fact that both sides began, by its name, is one file. Two facts that both sides began at one path, or at paths
   that some disk takes for one, are two files: the second has a part of its content's id in its name.
4. Frontmatter is joined by key and by item of a list, all else by line. What both put at the same place is all there,
   and once. In the overview, of two new lines that lead to the same fact one.
5. Where both changed the same line or key, a person's stands before an agent's, else that of the file whose id sorts
   first. What the other side says waits, to be decided; of a file that is not memory it stands beside the first, with
   a part of its content's id in its name.
6. What an agent elsewhere made of the files that no agent may write here, or of what waits here by the settings, waits,
   too, and is not in force.

Pure functions over texts: trees come in as paths and ids of blobs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from ..git.diff import similarity
from ..text.entry import Entry, entry_in
from ..text.hashes import blob_id
from ..text.merge import merge
from ..text.slug import composed, name_key
from ..workspace.layout import Layout

#: What a path says: the id of a blob of either side, new bytes, or None for no file.
Said = str | bytes | None

# Below that a file is a new one, and not an old one with another name; as Git has it.
_ALIKE = 0.5
_DIGITS = 8
# Where a line of an overview leads: [[here]] or [so](here).
_TARGET = re.compile(rb"\[\[([^\[\]|#\n]+)|\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Side:
    """What one history made of the files since both were one: a blob by path, None where the file is gone.

    `persons` are the paths that a person changed, `agents` those that an agent did, and `waiting` those of which what
    an agent did waits for a person, by the settings here.
    """

    changes: Mapping[str, str | None]
    persons: Set[str] = frozenset()
    agents: Set[str] = frozenset()
    waiting: Set[str] = frozenset()


class Dispute(NamedTuple):
    """What waits to be decided: what the file at `path` would say if the other side were taken.

    `is_guarded`: an agent changed what no agent may write here.
    """

    path: str
    waiting: bytes
    is_guarded: bool


@dataclass(frozen=True)
class Joined:
    """What both sides make of the files: by path, of those that either changed, what they say.

    `kept` are the paths of those that one side removed and the other changed, which stay; `doubled` those of files
    that are not memory: what the other side has, where both changed the same place.
    """

    files: Mapping[str, Said]
    disputes: tuple[Dispute, ...] = ()
    kept: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """What else the law has to know: which file is what, what a blob says, and which files no agent may write."""

    layout: Layout
    read: Callable[[str], bytes]
    guarded: Set[str] = frozenset()


def join(base: Mapping[str, str], one: Side, other: Side, rules: Rules) -> Joined:
    """Return what two histories make of the files that they had, path and blob, when they were one."""
    joining = _Joining(rules, dict(base), (_Way.of(one), _Way.of(other)))
    joining.take_back_guarded()
    joining.follow_names()
    joining.put_same_facts_together()
    for path in sorted({path for way in joining.ways for path in way.changes}):
        joining.join_file(path)
    joining.keep_twins_apart()
    return joining.result()


@dataclass
class _Way:
    """A side while it is joined: its changes are moved to where the other side has the files."""

    changes: dict[str, str | None]
    persons: set[str]
    #: What agents alone changed.
    agents: Set[str]
    #: Of which what agents did waits.
    waiting: Set[str]
    #: What it made of guarded files, which waits.
    guarded: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, side: Side) -> _Way:
        return cls(dict(side.changes), set(side.persons), side.agents - side.persons, side.waiting)

    def move(self, before: str, after: str) -> None:
        """Have at `after` what it has at `before`."""
        self.changes[after] = self.changes.pop(before)
        if before in self.persons:
            self.persons.add(after)


@dataclass
class _Joining:
    rules: Rules
    base: dict[str, str]
    ways: tuple[_Way, _Way]
    files: dict[str, Said] = field(default_factory=dict)
    disputes: list[Dispute] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    entries: dict[tuple[str, str], Entry | None] = field(default_factory=dict)

    def result(self) -> Joined:
        for path in sorted({path for way in self.ways for path in way.guarded}):
            self.disputes += [self._guarded(path, blob) for way in self.ways if (blob := way.guarded.get(path))]
        return Joined(self.files, tuple(sorted(set(self.disputes))), tuple(self.kept), tuple(self.doubled))

    # Files that agents may not write

    def take_back_guarded(self) -> None:
        """Leave guarded files as they were where agents alone changed them."""
        for way in self.ways:
            for path in (self.rules.guarded | way.waiting) & way.changes.keys() & way.agents:
                if blob := way.changes.pop(path):
                    way.guarded[path] = blob
                self.files[path] = self.base.get(path)  # the side that has it takes it back

    def _guarded(self, path: str, blob: str) -> Dispute:
        before, wanted = (self._data(each) for each in (self.base.get(path), blob))
        done = merge(path, before, self._data(self.files[path]), wanted, "theirs", joins=True)
        return Dispute(path, done.data or b"", True)

    # Names

    def follow_names(self) -> None:
        """Bring together what both sides made of a file to which one of them, or both, gave another name."""
        moves = [self._moves(way, other) for way, other in (self.ways, self.ways[::-1])]
        for path in sorted({*moves[0], *moves[1]}):
            to = [move.get(path) for move in moves]
            new = self._name_of_both([each for each in to if each])
            if new in self.base:
                continue
            for way, name in zip(self.ways, to, strict=True):
                now = name or path
                if now != new and way.changes.get(now) and new not in way.changes:
                    self._move(way, now, new)
            if all(new in way.changes for way in self.ways):
                self.base[new] = self.base.pop(path)
                self.files[path] = None
                for way in self.ways:
                    way.changes.pop(path, None)

    def _move(self, way: _Way, before: str, after: str) -> None:
        way.move(before, after)
        self.files.setdefault(before, None)

    def _moves(self, way: _Way, other: _Way) -> dict[str, str]:
        """Return where one side has files under another name that the other side has changed or renamed, too."""
        new = sorted(path for path, blob in way.changes.items() if blob and path not in self.base)
        gone = sorted(path for path, blob in way.changes.items() if blob is None and path in other.changes)
        found = dict[str, str]()
        for path in gone if new else ():
            likeness = {each: self._likeness(path, each, way) for each in new}
            best = max(new, key=lambda each: (likeness[each], each))
            if likeness[best] >= _ALIKE:
                found[path] = best
                new.remove(best)
            if not new:
                break
        return found

    def _likeness(self, old: str, new: str, way: _Way) -> float:
        before, after = self.base[old], way.changes[new] or ""
        was, entry = self._entry(old, before), self._entry(new, after)
        if was and entry and name_key(was.name) in map(name_key, entry.aliases):
            return 2.0
        return similarity(self.rules.read(before), self.rules.read(after))

    def _name_of_both(self, names: list[str]) -> str:
        by_person = [name for name in names if any(name in way.persons for way in self.ways)]
        return min(by_person or names)

    # Facts that both sides began

    def put_same_facts_together(self) -> None:
        """Have at one path a fact that both sides began, by its name, at two."""
        begun = [self._begun(way) for way in self.ways]
        for name in sorted(begun[0].keys() & begun[1].keys()):
            paths = [each[name] for each in begun]
            for way, path in zip(self.ways, paths, strict=True):
                if path != min(paths) and min(paths) not in way.changes:
                    self._move(way, path, min(paths))

    def _begun(self, way: _Way) -> dict[str, str]:
        new = {path: blob for path, blob in way.changes.items() if blob and path not in self.base}
        entries = ((path, self._entry(path, blob)) for path, blob in sorted(new.items(), reverse=True))
        return {name_key(entry.name): path for path, entry in entries if entry}

    def keep_twins_apart(self) -> None:
        """Give files another name whose paths some disk takes for those of the other side; not what one side has so."""
        new = [path for path, said in self.files.items() if said is not None and path not in self.base]
        if not new:
            return
        others = [path for path in self.base if self.files.get(path, "") is not None]
        taken = {_folded(path): path for path in sorted(others, reverse=True)}
        for path in sorted(new):
            twin = taken.setdefault(_folded(path), path)
            if twin != path and not any(self._has(way, path) and self._has(way, twin) for way in self.ways):
                self._put_beside(path, self.files.pop(path))

    def _has(self, way: _Way, path: str) -> bool:
        return way.changes.get(path, self.base.get(path)) is not None

    def _put_beside(self, path: str, said: Said) -> str:
        """Have a file under a name of its own, which is returned: the same whoever makes it."""
        stem, dot, ending = path.rpartition(".")
        oid = blob_id(said) if isinstance(said, bytes) else said or ""
        name = f"{stem}-{oid[:_DIGITS]}{dot}{ending}" if dot and "/" not in ending else f"{path}-{oid[:_DIGITS]}"
        self.files[name] = said
        return name

    # One file

    def join_file(self, path: str) -> None:
        """Say what becomes of the file at `path`."""
        before = self.base.get(path)
        one, other = (way.changes.get(path, before) for way in self.ways)
        if before == other or one == other:
            self.files[path] = one
        elif before == one:
            self.files[path] = other
        elif one is None or other is None:
            self.files[path] = one or other
            self.kept.append(path)
        else:
            self._join_texts(path, before, *self._in_order(path, one, other))

    def _in_order(self, path: str, one: str, other: str) -> tuple[str, str]:
        """Return both blobs, first the one that stands where both changed the same."""
        by_person = [path in way.persons for way in self.ways]
        is_first = by_person[0] if by_person[0] != by_person[1] else one < other
        return (one, other) if is_first else (other, one)

    def _join_texts(self, path: str, before: str | None, first: str, second: str) -> None:
        base, ours, theirs = (self._data(each) for each in (before, first, second))
        if before is None and self._are_two_facts(path, first, second):
            self.files[path] = first
            self._put_beside(path, second)
            return
        is_overview = path == self.rules.layout.overview
        if base is None and is_overview:
            base = b""
        done = merge(path, base, ours, theirs, "ours", joins=True)
        self.files[path] = _without_doubles(done.data or b"", base or b"") if is_overview else done.data
        if done.conflicts and not self.rules.layout.is_kept(path):
            self.files[path] = first
            self.doubled.append(self._put_beside(path, second))
        elif done.conflicts:
            waiting = merge(path, base, ours, theirs, "theirs", joins=True).data or b""
            self.disputes.append(Dispute(path, waiting, False))

    def _are_two_facts(self, path: str, one: str, other: str) -> bool:
        entries = [self._entry(path, blob) for blob in (one, other)]
        return len({name_key(entry.name) for entry in entries if entry}) > 1

    def _entry(self, path: str, blob: str) -> Entry | None:
        """Return the fact in a blob at `path`, parsed once: each new file is compared with each that is gone."""
        if (path, blob) not in self.entries:
            is_entry = self.rules.layout.is_entry(path)
            self.entries[path, blob] = entry_in(path, self.rules.read(blob)) if is_entry else None
        return self.entries[path, blob]

    def _data(self, said: Said) -> bytes | None:
        return self.rules.read(said) if isinstance(said, str) else said


def _without_doubles(data: bytes, base: bytes) -> bytes:
    """Return an overview without new lines that lead where a line before them does."""
    known, targets = set(base.splitlines()), set[bytes]()
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if not _is_double(line, known, targets))


def _is_double(line: bytes, known: Set[bytes], targets: set[bytes]) -> bool:
    found = {target for each in _TARGET.findall(line) for target in each if target}
    is_double = bool(found) and found <= targets and line.rstrip(b"\r\n") not in known
    targets |= found
    return is_double


def _folded(path: str) -> str:
    """Return what a disk that minds neither case nor the form of letters takes a path for."""
    return composed(composed(path).casefold())
