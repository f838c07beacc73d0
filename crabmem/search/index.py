"""The index: a large segment, smaller ones of later changes, and what came after them; searched as one.

Up to `FEW` changes are kept as a list of recent documents. More become a segment of their own, which is joined with
the large one when it is a tenth of it: so each document is written a few times, and a question has few places to look.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import NamedTuple, TypeVar

from ..disk.fork_lock import loading
from .scoring import best_of, by_document, idf, length_norm, scores_of, weight
from .scripts import is_unit
from .segment import FEW, Document, Segment, build, build_in_pieces, documents_of, join
from .vocabulary import merged_holders, pairs_of, substitutes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arrays import Weighing

# The passages that hold a word in one part (a segment, or the recent documents): the first position of the part in the
# index, the lengths of all its passages, the positions in the part, and how often each of these holds the word.
Holders = tuple[int, Sequence[int], Sequence[int], Sequence[int]]
# A word that is looked for, or several that count as one.
Term = str | tuple[str, ...]
Word = TypeVar("Word", bound=Term)
# From a limit to scores by position: at least those that may be among so many best.
Found = Callable[[int], dict[int, float]]
# By name [position, count, position, count, ...]: one flat list, as each list costs the garbage collector time.
Held = dict[str, list[int]]


_MANY = 200_000  # holders of the words of a question, from which on numpy pays at once
# Times as many are ranked next where a filter left too few.
_WIDER = 8
# All is joined into one segment where more than a tenth of the large one came later, or counts no more.
_PART = 10
# Words whose substitutes are kept.
_REMEMBERED = 1_000
# Holds an item once `numpy_pays` was called: from the second question of a process on, numpy is worth its import.
_asked: list[bool] = []


def numpy_pays() -> bool:
    """Return whether numpy is worth its import: it is loaded already, or this process called this function before.

    Each call is recorded, so that a process which asks one question never pays for the import.
    """
    if _asked or "numpy" in sys.modules:
        return True
    _asked.append(True)
    return False


class Ranked(NamedTuple):
    """The key of a document and its score; `by_meaning` is what of it is not for words, None where only they count."""

    key: str
    score: float
    by_meaning: float | None = None


class Recent:
    """The documents that came after the last segment, by the positions of their passages. Append-only.

    Several indexes share one: each reads only the positions that were there when it was made, so that the newest may
    append while others read.
    """

    __slots__ = ("documents", "firsts", "labels", "lengths", "words")

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        #: For each passage its document: one with three passages is there three times.
        self.documents: list[Document] = []
        #: For each passage the position of the first one of its document.
        self.firsts: list[int] = []
        self.lengths: list[int] = []
        self.words: Held = {}
        self.labels: Held = {}
        for document in documents:
            self.append(document)

    def append(self, document: Document) -> None:
        """Add `document`. Call it only from the newest index over these documents."""
        first = len(self.documents)
        for at, (words, length) in enumerate(zip(document.passages, document.lengths, strict=True)):
            self.documents.append(document)
            self.firsts.append(first)
            self.lengths.append(length)
            _hold(self.words, words, first + at)
        _hold(self.labels, document.labels, first)

    def passages(self, position: int) -> range:
        """The positions of all passages of the document that has the one at `position`."""
        first = self.firsts[position]
        return range(first, first + len(self.documents[position].passages))

    def until(self, size: int) -> Recent:
        """Return a copy of the documents at positions below `size`, to which another index may append."""
        firsts = [at for at, first in enumerate(self.firsts[:size]) if at == first]
        return Recent(self.documents[at] for at in firsts)


def _hold(held: Held, names: Iterable[str], position: int) -> None:
    for name, count in Counter(names).items():
        held.setdefault(name, []).extend((position, count))


def holding(held: Held, name: str, size: int) -> tuple[list[int], list[int]]:
    """The positions below `size` of the passages that have `name`, in order, and the counts."""
    found = held.get(name, [])[:]  # at once: another thread may add to it
    positions, counts = found[::2], found[1::2]
    end = bisect_left(positions, size)
    return positions[:end], counts[:end]


def starting(held: Held, prefix: str, size: int) -> Iterator[tuple[str, list[int]]]:
    """Return each name that begins with `prefix`, in no order, with the positions below `size` that have it."""
    return ((name, holding(held, name, size)[0]) for name in held.copy() if name.startswith(prefix))


class Index:
    """Documents by their keys, and what ranks them. Immutable: threads may share it, `updated` makes another.

    Passages are ranked, and a document counts as its best passage. A position is that of a passage; a document is at
    the position of its first.

    `_parts` are segments, each with its first position. Positions go on from one part to the next, and from `_start` on
    through the recent documents, of which only the first `_size` passages are in this index. `_own` has the positions
    of the recent documents that still count, by key; `_dead` has every position that no longer counts.
    """

    def __init__(self, settled: Sequence[Segment] = (), later: Segment | None = None) -> None:
        settled = settled or [build([])]
        segments = [*settled, *([later] if later is not None else [])]
        *firsts, self._start = accumulate(map(len, segments), initial=0)
        self._parts = list(zip(firsts, segments, strict=True))
        self._settled, self._settled_end = len(settled), sum(map(len, settled))
        self._dead = {position for segment in segments for position in segment.dead}
        self._has_passages = any(segment.has_passages for segment in segments)
        # Documents added and removed since the base was made; the last are those removed before the last joining.
        self._added, self._removed = len(later.keys) if later is not None else 0, self._documents_at(self._dead)
        self._settled_removed = self._documents_at({position for segment in settled for position in segment.dead})
        self._count = sum(len(segment.keys) for segment in segments) - self._removed
        self._passages = self._start - len(self._dead)
        self._words = sum(sum(segment.lengths) for segment in segments) - sum(map(self._length, self._dead))
        self._recent, self._size = Recent(), 0
        self._own: dict[str, int] = {}
        self._begin()

    def _begin(self) -> None:
        """Forget what was derived from the state before a change, and allow one index to append to `_recent`."""
        self._pen = [self._recent]  # the one index that pops it may append to `_recent`; any other copies it
        self._marks: dict[str, bytes] | None = None
        self._weighing: Weighing | None = None
        self._found_keys: dict[int, str] = {}
        self._substitutes: dict[str, list[Term]] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def passages(self) -> int:
        """How many passages the documents have: among so many a word is rare or not."""
        return self._passages

    def updated(self, changes: Mapping[str, Document | None], may_join: bool = True) -> Index:
        """Return an index in which `changes` replace the documents of their keys; None removes a document.

        Takes time in proportion to the changes. When more than `FEW` have come since the last joining, all are joined
        into segments, which may take time in proportion to all documents; without `may_join` that is left for later.
        """
        if may_join and self._changes_since_joining() + len(changes) > FEW:
            return self._merged(changes)
        return self._changed(changes)

    def is_grown(self) -> bool:
        """Return whether more than `FEW` changes have come since the last joining, so that `joined` is due."""
        return self._changes_since_joining() > FEW

    def joined(self) -> Index:
        """The same index with its changes joined into segments."""
        return self._merged({})

    def _changes_since_joining(self) -> int:
        """Return the changes since the last joining; a replaced document was added and removed, and counts once."""
        return max(self._added, self._removed - self._settled_removed)

    def _documents_at(self, positions: Collection[int]) -> int:
        """Return how many documents the passages at `positions` are; each has all its passages there, in segments."""
        if not self._has_passages:
            return len(positions)
        return sum(self._first(position) == position for position in positions)

    def _changed(self, changes: Mapping[str, Document | None]) -> Index:
        """Return a copy with `changes` in its recent documents, which both indexes share if this one may append."""
        new = object.__new__(Index)
        new.__dict__.update(self.__dict__)
        new._own, new._dead = self._own.copy(), self._dead.copy()
        try:
            self._pen.pop()
        except IndexError:  # another index goes on from this one already
            new._recent = self._recent.until(self._size)
        for key, document in changes.items():
            new._drop(key)
            if document is not None:
                new._add(key, document)
        new._begin()
        return new

    # `_drop` and `_add` change an index in place: only `_changed` calls them, before anybody else has the copy.
    def _drop(self, key: str) -> None:
        position = self._find(key)
        if position is not None:
            self._own.pop(key, None)
            passages = self._passages_at(position)
            self._dead.update(passages)
            self._removed += 1
            self._count -= 1
            self._passages -= len(passages)
            self._words -= sum(map(self._length, passages))

    def _add(self, key: str, document: Document) -> None:
        self._recent.append(document)
        self._own[key] = self._start + self._size
        passages = len(document.passages)
        self._has_passages |= passages > 1
        self._size += passages
        self._added += 1
        self._count += 1
        self._passages += passages
        self._words += sum(document.lengths)

    def _merged(self, changes: Mapping[str, Document | None]) -> Index:
        """Return the index with these changes, without recent documents: `base`, and one segment of what came later.

        Where that segment or the dead are more than a tenth of `base`, everything becomes one segment. Otherwise `base`
        stays as it is, and the later segment lists the positions that are dead in it.
        """
        found = [position for position in map(self._find, changes) if position is not None]
        replaced = (at for position in found for at in self._passages_at(position))
        # Only positions in segments: of the recent documents, those that still count become a segment, below.
        dead = {at for at in (*self._dead, *replaced) if at < self._start}
        kept = [document for document in self._own_documents() if document.key not in changes]
        documents = kept + [document for document in changes.values() if document is not None]
        base, *others = [segment for _, segment in self._parts]  # an empty index has an empty base
        others += build_in_pieces(documents)
        if max(sum(map(len, others)), len(dead)) > len(base) // _PART:
            return Index([join([base, *others], dead)])
        dead_in_base = {at for at in dead if at < len(base)}
        dead_in_others = {at - len(base) for at in dead - dead_in_base}
        return Index([base, join(others, dead_in_others, base.identity, dead_in_base)])

    def settled(self) -> list[Segment]:
        """Return the segments that few changes leave as they are: the base, and that of many changes if any."""
        return [segment for _, segment in self._parts[: self._settled]]

    def segments(self) -> tuple[list[Segment], list[int]]:
        """Return the whole index as segments (the recent documents become one), and the dead positions in them."""
        held = [segment for _, segment in self._parts]
        recent = [build(self._own_documents())] if self._own else []
        return [*held, *recent], [position for position in self._dead if position < self._start]

    def later(self) -> Segment:
        """Build the segment of all that changed since the settled ones: later documents, and what is dead in those."""
        documents = self._own_documents()
        for first, segment in self._parts[self._settled :]:
            documents += documents_of(segment, {position - first for position in self._dead})
        dead = [position for position in self._dead if position < self._settled_end]
        return build(documents, self.settled()[-1].identity, dead)

    def marks(self) -> Mapping[str, bytes]:
        """The mark of every document, by its key."""
        if self._marks is None:
            marks: dict[str, bytes] = {}
            for first, segment in self._parts:
                marks.update(segment.marks_by_key())
                for position in self._dead:
                    if first <= position < first + len(segment):
                        marks.pop(self._key(position), None)
            marks.update((document.key, document.mark) for document in self._own_documents())
            self._marks = marks
        return self._marks

    def labelled(self, label: str) -> list[str]:
        """The keys of the documents that have `label`, in order."""
        return sorted(map(self._key, self._labelled(label)))

    def labels(self, prefix: str = "") -> Iterator[str]:
        """The labels that begin with `prefix`, in order."""
        found = self._labels(prefix)
        return iter(sorted({name for name, places in found if not self._dead.issuperset(places)}))

    def pairs(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Each label that begins with `prefix`, and the key of each document that has it; in no order."""
        for name, places in self._labels(prefix):
            yield from ((name, self._key(place)) for place in places if place not in self._dead)

    def _labels(self, prefix: str) -> Iterator[tuple[str, Iterable[int]]]:
        """Yield each label that begins with `prefix`, part by part, with the positions that have it, dead ones too."""
        held = [(first, segment.labels.starting(prefix)) for first, segment in self._parts]
        for first, names in (*held, (self._start, starting(self._recent.labels, prefix, self._size))):
            yield from ((name, map(first.__add__, positions)) for name, positions in names)

    def starting(self, prefix: str) -> list[str]:
        """The words that begin with `prefix`, some perhaps of documents that are gone."""
        found = {word for word, _ in starting(self._recent.words, prefix, self._size)}
        for _, segment in self._parts:
            names = segment.words.names
            found.update(map(names.__getitem__, names.starting(prefix)))
        return sorted(found)

    def containing(self, part: str) -> list[str]:
        """The words that have `part` in them, some perhaps of documents that are gone."""
        found = {word for word in self._recent.words.copy() if part in word}
        found.update(*(segment.words.names.containing(part) for _, segment in self._parts))
        return sorted(found)

    def is_held(self, word: str) -> bool:
        """Whether a document has `word`."""
        return self._is_any(self._holding(word))

    def having(self, words: Iterable[Term]) -> list[str]:
        """The keys of the documents that have all of `words`, in order."""
        found: set[int] | None = None
        for word in words:
            own = {self._first(first + at) for first, _, positions, _ in self._holders(word) for at in positions}
            found = own if found is None else found & own
        return sorted(map(self._key, (found or set()) - self._dead))

    def search(
        self, words: Sequence[Term], limit: int | None = None, accept: Callable[[str], bool] | None = None
    ) -> list[Ranked]:
        """The documents that share a word with `words`, best first, ties in the order of their keys.

        The score of a document is that of its best passage. A word counts once however often it is in `words`, and the
        words of a tuple count as one. A word that no document holds is replaced by longer ones that contain it
        (`vocabulary.substitutes`). `accept` is called with keys, best first, until it has accepted `limit`.
        """
        found = self._found(list(dict.fromkeys(words)))
        window = limit or max(1, self._count)
        if accept is None:
            return self._ranked(found, window)
        return list(islice((each for each in self._one_by_one(found, window) if accept(each.key)), limit))

    def terms_for(self, words: Sequence[Term]) -> dict[Term, Term]:
        """Return the terms that are searched for `words`, each with the word that it stands for.

        Each word stands for itself; where no document holds one, its substitutes are among the terms, too.
        """
        found: dict[Term, Term] = {word: word for word in words}
        for word in words:
            for other in self._substitutes_for(word) if isinstance(word, str) and not self.is_held(word) else ():
                found.setdefault(other, word)
        return found

    def forms(self, word: Term) -> Sequence[str]:
        """Return the words that count as `word`: those of a tuple; of a unit of a paired script, also pairs with it."""
        if isinstance(word, tuple):
            return word
        if not is_unit(word):
            return (word,)
        return pairs_of(word, self)

    def idf(self, word: Term, least: int = 0) -> float:
        """Return the inverse document frequency of `word`: the fewer passages hold it, the higher.

        An index of fewer than `least` passages counts as one of so many.
        """
        return idf(max(self._passages, least), self.document_frequency(word))

    def document_frequency(self, word: Term) -> int:
        """How many passages hold `word`."""
        kept = self._weighing.kept(word) if self._weighing else None
        return len(kept[0]) if kept else sum(map(self._alive_among, self._holders(word)))

    def document_frequency_at_most(self, word: str) -> int:
        """Return an upper bound of `document_frequency`, which counts dead passages instead of looking at each one."""
        return sum(len(positions) for _, _, positions, _ in self._holding(word))

    def explained(self, words: Sequence[Word], keys: Sequence[str]) -> list[dict[Word, float]]:
        """Return for each document what each of `words`, terms of `terms_for`, adds to its score in `search`."""
        rare = {word: self.idf(word) for word in words}
        return [{word: rare[word] * share for word, share in held.items()} for held in self.shares(words, keys)]

    def shares(self, words: Sequence[Word], keys: Sequence[str]) -> list[dict[Word, float]]:
        """Return for each document, by each of `words` that its best passage holds, the share of the word's idf that
        counts there, below 1: more for a word that is often in a short passage."""
        return [shares for _, shares in self._best_shares(words, keys)]

    def best_passages(self, words: Sequence[Term], keys: Sequence[str]) -> list[int]:
        """Which passage of each document counts, from 0 on: the best for `words`, which `terms_for` gave."""
        return [number for number, _ in self._best_shares(words, keys)]

    def _best_shares(self, words: Sequence[Word], keys: Sequence[str]) -> list[tuple[int, dict[Word, float]]]:
        """Return for each document the number of its best passage, and its shares; a key not in the index has 0, {}."""
        found = [range(0) if at is None else self._passages_at(at) for at in map(self._find, keys)]
        shares: list[list[dict[Word, float]]] = [[{} for _ in passages] or [{}] for passages in found]
        for word in words:
            for holders in self._holders(word):
                for passages, held in zip(found, shares, strict=True):
                    for position, share in self._shares_among(holders, passages):
                        held[position - passages.start][word] = share
        if all(len(held) == 1 for held in shares):
            return [(0, held) for [held] in shares]
        rare = {word: self.idf(word) for word in words}
        scores = [[sum(rare[word] * share for word, share in one.items()) for one in held] for held in shares]
        best = [each.index(max(each)) for each in scores]
        return [(at, held[at]) for at, held in zip(best, shares, strict=True)]

    def _shares_among(self, holders: Holders, passages: range) -> Iterator[tuple[int, float]]:
        """The positions among `passages` that hold a word, and which share of its idf counts there."""
        first, lengths, positions, counts = holders
        start = bisect_left(positions, passages.start - first)
        for at in range(start, bisect_left(positions, passages.stop - first, start)):
            norm = length_norm(lengths[positions[at]], self._average())
            yield first + positions[at], weight(1.0, counts[at], norm)

    def _alive_among(self, holders: Holders) -> int:
        first, _, positions, _ = holders
        return sum(first + position not in self._dead for position in positions) if self._dead else len(positions)

    def _one_by_one(self, found: Found, window: int) -> Iterator[Ranked]:
        """Yield all documents that share a word, best first.

        Most callers stop early: `window` documents are put in order, and `_WIDER` times as many when these are used up.
        """
        seen = 0
        while True:
            ranked = self._ranked(found, window)
            yield from ranked[seen:]
            if len(ranked) < window:
                return
            seen, window = len(ranked), window * _WIDER

    def _ranked(self, found: Found, limit: int) -> list[Ranked]:
        """Return the `limit` best documents, those of equal scores by place and key; keys are read for these only."""
        order = [(-score, position) for position, score in found(limit).items()]
        if limit < len(order):  # of equal scores, the keys decide which are left out
            order.sort()
            order = order[: bisect_right(order, (order[limit - 1][0], self._start + self._size))]
        by_score = sorted((score, self._place(at), self._key(at)) for score, at in order)
        return [Ranked(key, -score) for score, _, key in by_score[:limit]]

    def _place(self, position: int) -> int:
        """Return the order of a document among those of equal score, before its key; only a `Union` has several."""
        return 0

    def _found(self, words: list[Term]) -> Found:
        """Return the scores of documents as a function of a limit, with substitutes for words that no document holds.

        Numpy computes them where it pays, or where the words have more than `_MANY` holders.
        """
        if numpy_pays():
            return self._found_by_arrays(words)
        holders = [self._holders(word) for word in words]
        unheld = [word for word, held in zip(words, holders, strict=True) if not self._is_any(held)]
        holders += [self._holders(word) for word in self._others(unheld, words)]
        if sum(len(positions) for each in holders for _, _, positions, _ in each) > _MANY:
            return self._found_by_arrays(words)
        scores = scores_of(holders, self._dead, self._passages, self._average())
        if self._has_passages:
            return by_document(lambda limit: best_of(scores, limit), self._first, len(scores))
        return lambda limit: best_of(scores, limit)

    def _found_by_arrays(self, words: list[Term]) -> Found:
        """Do the same as `_found` with numpy; the weights of words are kept for later questions."""
        weighing = self._weighing
        if weighing is None:
            with loading():
                from .arrays import Weighing
            firsts = self._firsts() if self._has_passages else ()
            size = self._start + self._size
            weighing = Weighing(size, self._dead, self._passages, self._average(), firsts)
            self._weighing = weighing
        weights = [weighing.kept(word) or weighing.weights(word, self._holders(word)) for word in words]
        held = [each for each in weights if len(each[0])]
        if len(held) < len(weights):
            unheld = [word for word, each in zip(words, weights, strict=True) if not len(each[0])]
            others = self._others(unheld, words)
            held += [weighing.kept(word) or weighing.weights(word, self._holders(word)) for word in others]
        if self._has_passages:
            return by_document(lambda limit: weighing.best(held, limit), weighing.first, self._passages)
        return lambda limit: weighing.best(held, limit)

    def _firsts(self) -> list[tuple[int, Sequence[int], int]]:
        """Return for each part its first position, the positions in it where documents begin, and its size."""
        recent = sorted(set(self._recent.firsts[: self._size]))
        return [
            *((first, segment.firsts, len(segment)) for first, segment in self._parts),
            (self._start, recent, self._size),
        ]

    def _average(self) -> float:
        return self._words / max(1, self._passages)

    def _others(self, unheld: Iterable[Term], words: Iterable[Term]) -> list[Term]:
        """Return the substitutes for the words in `unheld`, each once, without those that are among `words`."""
        found = [other for word in unheld if isinstance(word, str) for other in self._substitutes_for(word)]
        return [other for other in dict.fromkeys(found) if other not in words]

    def _substitutes_for(self, word: str) -> list[Term]:
        """Return the terms to search instead of a word that no document holds; cached for this state of the index."""
        kept = self._substitutes.get(word)
        if kept is None:
            if len(self._substitutes) >= _REMEMBERED:
                self._substitutes.clear()
            kept = self._substitutes[word] = substitutes(word, self)
        return kept

    def _is_any(self, held: Iterable[Holders]) -> bool:
        if not self._dead:
            return any(positions for _, _, positions, _ in held)
        return any(first + at not in self._dead for first, _, positions, _ in held for at in positions)

    def _holders(self, word: Term) -> list[Holders]:
        """The holders of a term: of a word, or of any of several that count as one."""
        if isinstance(word, str) and not is_unit(word):
            return self._holding(word)
        return merged_holders([self._holding(each) for each in self.forms(word)])

    def _holding(self, word: str) -> list[Holders]:
        """Return the holders of a word part by part, also of parts without any: `merged_holders` pairs them up."""
        held: list[Holders] = []
        for first, segment in self._parts:
            if segment.lengths:
                held.append((first, segment.lengths, *segment.words.holding(word)))
        if self._size:
            held.append((self._start, self._recent.lengths, *holding(self._recent.words, word, self._size)))
        return held

    def _labelled(self, label: str) -> set[int]:
        found = {self._start + position for position in holding(self._recent.labels, label, self._size)[0]}
        for first, segment in self._parts:
            found.update(first + position for position in segment.labels.holding(label)[0])
        return found - self._dead

    def _own_documents(self) -> list[Document]:
        return [self._recent.documents[position - self._start] for position in self._own.values()]

    def _find(self, key: str) -> int | None:
        """Return the position of the document of `key`; None where there is none, or it is dead."""
        if key in self._own:
            return self._own[key]
        for first, segment in self._parts:
            position = segment.find(key)
            if position is not None and first + position not in self._dead:
                return first + position
        return None

    def _key(self, position: int) -> str:
        if position >= self._start:
            return self._recent.documents[position - self._start].key
        key = self._found_keys.get(position)
        if key is None:
            first, segment = self._part(position)
            key = self._found_keys[position] = segment.key(position - first)
        return key

    def _first(self, position: int) -> int:
        """Return the position of the document that has the passage at `position`."""
        return self._passages_at(position).start if self._has_passages else position

    def _passages_at(self, position: int) -> range:
        """Return the positions of all passages of the document that has the passage at `position`."""
        if position >= self._start:
            first, part = self._start, self._recent.passages(position - self._start)
        else:
            first, segment = self._part(position)
            part = segment.passages(position - first)
        return range(first + part.start, first + part.stop)

    def _length(self, position: int) -> int:
        if position >= self._start:
            return self._recent.lengths[position - self._start]
        first, segment = self._part(position)
        return int(segment.lengths[position - first])

    def _part(self, position: int) -> tuple[int, Segment]:
        for part in reversed(self._parts):
            if position >= part[0]:
                break
        return part
