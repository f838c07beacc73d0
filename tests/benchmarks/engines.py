"""What finds entries: crabmem as anyone uses it, and those one would take otherwise, with the defaults they come with.

The others get description and content as one text; with `with_names` the name as well, as crabmem has it.
"""

import re
import sqlite3
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import bm25s

from crabmem import CrabmemError, Fact, Memory
from crabmem.operations import context
from crabmem.recall.ranking import text_of

from .sets import Query, Record

#: The ids of at most so many entries, best first.
Search = Callable[[str, int], list[str]]

_SETTINGS = 'durability = "fast"\nsecrets = "off"\n'
#: Characters of an answer, as before a turn.
BUDGET = 4_000
_WORDS = re.compile(r"\w+")


@contextmanager
def remembered(records: Sequence[Record], root: Path) -> Iterator[Memory]:
    """A memory of these entries, each a file; an entry that cannot be kept is an error."""
    root.mkdir()
    (root / "crabmem.toml").write_text(_SETTINGS)
    with Memory(root) as memory:
        facts = [Fact(each.name, each.description, each.content) for each in records]
        for saved in memory.remember_all(facts, "a set"):
            if isinstance(saved, CrabmemError):
                raise saved
        yield memory


def crabmem(memory: Memory, records: Sequence[Record]) -> Search:
    """`Memory.recall`."""
    ids = {each.name.strip(): each.id for each in records}
    return lambda query, limit: [ids[hit.entry.name] for hit in memory.recall(query, limit)]


def told_first(memory: Memory, records: Sequence[Record], message: str) -> tuple[str, str] | None:
    """The ids of what is told first before a message, and of what recall finds first; None where memory is silent."""
    ids = {each.name.strip(): each.id for each in records}
    told = context.would_say(memory, message).hits
    return (ids[told[0].entry.name], ids[memory.recall(message, 1)[0].entry.name]) if told else None


def within_budget(memory: Memory, records: Sequence[Record], query: Query) -> tuple[float, int, int]:
    """The share of the text of the evidence that an answer within the budget shows, its pieces, and its characters."""
    ids = {each.name.strip(): each.id for each in records}
    hits = memory.recall(query.text, budget=BUDGET)
    shown = {ids[hit.entry.name]: len(hit.shown) / max(1, len(hit.entry.content)) for hit in hits}
    shares = [max((shown.get(each, 0.0) for each in unit), default=0.0) for unit in query.units]
    return sum(shares) / len(shares), sum(map(bool, shares)), sum(len(text_of(hit)) for hit in hits)


def others(records: Sequence[Record], with_names: bool) -> dict[str, Search]:
    """The search of each engine that is installed, by its name."""
    texts = [f"{each.name}\n" * with_names + f"{each.description}\n{each.content}" for each in records]
    made = {name: engine(texts) for name, engine in OTHERS.items()}

    def ids(found: Callable[[str, int], list[int]], query: str, limit: int) -> list[str]:
        return [records[at].id for at in found(query, limit)]

    return {name: partial(ids, found) for name, found in made.items() if found}


Found = Callable[[str, int], list[int]]


def _bm25s(texts: Sequence[str]) -> Found:
    """bm25s as it comes: lucene, k1 1.5, b 0.75, English stop words, no stemmer."""
    retriever = bm25s.BM25()
    retriever.index(_bm25s_tokens(texts), show_progress=False)

    def found(query: str, limit: int) -> list[int]:
        most = min(limit, len(texts))
        [places], [scores] = retriever.retrieve(_bm25s_tokens([query]), k=most, show_progress=False)
        return [int(place) for place, score in zip(places, scores, strict=True) if score > 0]

    return found


def _bm25s_tokens(texts: Sequence[str]) -> Any:
    return bm25s.tokenize(list(texts), stopwords="en", show_progress=False)


def _fts5(texts: Sequence[str]) -> Found | None:
    """SQLite's own full text search, any of the words; None where it was built without."""
    base = sqlite3.connect(":memory:")
    try:
        base.execute("CREATE VIRTUAL TABLE entries USING fts5(text, tokenize = porter)")
    except sqlite3.OperationalError:
        base.close()
        return None
    base.executemany("INSERT INTO entries VALUES (?)", ((text,) for text in texts))

    def found(query: str, limit: int) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORDS.findall(query.lower())))
        select = "SELECT rowid FROM entries WHERE entries MATCH ? ORDER BY rank LIMIT ?"
        return [row - 1 for (row,) in base.execute(select, (words, limit))] if words else []

    weakref.finalize(found, base.close)
    return found


def _tantivy(texts: Sequence[str]) -> Found | None:
    """tantivy with its English stemmer, any of the words; None where it is not installed."""
    try:
        tantivy: Any = import_module("tantivy")
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("place", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=50_000_000, num_threads=1)
    for place, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=text, place=place))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def found(query: str, limit: int) -> list[int]:
        words = " ".join(_WORDS.findall(query.lower()))
        hits = searcher.search(index.parse_query(words, ["text"]), limit).hits if words else ()
        return [searcher.doc(address)["place"][0] for _, address in hits]

    return found


def _counted(texts: Sequence[str], *, by_word: bool) -> Found:
    """What a folder of files and a search for the words of a question give, stop words of bm25s aside.

    The files with most matches first, as counted by `rg --count-matches`; or `by_word` those in which most of the words
    stand, as by one `grep -il` for each word, then with most matches.
    """
    lowered = [text.lower() for text in texts]

    def found(query: str, limit: int) -> list[int]:
        words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
        counts = [[text.count(word) for word in set(words)] for text in lowered]
        ranks = [(sum(map(bool, each)) * by_word, sum(each)) for each in counts]
        best = sorted(range(len(texts)), key=ranks.__getitem__, reverse=True)
        return [at for at in best if ranks[at][1]][:limit]

    return found


#: Those who are compared, by the names they have in tables.
OTHERS: Mapping[str, Callable[[Sequence[str]], Found | None]] = {
    "bm25s": _bm25s,
    "SQLite FTS5 (porter, OR)": _fts5,
    "tantivy (en_stem)": _tantivy,
    "grep, by how many words": partial(_counted, by_word=True),
    "ripgrep, by count": partial(_counted, by_word=False),
}
