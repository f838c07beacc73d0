"""Pairs of texts as large as a fact may be that keep a careless comparison busy for minutes, or for hours."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, cycle, repeat
from random import Random

#: Characters that the content of a fact may have.
LARGEST = 262_144
_SIGNS = [chr(0x100 + number) for number in range(101)]

Pair = tuple[str, str]


def of_lines(lines: Iterable[str], size: int = LARGEST) -> str:
    """As many lines as there is room for."""

    def fitting() -> Iterator[str]:
        left = size
        for line in lines:
            left -= len(line) + 1
            if left < 0:
                return
            yield f"{line}\n"

    return "".join(fitting())


def one_of_signs(own: str, size: int = LARGEST) -> str:
    """Every other line is one of 101 signs, each too rare for `difflib` to pass over; the others are `own`."""
    return of_lines((_SIGNS[at // 2 % 101] if at % 2 == 0 else f"{own}{at}" for at in count()), size)


def _chosen(letters: Iterable[str], seed: int) -> Iterator[str]:
    random, known = Random(seed), list(letters)
    return (random.choice(known) for _ in count())


def _permuted(seed: int) -> str:
    lines = [str(number) for number in range(37_000)]
    Random(seed).shuffle(lines)
    return of_lines(lines)


def _between_anchors(seed: int) -> str:
    letters = _chosen("ab", seed)
    return of_lines(line for number in range(21_000) for line in (str(number), next(letters), next(letters)))


def _in_blocks(size: int, between: str, seed: int, letters: Iterable[str] = "abcd") -> str:
    items = _chosen(letters, seed)
    return of_lines(f"anchor {number}\n" + between.join(next(items) for _ in range(size)) for number in count())


WORST: dict[str, Callable[[], Pair]] = {
    "every other line one of 101 signs": lambda: (one_of_signs("u"), one_of_signs("v")),
    "one of 101 signs between anchors": lambda: tuple_of(
        of_lines(_SIGNS[at // 2 * step % 101] if at % 2 == 0 else str(at) for at in count()) for step in (1, 2)
    ),
    "two lines between anchors": lambda: tuple_of(map(_between_anchors, (1, 2))),
    "blocks between anchors": lambda: tuple_of(_in_blocks(2_800, "\n", seed) for seed in (1, 2)),
    "words between anchors": lambda: tuple_of(_in_blocks(1_900, " ", seed) for seed in (1, 2)),
    "signs between anchors": lambda: tuple_of(
        _in_blocks(1_900, "a ", seed, map(chr, range(0x4E00, 0x4F00))) for seed in (1, 2)
    ),
    "all lines equal": lambda: (of_lines(repeat("a"), 262_000), of_lines(repeat("a"))),
    "blank lines": lambda: (of_lines(repeat("")), of_lines(repeat(" "))),
    "two lines in turn": lambda: (of_lines(cycle("ab")), of_lines(cycle("ba"))),
    "four lines at random": lambda: tuple_of(of_lines(_chosen("abcd", seed)) for seed in (1, 2)),
    "signs at random": lambda: tuple_of(of_lines(_chosen(_SIGNS, seed)) for seed in (1, 2)),
    "permuted": lambda: tuple_of(map(_permuted, (1, 2))),
    "each line twice, permuted": lambda: tuple_of(_permuted(seed)[: LARGEST // 2] * 2 for seed in (1, 2)),
    "repeated blocks": lambda: tuple_of(of_lines(cycle(map(str, chain(range(60), range(7 * at))))) for at in (0, 1)),
    "shifted": lambda: (_permuted(1), _permuted(1)[100_000:] + _permuted(1)[:100_000]),
    "one line": lambda: ("a b " * (LARGEST // 4), "b a " * (LARGEST // 4)),
    "one word": lambda: ("a" * LARGEST, "b" * LARGEST),
}


def tuple_of(texts: Iterable[str]) -> Pair:
    """Two texts as a pair."""
    before, after = texts
    return before, after
