"""BM25 as Lucene scores it, by bm25s over our own words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bm25s import BM25

K1 = 1.5
B = 0.75


class Ranked(NamedTuple):
    """The position of a document in what was indexed, and its score."""

    position: int
    score: float


class Index:
    """An immutable index of documents, each a list of words."""

    def __init__(self, documents: Sequence[list[str]]) -> None:
        self._size = len(documents)
        self._bm25: BM25 | None = None
        if any(documents):  # bm25s cannot index an empty vocabulary
            import bm25s  # costs ten times what a verb that does not search takes to start

            self._bm25 = bm25s.BM25(k1=K1, b=B, method="lucene")
            self._bm25.index(documents, show_progress=False)

    def search(self, query: Sequence[str], among: Sequence[int] | None = None) -> list[Ranked]:
        """The documents that share a word with `query`, best first, ties in the order indexed.

        A word counts once however often the query has it. `among` limits the answer to these positions.
        """
        if self._bm25 is None:
            return []
        known = [word for word in dict.fromkeys(query) if word and word in self._bm25.vocab_dict]
        if not known:
            return []
        import numpy as np

        scores = self._bm25.get_scores(known)
        wanted = np.arange(self._size) if among is None else np.unique(np.asarray(among, dtype=int))
        matching = wanted[scores[wanted] > 0]
        best = matching[np.argsort(-scores[matching], kind="stable")]
        return [Ranked(int(position), float(scores[position])) for position in best]
