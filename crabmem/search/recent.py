"""The documents that came after a segment was made, in the order in which they came."""

from __future__ import annotations

from bisect import bisect_left

from .build import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .document import Document

    Held = dict[str, tuple[list[int], list[int]]]


class Recent:
    """Documents by their positions here, and who holds which word. It only grows.

    Several indexes share one: each looks at no more than was there when it was made, so that one may
    add to it while others read.
    """

    __slots__ = ("documents", "labels", "lengths", "words")

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self.documents: list[Document] = []
        self.lengths: list[int] = []
        self.words: Held = {}
        self.labels: Held = {}
        for document in documents:
            self.append(document)

    def append(self, document: Document) -> None:
        """Add `document`. Only who made the index that saw all of it may."""
        position = len(self.documents)
        self.documents.append(document)
        self.lengths.append(document.length)
        for held, names in ((self.words, document.words), (self.labels, document.labels)):
            for name, count in counted(names).items():
                positions, counts = held.setdefault(name, ([], []))
                positions.append(position)
                counts.append(count)


def holding(held: Held, name: str, size: int) -> tuple[list[int], list[int]]:
    """The positions below `size` of the documents that have `name`, in order, and the counts."""
    positions, counts = held.get(name, ([], []))
    end = bisect_left(positions, size)
    return positions[:end], counts[:end]


def starting(held: Held, prefix: str, size: int) -> Iterator[tuple[str, list[int]]]:
    """The names that begin with `prefix`, in no order, and the positions below `size` of who has them."""
    return ((name, holding(held, name, size)[0]) for name in held.copy() if name.startswith(prefix))
