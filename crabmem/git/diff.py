"""How much two texts have in common. Pure functions."""

import re
from collections import Counter

# Prose has its paragraphs on one line: a changed word makes another sentence, not another text.
_SENTENCE = re.compile(rb"[^.!?:;\n]*[.!?:;\n]*")


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
