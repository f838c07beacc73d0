"""What is indexed and what is found.

Plain classes: dataclasses and typing take longer to import than a search takes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Document:
    """What is known of one document, by the key it has in the index.

    `mark` is for the caller to tell its version by: any bytes, of one length in an index. `words` are
    ranked; `labels` are found exactly, and never ranked. `length` is how many words it counts as, None for all of
    them: those that it is found by and does not say, as its day, make no text longer.
    """

    __slots__ = ("key", "labels", "length", "mark", "words")

    def __init__(
        self, key: str, mark: bytes, words: Sequence[str], labels: Collection[str] = (), length: int | None = None
    ) -> None:
        self.key = key
        self.mark = mark
        self.words = words
        self.labels = labels
        self.length = len(words) if length is None else length


class Ranked:
    """The key of a document and its score."""

    __slots__ = ("key", "score")

    def __init__(self, key: str, score: float) -> None:
        self.key = key
        self.score = score

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranked) and (self.key, self.score) == (other.key, other.score)

    def __hash__(self) -> int:
        return hash((self.key, self.score))

    def __repr__(self) -> str:
        return f"Ranked({self.key!r}, {self.score!r})"
