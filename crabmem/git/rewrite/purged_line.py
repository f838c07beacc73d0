"""What commits are on the line that purges left: as the record of purges says, once it is checked, or made anew.

Each commit that the record names is compared with what it became: only texts may be gone. What a machine made of an old
line since is put on the purged one as a state: the files of its newest commit, merged by line with what the purge made
of the files below it, in one commit. Two purges of the same commits that knew nothing of each other become one, which
took what either took.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, reduce
from typing import TypeAlias

from ...errors import DamagedHistory, Untrusted
from ...results import CREATOR
from ...text.entry import entry_in
from ...text.hashes import blob_id, short
from ...text.marks import (
    MARKS,
    is_marked,
    shared,
    shared_name,
    takes_away,
    takes_from_file,
    takes_from_name,
    unnumbered,
)
from ...text.merge import merge
from ...text.quotes import distinctive_lines
from ...text.slug import slug_of
from ..commits import COMMITTER, Header, Note, author_and_message, header, header_lines, read_commit, tag_target
from ..diff import similarity
from ..objects import Objects, oid_of
from ..purged import JOIN, PUT, Erased, PurgeRecord
from ..trees import (
    FOLDER,
    SUBMODULE,
    Item,
    by_first_part,
    check_extent,
    differing,
    parsed_row,
    row_of,
    rows_of,
    sort_key,
    to_bytes,
    to_text,
)
from .objects import Survey

#: A version of a file: its path, and the id of its text.
Version = tuple[str, str]
Files: TypeAlias = dict[str, Item]

# A file that came is another one than those that went below that likeness.
_ALIKE = 0.5
_SUBJECT = "sync: what was made before a purge was known, on the purged line"
_TOOL = "purge"
_SIGNATURES = (b"gpgsig", b"gpgsig-sha256", b"mergetag")
_IDENTITIES = (b"author", b"committer")
_ID = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])")
# Parts of a path or word, and what a word has to have to tell a text from others.
_WORD, _TELLING, _SHORTEST = re.compile(r"[^\s\"'`,;:!?()\[\]{}<>]+"), re.compile(r"[-_0-9]"), 4
# Parents that are compared with each other; more stay as they are.
_MOST_PARENTS = 16


class PurgedLine:
    """Finds what commits are on the purged line. Changes nothing: `made` has the objects that are not stored yet.

    `ids` has each commit by its old id. `touched` are the paths at which texts went, `lost` those where a change that
    no purge knew of went too, and `lacking` the commits of which the purged line is not here.
    """

    def __init__(self, record: PurgeRecord, old: Objects, new: Objects) -> None:
        """`old` has the line as it was, `new` what stands here; ends of purges are in one of them."""
        self._record, self._stores = record, (new, old)
        self.ids: dict[str, str] = {}
        self.made: dict[str, tuple[str, bytes]] = {}
        #: What each version became: path and id; None where it is gone.
        self.moved: dict[Version, Version | None] = {}
        #: The same of versions that this machine made of them, and the versions of its own that stay.
        self._mine: dict[Version, Version | None] = {}
        self._own = set[Version]()
        self.lost, self.lacking = set[str](), set[str]()
        #: What commits and texts became here, of which the record says nothing.
        self._news = dict[str, str]()
        self._gone = dict[str, str | None]()
        self._same = set[tuple[str, str]]()
        self._headers: dict[str, Header] = {}
        #: The rows and texts of so many of `ids`.
        self._standing, self._looked = (set[bytes](), set[str]()), 0

    def run(self, found: Survey, tips: Collection[str], kept: Collection[str] = ()) -> Mapping[str, str]:
        """Find what was surveyed, parents first, on the purged line; return `ids`, which has each of the `tips`.

        A tip that nobody purged is one commit there, with what stands below it and has no place there; one that is
        `kept` has its words, too, and stands on one, as what it changes is what it says. A tip of which something is
        lacking has no id.

        Raises:
            Untrusted: what the record says of a commit is not what a purge does.
            DamagedHistory: some of it is missing.
        """
        behind, tips = set[str](), {*tips}
        tips.update(parent for oid in found.commits if oid in kept for parent in self._header(oid).parents)
        again = {blob for blobs in found.files.values() for blob in blobs if self._record.has_blob(blob)}
        for oid in found.commits:
            is_behind = not behind.isdisjoint(self._header(oid).parents)
            if again and not is_behind and not self._record.is_purged(oid):
                is_behind = self._brings(oid, again)
            if self._record.is_purged(oid):
                end = self._end(oid)
                behind |= {oid} if end != oid else set()
                if end is None:
                    self.lacking.add(oid)
                elif end == oid or self._is_purged(oid, end) or (is_behind and self._is_purged(self._made(oid), end)):
                    self.ids[oid] = end
                else:
                    raise Untrusted(
                        f"the record of purges says that commit {short(oid)} became {short(end)}, which says more than "
                        "it did: nothing was changed. A purge only takes away: sync with another remote until it is "
                        "known who pushed that"
                    )
            elif not is_behind:
                self.ids[oid] = oid
            else:
                behind.add(oid)
                if oid in tips or self._record.is_old(oid) or self._record.is_end(oid):
                    self._put(oid, oid in kept)
        return self.ids

    def _brings(self, oid: str, blobs: Set[str]) -> bool:
        """Return whether a commit has some texts that its first parent has not."""
        says = self._header(oid)
        before = self._header(says.parents[0]).tree if says.parents else None
        return any(now and now[1] in blobs for _, _, now in self._differing(before, says.tree, ""))

    # Reading

    def raw(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object that was made, or stands in one of the stores."""
        if oid in self.made:
            return self.made[oid]
        return next((each for each in self._stores if each.is_there(oid)), self._stores[0]).raw(oid)

    def is_there(self, oid: str) -> bool:
        """Return whether there is an object."""
        return oid in self.made or any(each.is_there(oid) for each in self._stores)

    def _header(self, oid: str) -> Header:
        if oid not in self._headers:
            self._headers[oid] = header(self.raw(oid)[1])
        return self._headers[oid]

    def _rows(self, tree: str | None) -> list[bytes]:
        try:
            return rows_of(self.raw(tree)[1]) if tree else []
        except ValueError:
            raise DamagedHistory(f"object {tree} of the history is no tree") from None

    def _files(self, commit: str) -> Files:
        """Return mode and id of each file of a commit by its path."""
        found, waiting, seen = Files(), [(self._header(commit).tree, "")], 0
        while waiting:
            tree, folder = waiting.pop()
            for name, mode, oid in map(parsed_row, self._rows(tree)):
                check_extent(seen := seen + 1, 100 - folder.count("/"))
                path = folder + to_text(name)
                if mode == FOLDER:
                    waiting.append((oid, f"{path}/"))
                else:
                    found[path] = mode, oid
        return found

    def _text(self, blob: str) -> bytes:
        return self.raw(blob)[1]

    def _take(self, kind: str, data: bytes) -> str:
        oid = oid_of(kind, data)
        if not self._stores[0].is_there(oid):
            self.made[oid] = kind, data
        return oid

    # Whether a commit became another one by a purge

    def _end(self, oid: str) -> str | None:
        """Return what a commit became; None where that is not here."""
        ends = self._record.siblings.get(oid) or self._record.ends(oid)
        if not ends or not all(map(self.is_there, ends)):
            return None
        return min(ends) if len(ends) == 1 else self._join_purges(oid, sorted(ends))

    def _is_purged(self, oid: str, end: str) -> bool:
        """Return whether a commit is another one but for texts that are gone; learn what became of its files."""
        if not oid:
            return False
        (_, was), (_, now) = self.raw(oid), self.raw(end)
        before, after = header(was), header(now)
        parents = list(dict.fromkeys(self.ids.get(each, each) for each in before.parents))
        if parents != [*after.parents] or self._writer(was) != self._writer(now):
            return False
        headers, messages = zip(*map(_parted, (was, now)), strict=True)
        if all(each.startswith(_SUBJECT) for each in messages):  # whose words tell which commits it stands for
            return self._is_tree_purged(before.tree, after.tree)
        return (
            [key for key, _ in headers[0]] == [key for key, _ in headers[1]]
            and all(map(_is_value_purged, *headers))
            and self._is_tree_purged(before.tree, after.tree)
            and self._is_message_purged(*messages)
        )

    def _writer(self, raw: bytes) -> tuple[bool, bool, bool]:
        """Return whether a person made a commit, or crabmem, or an agent that says its name."""
        said = read_commit("", raw)
        return said.is_person, said.author == CREATOR, bool(said.agent)

    def _is_message_purged(self, was: str, now: str) -> bool:
        """Compare messages: paths and ids of commits in them are called as they are called now."""
        if takes_away(was, now):
            return True
        paths = {path: became[0] for (path, _), became in self.moved.items() if became and became[0] != path}
        one, other = (self._with_new_ids(_with_new_words(text, paths)) for text in (was, now))
        return takes_away(one, other)

    def _with_new_ids(self, text: str) -> str:
        def new_id(match: re.Match[str]) -> str:
            olds = self._record.beginning(match[0])
            end = self._record.commit(olds[0]) if len(olds) == 1 else None
            return end[: len(match[0])] if end else match[0]

        return _ID.sub(new_id, text)

    def _is_tree_purged(self, old: str, new: str) -> bool:
        """Compare trees: each file is the same, gone, or the old one with marks, maybe in its name, too."""
        if old == new or (old, new) in self._same:
            return True
        gone, come, places = Files(), Files(), dict[str, list[str]]()
        for path, was, now in self._differing(old, new, ""):
            gone |= {path: was} if was else {}
            come |= {path: now} if now else {}
        for path in sorted(come.keys() - gone.keys()):
            places.setdefault(come[path][1], []).append(path)
        moves = list[tuple[Version, Version | None]]()
        for path, (mode, blob) in gone.items():
            place = path if path in come else self._twin(path, blob, places)
            if place is None:
                moves.append(((path, blob), None))
            elif come[place][0] != mode or not self._is_text_purged(blob, come[place][1]):
                return False
            else:
                moves.append(((path, blob), (place, come.pop(place)[1])))
        if come:
            return False
        for version, became in moves:
            self.moved.setdefault(version, became)
        self._same.add((old, new))
        return True

    def _twin(self, path: str, blob: str, places: Mapping[str, list[str]]) -> str | None:
        """Return where a file is that a purge gave another name: one with marks, or that of the fact in it."""
        for text in sorted({blob, *filter(None, {*self._record.became(blob), self._gone.get(blob)})}):
            for place in places.get(text, ()):
                entry = entry_in(place, self._text(text))
                folder, _, name = place.rpartition("/")
                called = f"{folder}/{path.rpartition('/')[2]}".lstrip("/")
                is_slug = entry and is_marked(name) and unnumbered(name) == f"{slug_of(entry.name)}.md"
                if takes_from_name(path, place) or (is_slug and takes_from_name(path, called)):
                    places[text].remove(place)
                    return place
        return None

    def _is_text_purged(self, old: str, new: str) -> bool:
        if old != new and (old, new) not in self._same:
            if not takes_from_file(self._text(old), self._text(new)):
                return False
            self._same.add((old, new))
        return True

    def _differing(
        self, old: str | None, new: str | None, folder: str
    ) -> Iterator[tuple[str, Item | None, Item | None]]:
        check_extent(0, 100 - folder.count("/"))
        for key, was, now in differing(frozenset(self._rows(old)), frozenset(self._rows(new))):
            path = folder + to_text(key)
            if key.endswith(b"/"):
                yield from self._differing(was and was[1], now and now[1], path)
            else:
                yield path, was, now

    # What two machines purged that knew nothing of each other

    def _join_purges(self, oid: str, fork: Sequence[str]) -> str:
        """Make one commit of several that one became by purges: without what any of them took."""
        if fork[0] not in self._news:
            raws = [self.raw(each)[1] for each in fork]
            rows, messages = zip(*map(_parted, raws), strict=True)
            headers = [(key, reduce(shared, said)) for key, said in _by_key(rows)]
            tree = self._tree(reduce(self._shared_files, map(self._files, fork)))
            parents = [self.ids.get(each, each) for each in self._header(oid).parents]
            made = self._commit(tree, parents, headers, reduce(shared, messages))
            self._news |= dict.fromkeys(fork, made)
        return self._news[fork[0]]

    def _shared_files(self, one: Files, other: Files) -> Files:
        found, others = Files(), {blob: path for path, (_, blob) in sorted(other.items())}
        for path, (mode, blob) in sorted(one.items()):
            ends = {end for source in self._record.sources(blob) for end in self._record.became(source) if end}
            elsewhere = (others[each] for each in (blob, *sorted(ends)) if each in others)
            place = path if path in other else next(elsewhere, None)
            self._gone[blob] = None
            if place:
                text = other[place][1]
                name = "/".join(map(shared_name, path.split("/"), place.split("/")))
                if text != blob:
                    both = (to_text(self._text(each)) for each in (blob, text))
                    text = self._take("blob", to_bytes(shared(*both)))
                self._gone |= {blob: text, other[place][1]: text}
                self._place(found, name, (mode, text))
        self._gone |= {blob: None for blob in others if blob not in self._gone}
        return found

    # What was made of an old line since

    def _put(self, tip: str, is_kept: bool) -> None:
        """Put a commit on the purged line; where another machine did so, and the same, it is that one's."""
        if made := self._made(tip, is_kept):
            others = (
                each for each in sorted(self._record.ends(tip)) if self._record.is_old(tip) and self.is_there(each)
            )
            self.ids[tip] = next((each for each in others if each != made and self._is_purged(made, each)), made)
            self._news[tip] = self.ids[tip]

    def _made(self, tip: str, is_kept: bool = False) -> str:
        """Make one commit of one, and of those below it that have no place on the purged line, there; "" for none."""
        group, below = self._group(tip)
        if self.lacking.intersection(group):
            self.lacking.add(tip)
            return ""
        files = self._files(tip)
        for base in self._newest([each for each in below if self.ids[each] != each]):
            files = self._without(files, base)
        parents = self._newest(list(dict.fromkeys(self.ids[each] for each in below)))
        kept = _parted(self.raw(tip)[1]) if is_kept else self._words(group)
        return self._commit(self._tree(self._refuse(files, parents)), parents, *kept)

    def _group(self, tip: str) -> tuple[list[str], list[str]]:
        """Return the commits that have no place on the purged line, and those that they stand on, newest first."""
        group, below, waiting, seen = list[str](), list[str](), [tip], {tip}
        for each in waiting:  # which grows meanwhile
            if each in self.ids:
                below.append(each)
                continue
            group.append(each)
            new = [parent for parent in self._header(each).parents if parent not in seen]
            seen.update(new)
            waiting += new
        return group, below

    def _newest(self, commits: list[str]) -> list[str]:
        """Return those of commits that no other of them stands on, in an order that is the same everywhere."""
        if not 1 < len(commits) <= _MOST_PARENTS:
            return commits
        return sorted(each for each in commits if not any(each in self._behind(other) for other in commits))

    def _behind(self, commit: str) -> set[str]:
        found, waiting = set[str](), [commit]
        while waiting:
            new = [each for each in self._header(waiting.pop()).parents if each not in found]
            found.update(new)
            waiting += new
        return found

    def _without(self, files: Files, base: str) -> Files:
        """Return files without what a purge took from those of the commit `base`, of which they were made.

        A text that stands in a commit that stays was not made of what was purged: two machines may have begun one file.
        """
        was, now = self._files(base), self._files(self.ids[base])
        touched = {path: item[1] for path, item in was.items() if now.get(path) != item}
        left, free = Files(), [path for path in touched if path not in files]
        for path, (mode, blob) in sorted(files.items()):
            origin = path if path in was else self._origin(blob, touched, free)
            if origin not in touched or (blob != touched[origin] and self._stays(blob)):
                self._own |= {(path, blob)} if was.get(path) != (mode, blob) else set()
                self._place(left, path, (mode, blob))
                continue
            before = touched[origin]
            became = self.moved.get((origin, before))
            place = became and (became[0] if path == origin else path)
            if not (became and place):
                self.lost |= {path} if blob != before else set()
                text = None
            elif blob == before:
                text = became[1]
            else:
                done = merge(place, self._text(before), self._text(blob), self._text(became[1]), take="theirs")
                self.lost |= {path} if done.conflicts else set()
                text = self._take("blob", done.data or b"")
                self._own.add((place, text))
            self._mine[path, blob] = (place, text) if place and text else None
            if place and text:
                self._place(left, place, (mode, text))
            went = _lines(self._text(before)) - (_lines(self._text(became[1])) if became else frozenset())
            # What a purge left is no text of anybody's that could come back.
            if blob != before and went & _lines(self._text(blob)) and not self._record.sources(blob):
                self._gone[blob] = text
        return left

    def _stays(self, blob: str) -> bool:
        """Return whether a text stands in a commit on the purged line."""
        if self._looked < len(self.ids):
            trees = [self._header(end).tree for end in [*self.ids.values()][self._looked :]]
            self._looked = len(self.ids)
            for tree in trees:  # which grows meanwhile
                rows = {*self._rows(tree)} - self._standing[0]
                self._standing[0].update(rows)
                self._standing[1].update(oid for _, mode, oid in map(parsed_row, rows) if mode != FOLDER)
                trees += [oid for _, mode, oid in map(parsed_row, rows) if mode == FOLDER]
        return blob in self._standing[1]

    def _origin(self, blob: str, touched: Mapping[str, str], free: list[str]) -> str:
        """Return at which of the `free` paths a text stood that has another name now; "" for none."""
        if blob in touched.values():
            return next(path for path, each in touched.items() if each == blob)
        text = self._text(blob) if free else b""
        likeness, path = max(((similarity(self._text(touched[each]), text), each) for each in free), default=(0.0, ""))
        return path if likeness >= _ALIKE else ""

    def _refuse(self, files: Files, parents: Iterable[str]) -> Files:
        """Return files without texts that may not come back: where such a one took the place of another, as `parents`
        have it, that stays."""
        left, before = Files(), Files()
        if any(self._record.has_blob(blob) for _, blob in files.values()):
            before = {path: item for each in parents for path, item in self._files(each).items()}
        for path, (mode, blob) in sorted(files.items()):
            text: str | None = blob
            if self._record.has_blob(blob):
                end = self._record.blob(blob)
                text = end if end and self.is_there(end) and self._is_text_purged(blob, end) else None
                text = text or before.get(path, (mode, None))[1]
                self.lost.add(path)
                self._mine[path, blob] = (path, text) if text else None
            if text:
                self._place(left, path, (mode, text))
        return left

    @staticmethod
    def _place(files: Files, path: str, item: Item) -> None:
        """Have a file at `path`, or beside another one that is there."""
        if files.setdefault(path, item) != item:
            stem, dot, ending = path.rpartition(".")
            files[f"{stem or path}-{item[1][:8]}{dot}{ending if dot else ''}"] = item

    def _words(self, group: Sequence[str]) -> tuple[list[tuple[bytes, str]], str]:
        """Return headers and message of a commit that stands for several: no word of theirs, as it may be a purged one.

        Where agents took part it is one of theirs, so that nothing of theirs passes for a person's.
        """
        raws = {oid: self.raw(oid)[1] for oid in group}
        commits = {oid: read_commit(oid, raw) for oid, raw in raws.items()}
        order = sorted(group, key=lambda oid: (self._header(oid).committed, oid), reverse=True)
        persons = [oid for oid in order if commits[oid].is_person]
        agents = [oid for oid in order if not commits[oid].is_person and commits[oid].author != CREATOR]
        author = (*agents, *persons, *order)[0]
        said = [("Tool", _TOOL)]
        said += [("Author", each) for each in sorted({_author(raw) for raw in raws.values()})]
        for key, values in (
            ("Session", [commits[oid].session for oid in order]),
            ("Agent", [commits[oid].agent for oid in order]),
        ):
            last = commits[author].session if key == "Session" else commits[author].agent
            said += [(key, each) for each in sorted({*filter(None, values)} - {last})] + ([(key, last)] if last else [])
        written = next(row for row in header_lines(raws[author]) if row[0] == b"author")
        when = max(self._header(oid).committed for oid in group)
        rows = [(written[0], to_text(written[1])), (b"committer", f"{COMMITTER} {when} +0000")]
        return rows, Note(_SUBJECT, "", trailers=tuple(said)).message

    # Making objects

    def _tree(self, files: Files) -> str:
        rows = list[bytes]()
        for name, below in by_first_part(files).items():
            if file := below.pop("", None):
                rows.append(row_of(to_bytes(name), *file))
            if below:
                rows.append(row_of(to_bytes(name), FOLDER, self._tree(below)))
        rows.sort(key=sort_key)
        return self._take("tree", b"".join(rows))

    def _commit(self, tree: str, parents: Iterable[str], headers: Iterable[tuple[bytes, str]], message: str) -> str:
        rows = [b"tree " + tree.encode(), *(b"parent " + each.encode() for each in dict.fromkeys(parents))]
        rows += [key + b" " + to_bytes(said) for key, said in headers]
        return self._take("commit", b"\n".join(rows) + b"\n\n" + to_bytes(message))

    # The rule by which what is no commit follows: the index, logs and tags

    def new_path(self, path: str, oid: str) -> str | None:
        """Return where a file is on the purged line; None for one that is gone."""
        became = self._became(path, oid)
        return became and became[0]

    def new_file(self, path: str, data: bytes) -> bytes:
        """Return what a file is on the purged line."""
        became = self._became(path, blob_id(data))
        return self._text(became[1]) if became else data

    def _became(self, path: str, blob: str) -> Version | None:
        known = self._mine if (path, blob) in self._mine else self.moved
        return known.get((path, blob), None if self._record.has_blob(blob) else (path, blob))

    def new_message(self, text: str) -> str:
        """Return a line of a log without the paths of files that went."""
        return _with_new_words(text, self._paths)

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        return {path: became[0] if became else MARKS[0][0] for (path, _), became in self.moved.items()}

    def new_label(self, text: str) -> str:
        """Return who made a tag, as it is."""
        return text

    def new_name(self, name: str) -> str:
        """Return a part of the name of a branch or tag, as it is."""
        return name

    # What it came to

    @property
    def touched(self) -> set[str]:
        """The paths at which texts went, as they were called."""
        return {path for path, _ in self.moved}

    def erased(self, with_own: bool = True) -> Iterator[Erased]:
        """Yield what was made here, for other machines, so that each has just that of the same commits.

        Without `with_own` only what became of ends of purges: nobody else has the rest.
        """
        news = {old: new for old, new in self._news.items() if old != new and not self._record.is_old(old)}
        gone = {old: new for old, new in self._gone.items() if not (self._record.has_blob(old) or self._stays(old))}
        blobs = {old: new for old, new in gone.items() if old != new and self._text(old).strip()}
        told = {old: new for old, new in news.items() if with_own or self._record.is_end(old)}
        for kind, is_join in ((JOIN, True), (PUT, False)):
            if commits := {old: new for old, new in told.items() if (old in self._record.siblings) == is_join}:
                yield Erased(commits, blobs, kind=kind)
                blobs = {}

    def closure(self, tips: Iterable[str]) -> Mapping[str, tuple[str, bytes]]:
        """Return what the ends of `tips` reach that is not here."""
        found, waiting = dict[str, tuple[str, bytes]](), [self.ids[tip] for tip in tips]
        while waiting:
            oid = waiting.pop()
            if oid not in found and not self._stores[0].is_there(oid):
                kind, data = found[oid] = self.raw(oid)
                if kind == "commit":
                    waiting += [header(data).tree, *header(data).parents]
                elif kind == "tree":
                    waiting += [below for _, mode, below in map(parsed_row, rows_of(data)) if mode != SUBMODULE]
                elif kind == "tag":
                    waiting.append(tag_target(data))
        return found

    @property
    def quoting(self) -> tuple[str, ...]:
        """The paths of texts of this machine that quote a line or a telling word of what was purged, and stay."""
        own = {(path, blob) for path, blob in self._own if (path, blob) not in self._mine}
        lines, words = set[str](), set[str]()
        for (_, blob), became in self.moved.items() if own else ():
            old, new = self._text(blob), self._text(became[1]) if became else b""
            lines |= distinctive_lines(old) - distinctive_lines(new)
            words |= _telling(old) - _telling(new) if became else set()
        texts = ((path, self._text(blob)) for path, blob in own)
        return tuple(
            sorted({path for path, data in texts if lines & distinctive_lines(data) or words & _telling(data)})
        )


def _parted(raw: bytes) -> tuple[list[tuple[bytes, str]], str]:
    """Return what a commit says, but for what it stands on and its signatures: lines by key, and the message."""
    rows = [(key, to_text(said)) for key, said in header_lines(raw)]
    return [row for row in rows if row[0] not in (b"tree", b"parent", *_SIGNATURES)], to_text(raw.partition(b"\n\n")[2])


def _by_key(rows: Sequence[Sequence[tuple[bytes, str]]]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield each key that all have, with what each says."""
    return ((each[0][0], [said for _, said in each]) for each in zip(*rows, strict=False))


def _is_value_purged(was: tuple[bytes, str], now: tuple[bytes, str]) -> bool:
    """Compare a line before a message: who, but for marks, and when, to the letter."""
    ends = [said.rpartition(">")[2] for _, said in (was, now)]
    return takes_away(was[1], now[1]) and (was[0] not in _IDENTITIES or ends[0] == ends[1])


def _lines(data: bytes) -> frozenset[bytes]:
    return frozenset(line.strip() for line in data.splitlines())


def _author(raw: bytes) -> str:
    return to_text(author_and_message(raw)[0])


def _with_new_words(text: str, words: Mapping[str, str]) -> str:
    """Return a text with other words for whole ones; each is looked up once."""
    return _WORD.sub(lambda found: words.get(found[0], found[0]), text) if words else text


def _telling(data: bytes) -> frozenset[str]:
    """Return the words by which a text is known: those with digits or hyphens."""
    words = (word.rstrip(".") for word in _WORD.findall(to_text(data)))
    return frozenset(word for word in words if len(word) >= _SHORTEST and _TELLING.search(word))
