"""`python -m tests.fleet.figures`: what a question takes over very many memories, and how soon a push is found.

With `--write` the table goes into RESULTS.md beside this file. A million facts of 5,000 memories take a quarter of an
hour, most of it to make and load them. `--data FOLDER` compares the answers with a local recall's instead, in sets of
retrieval data as `tests.benchmarks.sets` reads them.
"""

import argparse
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from crabmem import Fact, Memory
from crabmem.fleet import rights
from crabmem.fleet.asking import asked_of
from crabmem.fleet.following import follow_once, mirror_of
from crabmem.fleet.mirror import passages_of
from crabmem.fleet.postgres import Postgres
from crabmem.fleet.protocol import Contents, Row, Space
from crabmem.search import rules
from crabmem.sync.sync import name_remote, sync
from crabmem.text.entry import parse_entry, render_entry
from crabmem.text.hashes import blob_id
from tests.benchmarks import sets
from tests.benchmarks.corpus import text_of
from tests.docs.marks import put
from tests.fleet.filled import EVERY_KIND, fill
from tests.fleet.server import Server, serving

RESULTS = Path(__file__).parent / "RESULTS.md"
_EACH, _ABOUT, _WORDS = 200, 6, 12
_VOCABULARY, _FLAT, _NAMES = 60_000, 50, 200_000
_QUESTIONS = 200
_PUSHES, _REPOSITORIES = 40, 25
_LANGUAGE = "english"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fleet.figures", description=(__doc__ or "").partition(": ")[2]
    )
    parser.add_argument("--facts", type=int, default=1_000_000, metavar="N", help="how many facts (1000000)")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="compare with a local recall in the sets there")
    given = parser.parse_args()
    if given.data:
        _compare(given.data)
        return
    rows = list[tuple[str, str, str]]()

    def tell(what: str, target: str, measured: str) -> None:
        rows.append((what, target, measured))
        print(f"{what}: {measured} (target {target})", flush=True)

    options = "-c shared_buffers=1GB -c max_wal_size=4GB -c work_mem=64MB"
    with serving(durably=True, options=options) as server:
        url = server.url(server.database())
        with Postgres(url) as index:
            index.create()
            questions = _load(index, given.facts, tell)
            _ask(index, server, url, questions, given.facts // _EACH, tell)
        _follow(server, tell)
        version = subprocess.run(
            [str(server.programs / "postgres"), "--version"], capture_output=True, text=True
        ).stdout
    head = (
        f"Measured on {time.strftime('%Y-%m-%d')} in one run: {given.facts:,} facts of {given.facts // _EACH:,} "
        "memories; "
        f"{os.cpu_count()} cores, {version.split()[2]} of PostgreSQL with 1 GB of shared buffers, Python "
        f"{platform.python_version()}."
    )
    lines = [("what", "target", "measured"), ("---", "---", "---"), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    print(f"\n{head}\n\n{table}")
    if given.write:
        put(RESULTS, "figures", f"{head}\n\n{table}")


@lru_cache
def _chances() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The chance of each word that is searched: the most frequent ones of a text say nothing, and are not."""
    weights = 1 / (np.arange(_VOCABULARY) + _FLAT)
    return np.asarray(np.cumsum(weights) / weights.sum())


def _facts(seed: int) -> list[Fact]:
    """The facts of a made-up memory, with names that few others have."""
    chance = np.random.default_rng(seed)
    ranks = np.searchsorted(_chances(), chance.random((_EACH, _ABOUT + _WORDS)))
    names = chance.integers(_NAMES, size=(_EACH, 2))
    return [
        Fact(f"{_said(name, 'n')} {at}", _said(words[:_ABOUT], "w"), _said(words[_ABOUT:], "w"))
        for at, (words, name) in enumerate(zip(ranks, names, strict=True))
    ]


def _said(ranks: Iterable[int], kind: str) -> str:
    """Words by their ranks, of letters alone."""
    return " ".join(kind + "".join(chr(97 + int(digit)) for digit in str(rank)) for rank in ranks)


def _rows(space: int) -> list[Row]:
    """The facts of a made-up memory, as a follower reads them."""
    made = []
    for fact in _facts(100_000 + space):
        path, text = f"memory/entries/{fact.name.replace(' ', '-')}.md", text_of(fact)
        entry, blob = parse_entry(path, text.encode()), blob_id(text.encode())
        passages = passages_of(entry, _LANGUAGE)
        made.append(Row(path, blob, EVERY_KIND, False, text, None, datetime.now(UTC), passages))
    return made


def _load(index: Postgres, facts: int, tell: Callable[[str, str, str], None]) -> list[tuple[str, str]]:
    """Load so many facts; return questions of words of one of them, each with the name of its memory."""
    for number in range(facts // _EACH):
        index.add(f"team-{number // 100}/agent-{number}", f"/srv/{number}.git", f"srv/{number}")
    asked, spent, chance = list[tuple[str, str]](), 0.0, random.Random(1)
    spaces = index.spaces()
    wanted = set(chance.sample(range(len(spaces)), min(_QUESTIONS, len(spaces))))
    for number, space in enumerate(spaces):
        rows = _rows(space.id)
        if number in wanted:
            words = sorted(set(re.findall("[a-z]+", chance.choice(rows).said.partition("---\n\n")[2].lower())))
            asked.append((space.name, " ".join(chance.sample(words, min(len(words), chance.randint(3, 6))))))
        began = time.monotonic()
        _put(index, space.id, rows)
        spent += time.monotonic() - began
        if number % 500 == 0:
            print(f"{number:,} of {len(spaces):,} memories", file=sys.stderr, flush=True)
    index.connection.execute("vacuum analyze")
    [(size,)] = index.connection.execute("select pg_database_size(current_database())")
    tell("load alone, rows made beforehand", "≥ 3,000 facts/s", f"{facts / spent:,.0f} facts/s")
    tell("disk for a million facts, texts and all", "≤ 2.5 GB", f"{size / facts * 1_000_000 / 1e9:.2f} GB")
    return asked


def _put(index: Postgres, space: int, rows: list[Row]) -> None:
    by_path = {row.path: row for row in rows}

    def read(paths: Collection[str]) -> Iterator[Row]:
        return (by_path[path] for path in paths)

    blobs = {row.path: row.blob for row in rows}
    index.put(Space(space, "", ""), Contents("0" * 40, _LANGUAGE, rules(_LANGUAGE), "", None, blobs, read))


def _ask(
    index: Postgres,
    server: Server,
    url: str,
    questions: list[tuple[str, str]],
    spaces: int,
    tell: Callable[[str, str, str], None],
) -> None:
    ids = {space.name: space.id for space in index.spaces()}
    chance = random.Random(2)
    for count, target in ((1, "p95 ≤ 5 ms"), (100, "p95 ≤ 20 ms"), (1_000, "p95 ≤ 75 ms"), (spaces, "p95 ≤ 250 ms")):
        if count > spaces:
            continue
        took = []
        for name, question in questions:
            others = None if count == spaces else [ids[name], *chance.sample(list(ids.values()), count - 1)]
            took.append(_taken(index, question, others))
        tell(f"a question within {count:,} of {spaces:,} memories, by the owner", target, _times(took))
    for count in (min(100, spaces), spaces):
        role = f"reader_{count}"
        index.grant(role, "*", "main")
        index.set_readers((role, id, 1) for id in chance.sample(list(ids.values()), count))
        with Postgres(url.replace("owner@", f"{role}@")) as reader:
            took = [_taken(reader, question, None) for _, question in questions]
        tell(f"a question of a reader who may see {count:,}", "as above", _times(took))


def _taken(index: Postgres, question: str, scope: Collection[int] | None) -> float:
    began = time.perf_counter()
    index.search([asked_of(question, _LANGUAGE)], scope, "main", 10)
    return time.perf_counter() - began


def _compare(data: Path) -> None:
    """Ask each question of each set of its store alone, here and in the database, and print how many answers differ."""
    with serving(durably=True) as server, tempfile.TemporaryDirectory() as scratch:
        for name in sets.names(data):
            asked = same = first = 0
            for number, store in enumerate(sets.loaded(data / name).stores):
                root = Path(scratch) / f"{name}-{number}"
                (root / "memory/entries").mkdir(parents=True)
                files = dict[str, tuple[str, int]]()
                for at, record in enumerate(store.records):
                    path, fact = f"memory/entries/{at:05}.md", Fact(record.name, record.description, record.content)
                    text = render_entry(fact, None)
                    (root / path).write_text(text, "utf-8")
                    files[path] = text, EVERY_KIND
                with Postgres(server.url(server.database())) as index, Memory(root) as memory:
                    index.create()
                    fill(index, {"store": files})
                    for query in store.queries:
                        here = [hit.entry.path for hit in memory.recall(query.text, 10)]
                        there = [hit.path for hit in index.search([asked_of(query.text, _LANGUAGE)], None, "main", 10)]
                        asked, same, first = asked + 1, same + (here == there), first + (here[:1] == there[:1])
            print(f"{name}: of {asked:,} questions {same:,} have the same ten hits in order, {first:,} the same first")


def _times(seconds: Iterable[float]) -> str:
    took = sorted(seconds)
    return f"p50 {took[len(took) // 2] * 1000:.1f} ms, p95 {took[len(took) * 95 // 100] * 1000:.1f} ms"


def _follow(server: Server, tell: Callable[[str, str, str], None]) -> None:
    """Push to real repositories, and see how soon that is found, and a purge is gone."""
    url = server.url(server.database())
    with tempfile.TemporaryDirectory(prefix="crabmem-fleet-") as scratch, Postgres(url) as index:
        folder = Path(scratch)
        os.environ["XDG_STATE_HOME"], os.environ["CRABMEM_FLEET"] = f"{folder}/state", url
        index.create()
        for number in range(_REPOSITORIES):
            with Memory(folder / f"memory-{number}", is_person=True) as memory:
                memory.remember_all(_facts(500_000 + number), "figures")
                name_remote(memory, f"{folder}/remote-{number}.git", "/")
                sync(memory, is_expected=True)
            rights.add(index, [rights.checked_memory(f"memory-{number}", f"{folder}/remote-{number}.git")])
        (folder / "mirrors").mkdir()
        began = time.monotonic()
        follow_once(index, mirror_of(index, folder / "mirrors", os.environ))
        rate = _REPOSITORIES * _EACH / (time.monotonic() - began)
        tell("backfill from Git", "≥ 1,000 facts/s", f"{rate:,.0f} facts/s")
        with _follower(folder), Memory(folder / "memory-0", is_person=True) as memory:
            took = []
            for number in range(_PUSHES):
                word = f"novelty{number}x"
                memory.remember(f"New {number}", "what is new", f"A {word}.")
                sync(memory)
                took.append(_until(lambda word=word: bool(_found(index, word))))  # type: ignore[misc]
            tell("from a push's end until it is found", "p95 ≤ 1 s", _times(took))
            memory.remember("Secret", "what nobody may know", "The hushhushword.")
            sync(memory)
            _until(lambda: bool(_found(index, "hushhushword")))
            memory.purge("Secret")
            sync(memory, is_expected=True)
            gone = _until(lambda: not _found(index, "hushhushword"))
            tell("from the push of a purge until its rows are gone", "≤ 1 s", f"{gone * 1000:.0f} ms")


@contextmanager
def _follower(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "crabmem", "fleet", "follow", "--state", str(folder / "mirrors")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(2)
            yield
        finally:
            process.terminate()


def _found(index: Postgres, word: str) -> list[object]:
    return [*index.search([asked_of(word, _LANGUAGE)], None, "main", 10)]


def _until(is_so: Callable[[], bool]) -> float:
    began = time.perf_counter()
    while not is_so():
        if time.perf_counter() - began > 100:
            raise TimeoutError
        time.sleep(0.002)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
