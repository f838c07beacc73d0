"""An immutable index of documents as one run of bytes, read in place: in memory, or a file that is mapped.

A file that is not exactly what was once written is `Damaged`. Segments are made of documents and of other segments: few
documents are counted, many are left to bm25s and numpy.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise, starmap
from mmap import mmap
from typing import Any

from ..disk import derived
from .scoring import K1, B, count_of, idf, length_norm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

Section = tuple[str, bytes]


# Arrays lie as this machine has them: a machine of the other kind builds its own.
_LABEL = f"search 3 {sys.byteorder}"
# The type code and the size in bytes of each of the 17 sections.
_TABLE = struct.Struct("<" + "cQ" * 17)
_START = derived.BODY + _TABLE.size
#: Documents, at most, whose words are counted in Python; bm25s indexes more.
FEW = 500
_AT_ONCE = 10_000  # documents indexed at once, at most: more take too much memory


class Document:
    """One document to be indexed, by the key it has in the index.

    `mark` is for the caller to tell its version by: any bytes, of one length in an index. `words` are those of its
    first passage, `further` those of the others: passages are ranked, and the best counts for the document. `labels`
    are found exactly, and never ranked. `lengths` are those that ranking goes by, where they are not the numbers of
    words: words that are added so that a passage is found by its day do not make it longer.
    """

    __slots__ = ("key", "labels", "lengths", "mark", "passages")

    def __init__(
        self,
        key: str,
        mark: bytes,
        words: Sequence[str],
        labels: Collection[str] = (),
        further: Iterable[Sequence[str]] = (),
        lengths: Sequence[int] = (),
    ) -> None:
        self.key = key
        self.mark = mark
        self.passages = [words, *further]
        self.labels = labels
        self.lengths = lengths or list(map(len, self.passages))


class Damaged(ValueError):
    """These bytes are no index of this version, or not all of one, or not as they were written."""


def encoded(text: str) -> bytes:
    """Encode any text, lone surrogates too; the bytes sort as the texts do."""
    return text.encode("utf-8", "surrogatepass")


class Names:
    """Distinct texts in sorted order, read in place: `text` is all of them in one, `at` where each begins."""

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
        wanted = encoded(name)
        at = self._first(wanted)
        return at if at < len(self) and self._bytes(at) == wanted else None

    def starting(self, prefix: str) -> range:
        """The places of the names that begin with `prefix`."""
        start = encoded(prefix)
        end = bisect_right(range(len(self)), start, key=lambda at: self._bytes(at)[: len(start)])
        return range(self._first(start), end)

    def containing(self, part: str) -> list[str]:
        """The names that have `part` in them: one after the other, names are one text, which is searched."""
        text, wanted = bytes(self._text), encoded(part)
        found, start = [], text.find(wanted)
        while start >= 0:
            at = bisect_right(self._at, start) - 1
            end = self._at[at + 1]
            if start + len(wanted) <= end:
                found.append(self[at])
                start = text.find(wanted, end)  # on with the next name
            else:  # half of it is in the next name
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
        text, places = self._text, self._at
        low, high = 0, len(places) - 1
        while low < high:  # as `bisect_left` with a key, which takes twice as long
            middle = (low + high) // 2
            if bytes(text[places[middle] : places[middle + 1]]) < name:
                low = middle + 1
            else:
                high = middle
        return low


class Postings:
    """For every name, the positions of the passages that have it, and how often each has it.

    `starts` are the places in `positions` and `counts` where those of each name begin.
    """

    __slots__ = ("counts", "names", "positions", "starts")

    def __init__(
        self, text: memoryview, at: memoryview, starts: memoryview, positions: memoryview, counts: memoryview
    ) -> None:
        self.names = Names(text, at)
        self.starts, self.positions, self.counts = starts, positions, counts

    def holding(self, name: str) -> tuple[memoryview, memoryview]:
        """The positions of the passages that have `name`, in order, and the counts."""
        at = self.names.find(name)
        span = slice(0) if at is None else self._span(at)
        return self.positions[span], self.counts[span]

    def starting(self, prefix: str) -> Iterator[tuple[str, memoryview]]:
        """The names that begin with `prefix`, in order, and the positions of the passages that have them."""
        return ((self.names[at], self.positions[self._span(at)]) for at in self.names.starting(prefix))

    def _span(self, at: int) -> slice:
        return slice(self.starts[at], self.starts[at + 1])


class Segment:
    """Documents in the order of their keys, each by the position of its first passage; their words and labels.

    As a file of later changes it also has `base`, the identity of the segment it belongs to, and `dead`,
    the positions there that no longer count.
    """

    def __init__(self, data: bytes | mmap) -> None:
        """
        Raises:
            Damaged: `data` is not a whole segment, as it was written.
        """
        self.data = memoryview(data)
        keys, at, self._marks, firsts, self.lengths, *lists, base, self.dead = _sections(self.data)
        self.keys = Names(keys, at)
        #: Whether a document here has more than one passage.
        self.has_passages = len(firsts) > 0
        #: The position of the first passage of each document.
        self.firsts: Sequence[int] = firsts if self.has_passages else range(len(self.keys))
        self.words, self.labels = Postings(*lists[:5]), Postings(*lists[5:])
        self.base = bytes(base)
        #: The head of the file, which has a checksum of the rest: other contents have another identity.
        self.identity = bytes(self.data[:_START])
        self._by_key: dict[str, bytes] | None = None

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self.lengths)

    def find(self, key: str) -> int | None:
        """The position of the document of that key, None when there is none."""
        at = self.keys.find(key)
        return None if at is None else self.firsts[at]

    def key(self, position: int) -> str:
        """The key of the document that has the passage at `position`."""
        return self.keys[bisect_right(self.firsts, position) - 1]

    def passages(self, position: int) -> range:
        """The positions of all passages of the document that has the one at `position`."""
        at = bisect_right(self.firsts, position)
        return range(self.firsts[at - 1], self.firsts[at] if at < len(self.firsts) else len(self))

    def all_passages(self) -> Iterator[range]:
        """The positions of the passages of each document, document by document."""
        return starmap(range, pairwise([*self.firsts, len(self)]))

    def marks(self) -> list[bytes]:
        """The mark of every document."""
        count = len(self.keys)
        marks, size = bytes(self._marks), len(self._marks) // max(1, count)
        return [marks[at * size : (at + 1) * size] for at in range(count)]

    def marks_by_key(self) -> dict[str, bytes]:
        """The mark of every document by its key; made once, and not to be changed."""
        if self._by_key is None:
            self._by_key = dict(zip(self.keys.all(), self.marks(), strict=True))
        return self._by_key


def _sections(data: memoryview) -> list[memoryview]:
    """Return the sections of a segment, each as an array of its type.

    Raises:
        Damaged: `data` is not a whole segment, as it was written.
    """
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
    pieces = list(map(encoded, names))
    return [("B", b"".join(pieces)), numbers([0, *accumulate(map(len, pieces))])]


def build(documents: Iterable[Document], base: bytes = b"", dead: Collection[int] = ()) -> Segment:
    """Build the segment of `documents`, no two of one key; `base` and `dead` are what it says of another segment."""
    ordered = sorted(documents, key=lambda document: document.key)
    words = [passage for document in ordered for passage in document.passages]
    are_few = len(ordered) <= FEW or not any(words)
    firsts = list(accumulate((len(document.passages) for document in ordered), initial=0))[:-1]
    labels = zip(firsts, (sorted(set(document.labels)) for document in ordered), strict=True)
    return segment_of(
        [
            *texts([document.key for document in ordered]),
            _marks([document.mark for document in ordered]),
            _firsts(firsts, len(words)),
            numbers([length for document in ordered for length in document.lengths]),
            *(counted_postings(enumerate(words)) if are_few else _bm25s_postings(words)),
            *counted_postings(labels),
            ("B", base),
            numbers(sorted(dead)),
        ]
    )


def _firsts(firsts: Sequence[int], passages: int) -> Section:
    """Where the passages of each document begin; nothing where each has one, as in most memories."""
    return numbers(firsts if len(firsts) < passages else ())


def _marks(marks: Sequence[bytes]) -> Section:
    if len(set(map(len, marks))) > 1:
        raise ValueError("marks differ in length")
    return "B", b"".join(marks)


def build_in_pieces(documents: Sequence[Document]) -> Iterator[Segment]:
    """Yield segments of many documents, at most `_AT_ONCE` in each; one that is empty where there are no documents."""
    for start in range(0, max(1, len(documents)), _AT_ONCE):
        yield build(documents[start : start + _AT_ONCE])


def counted_postings(lists: Iterable[tuple[int, Sequence[str]]]) -> list[Section]:
    """The postings of words by position, in order."""
    held: dict[str, dict[int, int]] = {}
    for position, words in lists:
        for word, count in Counter(words).items():
            held.setdefault(word, {})[position] = count
    names = sorted(held)
    starts = [0, *accumulate(len(held[name]) for name in names)]
    positions = [position for name in names for position in held[name]]
    counts = [count for name in names for count in held[name].values()]
    return [*texts(names), numbers(starts), numbers(positions), numbers(counts)]


def _bm25s_postings(lists: Sequence[Sequence[str]]) -> list[Section]:
    """Index with bm25s, and compute from its weights the counts: weights would change with every document added."""
    import numpy as np

    names = sorted(set().union(*lists))
    index = _bm25s(lists, {name: at for at, name in enumerate(names)})
    starts, positions, weights = index["indptr"], index["indices"], index["data"]
    holding: Array = np.diff(starts)
    rare = np.array([idf(len(lists), holders) for holders in holding.tolist()])
    lengths = np.array([len(words) for words in lists], dtype=np.float64)
    norms = length_norm(lengths, float(lengths.mean()))
    counts = np.rint(count_of(weights, np.repeat(rare, holding), norms[positions]))
    return [*texts(names), _packed(starts), _packed(positions), _packed(counts)]


def _bm25s(lists: Sequence[Sequence[str]], ids: dict[str, int]) -> dict[str, Array]:
    import logging

    import bm25s

    logging.getLogger("bm25s").setLevel(logging.NOTSET)  # which bm25s sets to DEBUG
    index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
    corpus = [[ids[word] for word in words] for words in lists]
    index.index((corpus, ids), create_empty_token=False, show_progress=False)
    found: dict[str, Array] = index.scores
    return found


def _packed(values: Array) -> Section:
    code = narrowest(int(values.max()) if len(values) else 0)
    return code, values.astype(code).tobytes()


def join(
    segments: Sequence[Segment], dead: Collection[int], base: bytes = b"", base_dead: Collection[int] = ()
) -> Segment:
    """Return one segment of the documents in `segments` that are not dead; positions go on from one to the next.

    `base` and `base_dead` are what the new segment says of another one. A single segment that would stay as it is, is
    returned itself.
    """
    segments = [segment for segment in segments if len(segment)] or segments[:1]
    if len(segments) == 1 and segments[0].base == base and not dead and not base_dead:
        return segments[0]
    import numpy as np

    keys = [key for segment in segments for key in segment.keys.all()]
    marks = [mark for segment in segments for mark in segment.marks()]
    ends = list(accumulate(map(len, segments)))
    firsts = [first + at for first, segment in zip([0, *ends], segments, strict=False) for at in segment.firsts]
    order = [at for at in sorted(range(len(keys)), key=keys.__getitem__) if firsts[at] not in dead]
    passages = list(starmap(range, pairwise([*firsts, ends[-1]])))
    alive = list(chain.from_iterable(passages[at] for at in order))
    # The new position of each passage, -1 for the dead.
    place = np.full(ends[-1], -1)
    place[alive] = np.arange(len(alive))
    places = np.split(place, ends[:-1])
    lengths = np.concatenate([np.asarray(segment.lengths) for segment in segments])[alive]
    return segment_of(
        [
            *texts([keys[at] for at in order]),
            _marks([marks[at] for at in order]),
            _firsts([place.item(firsts[at]) for at in order], len(alive)),
            _packed(lengths),
            *_joined_postings([segment.words for segment in segments], places),
            *_joined_postings([segment.labels for segment in segments], places),
            ("B", base),
            numbers(sorted(base_dead)),
        ]
    )


def _joined_postings(lists: Sequence[Postings], places: Sequence[Array]) -> list[Section]:
    """Merge postings; `places` has for each of them the new positions of its passages, -1 for the dead."""
    import numpy as np

    names = [postings.names.all() for postings in lists]
    every = sorted(set().union(*names))
    ids = {name: at for at, name in enumerate(every)}
    pieces = [_moved(*each, ids) for each in zip(lists, names, places, strict=True)]
    terms, positions, counts = (np.concatenate([piece[at] for piece in pieces]) for at in range(3))
    del pieces
    order = np.lexsort((positions, terms))
    holding = np.bincount(terms, minlength=len(every))
    starts = np.concatenate([[0], np.cumsum(holding[holding > 0])])
    left = [name for name, holders in zip(every, holding.tolist(), strict=True) if holders]
    return [*texts(left), _packed(starts), _packed(positions[order]), _packed(counts[order])]


def _moved(postings: Postings, names: list[str], place: Array, ids: dict[str, int]) -> tuple[Array, Array, Array]:
    """The ids of terms, the new positions and the counts of the postings of passages that still count."""
    import numpy as np

    terms = np.array([ids[name] for name in names], dtype=np.int32)
    holding: Array = np.diff(np.asarray(postings.starts, dtype=np.int64))
    every = np.repeat(terms, holding)
    positions = place.astype(np.int32)[np.asarray(postings.positions)]
    alive = positions >= 0
    return every[alive], positions[alive], np.asarray(postings.counts)[alive]


def documents_of(segment: Segment, dead: Collection[int]) -> list[Document]:
    """The documents of a small segment, without the dead, their words in another order."""
    words, labels = _held(segment.words, len(segment)), _held(segment.labels, len(segment))
    return [
        Document(
            key,
            mark,
            words[first],
            labels[first],
            [words[at] for at in further],
            list(map(int, (segment.lengths[at] for at in (first, *further)))),
        )
        for key, mark, (first, *further) in zip(
            segment.keys.all(), segment.marks(), segment.all_passages(), strict=True
        )
        if first not in dead
    ]


def _held(postings: Postings, size: int) -> list[list[str]]:
    """Return the names that each of `size` passages has, each as often as it was counted."""
    held: list[list[str]] = [[] for _ in range(size)]
    ends = postings.starts.tolist()[1:]
    at = 0
    for name, end in zip(postings.names.all(), ends, strict=True):
        for position, count in zip(postings.positions[at:end], postings.counts[at:end], strict=True):
            held[position] += [name] * count
        at = end
    return held
