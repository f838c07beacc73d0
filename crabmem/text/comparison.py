"""Where two texts are the same: items of sequences, lines or words, matched in order. Pure functions.

Items that both sides have once are anchors, as in Git's patience diff; between them the longest common subsequence is
taken, by rows of bits. Memory is linear. Work is bounded by the length of the texts, whatever stands in them: a gap
between anchors that is too large for its rows is left as replaced. The result depends on the texts alone, so that
machines which join the same histories make the same text.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from typing import NamedTuple, TypeAlias, TypeVar

T = TypeVar("T", bound=Hashable)
Pair: TypeAlias = tuple[int, int]
_Gap: TypeAlias = tuple[Sequence[int], Sequence[int], int]
Chain: TypeAlias = "tuple[int, int, Chain | None]"

_ROUNDS = 4  # looks for anchors within gaps; each takes time in proportion to what is left
_MAX_ITEMS = 1 << 16  # of both sides, which both have, between their common ends: 1 MB of ordinary lines on either
_FEW = 64  # pairs of items, of which anchors would be no help
_MAX_BITS = 1 << 23  # of all rows of a gap, 1 MB: 2,900 lines without an anchor on either side
_MAX_NAME = 200  # characters of a name that are compared


class Change(NamedTuple):
    """The items from `start` to `end` of one sequence became those from `first` to `last` of the other."""

    start: int
    end: int
    first: int
    last: int


def lines_in(text: str) -> list[str]:
    """The lines, each with its end; only a line feed ends one, and none begins behind the last."""
    return StringIO(text, newline="\n").readlines()


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of bytes, as `lines_in` does of text."""
    return BytesIO(data).readlines()


def common_ends(one: Sequence[T], other: Sequence[T]) -> tuple[int, int]:
    """How many items both begin with, and with how many of the rest both end."""
    longest, size, length = min(len(one), len(other)), len(one), len(other)
    head = _most(longest, lambda low, high: one[low:high] == other[low:high])
    tail = _most(longest - head, lambda low, high: one[size - high : size - low] == other[length - high : length - low])
    return head, tail


def _most(longest: int, is_same: Callable[[int, int], bool]) -> int:
    """Return how many items, `longest` at most, are the same, by bisection: slices are compared faster than items.

    `is_same(low, high)` returns whether the items from `low` to `high` are.
    """
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if is_same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def matched(old: Sequence[T], new: Sequence[T]) -> dict[int, int]:
    """Map the number of each item of `new` that is not new to its number in `old`, in order: both numbers rise."""
    found = list[Pair]()
    head, tail = common_ends(old, new)
    ends = range(len(new) - tail, len(new)), range(len(old) - tail, len(old))
    gaps: list[_Gap] = [(range(head, ends[1].start), range(head, ends[0].start), _ROUNDS)]
    while gaps:
        olds, news, rounds = gaps.pop()
        if rounds and len(olds) * len(news) > _FEW:
            gaps += _between_anchors(old, new, olds, news, rounds, found)
        else:
            found += _longest(old, new, olds, news)
    found.sort()
    return dict([*zip(range(head), range(head), strict=True), *found, *zip(*ends, strict=True)])


def changes(old: Sequence[T], new: Sequence[T]) -> Iterator[Change]:
    """Yield in order each part of `old` that is not in `new`, with the part of `new` that stands there instead."""
    at, to = 0, 0
    for there, here in [*matched(old, new).items(), (len(new), len(old))]:
        if there > to or here > at:
            yield Change(at, here, to, there)
        at, to = here + 1, there + 1


def _between_anchors(
    old: Sequence[T], new: Sequence[T], olds: Sequence[int], news: Sequence[int], rounds: int, found: list[Pair]
) -> list[_Gap]:
    """Match the common ends and the anchors of one gap, adding them to `found`; return the gaps that are left.

    A gap with more than `_MAX_ITEMS` is left unmatched: none is returned for it.
    """
    one, other = [old[at] for at in olds], [new[at] for at in news]
    head, tail = common_ends(one, other)
    found += zip(news[:head], olds[:head], strict=True)
    found += zip(news[len(news) - tail :], olds[len(olds) - tail :], strict=True)
    own, counts = Counter(one[head : len(one) - tail]), Counter(other[head : len(other) - tail])
    # Without the items of one side only, equal items around them become neighbours, which the next round matches.
    size = len(olds) + len(news) - 2 * (head + tail)
    olds = [at for at, item in zip(olds[head : len(one) - tail], one[head:], strict=False) if item in counts]
    news = [at for at, item in zip(news[head : len(other) - tail], other[head:], strict=False) if item in own]
    if len(olds) + len(news) > _MAX_ITEMS:
        return []
    once = {new[at]: at for at in news if counts[new[at]] == 1}
    anchors = rising((once[item], at) for at in olds if own[item := old[at]] == 1 and item in once)
    if not anchors:
        return [(olds, news, rounds - 1 if len(olds) + len(news) < size else 0)]
    found += anchors
    gaps, start, first = list[_Gap](), 0, 0
    for there, here in anchors:
        end, last = bisect_left(olds, here, start), bisect_left(news, there, first)
        if end > start and last > first:
            gaps.append((olds[start:end], news[first:last], rounds - 1))
        start, first = end + 1, last + 1
    gaps.append((olds[start:], news[first:], rounds - 1))
    return gaps


def rising(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the most pairs whose first numbers rise, too (longest increasing subsequence, by patience sorting).

    `pairs` come in the order of their second numbers.
    """
    tops, chains = list[int](), list[Chain]()
    for there, here in pairs:
        pile = bisect_left(tops, there)
        tops[pile : pile + 1] = [there]
        chains[pile : pile + 1] = [(there, here, chains[pile - 1] if pile else None)]
    found, chain = list[Pair](), chains[-1] if chains else None
    while chain:
        there, here, chain = chain
        found.append((there, here))
    return found[::-1]


def _longest(old: Sequence[T], new: Sequence[T], olds: Sequence[int], news: Sequence[int]) -> list[Pair]:
    """A longest common subsequence of the items at these places; nothing where its rows would be too large.

    Row n is about the first n items of `new`: its 0 bits are the places in `old` at which the longest common
    subsequence with these grows (Hyyrö, Bit-Parallel LCS-length Computation Revisited, 2004). The rows are read
    backwards to find the items.
    """
    if len(olds) > len(news):
        return [(there, here) for here, there in _longest(new, old, news, olds)]
    found, at, one, other = list[Pair](), len(olds), [old[at] for at in olds], [new[at] for at in news]
    if at * len(news) > _MAX_BITS or set(one).isdisjoint(other):
        return found
    rows = _rows(_masks(one), at, other)
    for number in range(len(news), 0, -1):
        at = (~rows[number] & ((1 << at) - 1)).bit_length()
        if not at:
            break
        if rows[number - 1] >> (at - 1) & 1:
            found.append((news[number - 1], olds[at - 1]))
            at -= 1
    return found


def _masks(items: Sequence[T]) -> dict[T, int]:
    """For each item the bits of the places that it stands at."""
    masks = dict[T, int]()
    for at, item in enumerate(items):
        masks[item] = masks.get(item, 0) | 1 << at
    return masks


def _rows(masks: dict[T, int], length: int, other: Sequence[T]) -> list[int]:
    """Return the rows that `_longest` describes, the first for no item of `other`; `masks` are of `length` items."""
    full = row = (1 << length) - 1
    rows = [row]
    for item in other:
        both = row & masks.get(item, 0)
        row = (row + both | row - both) & full
        rows.append(row)
    return rows


def nearest(name: str, known: Iterable[str], most: int = 1, least: float = 0.6) -> list[str]:
    """Return up to `most` names like `name`, best first.

    Likeness is twice the length of the longest common subsequence over that of both names together, at least `least`.
    """
    sought = name[:_MAX_NAME]
    masks, found = _masks(sought), list[tuple[float, str]]()
    for each in known:
        total = len(sought) + len(each)
        if 2 * min(len(sought), len(each)) >= least * total > 0:
            share = 2 * (len(sought) - _rows(masks, len(sought), each)[-1].bit_count()) / total
            found += [(share, each)] if share >= least else []
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])[:most]]
