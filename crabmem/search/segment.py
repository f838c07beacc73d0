"""An immutable index of documents as one run of bytes, read in place: in memory, or a file that is mapped.

Knows how the bytes lie, not what a score is. A file that is not exactly what was once written is `Damaged`.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_left, bisect_right
from itertools import pairwise

from ..disk import derived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from mmap import mmap

    Section = tuple[str, bytes]

# Arrays lie as this machine has them: a machine of the other kind builds its own.
_LABEL = f"search 2 {sys.byteorder}"
_TABLE = struct.Struct("<" + "cQ" * 16)
_START = derived.BODY + _TABLE.size


class Damaged(ValueError):
    """These bytes are no index of this version, or not all of one, or not as they were written."""


def encoded(text: str) -> bytes:
    """UTF-8 for any text, in an order that is the order of the texts."""
    return text.encode("utf-8", "surrogatepass")


class Names:
    """Distinct texts in their order."""

    __slots__ = ("_at", "_text")

    def __init__(self, text: memoryview, at: memoryview) -> None:
        self._text, self._at = text, at

    def __len__(self) -> int:
        return len(self._at) - 1

    def __getitem__(self, at: int) -> str:
        return str(self._bytes(at), "utf-8", "surrogatepass")

    def _bytes(self, at: int) -> bytes:
        return bytes(self._text[self._at[at] : self._at[at + 1]])

    def find(self, name: str) -> int | None:
        """Where `name` is, None when it is not there."""
        at = self._first(encoded(name))
        return at if at < len(self) and self._bytes(at) == encoded(name) else None

    def starting(self, prefix: str) -> range:
        """Where those are that begin with `prefix`."""
        start = encoded(prefix)
        end = bisect_right(range(len(self)), start, key=lambda at: self._bytes(at)[: len(start)])
        return range(self._first(start), end)

    def containing(self, part: str) -> list[str]:
        """Those that have `part` in them."""
        text, wanted = bytes(self._text), encoded(part)
        found, start = [], text.find(wanted)
        while start >= 0:
            at = bisect_right(self._at, start) - 1
            end = self._at[at + 1]
            if start + len(wanted) <= end:  # not half in the next one
                found.append(self[at])
                start = end - 1
            start = text.find(wanted, start + 1)
        return found

    def all(self) -> list[str]:
        """Every one, faster than one by one."""
        text, spans = bytes(self._text), pairwise(self._at.tolist())
        if text.isascii():
            plain = text.decode("ascii")
            return [plain[start:end] for start, end in spans]
        return [str(text[start:end], "utf-8", "surrogatepass") for start, end in spans]

    def _first(self, name: bytes) -> int:
        return bisect_left(range(len(self)), name, key=self._bytes)


class Postings:
    """For every name, the positions of the documents that have it, and how often each has it."""

    __slots__ = ("counts", "names", "positions", "starts")

    def __init__(
        self, text: memoryview, at: memoryview, starts: memoryview, positions: memoryview, counts: memoryview
    ) -> None:
        self.names = Names(text, at)
        self.starts, self.positions, self.counts = starts, positions, counts

    def holding(self, name: str) -> tuple[memoryview, memoryview]:
        """The positions of the documents that have `name`, in order, and the counts."""
        at = self.names.find(name)
        span = slice(0) if at is None else self._span(at)
        return self.positions[span], self.counts[span]

    def starting(self, prefix: str) -> Iterator[tuple[str, memoryview]]:
        """The names that begin with `prefix`, in order, and the positions of the documents that have them."""
        return ((self.names[at], self.positions[self._span(at)]) for at in self.names.starting(prefix))

    def _span(self, at: int) -> slice:
        return slice(self.starts[at], self.starts[at + 1])


class Segment:
    """Documents in the order of their keys, each by its position; their words and labels.

    As a file of later changes it also has `base`, the identity of the segment it belongs to, and `dead`,
    the positions there that no longer count.
    """

    def __init__(self, data: bytes | mmap) -> None:
        """
        Raises:
            Damaged: `data` is not a whole segment, as it was written.
        """
        self.data = memoryview(data)
        keys, at, self._marks, self.lengths, *lists, base, self.dead = _sections(self.data)
        self.keys = Names(keys, at)
        self.words, self.labels = Postings(*lists[:5]), Postings(*lists[5:])
        self.base = bytes(base)
        self.identity = bytes(self.data[:_START])
        self._by_key: dict[str, bytes] | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def marks(self) -> list[bytes]:
        """The mark of every document."""
        marks, size = bytes(self._marks), len(self._marks) // max(1, len(self))
        return [marks[at * size : (at + 1) * size] for at in range(len(self))]

    def marks_by_key(self) -> dict[str, bytes]:
        """The mark of every document by its key; made once, and not to be changed."""
        if self._by_key is None:
            self._by_key = dict(zip(self.keys.all(), self.marks(), strict=True))
        return self._by_key


def _sections(data: memoryview) -> list[memoryview]:
    body = derived.body(data, _LABEL)
    if body is None or len(body) < _TABLE.size:
        raise Damaged("another format, or not as it was written")
    table = _TABLE.unpack_from(body)
    if len(data) != _START + sum(map(_padded, table[1::2])):
        raise Damaged("not as it was written")
    found, start = [], _START
    for code, size in zip(table[::2], table[1::2], strict=True):
        found.append(data[start : start + size].cast(code.decode()))
        start += _padded(size)
    return found


def _padded(size: int) -> int:
    return size + -size % 8


def segment_of(sections: Iterable[Section]) -> Segment:
    """The segment that has these sections, in memory."""
    table: list[bytes | int] = []
    parts = []
    for code, data in sections:
        table += [code.encode(), len(data)]
        parts += [data, bytes(-len(data) % 8)]
    return Segment(derived.packed(_LABEL, _TABLE.pack(*table) + b"".join(parts)))


def narrowest(highest: int) -> str:
    """The code of the smallest integers that hold `highest`."""
    return next(code for code in "BHIQ" if highest < 256 ** struct.calcsize(code))


def numbers(values: Sequence[int]) -> Section:
    """The section that holds `values`."""
    code = narrowest(max(values, default=0))
    return code, struct.pack(f"{len(values)}{code}", *values)


def texts(names: Iterable[str]) -> list[Section]:
    """The two sections that hold `names`, which are distinct and in order."""
    at, pieces = [0], list(map(encoded, names))
    for piece in pieces:
        at.append(at[-1] + len(piece))
    return [("B", b"".join(pieces)), numbers(at)]
