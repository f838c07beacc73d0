"""Whether commits are others but for texts that are gone, as a record of purges says of them."""

import re
from collections.abc import Mapping, Sequence

from ...results import CREATOR
from ...text.entry import entry_in
from ...text.marks import is_marked, takes_away, takes_from_file, takes_from_name, unnumbered
from ...text.slug import slug_of
from ..commits import header, header_lines, read_commit
from ..objects import Objects
from ..purged import PurgeRecord
from ..trees import Item, Trees, to_text
from .objects import IDENTITIES, SIGNATURES, with_new_ids

#: A version of a file: its path, and the id of its text.
Version = tuple[str, str]
#: A line before a message.
Row = tuple[bytes, str]

#: How the message of a commit begins that stands for several.
SUBJECT = "sync: what was made before a purge was known, on the purged line"
# Parts of a path or word.
WORD = re.compile(r"[^\s\"'`,;:!?()\[\]{}<>]+")


class Comparison:
    """Compares commits with what they became; `ids` has the new ids of commits, `gone` of texts, as they are found.

    `moved` is what became of each version of a file: path and id; None where it is gone.
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
        self._same = set[tuple[str, str]]()

    def is_purged(self, oid: str, end: str) -> bool:
        """Return whether the commit `oid` is `end` but for texts that are gone; learn what became of its files."""
        (_, was), (_, now) = self._objects.raw(oid), self._objects.raw(end)
        before, after = header(was), header(now)
        parents = list(dict.fromkeys(self._ids.get(each, each) for each in before.parents))
        if parents != [*after.parents] or _writer(was) != _writer(now):
            return False
        (rows, said), (new_rows, new_said) = parted(was), parted(now)
        are_words_gone = new_said.startswith(SUBJECT)
        if are_words_gone and said.startswith(SUBJECT):  # its words tell for which commits it stands
            return self._is_tree_purged(before.tree, after.tree)
        return (
            [key for key, _ in rows] == [key for key, _ in new_rows]
            and all(map(_is_row_purged, rows, new_rows))
            and self._is_tree_purged(before.tree, after.tree)
            and (_is_of_same(was, now) if are_words_gone else self._is_message_purged(said, new_said))
        )

    def _is_message_purged(self, was: str, now: str) -> bool:
        """Compare messages: paths and ids of commits in them are called as they are called now."""
        if takes_away(was, now):
            return True
        paths = {path: became[0] for (path, _), became in self.moved.items() if became and became[0] != path}
        one, other = (with_new_ids(with_new_words(text, paths), self._new_id) for text in (was, now))
        return takes_away(one, other)

    def _new_id(self, digits: str) -> str | None:
        olds = self._record.beginning(digits)
        return self._record.commit(olds[0]) if len(olds) == 1 else None

    def _is_tree_purged(self, old: str, new: str) -> bool:
        """Compare trees: each file is the same, gone, or the old one with marks, maybe in its name, too."""
        if old == new or (old, new) in self._same:
            return True
        gone, come, places = dict[str, Item](), dict[str, Item](), dict[str, list[str]]()
        for path, was, now in self._trees.item_differences(old, new):
            gone |= {path: was} if was else {}
            come |= {path: now} if now else {}
        for path in sorted(come.keys() - gone.keys()):
            places.setdefault(come[path][1], []).append(path)
        moves = list[tuple[Version, Version | None]]()
        for path, (mode, blob) in gone.items():
            place = path if path in come else self._twin(path, blob, places)
            if place is None:
                moves.append(((path, blob), None))
            elif come[place][0] != mode or not self.is_text_purged(blob, come[place][1]):
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
                entry = entry_in(place, self._objects.blob(text))
                folder, _, name = place.rpartition("/")
                called = f"{folder}/{path.rpartition('/')[2]}".lstrip("/")
                is_slug = entry and is_marked(name) and unnumbered(name) == f"{slug_of(entry.name)}.md"
                if takes_from_name(path, place) or (is_slug and takes_from_name(path, called)):
                    places[text].remove(place)
                    return place
        return None

    def is_text_purged(self, old: str, new: str) -> bool:
        """Return whether a text is another one with marks in it."""
        if old != new and (old, new) not in self._same:
            if not takes_from_file(self._objects.blob(old), self._objects.blob(new)):
                return False
            self._same.add((old, new))
        return True


def parted(raw: bytes) -> tuple[list[Row], str]:
    """Return what a commit says, but for what it stands on and its signatures: lines by key, and the message."""
    rows = [(key, to_text(said)) for key, said in header_lines(raw)]
    return [row for row in rows if row[0] not in (b"tree", b"parent", *SIGNATURES)], to_text(raw.partition(b"\n\n")[2])


def with_new_words(text: str, words: Mapping[str, str]) -> str:
    """Return a text with other words for whole ones; each is looked up once."""
    return WORD.sub(lambda found: words.get(found[0], found[0]), text) if words else text


def _writer(raw: bytes) -> Sequence[bool]:
    """Return whether a person made a commit, or crabmem, or an agent that says its name."""
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
