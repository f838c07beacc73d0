"""Replay commits on a purged line: those that a machine made before it knew of the purge.

What the purge did is seen by comparing each commit that both lines have, as it was and as it became: a file that is
gone, has another text, or another name. What a commit of ours changed since is put on what became of the file, by line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from ...errors import DamagedHistory, Untrusted
from ...text.hashes import blob_id, short
from ...text.merge import merge
from ...text.quotes import distinctive_lines
from ..diff import similarity
from ..objects import Objects
from ..purged import Erased, PurgeRecord
from ..reach import Piece
from ..trees import DEEPEST, MOST_FILES, Item, Trees, differing, read_rows, to_bytes, to_text
from .objects import Rewriter, Survey

#: A version of a file: its path, and the id of its text.
Version = tuple[str, str]

# Below that a file that came is another one than those that went.
_ALIKE = 0.5
# A shorter word is part of many others.
_SHORTEST = 4
#: What stands in the place of a purged text.
MARKS = ("(purged)", "(erased)", "(…)")
# Longer lines, and more marks in one, are not looked into: that takes long.
_LONGEST, _MOST_MARKS = 2_000, 3


class Replay:
    """Puts commits of an old line on what the record of purges says became of that; a `Rule` of a rewrite.

    `lost` are the paths at which a change of those commits went with what was purged, `quoting` those that quote
    a line of it, and stay. `lacking` are commits that became others, as the record knows, which are not there.
    """

    def __init__(self, record: PurgeRecord, old: Objects, new: Objects) -> None:
        """`old` has the line as it was, `new` the purged one."""
        self._record, self._old, self._new = record, old, new
        self._trees = Trees(old)
        #: What each version became: path and id; None where it is gone. And the texts that are not stored yet.
        self.moved: dict[Version, Version | None] = {}
        self._texts: dict[Version, bytes] = {}
        self._folders: dict[str, str] = {}
        #: What went from texts and messages, with what stands in its place; and the versions of which all is known.
        self._words, self._phrases = Words(), Words()
        self._known = set[Version]()
        self._is_ours = True
        self._last: tuple[Mapping[str, Item], Mapping[str, Item]] = ({}, {})
        self.lost, self.lacking, self._own = set[str](), set[str](), set[Version]()
        #: The objects that were made, kind and bytes by id.
        self.made: dict[str, tuple[str, bytes]] = {}
        self._siblings = {oid: fork for fork in record.forks() for oid in fork}
        self.rewriter = Rewriter(self, old, self._take)

    def _take(self, piece: Piece, kind: str, data: bytes) -> None:
        if not self._new.is_there(piece.oid):
            self.made[piece.oid] = kind, data

    def run(self, found: Survey) -> dict[str, str]:
        """Rewrite what was surveyed; return the new id of each commit and tag. Nothing is stored.

        Raises:
            Untrusted: what the record says of a commit is not what a purge does.
            DamagedHistory: some of it is missing.
        """
        for oid in found.commits:
            clean = self._record.commit(oid) if self._record.is_old(oid) else None
            if clean and self._new.is_there(clean):
                self._compare(oid, clean)
                self.rewriter.ids[oid] = clean
            else:
                self.lacking |= {oid} if self._record.is_old(oid) else set()
                parents = self._old.parents(oid)
                # What stands on nothing that was purged stays as it is, whatever it says.
                self._is_ours = oid in self._siblings or any(self.rewriter.ids[parent] != parent for parent in parents)
                if oid in self._siblings:
                    self._join_siblings(oid)
                elif self._is_ours:
                    self._follow(oid)
                self.rewriter.add(oid)
        self._is_ours = True
        for oid in found.tags:
            self.rewriter.add(oid)
        return self.rewriter.ids

    # What a purge did

    def _compare(self, oid: str, clean: str) -> None:
        """Learn from a commit and what it became."""
        was, now = self._old.header(oid), self._new.header(clean)
        parents = [self.rewriter.ids.get(parent, parent) for parent in was.parents]
        if (was.authored, was.committed) != (now.authored, now.committed) or {*parents} != {*now.parents}:
            raise _unfit(oid, clean)
        gone, come = self._differences(was.tree, now.tree)
        self._learn_words(oid, clean)
        if (gone, come) == self._last:
            return
        self._last = gone, come
        left = {path: item for path, item in come.items() if path not in gone}
        for path, (_, blob) in gone.items():
            end, is_touched = self._record.blob(blob), self._record.touches(blob)
            twin = next((each for each, (_, text) in left.items() if end and text == end), None)
            if path in come and is_touched:
                self._note((path, blob), (path, come[path][1]))
                self._learn_texts((path, blob), come[path][1])
            elif twin:
                self._note((path, blob), (twin, left.pop(twin)[1]))
                self._note_folders(path, twin)
            elif is_touched and path not in come:
                self._note((path, blob), None)
            else:
                raise _unfit(oid, clean)
        if left:
            raise _unfit(oid, clean)

    def _differences(self, old: str, new: str) -> tuple[dict[str, Item], dict[str, Item]]:
        """Return what the trees have at each path where they differ, the files alone."""
        gone, come = dict[str, Item](), dict[str, Item]()
        for path, before, after in self._differing(old, new, ""):
            if before:
                gone[path] = before
            if after:
                come[path] = after
        return gone, come

    def _differing(
        self, old: str | None, new: str | None, folder: str
    ) -> Iterator[tuple[str, Item | None, Item | None]]:
        if folder.count("/") > DEEPEST:
            raise DamagedHistory(
                f"the history has a commit of more than {MOST_FILES:,} files or {DEEPEST} folders deep: it is no "
                "memory's"
            )
        before = frozenset(read_rows(old, self._old)) if old else frozenset[bytes]()
        after = frozenset(read_rows(new, self._new)) if new else frozenset[bytes]()
        for key, was, now in differing(before, after):
            path = folder + to_text(key)
            if key.endswith(b"/"):
                yield from self._differing(was and was[1], now and now[1], path)
            else:
                yield path, was, now

    def _note(self, version: Version, became: Version | None) -> None:
        self.moved.setdefault(version, became)

    def _note_folders(self, path: str, twin: str) -> None:
        """Note the folders that got another name with a file."""
        parts, others = path.split("/"), twin.split("/")
        if len(parts) == len(others):
            pairs = ((parts[:end], others[:end]) for end in range(1, len(parts)))
            self._folders.update({"/".join(one): "/".join(other) for one, other in pairs if one[-1] != other[-1]})

    def _learn_texts(self, version: Version, new: str) -> None:
        """Learn which texts went from a file, where each line became one."""
        one, other = (to_text(data).split("\n") for data in (self._old.blob(version[1]), self._new.blob(new)))
        pairs = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
        words = [_words_in(*pair) for pair in pairs]
        for each in words:
            self._words.add(each)
        if len(one) == len(other) and all(words):
            self._known.add(version)

    def _learn_words(self, oid: str, clean: str) -> None:
        """Learn what went from a message, so that it goes from those of ours, too."""
        was, now = (_message(objects, each) for objects, each in ((self._old, oid), (self._new, clean)))
        for one, other in zip(was.splitlines(), now.splitlines(), strict=False) if was != now else ():
            if one != other and one.strip():
                self._words.add(words := _words_in(one, other))
                self._phrases.add(words or {one: other})

    # What a commit of ours changed

    def _follow(self, oid: str) -> None:
        """Put what a commit changed on what became of the files."""
        tree = self._old.header(oid).tree
        parents: list[str | None] = [self._old.header(each).tree for each in self._old.parents(oid)]
        sides = [
            {path: (was, now) for path, was, now in self._trees.differences(each, tree)} for each in parents or [None]
        ]
        # What a merge took from one of its parents is that one's.
        own = [path for path in sides[0] if all(path in side for side in sides)]
        dropped = [(path, was) for path in own for was, now in [sides[0][path]] if was and not now]
        for path in own:
            for before, after in dict.fromkeys(side[path] for side in sides):
                if after and self._record.has_blob(after):  # somebody put it back, or said it again
                    self.lost |= {path} if self._record.blob(after) is None else set()
                elif after and (path, after) not in self.moved:
                    self._own.add((path, after))
                    base = (path, before) if before else self._like(after, dropped)
                    self._put_on(path, base, after)

    def _like(self, blob: str, dropped: list[Version]) -> Version:
        """Return that of the versions that went in the same commit which a text is like; an empty one for none."""
        found = [each for each in dropped if each in self.moved]
        text = self._old.blob(blob) if found else b""
        likeness, version = max(
            ((similarity(self._old.blob(each[1]), text), each) for each in found), default=(0.0, ("", ""))
        )
        return version if likeness >= _ALIKE else ("", "")

    def _put_on(self, path: str, base: Version, after: str) -> None:
        """Put a new text of a file on what became of the version that it was made of, if that is another."""
        became, data = self.moved.get(base, base), self._old.blob(after)
        if became is None:
            self.moved[path, after] = None
            self.lost.add(path)
            return
        place = became[0] if path == base[0] else path
        if became[1] != base[1]:
            is_known = base in self._known
            purged = self._texts.get(base) or self._new.blob(became[1])
            done = merge(path, self._old.blob(base[1]), data, purged, take="ours" if is_known else "theirs")
            data = purged if done.data is None else done.data
            if is_known:  # where both changed a line, ours stands without what went from it
                self._known.add((path, after))
            elif done.conflicts:
                self.lost.add(path)
        text = self._words.without(to_text(data))
        data = to_bytes(text)
        if (place, blob_id(data)) != (path, after):
            self._texts[path, after] = data
            self.moved[path, after] = (place, blob_id(data))

    # What two machines purged that knew nothing of each other

    def _join_siblings(self, oid: str) -> None:
        """Take from a commit what another purge took from the same one."""
        for sibling in sorted(self._siblings[oid] - {oid}):
            if self._new.is_there(sibling):
                gone, come = self._differences(self._old.header(oid).tree, self._new.header(sibling).tree)
                for path, (_, blob) in gone.items():
                    self._join_file(path, blob, come)
                self._join_words(oid, sibling)

    def _join_file(self, path: str, blob: str, come: Mapping[str, Item]) -> None:
        end, twins = self._record.blob(blob), self._record.twins.get(blob, frozenset())
        place = next((each for each, (_, text) in come.items() if text == end or text in twins), None)
        if None in twins:
            self._note((path, blob), None)
        elif twins and place:
            data = common(self._old.blob(blob), self._new.blob(come[place][1]))
            self._texts[path, blob] = data
            self._note((path, blob), (path, blob_id(data)))
        elif self._record.touches(blob) and end != blob:
            place = path if path in come else place
            self._note((path, blob), (place, come[place][1]) if place else None)
            if place:
                self._learn_texts((path, blob), come[place][1])

    def _join_words(self, oid: str, sibling: str) -> None:
        was, now = (_message(objects, each) for objects, each in ((self._old, oid), (self._new, sibling)))
        pairs = zip(was.splitlines(), now.splitlines(), strict=False)
        self._phrases.add({one: _common_line(one, other) for one, other in pairs if one != other and one.strip()})

    def erased(self) -> Erased:
        """Return what this did as a purge of its own, so that each machine does just that with the same commits.

        What several machines made of one commit, that purged and knew nothing of each other, becomes one.
        """
        ids, twins = self.rewriter.ids, self._record.twins
        commits = {oid: new for oid, new in ids.items() if new != oid and not self._record.is_old(oid)}
        commits |= {each: ids[oid] for oid, fork in self._siblings.items() if oid in ids for each in fork}
        moved = {blob: became and became[1] for (_, blob), became in self.moved.items() if self._is_news(blob)}
        for fork in {*twins.values()}:
            ends = [None] if None in fork else [moved[each] for each in sorted(filter(None, fork)) if each in moved]
            moved |= dict.fromkeys(filter(None, fork), ends[0]) if ends else {}
        moved = {blob: new for blob, new in moved.items() if blob != new}
        staying = {blob for path, blob in self._own if self.new_path(path, blob) and (path, blob) not in self.moved}
        blobs = {blob: new for blob, new in moved.items() if blob not in staying}
        parts = {blob: new for blob, new in moved.items() if blob in staying}
        return Erased({old: new for old, new in commits.items() if old != new}, blobs, parts, is_replay=True)

    def _is_news(self, blob: str) -> bool:
        return blob in self._record.twins or not self._record.touches(blob)

    # The rule

    def new_path(self, path: str, oid: str) -> str | None:
        """Return where a file or folder is on the purged line; None for one that is gone."""
        if (path, oid) in self.moved:
            became = self.moved[path, oid]
            return became and became[0]
        if path in self._folders:
            return self._folders[path]
        end = self._record.blob(oid)
        return path if end and (end == oid or self._new.is_there(end)) else None

    def new_file(self, path: str, data: bytes) -> bytes:
        """Return what a file is on the purged line."""
        version = path, blob_id(data)
        if version in self._texts:
            return self._texts[version]
        became = self.moved.get(version)
        end = became[1] if became else self._record.blob(version[1])
        return data if end in (None, version[1]) else self._new.blob(end or "")

    def new_message(self, text: str) -> str:
        """Return a message without the words that went from those of others."""
        return self._words.without(self._phrases.without(text)) if self._is_ours else text

    def new_label(self, text: str) -> str:
        """Return who made a commit, as it is."""
        return text

    def new_name(self, name: str) -> str:
        """Return a part of the name of a branch or tag, as it is."""
        return name

    # What it came to

    @property
    def touched(self) -> set[str]:
        """The paths of files from which something was purged, as they were called."""
        return {path for path, blob in self.moved if (path, blob) not in self._own}

    @property
    def quoting(self) -> tuple[str, ...]:
        """The paths of texts of ours that quote a line of what was purged, and stay."""
        gone = set[str]()
        for (path, blob), became in self.moved.items():
            if (path, blob) not in self._own:
                data = self._old.blob(blob)
                gone |= distinctive_lines(data) - (distinctive_lines(self.new_file(path, data)) if became else set())
        texts = (
            (path, self.new_file(path, self._old.blob(blob))) for path, blob in self._own if self.new_path(path, blob)
        )
        return tuple(sorted({path for path, data in texts if gone & distinctive_lines(data)}))


class Words:
    """Texts that went, with what stands in their place."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._pattern = 0, re.compile(r"(?!)")

    def add(self, words: Mapping[str, str]) -> None:
        """Add some."""
        self._words |= words

    def without(self, text: str) -> str:
        """Return a text with what stands in the place of each."""
        count, pattern = self._pattern
        if count != len(self._words):
            pattern = _any_of(self._words)
            self._pattern = len(self._words), pattern
        return pattern.sub(lambda found: self._words[found[0]], text)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return what finds one of some words, the longest that stands there."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first))


def _words_in(one: str, other: str) -> dict[str, str]:
    """Return what went from a line that became another, with the mark in its place; nothing where that is not clear."""
    for mark in MARKS:
        if 0 < (count := other.count(mark)) <= _MOST_MARKS and max(len(one), len(other)) <= _LONGEST:
            words = {*_between(other.split(mark), one)} - {mark}
            if words and len(words) <= count and min(map(len, words)) >= _SHORTEST:
                return dict.fromkeys(words, mark)
    return {}


def _between(parts: list[str], text: str) -> list[str]:
    """Return what stands between `parts` in a text that begins with the first and ends in the last; [] where some lack.

    Each stands as early as it can, which leaves the most room for the others: no expression, which would try them all.
    """
    first, *middle, last = parts
    found, at = list[str](), len(first)
    for part in middle:
        place = text.find(part, at + 1)
        if place < 0:
            return []
        found.append(text[at:place])
        at = place + len(part)
    end = len(text) - len(last)
    is_whole = text.startswith(first) and text.endswith(last) and end > at
    return [*found, text[at:end]] if is_whole else []


def common(one: bytes, other: bytes) -> bytes:
    """Return what two texts have in common that two purges made of one: what either took is gone."""
    first, second = sorted((one, other))
    lines = [data.decode("utf-8", "surrogateescape").split("\n") for data in (first, second)]
    if len(lines[0]) == len(lines[1]):
        done = [_common_line(*pair) for pair in zip(*lines, strict=True)]
    else:
        known = set(lines[1])
        done = [line for line in lines[0] if line in known]
    return "\n".join(done).encode("utf-8", "surrogateescape")


def _common_line(one: str, other: str) -> str:
    """Return a line of which two purges made two; a mark stands for what they do not agree on."""
    if one == other:
        return one
    head = _shared(one, other)
    tail = min(_shared(one[::-1], other[::-1]), len(one) - head, len(other) - head)
    return f"{one[:head]}{MARKS[0]}{one[len(one) - tail :]}"


def _shared(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), min(len(one), len(other))
    )


def _message(objects: Objects, oid: str) -> str:
    return objects.raw(oid)[1].partition(b"\n\n")[2].decode("utf-8", "surrogateescape")


def _unfit(oid: str, clean: str) -> Untrusted:
    return Untrusted(
        f"the record of purges says that commit {short(oid)} became {short(clean)}, in which more is another than what "
        "was purged; nothing was changed: see who pushed that"
    )
