"""The texts that purges took, by their ids, and the lines by which texts are known."""

import re
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from functools import partial, reduce
from itertools import islice

from ...errors import DamagedHistory
from ...text.marks import MARKS, MOST_WORK, shared, takes_from_file
from ..objects import Objects
from ..purged import Erased, PurgeRecord
from ..trees import to_bytes, to_text
from .comparison import Version
from .objects import survey

# A line tells a text from others if it has so many bytes, and is no mere number.
_LONG, _LETTER = 16, re.compile(rb"[a-zA-Z\x80-\xff]")
# So does a word of letters and digits, as keys and passwords are; a date or a number does not.
_WORD = re.compile(rb"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-zA-Z])[\w-]{6,}")
#: The mark in the place of what went.
MARK = MARKS[0][0].encode()
# Keys of frontmatter that two facts may have alike.
_KEY = re.compile(rb"(?!description:)[a-z_]+:")


class Went:
    """Knows which texts and lines the purges of a record took, as far as these can be told here.

    `own` is the part of the record that this machine made, `moved` what versions of files became, which grows as
    commits are compared. `here` are texts of the record that can be read, as those in `moved` can: what each had tells
    their lines.
    """

    def __init__(
        self,
        record: PurgeRecord,
        own: PurgeRecord,
        moved: Mapping[Version, Version | None],
        objects: Objects,
    ) -> None:
        self._record, self._own, self._moved, self._objects = record, own, moved, objects
        self.here = set[str]()
        #: What became of the texts of so many of `moved`.
        self._texts = dict[str, str | None]()
        self._met = 0
        #: Those that were compared with what is said to be left of them; what holds is in `_texts`.
        self._compared = set[str]()
        #: How much work is left for what texts have in common.
        self._work = [MOST_WORK]
        #: The lines of those `_seen`, of so many of `moved` and `here`.
        self._lines, self._of, self._seen = set[bytes](), (0, 0), set[str]()

    def is_gone(self, blob: str) -> bool:
        """Return whether a text may not come back: a purge of this machine took it, or one that was compared here, or
        it is what one purge left of a text of which another left something else, or nothing.
        """
        for (_, each), became in islice(self._moved.items(), self._met, None):
            self._texts |= {each: became and became[1]} if not became or became[1] != each else {}
        self._met = len(self._moved)
        return self._is_refused(blob) or bool(self._beside(blob))

    def _beside(self, blob: str) -> set[str | None]:
        """Return what other purges made of the texts from which one made this; None among them for nothing."""
        sources = [*filter(self._is_refused, self._record.sources(blob))]  # `end` knows theirs, and asks no further
        ends = {self.end(each) for each in sources}.union(*map(self._record.left, sources)) - {blob}
        return {end for end in ends if end is None or blob not in self._record.became(end)}

    def _is_refused(self, blob: str) -> bool:
        is_told = self._record.has_blob(blob)
        return self._own.has_blob(blob) or (is_told and (blob in self._texts or self._has_marked_ends(blob)))

    def _has_marked_ends(self, blob: str) -> bool:
        """Return whether all that purges are said to have left of a text is here, and what that shares is each of it,
        and the text, with marks: then no commit has to be compared, as it may stand in others here than where it was
        purged. The text itself need not be here, as one of these purges has been taken in before.
        """
        ends = self._record.left(blob)
        if blob in self._compared or not ends.isdisjoint((None, blob)):
            return False
        self._compared.add(blob)
        left = sorted(filter(None, ends))
        if not all(map(self._objects.is_there, left)):
            return False
        became = self._shared(left)
        here = [*left, *([blob] if self._objects.is_there(blob) else [])]
        if not all(takes_from_file(self._objects.blob(each), became) for each in here):
            return False
        self._texts[blob] = self._objects.put("blob", became)
        return True

    def end(self, blob: str) -> str | None:
        """Return what a text that is gone became, which need not be here; None for nothing.

        Ask `is_gone` before: that learns what became of versions since. Where purges left several texts of one, what
        these share is stored now, and is what it became.
        """
        if blob in self._texts:
            return self._texts[blob]
        if self._own.has_blob(blob):
            return self._own.blob(blob)
        others = self._beside(blob)
        if not others or None in others:
            return None
        there = sorted(other for other in others if other and self._objects.is_there(other))
        return self._objects.put("blob", self._shared([blob, *there]))

    def _shared(self, blobs: Iterable[str]) -> bytes:
        texts = (to_text(self._objects.blob(each)) for each in blobs)
        return to_bytes(reduce(partial(shared, work=self._work), texts))

    @property
    def lines(self) -> Set[bytes]:
        """The lines by which a text is known, of all that went: but for those that stand where they were purged."""
        if self._of != (len(self._moved), len(self.here)):
            self._of = len(self._moved), len(self.here)
            known = self.here | {blob for _, blob in self._moved}
            new = set(filter(self.is_gone, known - self._seen))
            self._seen |= new
            # A text that another purge left has the lines that this one took of the same source.
            roots = {blob: {blob, *self._record.sources(blob)} for blob in new}
            for erased in self._record.erased if new else ():
                if went := self._lines_of({blob for blob in new if not roots[blob].isdisjoint(erased.blobs)}):
                    self._lines |= went - self._standing(erased)
        return self._lines

    def _lines_of(self, blobs: Set[str]) -> set[bytes]:
        found = set[bytes]()
        for blob in blobs:
            end = self.end(blob)
            left = told(self._objects.blob(end)) if end and self._objects.is_there(end) else frozenset()
            found |= told(self._objects.blob(blob)) - left
        return found

    def _standing(self, erased: Erased) -> set[bytes]:
        """Return the lines of all texts in the history that a purge left: the purge kept them on purpose."""
        ends = {end for end in erased.commits.values() if self._objects.is_there(end)}
        tips = ends.difference(*(self._objects.header(end).parents for end in ends))
        blobs = set[str]()
        for tip in sorted(tips):
            with suppress(DamagedHistory):  # a fetch that was killed left some of it
                blobs.update(*survey([tip], self._objects).files.values())
        return set[bytes]().union(*(told(self._objects.blob(blob)) for blob in blobs))


def told(data: bytes) -> frozenset[bytes]:
    """Return the long lines and the key-like words that identify a text; of its frontmatter only the description."""
    lines = [said for line in data.splitlines() if (said := _said(line))]
    long = (said for said in lines if len(said) >= _LONG and _LETTER.search(said))
    return frozenset(long).union(*map(_WORD.findall, lines))


def without(data: bytes, went: Set[bytes]) -> bytes:
    """Return a text with marks in the place of the lines and words that `went`, in the form that a purge leaves."""
    return b"".join(_without(line, went) for line in data.splitlines(keepends=True))


def _without(line: bytes, went: Set[bytes]) -> bytes:
    said = _said(line)
    if said in went:
        return line.replace(said, MARK, 1) if said else line
    return _WORD.sub(lambda found: MARK if found[0] in went else found[0], line) if said else line


def _said(line: bytes) -> bytes:
    line = line.strip()
    return b"" if _KEY.match(line) else line.removeprefix(b"description:").strip()
