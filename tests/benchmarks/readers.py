"""Whether both readers of the index, and bm25s itself, rank the same: `python -m tests.benchmarks.readers FOLDER…`.

Each folder holds a set of retrieval data, `entries.jsonl.gz` (store, id, name, description, content) and
`queries.jsonl.gz` (store, query). A difference ends the run; what was compared is counted.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import bm25s

from crabmem.search import Document, Index, index, load, save, tokens
from crabmem.search.scoring import K1, B

from .sets import rows

_LIMIT = 50
_CLOSE = 1e-6


def stores(folder: Path) -> dict[str, tuple[list[Document], list[str]]]:
    """The documents and questions of each store in a set."""
    found: dict[str, tuple[list[Document], list[str]]] = defaultdict(lambda: ([], []))
    for row in rows(folder / "entries.jsonl.gz"):
        words = tokens("\n".join((row["name"], row["description"], row["content"])))
        found[row["store"]][0].append(Document(f"{len(found[row['store']][0]):07}", b"", words))
    for row in rows(folder / "queries.jsonl.gz"):
        found[row["store"]][1].append(row["query"])
    return found


def plainly(kept: Path, query: str) -> list[tuple[str, float]]:
    """The answer of a process that asks once."""
    loaded = load(kept)
    assert loaded is not None
    index.numpy_pays = lambda: False
    return [(found.key, found.score) for found in loaded.search(tokens(query), _LIMIT)]


def by_arrays(loaded: Index, query: str) -> list[tuple[str, float]]:
    """The answer of a process that asks again and again."""
    index.numpy_pays = lambda: True
    return [(found.key, found.score) for found in loaded.search(tokens(query), _LIMIT)]


def compared(documents: Sequence[Document], queries: Sequence[str]) -> int:
    """Compare the readers on one store; how many scores are the same."""
    reference = bm25s.BM25(k1=K1, b=B, method="lucene")
    reference.index([list(words) for document in documents for words in document.passages], show_progress=False)
    same = 0
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "a/b/index"
        kept.parent.mkdir(parents=True)
        assert save(Index().updated({document.key: document for document in documents}), kept)
        warm = load(kept)
        assert warm is not None
        for query in queries:
            cold = plainly(kept, query)
            assert cold == by_arrays(warm, query), f"the readers differ: {query}"
            words = [word for word in dict.fromkeys(tokens(query)) if word in reference.vocab_dict]
            scores = reference.get_scores(words) if words else []
            for key, score in cold:
                assert abs(score - float(scores[int(key)])) <= _CLOSE * score, f"bm25s scores otherwise: {query}"
            same += len(cold)
    return same


def main(folders: Sequence[str]) -> None:
    """Compare on every set."""
    for folder in map(Path, folders):
        sets = stores(folder).values()
        same = sum(compared(documents, queries) for documents, queries in sets)
        entries, asked = (sum(map(len, each)) for each in zip(*sets, strict=True))
        print(f"{folder.name}: {entries} entries, {asked} questions, {same} scores the same")


if __name__ == "__main__":
    main(sys.argv[1:])
