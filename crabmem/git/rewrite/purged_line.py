"""What commits are on the line that purges left: as the record of purges says, once it is checked, or made anew.

Each commit that the record names is compared with what it became: only texts may be gone. A row that does not hold, or
of whose commits one is not here, changes nothing. What a machine made of an old line since is put on the purged one as
states: the files of each commit, merged by line with what the purge made of the files below it. Two purges of the same
commits that knew nothing of each other become one, which took what either took.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import TypeAlias

from ...results import CREATOR
from ...text.hashes import blob_id
from ...text.marks import MARKS, MOST_WORK, shared, shared_name
from ...text.merge import merge
from ...text.quotes import distinctive_lines
from ..commits import COMMITTER, Note, author_and_message, header_lines, read_commit
from ..diff import Likeness
from ..graph import reached
from ..purged import JOIN, PUT, Erased, PurgeRecord
from ..purged import Row as PurgeRow
from ..trees import FOLDER, Item, Trees, parsed_row, read_rows, to_bytes, to_text
from .cleaning import Cleaning
from .comparison import SUBJECT, WORD, Comparison, Row, Version, parted, put_together, with_new_words
from .objects import IDENTITIES, Survey
from .overlay import Overlay
from .went import MARK, Went

Files: TypeAlias = dict[str, Item]
#: What becomes of paths of a tree; None for no file.
Changes: TypeAlias = dict[str, Item | None]
#: The merges of the file at each path: a text of a commit, and what that became.
Merged: TypeAlias = dict[str, list[tuple[bytes, bytes]]]

_TOOL = "purge"
# A word has to have one of these to tell a text from others.
_TELLING, _SHORTEST = re.compile(r"[-_0-9]"), 4
# Parents that are compared with each other; more stay as they are.
_MOST_PARENTS = 16
# Commits that are put on the purged line one by one: each takes some milliseconds, and a remote may have any number.
_MOST_PUT = 1_000
#: Names in trees that are gone through in all, 2 µs each; from half of it on commits are not put one by one any more.
MOST_NAMES = 20_000_000
# Bytes of texts that are compared to find moved files, before that, too, is done for tips alone.
_MOST_COMPARED = 100_000_000


class PurgedLine:
    """Finds what commits are on the purged line. Stores nothing.

    `ids` has each commit by its old id. `lost` are the paths where a change that no purge knew of went, too, and
    `lacking` the commits of which the purged line is not here. `went` is what purges took. `believed` are the commits
    that became others because another machine said so, and `doubted` the rows of the record that say of a commit what
    it is not.
    """

    def __init__(
        self,
        record: PurgeRecord,
        objects: Overlay,
        own: PurgeRecord | None = None,
        doubts_lacking: bool = False,
    ) -> None:
        """`objects` has the line as it was, above what stands here; ends of purges are in either. `own` is the part of
        the record that this machine made. With `doubts_lacking` a commit of which the purged line is not here stays.
        """
        self._by_us, self._doubts_lacking = own or PurgeRecord(), doubts_lacking
        self.believed, self.doubted = set[str](), set[PurgeRow]()
        self._record, self._objects, self._text = record, objects, objects.blob
        self._trees, self._compared = Trees(objects, MOST_NAMES), 0
        self.ids: dict[str, str] = {}
        self.lost, self.lacking = set[str](), set[str]()
        #: The results of purging on this machine, by commit and text, that the record does not have yet.
        self._news, self._gone = dict[str, str](), dict[str, str | None]()
        self._comparison = Comparison(record, objects, self._trees, self.ids, self._gone)
        self._moved = self._comparison.moved
        self.went = Went(record, self._by_us, self._moved, objects)
        self._cleaning = Cleaning(self.went, objects, self._comparison.is_text_purged, self.ids)
        #: The text that was made of each two texts that rival purges left; and how much work is left for more.
        self._joins, self._work = dict[tuple[str, ...], str](), [MOST_WORK]
        #: A cache of whether commits are stored.
        self._there = dict[str, bool]()
        #: Commits that the record says were made of one commit, which a comparison has refuted.
        self._apart = set[str]()
        #: For each commit the newest purged ones among itself and its ancestors.
        self._purged_below = dict[str, frozenset[str]]()
        #: Commits on which kept ones alone stand, and the texts that are touched of commits that became others.
        self._grounds, self._touches = set[str](), dict[str, Files]()
        #: The commits that wait for a person, which other machines may have.
        self._proposals = frozenset[str]()
        #: What became of versions that this machine made of those of a purge, and the versions of its own that stay.
        self._mine, self._own = dict[Version, Version | None](), set[Version]()
        #: The rows and blobs of trees on the purged line, and how many of `ids` were read for that.
        self._standing, self._looked = (set[bytes](), set[str]()), 0

    def run(self, found: Survey, tips: Collection[str], kept: Collection[str] = ()) -> Mapping[str, str]:
        """Find what was surveyed, parents first, on the purged line; return `ids`, which has each of the `tips`.

        A commit that nobody purged, and that stands on one that became another, is one there, without its words. Of
        more than a bound each of the `tips` is one, with what stands below it and has no place there. One that is
        `kept` has its words, too, and stands on one, as what it changes is what it says: on a ground of its own, or on
        the history, as all did once. A tip of which something is lacking has no id.

        Raises:
            DamagedHistory: some of it is missing.
        """
        self.learn(found)
        behind, tips = set[str](), {*tips}
        below = {parent for oid in found.commits if oid in kept for parent in self._objects.header(oid).parents}
        line = {parent for oid in found.commits if oid not in kept for parent in self._objects.header(oid).parents}
        self._grounds = {oid for oid in below - line - tips if not self._objects.header(oid).parents}
        self._proposals = frozenset(kept)
        tips, kept = tips | below, {*kept, *self._grounds}
        # Kept commits come last: they stand on texts of the others, as these became.
        for oid in sorted(found.commits, key=lambda each: each in kept):
            parents = self._objects.header(oid).parents
            is_behind = oid in self._record.overtaken or not behind.isdisjoint(parents)
            self._purged_below[oid] = frozenset().union(*(self._purged_below.get(each, ()) for each in parents))
            end: str | None = oid
            if said := self._recorded_ends(oid, oid in kept):
                end = self._end(oid, said, is_behind, self._doubts_lacking or oid in kept)
            elif self._record.is_old(oid) and not is_behind:
                end = self._put_elsewhere(oid, oid) or oid
            if end is None:
                self.lacking.add(oid)
                behind.add(oid)
            elif end != oid:
                self._stand(oid, end)
                behind.add(oid)
                if self._record.is_purged(oid):
                    self._purged_below[oid] = frozenset({oid})
                if self._by_us.ends(oid) != {end}:
                    self.believed.add(oid)
            else:
                is_one = len(self._news) < _MOST_PUT and self._is_work_left
                if not (is_behind or oid in kept):
                    self._stand(oid, oid)
                elif is_one or oid in tips or self._record.is_old(oid) or self._record.is_end(oid):
                    self._put(oid, oid in kept)
                if self.ids.get(oid) != oid:
                    behind.add(oid)
            if self.ids.get(oid) == oid and self._record.is_old(oid):
                self.doubted |= self._record.rows(oid, self._record.ends(oid))
        for oid in tips & self.ids.keys():  # what one became may have been put anew itself, later
            self.ids[oid] = self._cleaning.place(oid)
        return self.ids

    def learn(self, found: Survey) -> None:
        """Learn from purged commits which texts went. Do this first: any commit to be put on the line may have them."""
        self.went.here.update(blob for blobs in found.files.values() for blob in blobs if self._record.has_blob(blob))
        for oid in found.commits:
            ends = self._record.ends(oid) if self._record.is_purged(oid) else ()
            if len(ends) == 1 and self._is_there(end := min(ends)):
                self._comparison.is_purged(oid, end)

    @property
    def _is_work_left(self) -> bool:
        return self._trees.walked < MOST_NAMES / 2 and self._compared < _MOST_COMPARED

    def _is_purged(self, oid: str, end: str, is_behind: bool, is_final: bool = True) -> bool:
        if self._comparison.is_purged(oid, end, is_final):
            return True
        made = self._made(oid) if is_behind else ""
        return bool(made) and self._comparison.is_purged(made, end, is_final)

    def _files(self, commit: str) -> Files:
        return self._trees.items(self._objects.header(commit).tree)

    def is_gone(self, blob: str) -> bool:
        """Return whether a text may not come back."""
        return self.went.is_gone(blob)

    def end(self, blob: str) -> str | None:
        """Return what a text that is gone became; None for nothing."""
        return self.went.end(blob)

    def is_other(self, oid: str) -> bool:
        """Return whether a commit became another one here, or a text is gone."""
        return self.ids.get(oid, oid) != oid or self.is_gone(oid)

    def _recorded_ends(self, oid: str, is_kept: bool) -> Collection[str]:
        """Return the commits that the record says a purged commit became; none if it does not say so.

        For a proposal that one machine purged and another PUT on its line, return both results: they are joined.
        """
        rivals = self._record.rivals.get(oid, ()) if is_kept else ()
        if rivals and all(map(self._is_there, rivals)):
            return rivals
        ends = self._record.siblings.get(oid) or self._record.ends(oid)
        return ends if self._record.is_purged(oid) else ()

    def _end(self, oid: str, ends: Collection[str], is_behind: bool, doubts_lacking: bool) -> str | None:
        """Return what a commit became: the one of `ends` that a comparison confirms, or several of them joined.

        Return `oid` itself if none is confirmed: their rows are added to `doubted`, and the commit counts as not
        purged. Return None if an end is not stored here, unless `doubts_lacking`.
        """
        if not (doubts_lacking or all(map(self._is_there, ends))):
            return None
        good = sorted(filter(self._is_there, ends))
        if len(good) > 1 and self._record.is_old(oid):
            good = [end for end in good if self._is_purged(oid, end, is_behind, is_final=False)]
        self.doubted |= self._record.rows(oid, {*ends}.difference(good)) if len(good) < len(ends) else set()
        end = oid
        if good and self._apart.isdisjoint(good):
            end = good[0] if len(good) == 1 else self._join_purges(oid, good)
        if end != oid and not self._is_purged(oid, end, is_behind):
            self.doubted |= self._record.rows(oid, set(good) - {oid})
            self._apart |= set(good) if len(good) > 1 else set()
            self._news = {each: new for each, new in self._news.items() if each not in self._apart}
            return oid
        return end

    def _is_there(self, commit: str) -> bool:
        if commit not in self._there:  # to look for one that is nowhere takes ten times as long as for others
            self._there[commit] = self._objects.is_there(commit)
        return self._there[commit]

    # Purges of two machines that knew nothing of each other

    def _join_purges(self, oid: str, fork: Sequence[str]) -> str:
        """Make one commit of those that rival purges made of one, without what any of them took; noted in `_news`."""
        if fork[0] not in self._news:
            raws = [self._objects.raw(each)[1] for each in fork]
            rows, messages = zip(*map(parted, raws), strict=True)
            headers = [(key, self._shared_header(key, said)) for key, said in _by_key(rows)]
            trees: list[str | None] = [self._objects.header(each).tree for each in fork]
            parents = [self.ids.get(each, each) for each in self._objects.header(oid).parents]
            made = self._commit(reduce(self._shared_tree, trees), parents, headers, reduce(self._shared, messages))
            self._news |= dict.fromkeys(fork, made)
        return self._news[fork[0]]

    def _shared_tree(self, one: str | None, other: str | None) -> str | None:
        """Make one tree of two that rival purges left: without what either took. Notes in `_gone` what texts became."""
        differences = sorted(self._trees.item_differences(one, other))
        theirs = {path: item for path, _, item in differences if item}
        others, changes = {blob: path for path, (_, blob) in theirs.items()}, Changes.fromkeys(theirs)
        for path, (mode, blob) in ((path, item) for path, item, _ in differences if item):
            sources = {blob, *self._record.sources(blob)}
            ends = {end for source in sources for end in self._record.became(source) if end}
            elsewhere = (others[each] for each in (blob, *sorted(sources | ends)) if each in others)
            place = path if path in theirs else next(elsewhere, None)
            self._gone[blob] = None
            changes.setdefault(path, None)
            if place:
                text = theirs[place][1]
                steps = zip(path.split("/"), place.split("/"), strict=False)
                name = "/".join(shared_name(*each, self._work) for each in steps)
                text = text if text == blob else self._shared_text(*sorted((blob, text)))
                self._gone |= {blob: text, theirs[place][1]: text}
                self._add(changes, one, name, (mode, text))
        self._gone |= {blob: None for blob in others if blob not in self._gone}
        return self._trees.grafted(one, changes)

    def _shared_header(self, key: bytes, said: Sequence[str]) -> str:
        if key not in IDENTITIES:
            return reduce(self._shared, said)
        # The time is that of the first: a forged row has commits of two times, and a mark in one makes it no commit.
        people, ends = zip(*(each.rpartition(">")[::2] for each in said), strict=True)
        return f"{reduce(self._shared, people)}>{ends[0]}"

    def _shared(self, one: str, other: str) -> str:
        return shared(one, other, work=self._work)

    def _shared_text(self, *both: str) -> str:
        """Make one text of two that rival purges left; cached, as the same two are in many commits."""
        if both not in self._joins:
            text = self._shared(*(to_text(self._text(each)) for each in both))
            self._joins[both] = self._objects.put("blob", to_bytes(text))
        return self._joins[both]

    # Commits made on an old line since

    def _put(self, tip: str, is_kept: bool) -> None:
        """Put a commit on the purged line; if another machine did so already, with an equal result, take that one's.

        The result is noted in `ids` and `_news`; nothing is, if something below it is lacking.
        """
        if made := self._made(tip, is_kept):
            end = self._put_elsewhere(tip, made) or made
            self.believed |= {tip} if end != made else set()
            self._stand(tip, end)
            self._news[tip] = self.ids[tip]

    def _stand(self, oid: str, end: str) -> None:
        """Note in `ids` that `end`, cleaned of what went, replaces `oid`; and in `lost` the paths with cut lines."""
        self._comparison.stands_as(oid, end)
        self.ids[oid] = clean = self._cleaning.commit(end)
        if clean != end:
            self._news[end] = clean
            self.lost.update(path for path, (_, blob) in self._files(oid).items() if blob in self._cleaning.cut)

    def _put_elsewhere(self, tip: str, made: str) -> str | None:
        """Return the commit as which another machine PUT `tip`, if it is `made` apart from purged texts; else None."""
        others = sorted(self._record.ends(tip) - {tip, made}) if self._record.is_old(tip) else []
        return next(
            (each for each in others if self._objects.is_there(each) and self._comparison.is_purged(made, each)), None
        )

    def _made(self, tip: str, is_kept: bool = False) -> str:
        """Make one commit on the purged line of `tip` and its ancestors that have no place there; return its id.

        Return "" if one of them is lacking; then `tip` is too.
        """
        group, below = self._group(tip)
        if self.lacking.intersection(group):
            self.lacking.add(tip)
            return ""
        says = self._objects.header(tip)
        tree, merged = self._merged(tip, below, is_kept)
        gone = {path: self._lines_taken(*texts) for path, texts in merged.items()}
        if is_kept and says.parents and self._grounds.issuperset(says.parents):
            files = {each: item for each, item in self._trees.items(tree).items() if (each, item[1]) in self._mine}
            tree = self._trees.grafted(tree, {**dict.fromkeys(files), **self._as_it_became(files)})
            gone = {path: lines for path, lines in self._lines_gone.items() if path not in files}
        without_lines = self._without_lines(tree, gone, below)
        self.lost |= without_lines.keys() if not is_kept else set()
        tree = self._trees.grafted(tree, without_lines)
        parents = self._newest(list(dict.fromkeys(self.ids[each] for each in below)))
        if len(group) == 1:  # else two machines would put the same one in turn, each in an order of its own
            order = [self.ids[each] for each in says.parents]
            parents.sort(key=order.index)
        kept = parted(self._objects.raw(tip)[1]) if is_kept else self._words(group)
        tree = self._trees.grafted(tree, self._refused(tree, parents))
        for path, was, now in self._trees.item_differences(says.tree, tree):
            if was and now and (path, was[1]) in self._mine:
                self._mine[path, was[1]] = path, now[1]
        return self._commit(tree, parents, *kept)

    def _merged(self, tip: str, below: Sequence[str], is_kept: bool) -> tuple[str | None, Merged]:
        """Return the tree of the commit `tip` without what purges took from the commits below it; and by path pairs of
        a text and what it became, by which `_made` finds purged lines that `tip` moved within the file.

        `below` are the commits that it stands on, by their old ids. A proposal, which `is_kept`, is compared with these
        alone.
        """
        tree: str | None = self._objects.header(tip).tree
        if tip in self._grounds:  # without parents, and below proposals alone: it takes its files from the purged line
            tree = self._trees.grafted(None, self._as_it_became(self._files(tip)))
        bases = self._newest([each for each in below if self.ids[each] != each])
        # A commit between a purged one and `tip` may have removed a text that `tip` has again: `bases` do not show it.
        further_down = () if is_kept else self._newest(sorted(self._purged_below[tip].difference(bases)))
        for base in further_down:  # first: the merge with `bases` changes texts, which then are not the purged ones
            tree = self._trees.grafted(tree, self._without_same(tree, base))
        merged = Merged()
        for base in bases:
            tree = self._trees.grafted(tree, self._without(tree, base, merged))
        for base in further_down:
            for path, (_, old) in self._touched(base).items():
                if became := self._became(path, old):
                    merged.setdefault(became[0], []).append((self._text(old), self._text(became[1])))
        return tree, merged

    def _group(self, tip: str) -> tuple[list[str], list[str]]:
        """Return `tip` and its ancestors without a place on the purged line, and the nearest ones that have a place."""
        found = [*reached([tip], lambda each: () if each in self.ids else self._objects.header(each).parents)]
        return [each for each in found if each not in self.ids], [each for each in found if each in self.ids]

    def _newest(self, commits: list[str]) -> list[str]:
        """Return the commits that are no ancestors of others among them, sorted by id; all, unsorted, if very many."""
        if not 1 < len(commits) <= _MOST_PARENTS:
            return commits

        def parents(commit: str) -> Sequence[str]:
            return self._objects.header(commit).parents

        behind = set[str]().union(*(reached(parents(each), parents) for each in commits))
        return sorted(each for each in commits if each not in behind)

    def _touched(self, base: str) -> Files:
        """Return the files of the commit `base` that are not in what it became."""
        if base not in self._touches:
            before, after = (self._objects.header(each).tree for each in (base, self.ids[base]))
            found = self._trees.item_differences(before, after)
            self._touches[base] = {path: item for path, item, _ in found if item}
        return self._touches[base]

    def _as_it_became(self, files: Files) -> Changes:
        """Return the given files as they are on the purged line, by their paths there; without those that are gone."""
        became = {path: self._became(path, blob) for path, (_, blob) in files.items()}
        return {each[0]: (files[path][0], each[1]) for path, each in became.items() if each}

    def _without_lines(
        self, tree: str | None, gone: Mapping[str, Mapping[bytes, bytes]], below: Sequence[str]
    ) -> Changes:
        """Return the changes that take purged lines out of a tree; `gone` has them by path, each with its replacement.

        Lines that the commits `below` have on the purged line stay: somebody wrote them again.
        """
        changes, trees = Changes(), [self._objects.header(self.ids[each]).tree for each in below]
        for path, lines in gone.items():
            if not lines or not (item := self._item(tree, path)):
                continue
            stands = [it[1] for each in trees if (it := self._item(each, path))]
            again = {line.strip() for each in stands for line in self._text(each).splitlines()}
            new = {old: mark for old, mark in lines.items() if old not in again}
            said = self._text(item[1]).splitlines(keepends=True)
            if any(line.strip() in new for line in said):
                text = b"".join(line.replace(old, new.get(old, old)) for line in said for old in [line.strip()])
                changes[path] = item[0], self._objects.put("blob", text)
                self._own.discard((path, item[1]))
        return changes

    @cached_property
    def _lines_gone(self) -> Mapping[str, Mapping[bytes, bytes]]:
        """Purged lines by path, each with the line that replaced it."""
        texts = Merged()
        for (path, blob), became in self._moved.items():
            if became:
                texts.setdefault(path, []).append((self._text(blob), self._text(became[1])))
        return {path: self._lines_taken(*each) for path, each in texts.items()}

    @staticmethod
    def _lines_taken(*texts: tuple[bytes, bytes]) -> Mapping[bytes, bytes]:
        """Return the lines of texts that are not in what these became, each with the line that replaced it."""
        found = dict[bytes, bytes]()
        for old, new in texts:
            olds, news = old.splitlines(), new.splitlines()
            # Where two purges took lines next to each other, one mark may stand for several: no line has its own then.
            pairs = zip(olds, news, strict=True) if len(olds) == len(news) else ((line, MARK) for line in olds)
            stay = {*news}
            found |= {was.strip(): now.strip() for was, now in pairs if was.strip() and was not in stay}
        return found

    def _item(self, tree: str | None, path: str) -> Item | None:
        """Return what is at a path, if it is no folder."""
        item = self._trees.item(tree, path)
        return item if item and item[0] != FOLDER else None

    def _without_same(self, tree: str | None, base: str) -> Changes:
        """Return the changes that take texts of the purged commit `base` out of a tree which has them at their paths
        again, and any text at the path of one that a purge removed whole.
        """
        changes = Changes()
        for path, (_, old) in self._touched(base).items():
            item, became = self._item(tree, path), self._became(path, old)
            if not item or (item[1] != old and (became or self._stays(item[1]))):
                continue
            self.lost |= {path} if item[1] != old else set()
            self._mine[path, item[1]] = became
            changes[path] = None
            if became:
                self._add(changes, tree, became[0], (item[0], became[1]))
        return changes

    def _without(self, tree: str | None, base: str, merged: Merged) -> Changes:
        """Return how a tree becomes one without what a purge took from that of the commit `base`, of which it was made.

        A text that stands in a commit that stays was not made of what was purged: two machines may have begun one file.
        One that was `merged` for another commit is compared with that of `base` after the same was done to it: else a
        mark that both have would be a dispute, and a line beside it would go.
        """
        was, touched, changes = self._objects.header(base).tree, self._touched(base), Changes()
        # Of each file what `base` had at its path, and what the tree has; all that is left out is the same in both.
        found, gone = dict[str, tuple[Item | None, Item]](), set[str]()
        for path, before, now in self._trees.item_differences(was, tree):
            if now:
                found[path] = before, now
            else:
                gone.add(path)
        found |= {path: (item, item) for path, item in touched.items() if path not in found.keys() | gone}
        free = {path: blob for path, (_, blob) in touched.items() if path in gone}
        left = {path: blob for path, (_, blob) in touched.items() if path not in gone}
        places = {blob: path for path, (_, blob) in reversed(touched.items())}
        likeness = Likeness(self._text)  # for each commit, so that each machine finds the same of it
        for path, (before, (mode, blob)) in sorted(found.items()):
            origin = path if before else places.get(blob) or likeness.most_alike(blob, free)
            if origin not in touched or (blob != touched[origin][1] and self._stays(blob)):
                self._own |= {(path, blob)} if before != (mode, blob) else set()
                # A copy, or a fact whose old name another has now: its own words stay.
                like = "" if before else likeness.most_alike(blob, left)
                if became := self._became(like, left[like]) if like else None:
                    merged.setdefault(path, []).append((self._text(left[like]), self._text(became[1])))
                continue
            changes[path] = None
            old = touched[origin][1]
            became = self._became(origin, old)
            place = became and (became[0] if path == origin else path)
            if not (became and place):
                self.lost |= {path} if blob != old else set()
                self._mine[path, blob] = None
                continue
            text, steps, stood = became[1], merged.pop(path, []), self._text(old)
            for one, other in steps:
                stood = merge(path, one, stood, other, take="theirs").data or b""
            merged[place] = [*steps, (stood, self._text(text))]
            if blob != old:
                done = merge(place, stood, self._text(blob), self._text(text), take="theirs")
                self.lost |= {path} if done.conflicts else set()
                text = self._objects.put("blob", done.data or b"")
                self._own.add((place, text))
            self._mine[path, blob] = place, text
            self._add(changes, tree, place, (mode, text))
        self._compared += likeness.done
        return changes

    def _stays(self, blob: str) -> bool:
        """Return whether a text stands in a commit on the purged line."""
        if self._looked < len(self.ids):
            trees = [self._objects.header(end).tree for end in [*self.ids.values()][self._looked :]]
            self._looked = len(self.ids)
            for tree in trees:  # which grows meanwhile
                rows = {*read_rows(tree, self._objects)} - self._standing[0]
                self._standing[0].update(rows)
                self._standing[1].update(oid for _, mode, oid in map(parsed_row, rows) if mode != FOLDER)
                trees += [oid for _, mode, oid in map(parsed_row, rows) if mode == FOLDER]
        return blob in self._standing[1]

    def _refused(self, tree: str | None, parents: Sequence[str]) -> Changes:
        """Return the changes that take texts which may not come back out of a tree; each path is noted in `lost`.

        Such a text is replaced by what purges left of it, else by the file that one of the `parents` has there. Only
        differences from the first parent are searched, as that is clean.
        """
        befores, changes = [self._objects.header(each).tree for each in parents], Changes()
        for path, _, item in self._trees.item_differences(befores[0] if befores else None, tree):
            if item and self.is_gone(item[1]):
                mode, blob = item
                end, stood = self.end(blob), [each for before in befores if (each := self._item(before, path))]
                if end and not (self._objects.is_there(end) and self._comparison.is_text_purged(blob, end)):
                    end = None
                text = end or (stood[-1][1] if stood and not self.is_gone(stood[-1][1]) else None)
                self.lost.add(path)
                self._mine[path, blob] = (path, text) if text else None
                changes[path] = (mode, text) if text else None
        return changes

    def _add(self, changes: Changes, tree: str | None, path: str, item: Item) -> None:
        """Put a file into the changes of a tree: to `path`, or beside another one that is there then."""
        if (changes[path] if path in changes else self._item(tree, path)) not in (None, item):
            stem, dot, ending = path.rpartition(".")
            path = f"{stem or path}-{item[1][:8]}{dot}{ending if dot else ''}"
        changes[path] = item

    def _words(self, group: Sequence[str]) -> tuple[list[Row], str]:
        """Return headers and message of a commit that stands for several: no word of theirs, as it may be a purged one.

        Where agents took part it is one of theirs, so that nothing of theirs passes for a person's.
        """
        raws = {oid: self._objects.raw(oid)[1] for oid in group}
        commits = {oid: read_commit(oid, raw) for oid, raw in raws.items()}
        order = sorted(group, key=lambda oid: (self._objects.header(oid).committed, oid), reverse=True)
        persons = [oid for oid in order if commits[oid].is_person]
        agents = [oid for oid in order if not commits[oid].is_person and commits[oid].author != CREATOR]
        author = (*agents, *persons, *order)[0]
        said = [("Tool", _TOOL), *(("Author", each) for each in sorted({_author(raw) for raw in raws.values()}))]
        for key in ("Session", "Agent"):  # of several the last one counts
            values = {getattr(each, key.lower()) for each in commits.values()}
            last = getattr(commits[author], key.lower())
            said += [(key, each) for each in (*sorted(filter(None, values - {last})), last) if each]
        written = next(row for row in header_lines(raws[author]) if row[0] == b"author")
        when = max(self._objects.header(oid).committed for oid in group)
        rows = [(written[0], to_text(written[1])), (b"committer", f"{COMMITTER} {when} +0000")]
        return rows, Note(SUBJECT, "", trailers=tuple(said)).message

    # Making objects

    def _commit(self, tree: str | None, parents: Iterable[str], headers: Iterable[Row], message: str) -> str:
        made = put_together(tree or self._objects.put("tree", b""), parents, headers, message)
        return self._objects.put("commit", made)

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
        known = self._mine if (path, blob) in self._mine else self._moved
        became = known.get((path, blob), (path, blob))
        text = self._cleaning.blob(became[1]) if became else None
        return (became[0], text) if became and text else None

    def new_message(self, text: str) -> str:
        """Return a line of a log without the paths of files that went."""
        return with_new_words(text, self._paths)

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        return {path: became[0] if became else MARKS[0][0] for (path, _), became in self._moved.items()}

    def new_label(self, text: str) -> str:
        """Return who made a tag, as it is."""
        return text

    def new_name(self, name: str) -> str:
        """Return a part of the name of a branch or tag, as it is."""
        return name

    # What it came to

    def becomes(self, files: Mapping[str, str]) -> Mapping[Version, Version | None]:
        """Return what becomes of the newest text of each path at which texts went; `files` are those of the newest
        commit."""
        own = {path: blob for path, blob in files.items() if self._became(path, blob) != (path, blob)}
        return {
            version: self._became(*version) for version in ({path: blob for path, blob in self._moved} | own).items()
        }

    def text(self, blob: str) -> bytes:
        """Return a text of the line, as it was or is."""
        return self._text(blob)

    def erased(self, with_own: bool = True) -> Iterator[Erased]:
        """Yield what was made here, for other machines, so that each has just that of the same commits.

        Without `with_own` only what became of ends of purges, and of what waits: nobody else has the rest. Texts are
        gone by purges, and where two purges left several of one: a text that was put on the line may stand elsewhere,
        or come to.
        """
        news = {old: new for old, new in self._news.items() if old != new and not self._record.is_old(old)}
        gone = {old: new for old, new in self._gone.items() if not (self._record.has_blob(old) or self._stays(old))}
        blobs = {old: new for old, new in gone.items() if old != new and self._text(old).strip()}
        told = {old: new for old, new in news.items() if with_own or self._record.is_end(old) or old in self._proposals}
        for kind, is_join in ((JOIN, True), (PUT, False)):
            if commits := {old: new for old, new in told.items() if (old in self._record.siblings) == is_join}:
                yield Erased(commits, blobs if is_join else {}, kind=kind)

    @property
    def quoting(self) -> tuple[str, ...]:
        """The paths of texts of this machine that quote a line or a telling word of what was purged, and stay."""
        own = {(path, blob) for path, blob in self._own if (path, blob) not in self._mine}
        lines, words = set[str](), set[str]()
        for (_, blob), became in self._moved.items() if own else ():
            old, new = self._text(blob), self._text(became[1]) if became else b""
            lines |= distinctive_lines(old) - distinctive_lines(new)
            words |= _telling(old) - _telling(new) if became else set()
        left = ((path, self._cleaning.cut.get(blob, blob)) for path, blob in own)
        texts = ((path, self._text(blob)) for path, blob in left if blob)
        return tuple(
            sorted({path for path, data in texts if lines & distinctive_lines(data) or words & _telling(data)})
        )


def _by_key(rows: Sequence[Sequence[Row]]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield each key that all have, with what each says."""
    return ((each[0][0], [said for _, said in each]) for each in zip(*rows, strict=False))


def _author(raw: bytes) -> str:
    return to_text(author_and_message(raw)[0])


def _telling(data: bytes) -> frozenset[str]:
    """Return the words by which a text is known: those with digits or hyphens."""
    words = (word.rstrip(".") for word in WORD.findall(to_text(data)))
    return frozenset(word for word in words if len(word) >= _SHORTEST and _TELLING.search(word))
