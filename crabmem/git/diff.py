"""How much two texts have in common. Pure functions."""

import re
from collections import Counter
from collections.abc import Callable, Mapping

#: A file that is less like an old one is a new one, and not that under another name; as Git has it.
ALIKE = 0.5
#: Bytes of texts that are compared to find where files went, of all files together, and for how many a pair counts
#: beyond its texts: a remote may move and rewrite thousands, and each is compared with each, under the writer's lock.
MOST_BYTES, _PAIR = 10_000_000, 2_000
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


class Likeness:
    """Finds which texts, by their ids, are most alike, while its work lasts: beyond, none is."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        #: How many bytes were compared.
        self.done = 0
        self._known = dict[str, tuple[int, Counter[bytes]]]()

    def most_alike(self, blob: str, others: Mapping[str, str]) -> str:
        """Return which of the other texts, by path, is most like one; "" where none is `ALIKE`."""
        best = (0.0, "")
        for path, other in others.items():
            if self.done > MOST_BYTES:
                return ""
            (size, mine), (other_size, its) = self._sentences(blob), self._sentences(other)
            self.done += _PAIR + size + other_size
            if min(size, other_size) and abs(size - other_size) * 2 <= max(size, other_size):
                best = max(best, (sum((mine & its).values()) / max(size, other_size), path))
        return best[1] if best[0] >= ALIKE else ""

    def _sentences(self, blob: str) -> tuple[int, Counter[bytes]]:
        if blob not in self._known:
            text = self._read(blob)
            self._known[blob] = len(text), _sentences(text)
        return self._known[blob]
