"""Retrieval data: entries, questions, and which entries hold the evidence for each.

A set is a folder with three files of JSON lines: `entries.jsonl.gz` (store, id, name, description, content),
`queries.jsonl.gz` (store, qid, query) and `qrels.jsonl.gz` (store, qid, units). A question is answered from its own
store alone. A unit is a piece of evidence, found with any one of its ids.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from crabmem.text.entry import MAX_CONTENT
from crabmem.text.evaluation import Figures, figures

_FILE = "entries.jsonl.gz"
#: Figures are of so many hits.
DEPTH = 10
# Where the hits are more of a store than that, the first five tell more than all ten.
_LARGE_SHARE = 1 / 5


@dataclass(frozen=True)
class Record:
    """One entry as the data has it."""

    id: str
    name: str
    description: str
    content: str


@dataclass(frozen=True)
class Query:
    """A question, and the ids that each unit of its evidence is found with."""

    text: str
    units: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Store:
    """Entries, and the questions asked of them."""

    name: str
    records: tuple[Record, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class DataSet:
    """Stores of one kind. Sets of one `domain` are about the same things; a mixed one is made of others.

    Rules and weights are chosen by one half of the questions, and the other half says whether they hold.
    """

    name: str
    stores: tuple[Store, ...]
    is_mixed: bool = False

    @property
    def domain(self) -> str:
        """The name up to the first `_`."""
        return self.name.partition("_")[0]

    @property
    def queries(self) -> list[Query]:
        """All questions, store by store."""
        return [query for store in self.stores for query in store.queries]

    @property
    def is_tuned(self) -> list[bool]:
        """For each question whether it is of the half that is tuned on: every second store; of one store every second
        question, in an order that has nothing to do with what it asks."""
        if len(self.stores) > 1:
            return [at % 2 == 0 for at, store in enumerate(self.stores) for _ in store.queries]
        return [crc32(query.text.encode()) % 2 == 0 for query in self.queries]

    @property
    def entries(self) -> int:
        """The number of all entries."""
        return sum(len(store.records) for store in self.stores)

    @property
    def counts(self) -> str:
        """The figure that counts: R@10, but R@5 where ten hits are much of a store."""
        return "r@5" if self.entries / len(self.stores) < DEPTH / _LARGE_SHARE else "r@10"


def names(folder: Path) -> list[str]:
    """The sets in a folder."""
    return sorted(file.parent.name for file in folder.glob(f"*/{_FILE}"))


def loaded(folder: Path) -> DataSet:
    """The set in a folder; what is longer than a fact may be is cut for all who are measured."""
    units = {(row["store"], row["qid"]): row["units"] for row in rows(folder / "qrels.jsonl.gz")}
    records: dict[str, list[Record]] = {}
    queries: dict[str, list[Query]] = {}
    for row in rows(folder / _FILE):
        record = Record(row["id"], row["name"], row["description"], row["content"][:MAX_CONTENT])
        records.setdefault(row["store"], []).append(record)
    for row in rows(folder / "queries.jsonl.gz"):
        evidence = tuple(map(frozenset, units[row["store"], row["qid"]]))
        queries.setdefault(row["store"], []).append(Query(row["query"], evidence))
    stores = (Store(name, tuple(each), tuple(queries.get(name, ()))) for name, each in records.items())
    return DataSet(folder.name, tuple(stores))


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """The objects in a file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def scored(ranked: Sequence[str], query: Query) -> Figures:
    """The figures of the first ten ids that were found, best first: a hit brings the units that none before it did."""
    return figures(list(_gains(ranked[:DEPTH], query.units)), list(_ideal(query.units)))


def _gains(ranked: Sequence[str], units: Sequence[frozenset[str]]) -> Iterator[int]:
    left = list(units)
    for item in ranked:
        still = [unit for unit in left if item not in unit]
        yield len(left) - len(still)
        left = still


def _ideal(units: Sequence[frozenset[str]]) -> Iterator[int]:
    """The gains when each hit is one that brings the most units that are left."""
    left = list(units)
    while left:
        best, gain = max(Counter(item for unit in left for item in sorted(unit)).items(), key=lambda pair: pair[1])
        left = [unit for unit in left if best not in unit]
        yield gain
