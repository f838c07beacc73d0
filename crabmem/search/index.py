"""The index: a large segment, smaller ones of later changes, and what came after them; searched as one.

A few changes are kept as they come. Many become a segment, which is joined with the large one when it is a
tenth of it: so each change is written a few times only, and a question looks into a few places only.
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

# Where the positions of a part begin, its lengths, and positions in it with their counts.
Holders = tuple[int, Sequence[int], Sequence[int], Sequence[int]]
# A word that is looked for, or several that count as one.
Term = str | tuple[str, ...]
Word = TypeVar("Word", bound=Term)
Found = Callable[[int], dict[int, float]]
# By name its positions, each with a count behind it: one list, as the garbage collector looks at each.
Held = dict[str, list[int]]


_MANY = 200_000  # holders of the words of a question, from which on numpy pays at once
# Times as many are ranked next where a filter left too few.
_WIDER = 8
# All is joined into one segment where more than a tenth of the large one came later, or counts no more.
_PART = 10
# Words whose substitutes are kept.
_REMEMBERED = 1_000
_asked: list[bool] = []


def numpy_pays() -> bool:
    """Whether numpy is worth its import: it is there already, or this process asks more than once."""
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
    """Documents by the positions of their passages here, and the positions that hold each word. It only grows.

    Several indexes share one: each reads only what was there when it was made, so that one may append while others
    read.
    """

    __slots__ = ("documents", "firsts", "labels", "lengths", "words")

    def __init__(self, documents: Iterable[Document] = ()) -> None:
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
        """The documents at the positions below `size`, for another to add to."""
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
    """The names that begin with `prefix`, in no order, and the positions below `size` of who has them."""
    return ((name, holding(held, name, size)[0]) for name in held.copy() if name.startswith(prefix))


class Index:
    """Documents by their keys, and what ranks them. Immutable: threads may share it, `updated` makes another.

    What is ranked is a passage; the best one of a document counts for it. Positions are those of passages, and a
    document is at that of its first.

    Its parts are segments; positions count on from one to the next, and to the recent documents, of which only
    the first `_size` passages are in it. `_own` has the positions of those that still count, `_dead` all that do not.
    """

    def __init__(self, settled: Sequence[Segment] = (), later: Segment | None = None) -> None:
        settled = settled or [build([])]
        segments = [*settled, *([later] if later is not None else [])]
        *firsts, self._start = accumulate(map(len, segments), initial=0)
        self._parts = list(zip(firsts, segments, strict=True))
        self._settled, self._settled_end = len(settled), sum(map(len, settled))
        self._dead = {position for segment in segments for position in segment.dead}
        self._has_passages = any(segment.has_passages for segment in segments)
        # How many documents were added and removed, and how many of those before the last joining.
        self._added, self._removed = len(later.keys) if later is not None else 0, self._documents_at(self._dead)
        self._settled_removed = self._documents_at({position for segment in settled for position in segment.dead})
        self._count = sum(len(segment.keys) for segment in segments) - self._removed
        self._passages = self._start - len(self._dead)
        self._words = sum(sum(segment.lengths) for segment in segments) - sum(map(self._length, self._dead))
        self._recent, self._size = Recent(), 0
        self._own: dict[str, int] = {}
        self._begin()

    def _begin(self) -> None:
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
        """The index with these documents by their keys instead of those it has; None is without one.

        Takes time with the changes, and with all documents now and then, when many changes have come
        together, unless it may not join them.
        """
        if may_join and self._changes_since_joining() + len(changes) > FEW:
            return self._merged(changes)
        return self._changed(changes)

    def is_grown(self) -> bool:
        """Whether so many changes have come together that they had better be joined."""
        return self._changes_since_joining() > FEW

    def joined(self) -> Index:
        """The same index with its changes joined into segments."""
        return self._merged({})

    def _changes_since_joining(self) -> int:
        return max(self._added, self._removed - self._settled_removed)

    def _documents_at(self, positions: Collection[int]) -> int:
        """How many documents have all the passages at `positions` of segments."""
        if not self._has_passages:
            return len(positions)
        return sum(self._first(position) == position for position in positions)

    def _changed(self, changes: Mapping[str, Document | None]) -> Index:
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

    # These two are for an index that nobody has seen yet.
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
        """The index with these changes, if there are any, all of it in segments: `base` and one of all that came later.

        Where the later one or the dead are more than a tenth of `base`, there is one segment, of all. Else `base` stays
        as it is, and the later one says what is dead in it.
        """
        found = [position for position in map(self._find, changes) if position is not None]
        replaced = (at for position in found for at in self._passages_at(position))
        # Only of segments: the recent documents that still count become one, below.
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
        """The segments that most changes leave as they are: the first, and one of many changes, if there were."""
        return [segment for _, segment in self._parts[: self._settled]]

    def segments(self) -> tuple[list[Segment], list[int]]:
        """All of it as segments, the recent documents as one of them, and the positions in them that do not count."""
        held = [segment for _, segment in self._parts]
        recent = [build(self._own_documents())] if self._own else []
        return [*held, *recent], [position for position in self._dead if position < self._start]

    def later(self) -> Segment:
        """All that is not as the settled segments have it."""
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
        """The labels that begin with `prefix`, part by part, and where the documents are that had them."""
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

        The score of a document is that of its best passage. A word counts once however often it is said, and the
        words of a tuple count as one. A word that nobody holds is taken for longer ones that it is a part of
        (`vocabulary.substitutes`). `accept` says of a key whether it may be found, and is asked in that order, until
        there are `limit`.
        """
        found = self._found(list(dict.fromkeys(words)))
        window = limit or max(1, self._count)
        if accept is None:
            return self._ranked(found, window)
        return list(islice((each for each in self._one_by_one(found, window) if accept(each.key)), limit))

    def terms_for(self, words: Sequence[Term]) -> dict[Term, Term]:
        """The terms that are searched for these words, each with the word it stands for.

        That is itself, unless no document holds the word: then others stand for it.
        """
        found: dict[Term, Term] = {word: word for word in words}
        for word in words:
            for other in self._substitutes_for(word) if isinstance(word, str) and not self.is_held(word) else ():
                found.setdefault(other, word)
        return found

    def forms(self, word: Term) -> Sequence[str]:
        """The words that count as `word`."""
        if isinstance(word, tuple):
            return word
        if not is_unit(word):
            return (word,)
        return pairs_of(word, self)

    def idf(self, word: Term, least: int = 0) -> float:
        """The inverse document frequency: how much it says that a passage holds `word`, the most if none does.

        Of fewer than `least` passages it is reckoned as if there were so many.
        """
        return idf(max(self._passages, least), self.document_frequency(word))

    def document_frequency(self, word: Term) -> int:
        """How many passages hold `word`."""
        kept = self._weighing.kept(word) if self._weighing else None
        return len(kept[0]) if kept else sum(map(self._alive_among, self._holders(word)))

    def document_frequency_at_most(self, word: str) -> int:
        """The same, or more: documents that are gone count until they are joined, which takes no time to tell."""
        return sum(len(positions) for _, _, positions, _ in self._holding(word))

    def explained(self, words: Sequence[Word], keys: Sequence[str]) -> list[dict[Word, float]]:
        """What each of `words`, which `terms_for` gave, adds to the score of each document: all that `search` says."""
        rare = {word: self.idf(word) for word in words}
        return [{word: rare[word] * share for word, share in held.items()} for held in self.shares(words, keys)]

    def shares(self, words: Sequence[Word], keys: Sequence[str]) -> list[dict[Word, float]]:
        """For each document, and each of `words` that its best passage holds, which share of its idf counts there,
        below 1."""
        return [shares for _, shares in self._best_shares(words, keys)]

    def best_passages(self, words: Sequence[Term], keys: Sequence[str]) -> list[int]:
        """Which passage of each document counts, from 0 on: the best for `words`, which `terms_for` gave."""
        return [number for number, _ in self._best_shares(words, keys)]

    def _best_shares(self, words: Sequence[Word], keys: Sequence[str]) -> list[tuple[int, dict[Word, float]]]:
        """For each document which passage is the best, and the share of each word that this one holds."""
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
        """All that share a word, best first, of which `window` are put in order first, and then more at once."""
        seen = 0
        while True:
            ranked = self._ranked(found, window)
            yield from ranked[seen:]
            if len(ranked) < window:
                return
            seen, window = len(ranked), window * _WIDER

    def _ranked(self, found: Found, limit: int) -> list[Ranked]:
        order = [(-score, position) for position, score in found(limit).items()]
        if limit < len(order):  # of equal scores, the keys decide which are left out
            order.sort()
            order = order[: bisect_right(order, (order[limit - 1][0], self._start + self._size))]
        by_score = sorted((score, self._place(at), self._key(at)) for score, at in order)
        return [Ranked(key, -score) for score, _, key in by_score[:limit]]

    def _place(self, position: int) -> int:
        """Documents of equal scores come in this order, and of one place in that of their keys."""
        return 0

    def _found(self, words: list[Term]) -> Found:
        """A function from a limit to the scores of documents by position: all that may be among so many best, and
        perhaps more."""
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
        """For each part where it begins, where its documents begin in it, and how many passages it has."""
        recent = sorted(set(self._recent.firsts[: self._size]))
        return [
            *((first, segment.firsts, len(segment)) for first, segment in self._parts),
            (self._start, recent, self._size),
        ]

    def _average(self) -> float:
        return self._words / max(1, self._passages)

    def _others(self, unheld: Iterable[Term], words: Iterable[Term]) -> list[Term]:
        """What `unheld` may stand for that is not among `words`."""
        found = [other for word in unheld if isinstance(word, str) for other in self._substitutes_for(word)]
        return [other for other in dict.fromkeys(found) if other not in words]

    def _substitutes_for(self, word: str) -> list[Term]:
        """The terms that stand for a word that no document holds. They are kept for this index alone."""
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
        """The position of the document that has a passage there."""
        return self._passages_at(position).start if self._has_passages else position

    def _passages_at(self, position: int) -> range:
        """The positions of all passages of the document that has the one there."""
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
