"""How two texts compare, line by line. Pure functions."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

# Prose has its paragraphs on one line: a changed word makes another sentence, not another text.
_SENTENCE = re.compile(rb"[^.!?:;\n]*[.!?:;\n]*")


def matched(before: bytes, after: bytes) -> dict[int, int]:
    """Return which line of `before` each line of `after` was, by their numbers from 0, without those that are new.

    Both rise together: no line is matched across another that is. Equal lines at both ends are matched first, so that
    the time depends on what lies between them.
    """
    from difflib import SequenceMatcher  # late: who writes compares nothing

    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    blocks = [
        (-head, -head, head),
        *middle.get_matching_blocks(),
        (len(old) - tail - head, len(new) - tail - head, tail),
    ]
    return {head + b + step: head + a + step for a, b, size in blocks for step in range(size)}


def similarity(before: bytes, after: bytes) -> float:
    """Return how much of the larger text is in the other, from 0 to 1, by the bytes of the sentences that both have."""
    larger = max(len(before), len(after))
    if not before or not after or abs(len(before) - len(after)) * 2 > larger:
        return 0.0
    return sum((_sentences(before) & _sentences(after)).values()) / larger


def _sentences(text: bytes) -> Counter[bytes]:
    """Return how many bytes of a text are in which sentences."""
    found: Counter[bytes] = Counter()
    for sentence in _SENTENCE.findall(text.replace(b"\r\n", b"\n")):
        found[sentence] += len(sentence)
    return found


def _lines(text: bytes) -> list[bytes]:
    """Return the lines, each with its end; only a line feed ends one."""
    *whole, rest = text.split(b"\n")
    return [*(line + b"\n" for line in whole), *([rest] if rest else ())]


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Return how many lines two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
