"""Whether commits are others but for texts that are gone, as a record of purges says of them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ...results import CREATOR
from ...text.entry import entry_in
from ...text.marks import is_marked, takes_away, takes_from_file, takes_from_name, unnumbered
from ...text.slug import slug_of
from ..commits import header, header_lines, read_commit
from ..objects import Objects
from ..purged import PurgeRecord
from ..trees import Item, Trees, to_bytes, to_text
from .objects import IDENTITIES, SHORTEST_ID, SIGNATURES, with_new_ids

#: A version of a file: its path, and the id of its text.
Version = tuple[str, str]
#: A line before a message.
Row = tuple[bytes, str]

#: How the message of a commit begins that stands for several.
SUBJECT = "sync: what was made before a purge was known, on the purged line"
# A file with another name is sought among so many that came: each costs a look into both.
_MOST_COMPARED = 1_000
# Parts of a path or word.
WORD = re.compile(r"[^\s\"'`,;:!?()\[\]{}<>]+")


class Comparison:
    """Compares commits with those that a record says they became.

    `ids` and `gone` have the new ids of commits and of texts, as the caller finds them. `moved` is learned here: what
    became of each version (path and blob) of a file; None if it is gone.
    """

    def __init__(
        self,
        record: PurgeRecord,
        objects: Objects,
        trees: Trees,
        ids: Mapping[str, str],
        gone: Mapping[str, str | None],
    ) -> None:
        self._record, self._objects, self._trees, self._ids, self._gone = record, objects, trees, ids, gone
        self.moved: dict[Version, Version | None] = {}
        #: For each commit those that equal it apart from purged texts. Their old ids, by the first digits of the new
        #: one, and the old paths of files by the new ones: `_is_message_purged` compares messages with these.
        self._ends, self._olds, self._paths = dict[str, set[str]](), dict[str, dict[str, str]](), dict[str, str]()
        #: Like `_ends`, for the comparisons from which `moved` was learned.
        self._learned = dict[str, set[str]]()
        self._same, self._seen = set[tuple[str, str]](), set[tuple[str, str]]()

    def is_purged(self, oid: str, end: str, is_final: bool = True) -> bool:
        """Return whether the commit `end` is `oid` with nothing but texts removed: parents, people, message and files.

        If so, remember it. With `is_final`, `end` is what the commit becomes, not a step to that: then also learn
        what became of its files, in `moved`.
        """
        if is_final and end in self._learned.get(oid, ()):
            return True
        (_, was), (_, now) = self._objects.raw(oid), self._objects.raw(end)
        before, after = header(was), header(now)
        if not self._stands_on(before.parents, after.parents) or _writer(was) != _writer(now):
            return False
        (rows, said), (new_rows, new_said) = parted(was), parted(now)
        are_words_gone = new_said.startswith(SUBJECT)
        is_same = (
            self._is_tree_purged(before.tree, after.tree, is_final)
            # The words of one that stands for several tell which these are.
            and (
                (are_words_gone and said.startswith(SUBJECT))
                or (
                    [key for key, _ in rows] == [key for key, _ in new_rows]
                    and all(map(_is_row_purged, rows, new_rows))
                    and (_is_of_same(was, now) if are_words_gone else self._is_message_purged(said, new_said))
                )
            )
        )
        if is_same:
            self._ends.setdefault(oid, set()).add(end)
            if is_final:
                self._learned.setdefault(oid, set()).add(end)
            self._olds.setdefault(end[:SHORTEST_ID], {})[end] = oid
        return is_same

    def stands_as(self, oid: str, end: str) -> None:
        """Let `end` count as what `oid` became when parents are compared, though `ids` may have the cleaned form of it:
        commits of other machines may stand on `end` as it is.
        """
        self._ends.setdefault(oid, set()).add(end)

    def _stands_on(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """Return whether the parents `after` are `before`, or what these became, in order; two may become one."""
        rest, met = [*after], set[str]()
        for parent in before:
            ends = {self._ids.get(parent, parent), *self._ends.get(parent, ())}
            if rest and rest[0] in ends:
                met.add(rest.pop(0))
            elif met.isdisjoint(ends):
                return False
        return not rest

    def _is_message_purged(self, was: str, now: str) -> bool:
        """Return whether a message is another with marks in it; new paths and commit ids are first put back to old."""
        if takes_away(was, now):
            return True
        one, other = (with_new_ids(with_new_words(text, self._paths), self._old_id) for text in (was, now))
        return takes_away(one, other)

    def _old_id(self, digits: str) -> str | None:
        found = {old for end, old in self._olds.get(digits[:SHORTEST_ID], {}).items() if end.startswith(digits)}
        return found.pop() if len(found) == 1 else None

    def _is_tree_purged(self, old: str, new: str, is_final: bool) -> bool:
        """Return whether a tree is another with nothing but texts removed: each file is the same, gone, or the old one
        with marks in its text or name. With `is_final`, learn in `moved` what became of each.
        """
        if old == new or (old, new) in self._same or (not is_final and (old, new) in self._seen):
            return True
        gone, come, places = dict[str, Item](), dict[str, Item](), dict[str, list[str]]()
        for path, was, now in self._trees.item_differences(old, new):
            gone |= {path: was} if was else {}
            come |= {path: now} if now else {}
        for path in sorted(come.keys() - gone.keys()):
            places.setdefault(come[path][1], []).append(path)
        moves = list[tuple[Version, Version | None]]()
        twins = {path: path if path in come else self._twin(path, item[1], places) for path, item in gone.items()}
        for path, (mode, blob) in sorted(gone.items(), key=lambda item: twins[item[0]] is None):
            place = twins[path] or self._alike(path, blob, come)
            if place is None:
                moves.append(((path, blob), None))
            elif come[place][0] != mode or not self.is_text_purged(blob, come[place][1]):
                return False
            else:
                moves.append(((path, blob), (place, come.pop(place)[1])))
        if come:
            return False
        for version, became in moves:
            if became and became[0] != version[0]:
                self._paths[became[0]] = version[0]
            if is_final:
                self.moved.setdefault(version, became)
        (self._same if is_final else self._seen).add((old, new))
        return True

    def _twin(self, path: str, blob: str, places: Mapping[str, list[str]]) -> str | None:
        """Return the new path of a file that a purge renamed; None if there is none.

        `places` has the new paths by blob; the one found is removed from it. Only blobs that the file is said to have
        become are looked for, which is quicker than `_alike`.
        """
        for text in sorted({blob, *filter(None, {*self._record.became(blob), self._gone.get(blob)})}):
            for place in places.get(text, ()):
                if self._is_name_purged(path, place, text):
                    places[text].remove(place)
                    return place
        return None

    def _alike(self, path: str, blob: str, come: Mapping[str, Item]) -> str | None:
        """Return the new path of a file that a purge renamed, comparing its text with all new ones; None for none."""
        if len(come) > _MOST_COMPARED:
            return None
        items = ((place, text) for place, (_, text) in sorted(come.items()) if self._is_name_purged(path, place, text))
        return next((place for place, text in items if self.is_text_purged(blob, text)), None)

    def _is_name_purged(self, path: str, place: str, text: str) -> bool:
        """Return whether a name is another one with marks, or that of the fact in the text."""
        if takes_from_name(path, place):
            return True
        folder, _, name = place.rpartition("/")
        called = f"{folder}/{path.rpartition('/')[2]}".lstrip("/")
        if not (is_marked(name) and takes_from_name(path, called)):
            return False
        entry = entry_in(place, self._objects.blob(text))
        return entry is not None and unnumbered(name) == f"{slug_of(entry.name)}.md"

    def is_text_purged(self, old: str, new: str) -> bool:
        """Return whether a text is another one with marks in it."""
        if old != new and (old, new) not in self._same:
            if not takes_from_file(self._objects.blob(old), self._objects.blob(new)):
                return False
            self._same.add((old, new))
        return True


def parted(raw: bytes) -> tuple[list[Row], str]:
    """Return the header lines of a commit, without tree, parents and signatures, and its message."""
    rows = [(key, to_text(said)) for key, said in header_lines(raw)]
    return [row for row in rows if row[0] not in (b"tree", b"parent", *SIGNATURES)], to_text(raw.partition(b"\n\n")[2])


def put_together(tree: str, parents: Iterable[str], rows: Iterable[Row], message: str) -> bytes:
    """Return the bytes of a commit of this tree and these parents, with what `parted` returned; equal parents merge."""
    lines = [b"tree " + tree.encode(), *(b"parent " + each.encode() for each in dict.fromkeys(parents))]
    lines += [key + b" " + to_bytes(said) for key, said in rows]
    return b"\n".join(lines) + b"\n\n" + to_bytes(message)


def with_new_words(text: str, words: Mapping[str, str]) -> str:
    """Return a text with other words for whole ones; each is looked up once."""
    return WORD.sub(lambda found: words.get(found[0], found[0]), text) if words else text


def _writer(raw: bytes) -> Sequence[bool]:
    """Return what kind of author a commit has: whether a person, whether crabmem, and whether it names an agent."""
    said = read_commit("", raw)
    return said.is_person, said.author == CREATOR, bool(said.agent)


def _is_of_same(was: bytes, now: bytes) -> bool:
    """Return whether the same agent, in the same session, made two commits; their names may have marks in them."""
    one, other = (read_commit("", raw) for raw in (was, now))
    return takes_away(one.agent or "", other.agent or "") and takes_away(one.session or "", other.session or "")


def _is_row_purged(was: Row, now: Row) -> bool:
    """Compare a line before a message: who, but for marks, and when, to the letter."""
    ends = [said.rpartition(">")[2] for _, said in (was, now)]
    return takes_away(was[1], now[1]) and (was[0] not in IDENTITIES or ends[0] == ends[1])
