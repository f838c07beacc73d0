"""Segments from documents and from other segments. Few documents are counted; many are left to bm25s and numpy."""

from __future__ import annotations

from itertools import accumulate

from .scoring import K1, B, count_of, damping, rarity
from .segment import narrowest, numbers, segment_of, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from numpy import ndarray

    from .document import Document
    from .segment import Postings, Section, Segment

    Array = ndarray[Any, Any]

FEW = 500
_AT_ONCE = 10_000


def counted(words: Iterable[str]) -> dict[str, int]:
    """How often each word is among `words`."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def built(documents: Iterable[Document], base: bytes = b"", dead: Collection[int] = ()) -> Segment:
    """The segment of `documents`, which have keys of their own."""
    ordered = sorted(documents, key=lambda document: document.key)
    words = [document.words for document in ordered]
    ranked = _counted_postings(words) if len(ordered) <= FEW or not any(words) else _bm25s_postings(words)
    labels = _counted_postings([sorted(set(document.labels)) for document in ordered])
    return segment_of(
        [
            *texts([document.key for document in ordered]),
            _marks([document.mark for document in ordered]),
            numbers([document.length for document in ordered]),
            *ranked,
            *labels,
            ("B", base),
            numbers(sorted(dead)),
        ]
    )


def _marks(marks: Sequence[bytes]) -> Section:
    if len(set(map(len, marks))) > 1:
        raise ValueError("marks differ in length")
    return "B", b"".join(marks)


def in_pieces(documents: Sequence[Document], progress: Callable[[int], None] | None) -> Iterator[Segment]:
    """The segments of many documents, so many at once as memory bears; `progress` hears how many are done."""
    for start in range(0, max(1, len(documents)), _AT_ONCE):
        yield built(documents[start : start + _AT_ONCE])
        if progress:
            progress(min(len(documents), start + _AT_ONCE))


def _counted_postings(lists: Sequence[Sequence[str]]) -> list[Section]:
    held: dict[str, dict[int, int]] = {}
    for position, words in enumerate(lists):
        for word, count in counted(words).items():
            held.setdefault(word, {})[position] = count
    names = sorted(held)
    starts = [0, *accumulate(len(held[name]) for name in names)]
    positions = [position for name in names for position in held[name]]
    counts = [count for name in names for count in held[name].values()]
    return [*texts(names), numbers(starts), numbers(positions), numbers(counts)]


def _bm25s_postings(lists: Sequence[Sequence[str]]) -> list[Section]:
    """The postings of bm25s, with the counts that its weights were made of: those change with every document."""
    import numpy as np

    names = sorted(set().union(*lists))
    index = _bm25s(lists, {name: at for at, name in enumerate(names)})
    starts, positions, weights = index["indptr"], index["indices"], index["data"]
    holding: Array = np.diff(starts)
    rare = np.array([rarity(len(lists), holders) for holders in holding.tolist()])
    lengths = np.array([len(words) for words in lists], dtype=np.float64)
    damped = damping(lengths, float(lengths.mean()))
    counts = np.rint(count_of(weights, np.repeat(rare, holding), damped[positions]))
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


def joined(
    segments: Sequence[Segment], dead: Collection[int], base: bytes = b"", base_dead: Collection[int] = ()
) -> Segment:
    """One segment of what is in `segments`, whose positions count on from one to the next, without the dead."""
    segments = [segment for segment in segments if len(segment)] or segments[:1]
    if len(segments) == 1 and segments[0].base == base and not dead and not base_dead:
        return segments[0]
    import numpy as np

    keys = [key for segment in segments for key in segment.keys.all()]
    marks = [mark for segment in segments for mark in segment.marks()]
    order = sorted(set(range(len(keys))).difference(dead), key=keys.__getitem__)
    place = np.full(len(keys), -1)
    place[order] = np.arange(len(order))
    places = np.split(place, list(accumulate(map(len, segments)))[:-1])
    lengths = np.concatenate([np.asarray(segment.lengths) for segment in segments])[order]
    return segment_of(
        [
            *texts([keys[at] for at in order]),
            _marks([marks[at] for at in order]),
            _packed(lengths),
            *_joined_postings([segment.words for segment in segments], places),
            *_joined_postings([segment.labels for segment in segments], places),
            ("B", base),
            numbers(sorted(base_dead)),
        ]
    )


def _joined_postings(lists: Sequence[Postings], places: Sequence[Array]) -> list[Section]:
    """Postings together; `places` has for each of them the new positions of its documents, -1 for the dead."""
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
    """The ids of terms, the new positions and the counts of the postings of documents that still count."""
    import numpy as np

    terms = np.array([ids[name] for name in names], dtype=np.int32)
    holding: Array = np.diff(np.asarray(postings.starts, dtype=np.int64))
    every = np.repeat(terms, holding)
    positions = place.astype(np.int32)[np.asarray(postings.positions)]
    alive = positions >= 0
    return every[alive], positions[alive], np.asarray(postings.counts)[alive]


def documents_of(segment: Segment, dead: Collection[int]) -> list[Document]:
    """The documents of a small segment, without the dead, their words in another order."""
    from .document import Document

    marks, words, labels = segment.marks(), _held(segment.words, len(segment)), _held(segment.labels, len(segment))
    keys, lengths = segment.keys.all(), segment.lengths
    alive = (at for at in range(len(segment)) if at not in dead)
    return [Document(keys[at], marks[at], words[at], labels[at], int(lengths[at])) for at in alive]


def _held(postings: Postings, size: int) -> list[list[str]]:
    held: list[list[str]] = [[] for _ in range(size)]
    ends = postings.starts.tolist()[1:]
    at = 0
    for name, end in zip(postings.names.all(), ends, strict=True):
        for position, count in zip(postings.positions[at:end], postings.counts[at:end], strict=True):
            held[position] += [name] * count
        at = end
    return held
