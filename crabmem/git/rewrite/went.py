"""What purges took: texts, by their ids, and the lines by which texts are known."""

import re
from collections.abc import Mapping, Set
from itertools import islice

from ..objects import Objects
from ..purged import PurgeRecord
from .comparison import Version

# A line tells a text from others if it is no short one, or has a word of letters and digits, as keys and passwords are.
_TELLING = re.compile(rb"(?=.*[a-zA-Z\x80-\xff]).{16}|\b(?=\w*\d)(?=\w*[a-zA-Z])\w{6}")
# Keys of frontmatter that two facts may have alike.
_KEY = re.compile(rb"(?!description:)[a-z_]+:")


class Went:
    """What the purges of a record took, as far as it is known here.

    `own` is the part of the record that this machine made, `moved` what versions of files became, which grows as
    commits are compared. `here` are those of its texts that can be read: what each had tells their lines.
    """

    def __init__(
        self, record: PurgeRecord, own: PurgeRecord, moved: Mapping[Version, Version | None], objects: Objects
    ) -> None:
        self._record, self._own, self._moved, self._objects = record, own, moved, objects
        self.here = set[str]()
        #: What became of the texts of so many of `moved`.
        self._texts, self._met = dict[str, str | None](), 0
        #: The lines of so many of `here`, as far as so many of `moved` tell.
        self._lines, self._of, self._seen = set[bytes](), (0, 0), set[str]()

    def is_gone(self, blob: str) -> bool:
        """Return whether a text may not come back: a purge of this machine took it, or one that was compared here, or
        it is what one purge left of a text of which another left nothing.
        """
        for (_, each), became in islice(self._moved.items(), self._met, None):
            self._texts |= {each: became and became[1]} if not became or became[1] != each else {}
        self._met = len(self._moved)
        return self._is_refused(blob) or any(
            self._is_refused(each) and self.end(each) is None for each in self._record.sources(blob)
        )

    def _is_refused(self, blob: str) -> bool:
        return self._own.has_blob(blob) or (blob in self._texts and self._record.has_blob(blob))

    def end(self, blob: str) -> str | None:
        """Return what a text that is gone became; None for nothing."""
        if blob in self._texts:
            return self._texts[blob]
        return self._own.blob(blob) if self._own.has_blob(blob) else None

    @property
    def lines(self) -> Set[bytes]:
        """The lines by which a text is known, of all that went."""
        if self._of != (len(self._moved), len(self.here)):
            self._of = len(self._moved), len(self.here)
            for blob in sorted(filter(self.is_gone, self.here - self._seen)):
                end = self.end(blob)
                left = told(self._objects.blob(end)) if end and self._objects.is_there(end) else frozenset()
                self._lines |= told(self._objects.blob(blob)) - left
                self._seen.add(blob)
        return self._lines


def told(data: bytes) -> frozenset[bytes]:
    """Return the lines by which a text is known; of its keys the description alone."""
    lines = (line.strip() for line in data.splitlines())
    return frozenset(line for line in lines if _TELLING.search(line) and not _KEY.match(line))
