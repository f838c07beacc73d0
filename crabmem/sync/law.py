"""Joining two histories of one memory: pure functions of paths and texts, the same whichever side asks.

The rules, in their order; neither times nor machines play a part:

1. What one side alone changed is as that side has it. What one side removed and the other changed stays, changed.
2. A file that one side renamed goes there with what the other side changed, unless the other side has a file of its own
   there. If both renamed it, the name of the side whose text stands by rule 6 counts.
3. A fact that both sides began, by its name, is one file. Two facts that both sides began at one path are two files.
4. No two paths of the result differ only by case or by the form of letters, and no file is where another has a folder:
   the second file has a part of its content's id in its name. Files that say the same are one. A folder in the place of
   the settings has another name, and so has a file that no disk can hold under its own: it is cut.
5. Frontmatter is joined by key and by item of a list, all else by line; a day's note by section, in the order of time.
   What both put at the same place is all there. Equal lines are one, in the overview wherever they link.
6. If both changed the same line or key, a person's stands before an agent's, else that of the file whose id sorts
   first. The other text waits to be decided; of a file beside memory, where nothing can wait, it is a second file.
7. What an agent elsewhere made of files that no agent may write here, or of what waits here by the settings, waits too,
   and is not in force. So do settings that cannot be read, or of which both sides together could not.

`lost` checks what comes of them. Trees come in as paths and ids of blobs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ..git.diff import Likeness
from ..text import frontmatter
from ..text.entry import Entry, entry_in
from ..text.hashes import blob_id
from ..text.merge import Merged, applied, merge
from ..text.merge import Side as Take
from ..text.note_merge import merge_notes
from ..text.slug import composed, name_key
from ..workspace.layout import SETTINGS, Layout
from ..workspace.layout import way as ways_to

#: The text that a path has: a str is the id of a blob of either side, bytes are a new text, None is no file.
Said = str | bytes | None

_DIGITS, _ALL_DIGITS = 8, 40
# Bytes of a name that every disk holds, and how many stay of one that has more, before what is added.
_LONGEST, _KEPT = 255, 150
# A link in a line of an overview: [[here]] or [so](here).
_LINK = re.compile(rb"\[\[[^\[\]|#\n]+|\]\([^()\s]+\)")


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


class Why(StrEnum):
    """Why a text waits, in the words of its proposal."""

    CHANGED = "{} is another text on another machine, where the same place was changed"
    GUARDED = "an agent on another machine changed {}, which no agent may here"
    BROKEN = "{} of another machine cannot be read: until it is put right, what stands here goes on"
    WHOLE = "{} as one machine had it: some of its lines are not in what both make of it"


class Dispute(NamedTuple):
    """What waits to be decided: what the file at `path` would say if the other side were taken.

    `why`: both sides changed the same place; an agent changed what no agent may write here; settings cannot be read; or
    it is the file as one side has it, of which the join would have lost lines (`lost`).
    """

    path: str
    waiting: bytes
    why: Why = Why.CHANGED


@dataclass(frozen=True)
class Joined:
    """What both sides make of the files: by path, of those that either changed, what they say.

    `kept` are the paths of those that one side removed and the other changed, which stay; `copies` the second files of
    what both changed beside memory.
    """

    files: Mapping[str, Said]
    disputes: tuple[Dispute, ...] = ()
    kept: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """What else the law has to know: which file is what, what a blob says, which files no agent may write, and whether
    those that decide what agents may can be read."""

    layout: Layout
    read: Callable[[str], bytes]
    guarded: Set[str] = frozenset()
    is_readable: Callable[[str, bytes], bool] = lambda path, data: True

    def data(self, said: Said) -> bytes | None:
        """Return what a path says as bytes."""
        return self.read(said) if isinstance(said, str) else said


def join(base: Mapping[str, str], one: Side, other: Side, rules: Rules) -> Joined:
    """Return what two histories make of the files that they had, path and blob, when they were one."""
    joining = _Joining(rules, dict(base), (_Way.of(one), _Way.of(other)))
    joining.hold_back()
    joining.follow_names()
    joining.put_same_facts_together()
    for path in sorted({path for way in joining.ways for path in way.changes}):
        joining.join_file(path)
    joining.keep_apart()
    return joining.result()


def lost(
    base: Mapping[str, str], sides: Iterable[Side], files: Mapping[str, Said], waiting: Iterable[bytes], rules: Rules
) -> list[Dispute]:
    """Return the texts of memory of which a join to `files`, with what is `waiting` to be decided, would lose a line.

    1. A text is kept if it is in the result as it is, at whatever path.
    2. Else each line must be kept that its side brought: one that the file did not have when both were one, nor, if it
       is new, any file that the side removed, which may have been the same under another name.
    3. A line is kept if the result has it in the file at that path, or in one that the join made; or if it waits.
    4. Of frontmatter each key with each item counts as a line. Blank lines and space around a line say nothing.
    """
    whole = {_id(said) for said in {**base, **files}.values()}
    kept = {each for said in [*files.values(), *waiting] if isinstance(said, bytes) for each in _statements(said)}
    found = list[Dispute]()
    for side in sides:
        missing = {path: blob for path, blob in side.changes.items() if blob and blob not in whole}
        gone = (
            [base[path] for path, blob in side.changes.items() if blob is None] if missing.keys() - base.keys() else []
        )
        removed = {each for blob in gone for each in _statements(rules.read(blob))}
        for path, blob in missing.items():
            before = _statements(rules.read(base[path])) if path in base else removed
            brought = _statements(rules.read(blob)) - before - kept
            if brought - _statements(rules.data(files.get(path)) or b"") and rules.layout.is_kept(path):
                found.append(Dispute(path, rules.read(blob), Why.WHOLE))
    return sorted(found)


def _statements(data: bytes) -> set[str]:
    """Return what a text says: its lines, and of frontmatter its comments, and each key with each item."""
    text = data.decode(errors="surrogateescape")
    parts, found = frontmatter.parts_of(text), set[str]()
    if parts.header is not None:
        try:
            keys = frontmatter.load(parts.header)
        except frontmatter.BadHeader:
            pass
        else:
            text = parts.content
            found = {f"{key}: {item}" for key, value in keys.items() for item in _items(value)}
            found |= {line.strip() for line in parts.header.split("\n") if line.lstrip().startswith("#")}
    return found | {line.strip() for line in text.split("\n") if line.strip()}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


@dataclass
class _Way:
    """A side while it is joined: its changes are moved to where the other side has the files."""

    changes: dict[str, str | None]
    persons: set[str]
    #: What agents alone changed.
    agents: Set[str]
    #: Paths at which an agent's change waits for a person.
    waiting: Set[str]
    #: Blobs taken out of `changes` that wait: of guarded files, of unreadable settings, or of agents, by path.
    held: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, side: Side) -> _Way:
        return cls(dict(side.changes), set(side.persons), side.agents - side.persons, side.waiting)

    def move(self, before: str, after: str) -> None:
        self.changes[after] = self.changes.pop(before)
        if before in self.persons:
            self.persons.add(after)


@dataclass
class _Joining:
    """A join under way: its steps, in the order in which `join` calls them, move changes from `ways` to `files`."""

    rules: Rules
    base: dict[str, str]
    ways: tuple[_Way, _Way]
    #: The result so far, by path.
    files: dict[str, Said] = field(default_factory=dict)
    disputes: list[Dispute] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    #: Files that need another path than the one they had.
    second: list[tuple[str, Said]] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    entries: dict[tuple[str, str], Entry | None] = field(default_factory=dict)

    def result(self) -> Joined:
        for path in sorted({path for way in self.ways for path in way.held}):
            self.disputes += [self._held(path, blob) for way in self.ways if (blob := way.held.get(path))]
        return Joined(self.files, tuple(sorted(set(self.disputes))), tuple(self.kept), tuple(self.copies))

    # Files that agents may not write, and settings that cannot be read

    def hold_back(self) -> None:
        """Take out of the join what has to wait, and leave these files as they were.

        That is what agents alone did to guarded files, or to files at which their changes wait; and settings that
        cannot be read.
        """
        for way in self.ways:
            guarded = self.rules.guarded & way.changes.keys()
            broken = {path for path in guarded if not self._is_readable(path, way.changes[path])}
            for path in broken | (guarded | (way.waiting & way.changes.keys())) & way.agents:
                if blob := way.changes.pop(path):
                    way.held[path] = blob
                self.files[path] = self.base.get(path)  # the side that has it takes it back

    def _is_readable(self, path: str, said: Said) -> bool:
        data = self.rules.data(said)
        return data is None or self.rules.is_readable(path, data)

    def _held(self, path: str, blob: str) -> Dispute:
        """Return the dispute for a change held back at `path`: applied to what the join made of the file."""
        before, wanted = (self.rules.data(each) for each in (self.base.get(path), blob))
        if wanted and not self._is_readable(path, wanted):
            return Dispute(path, wanted, Why.BROKEN)
        done = applied(path, before, self.rules.data(self.files[path]), wanted)
        return Dispute(path, done.data or b"", Why.GUARDED)

    # Names

    def follow_names(self) -> None:
        """Bring together what both sides made of a file that one of them renamed, or both."""
        moves = [self._moves(way, other) for way, other in (self.ways, self.ways[::-1])]
        for path in sorted({*moves[0], *moves[1]}):
            to = [move.get(path) for move in moves]
            new = next((name for name in self._in_order_of_names(to) if self._may_have(name, to)), None)
            if new is None:
                continue
            for way, name in zip(self.ways, to, strict=True):
                now = name or path
                if now != new and way.changes.get(now):
                    self._move(way, now, new)
            if all(way.changes.get(new) for way in self.ways):
                self.base[new] = self.base.pop(path)
                self.files[path] = None
                for way in self.ways:
                    way.changes.pop(path, None)

    def _move(self, way: _Way, before: str, after: str) -> None:
        way.move(before, after)
        self.files.setdefault(before, None)

    def _moves(self, way: _Way, other: _Way) -> dict[str, str]:
        """Return the new paths, by old path, of files that one side renamed and the other changed or removed, too.

        A rename is found by equal bytes first, then by a fact's name or alias, at last by likeness of the text.
        """
        new = {path: blob for path, blob in sorted(way.changes.items()) if blob and path not in self.base}
        gone = sorted(path for path, blob in way.changes.items() if blob is None and path in other.changes)
        found, same = dict[str, str](), {blob: path for path, blob in new.items()}
        named = {name: path for path, blob in new.items() for name in self._names(path, blob)}
        # Looked up before texts are compared, each with each: a person may have moved a thousand files.
        for known in (lambda path: [same.get(self.base[path])], lambda path: map(named.get, self._name(path))):
            for path in gone:
                to = next(filter(None, known(path)), None)
                if path not in found and to in new:
                    found[path] = to
                    del new[to]
        likeness = Likeness(self.rules.read)  # for each side, as the other machine begins with the other one
        for path in gone:
            if path not in found and (best := likeness.most_alike(self.base[path], new)):
                found[path] = best
                del new[best]
        return found

    def _name(self, path: str) -> list[str]:
        """Return the key of the name that the fact at `path` had; none for no fact."""
        entry = self._entry(path, self.base[path])
        return [name_key(entry.name)] if entry else []

    def _names(self, path: str, blob: str) -> list[str]:
        """Return the keys of the names by which a fact is known, its aliases first."""
        entry = self._entry(path, blob)
        return [*map(name_key, entry.aliases), name_key(entry.name)] if entry else []

    def _in_order_of_names(self, to: Sequence[str | None]) -> list[str]:
        """Return the names that either side gave a file, first that of the side whose text stands."""
        one, other = to
        if one and other and not self._is_first((one, other)):
            return [other, one]
        return [name for name in (one, other) if name]

    def _may_have(self, name: str, to: Sequence[str | None]) -> bool:
        """Return whether no side has another file at `name` than the one that it renamed."""
        others = [way for way, mine in zip(self.ways, to, strict=True) if mine != name]
        return name not in self.base and not any(way.changes.get(name) for way in others)

    # Facts that both sides began

    def put_same_facts_together(self) -> None:
        """Move a fact that both sides began under one name, at two paths, to the path that sorts first."""
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

    # Places

    def keep_apart(self) -> None:
        """Give another path to files that not every disk can hold at theirs.

        These are the second of two paths that fold to one, a file where another has a folder, a file in a folder in the
        place of the settings, and a name that is too long. Disputes move along.
        """
        whole = {path: said for path, said in {**self.base, **self.files}.items() if said is not None}
        folders = {_folded(each) for path in whole if "/" in path for each in ways_to(path.rpartition("/")[0])}
        folders -= {_folded(SETTINGS)}
        taken, moved = dict[str, str](), dict[str, str]()
        for path in sorted(whole, key=lambda path: (path not in self.base, path)):
            there = taken.setdefault(_folded(path), path)
            if there != path or _folded(path) in folders:
                self.files[path] = None
                if there == path or _id(whole[path]) != _id(whole[there]):
                    self.second.append((path, whole[path]))
            elif is_in_place_of_settings(path) or _is_too_long(path):
                self.files[path] = None  # no command goes on where a folder stands in the place of the settings
                self.second.append((path, whole[path]))
        for path, said in sorted(self.second, key=lambda each: (each[0], _id(each[1]))):
            free = (each for each in _other_names(path, _id(said)) if self._is_free(each, said, taken, folders))
            moved[path] = next(free)
            self.files[moved[path]] = said
            is_named = _is_too_long(path) or not self.rules.layout.is_kept(path)
            self.copies += [moved[path]] if is_named else []
        gone = {path for path in moved if self.files[path] is None}
        self.disputes = [each._replace(path=moved[each.path]) if each.path in gone else each for each in self.disputes]

    def _is_free(self, path: str, said: Said, taken: dict[str, str], folders: Set[str]) -> bool:
        there = taken.setdefault(_folded(path), path)
        now = self.files.get(path, self.base.get(path))
        return _folded(path) not in folders and there == path and (now is None or _id(now) == _id(said))

    # One file

    def join_file(self, path: str) -> None:
        """Decide on one path by rules 1, 5 and 6."""
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
            first, second = (one, other) if self._is_first((path, path)) else (other, one)
            self._join_texts(path, before, first, second)

    def _is_first(self, paths: tuple[str, str]) -> bool:
        """Return whether what the first side has at its path stands, where both changed the same."""
        by_person = [path in way.persons for way, path in zip(self.ways, paths, strict=True)]
        one, other = ((way.changes.get(path) or "", path) for way, path in zip(self.ways, paths, strict=True))
        return by_person[0] if by_person[0] != by_person[1] else one <= other

    def _join_texts(self, path: str, before: str | None, first: str, second: str) -> None:
        """Merge two texts of one path, of which `first` stands in conflicts.

        The conflicting text of memory becomes a dispute, another file's a second file. Two new facts with different
        names stay two files. If both settings together cannot be read, `first` stands and `second` waits.
        """
        if before is None and self._are_two_facts(path, first, second):
            self.files[path] = first
            self.second.append((path, second))
            return
        layout = self.rules.layout
        base, ours, theirs = (self.rules.data(each) for each in (before, first, second))
        if base is None and (path == layout.overview or layout.is_note(path)):
            base = b""

        def merged(take: Take) -> Merged:
            by = merge_notes if layout.is_note(path) else merge
            return by(path, base, ours, theirs, take, joins=True)

        done = merged("ours")
        if not self._is_readable(path, done.data):
            self.files[path] = first
            self.disputes.append(Dispute(path, theirs or b""))
            return
        self.files[path] = _without_doubles(done.data or b"", base or b"") if path == layout.overview else done.data
        if done.conflicts and layout.is_kept(path):
            self.disputes.append(Dispute(path, merged("theirs").data or b""))
        elif done.conflicts:
            self.second.append((path, second))

    def _are_two_facts(self, path: str, one: str, other: str) -> bool:
        entries = [self._entry(path, blob) for blob in (one, other)]
        return len({name_key(entry.name) for entry in entries if entry}) > 1

    def _entry(self, path: str, blob: str) -> Entry | None:
        """Return the fact in a blob at `path`, parsed once: each new file is compared with each that is gone."""
        if (path, blob) not in self.entries:
            is_entry = self.rules.layout.is_entry(path)
            self.entries[path, blob] = entry_in(path, self.rules.read(blob)) if is_entry else None
        return self.entries[path, blob]


def _without_doubles(data: bytes, base: bytes) -> bytes:
    """Return an overview without its new lines that have a link and repeat an earlier line."""
    known, found = {line.strip() for line in base.splitlines()}, list[bytes]()
    seen = set[bytes]()
    for line in data.splitlines(keepends=True):
        said = line.strip()
        if said in known or said not in seen or not _LINK.search(said):
            found.append(line)
        seen.add(said)
    return b"".join(found)


def _other_names(path: str, oid: str) -> Iterator[str]:
    """Yield names for a file that cannot have its own; a folder in the place of the settings stays together."""
    if is_in_place_of_settings(path):
        first, _, rest = path.partition("/")
        return (_shortened(f"{folder}/{rest}") for folder in names_beside(first, blob_id(first.encode())))
    return names_beside(_shortened(path), oid)


def _is_too_long(path: str) -> bool:
    return any(len(_bytes(part)) > _LONGEST for part in path.split("/"))


def _shortened(path: str) -> str:
    """Return a path that every disk holds: of a name that is too long, its beginning, and a part of its hash."""
    return "/".join(_short(part) if len(_bytes(part)) > _LONGEST else part for part in path.split("/"))


def _short(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    ending = f"{dot}{ending}" if stem and len(_bytes(ending)) < _DIGITS else ""
    return f"{_bytes(name)[:_KEPT].decode(errors='ignore')}-{blob_id(_bytes(name))[:_DIGITS]}{ending}"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def is_in_place_of_settings(path: str) -> bool:
    """Return whether a file is in a folder that stands where settings are."""
    first, slash, _ = path.partition("/")
    return bool(slash) and _folded(first) == _folded(SETTINGS)


def names_beside(path: str, oid: str) -> Iterator[str]:
    """Yield names for a file whose path is taken: the same whoever asks."""
    folder, slash, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    for digits in range(_DIGITS, _ALL_DIGITS + 1):
        yield f"{folder}{slash}" + (f"{stem}-{oid[:digits]}.{ending}" if stem else f"{name}-{oid[:digits]}")


def _id(said: Said) -> str:
    return blob_id(said) if isinstance(said, bytes) else said or ""


def _folded(path: str) -> str:
    """Return what a disk that minds neither case nor the form of letters takes a path for."""
    return composed(composed(path).casefold())
