"""One recall in a running process, against SQLite FTS5 and tantivy."""

import sqlite3
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from crabmem import Memory
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY

from ..bench import Bench
from ..corpus import facts, questions
from ..measure import measure
from ..row import Row, compared, faster, within
from ..timing import by_turns, with_each

#: From a question to the texts that answer it.
Engine = Callable[[str], list[str]]

_LIMIT = 6
_QUESTIONS, _WARM_UP = 300, 20
_SCHEMA = "CREATE VIRTUAL TABLE entries USING fts5(name, description, content, tokenize = porter)"
_SELECT = "SELECT name, description, content FROM entries WHERE entries MATCH ? ORDER BY rank LIMIT ?"
_OTHERS = {
    "FTS5": ("SQLite FTS5 (porter, OR) in memory, the text fetched", faster({10_000: 30, 100_000: 100})),
    "tantivy": ("tantivy (Python), the files read", within({10_000: 1, 100_000: 1})),
}


@measure(1_000, 10_000, 100_000)
def recall(bench: Bench, entries: int) -> Iterator[Row]:
    """One recall in a running process, the text of six hits in hand, by turns question by question."""
    root = bench.settled(bench.corpora.copy(entries, "recall"))
    made = {"FTS5": _fts5(entries), "tantivy": _tantivy(root, entries)}
    with Memory(root) as memory:
        engines: dict[str, Engine] = {"crabmem": lambda question: _recalled(memory, question)}
        engines |= {name: engine for name, engine in made.items() if engine}
        count, warm_up = bench.many(_QUESTIONS, 20), bench.many(_WARM_UP, 2)
        asked = list(islice(questions(entries), warm_up + count))

        actions = {name: with_each(engine, iter(asked)) for name, engine in engines.items()}
        taken = {name: replace(each, are_alike=False) for name, each in by_turns(actions, count, warm_up).items()}
    what, state = "`recall` in a running process, a question never asked before", "each is asked each question once"
    for name, (against, target) in _OTHERS.items():
        note = "" if name in taken else f"{name} is not installed"
        both = {each: taken[each] for each in ("crabmem", name) if each in taken}
        lines = {"crabmem": "recall", "FTS5": "FTS5"} if name == "FTS5" else {}
        yield compared(what, against, target, entries, state, both, note=note, lines=lines)


def _recalled(memory: Memory, question: str) -> list[str]:
    return [hit.entry.content for hit in memory.recall(question, _LIMIT)]


def _fts5(entries: int) -> Engine | None:
    """SQLite's own full text search over the same texts; None where it was built without."""
    base = sqlite3.connect(":memory:")
    try:
        base.execute(_SCHEMA)
    except sqlite3.OperationalError:
        base.close()
        return None
    texts = ((fact.name, fact.description, fact.content) for fact in facts(entries))
    base.executemany("INSERT INTO entries VALUES (?, ?, ?)", texts)
    base.execute("INSERT INTO entries(entries) VALUES ('optimize')")

    def found(question: str) -> list[str]:
        return [row[2] for row in base.execute(_SELECT, (" OR ".join(question.split()), _LIMIT))]

    weakref.finalize(found, base.close)
    return found


def _tantivy(root: Path, entries: int) -> Engine | None:
    """tantivy over the same texts, in one field, which is faster than three; None where it is not installed."""
    try:
        tantivy: Any = import_module("tantivy")
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="en_stem")
    builder.add_text_field("file", stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    for fact in facts(entries):
        words, file = f"{fact.name}\n{fact.description}\n{fact.content}", root / ORDINARY.entry_path(slug_of(fact.name))
        writer.add_document(tantivy.Document(words=words, file=str(file)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def found(question: str) -> list[str]:
        hits = searcher.search(index.parse_query(question, ["words"]), _LIMIT, count=False).hits
        texts = []
        for _, address in hits:
            with open(searcher.doc(address)["file"][0], encoding="utf-8") as file:
                texts.append(file.read())
        return texts

    return found
