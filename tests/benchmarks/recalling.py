"""One recall: in a running process against SQLite FTS5 and tantivy, as a fresh one against bare Python."""

import os
import sqlite3
import statistics
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from crabmem import Memory
from crabmem.workspace.layout import ORDINARY

from .bench import Bench, bare_python, crabmem
from .corpus import facts, queries
from .row import NO_SLOWER, Row, Target, by_turns, faster, medians, milliseconds, seconds, within

Engine = Callable[[str], object]

LIMIT = 6
_QUERIES = 150
_TRIES = 3
#: Seconds after which no further query is asked.
_ENOUGH = 240.0
_SCHEMA = "CREATE VIRTUAL TABLE entries USING fts5(name, description, content, tokenize = porter)"
_SELECT = "SELECT name, description, content FROM entries WHERE entries MATCH ? ORDER BY rank LIMIT ?"


def rows(bench: Bench) -> Iterator[Row]:
    """The rows about single recalls."""
    taken = {entries: _in_a_process(bench, entries) for entries in bench.sizes}
    for meant, limit in ((10_000, 30), (100_000, 100)):
        yield _warm_row(bench, taken, meant, "FTS5", "SQLite FTS5 (porter, OR)", faster(limit))
        yield _warm_row(bench, taken, meant, "tantivy", "tantivy (Python)", NO_SLOWER)
    fresh = {entries: _as_process(bench, entries) for entries in bench.sizes}
    entries = bench.size(10_000)
    figures = milliseconds(fresh[entries], "crabmem", "python")
    measured = fresh[entries]["crabmem"] / fresh[entries]["python"]
    what = "`crabmem recall` as a fresh process, 10k"
    yield Row(what, "`python -c pass`", within(5), measured, entries, 10_000, figures)


def _warm_row(
    bench: Bench, taken: dict[int, dict[str, float]], meant: int, name: str, against: str, target: Target
) -> Row:
    entries = bench.size(meant)
    ours, theirs = taken[entries]["recall"], taken[entries].get(name)
    measured = None if theirs is None else ours / theirs if target.at_most else theirs / ours
    figures = milliseconds(taken[entries], "recall", name)
    note = "" if theirs else f"{name} is not installed"
    return Row(
        f"`recall` warm, {meant // 1000}k, limit {LIMIT}", against, target, measured, entries, meant, figures, note
    )


def _in_a_process(bench: Bench, entries: int) -> dict[str, float]:
    """The median seconds of a recall, by engine: over queries, of the best of three of each."""
    bench.say(f"  {entries:,} entries")
    root = bench.settled(bench.corpora.copy(entries, "recall"))
    others: dict[str, Engine | None] = {"FTS5": _fts5(bench, entries), "tantivy": _tantivy(bench, entries)}
    engines = {name: engine for name, engine in others.items() if engine}
    with Memory(root) as memory:
        engines["recall"] = lambda query: memory.recall(query, LIMIT).hits
        taken = _best_of_each(engines, queries(20 if bench.short else _QUERIES, entries))
    scan = medians(by_turns({"scan": lambda: status_of_all(root)}, bench.rounds(entries)))["scan"]
    for line, took in (("recall", taken["recall"]), ("FTS5", taken.get("FTS5")), ("every file's status", scan)):
        if took is not None:
            bench.point(line, entries, took)
    return taken


def _best_of_each(engines: Mapping[str, Engine], asked: list[str]) -> dict[str, float]:
    best: dict[str, list[float]] = {name: [] for name in engines}
    for engine in engines.values():
        engine(asked[0])
    began = time.monotonic()
    for query in asked:
        for name, engine in engines.items():
            best[name].append(min(_timed(engine, query) for _ in range(_TRIES)))
        if time.monotonic() - began > _ENOUGH:
            break
    return {name: statistics.median(each) for name, each in best.items()}


def _timed(engine: Engine, query: str) -> float:
    return seconds(lambda: engine(query))


def _as_process(bench: Bench, entries: int) -> dict[str, float]:
    """The median seconds of a fresh process whose cache is valid, and of one that does nothing."""
    root = bench.settled(bench.corpora.copy(entries, "recall"))
    asked = queries(1, entries, seed=5)[0].split()
    actions = {"crabmem": lambda: crabmem("--dir", root, "recall", *asked), "python": bare_python}
    by_turns(actions, 2)
    taken = medians(by_turns(actions, bench.rounds(entries)))
    bench.point("recall, fresh process", entries, taken["crabmem"])
    return taken


def status_of_all(root: Path) -> int:
    """Ask for the status of every entry."""
    with os.scandir(root / ORDINARY.entries[0]) as items:
        return sum(item.stat(follow_symlinks=False).st_size for item in items)


def _fts5(bench: Bench, entries: int) -> Engine | None:
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

    def found(query: str) -> object:
        return base.execute(_SELECT, (" OR ".join(query.split()), LIMIT)).fetchall()

    weakref.finalize(found, base.close)
    return found


def _tantivy(bench: Bench, entries: int) -> Engine | None:
    """tantivy over the same texts, in one field, which is faster than three; None where it is not installed."""
    try:
        tantivy: Any = import_module("tantivy")
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    for field in ("name", "description", "content", "words"):
        builder.add_text_field(field, stored=field != "words", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    for fact in facts(entries):
        words = f"{fact.name}\n{fact.description}\n{fact.content}"
        texts = {"name": fact.name, "description": fact.description, "content": fact.content, "words": words}
        writer.add_document(tantivy.Document(**texts))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[dict[str, Any]]:
        found = searcher.search(index.parse_query(query, ["words"]), LIMIT, count=False)
        return [searcher.doc(address).to_dict() for _, address in found.hits]

    return search
