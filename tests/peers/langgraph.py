"""LangGraph's tests of stores, with `crabmem.adapters.langgraph.Store` in the place of its own."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from .peer import FIXTURES, Counts, Peer, Place, tested

_REPOSITORY = "langchain-ai/langgraph"
# What of theirs stands in which modules, and what of ours is imported in its place.
_INSTEAD = {
    ("langgraph.store.memory", "InMemoryStore"): "MemoryStore",
    ("langgraph.store.sqlite", "SqliteStore"): "SyncStore",
    ("langgraph.store.sqlite", "AsyncSqliteStore"): "AsyncStore",
    ("langgraph.store.sqlite.aio", "AsyncSqliteStore"): "AsyncStore",
    ("langgraph.store.postgres", "PostgresStore"): "PostgresStore",
    ("langgraph.store.postgres", "AsyncPostgresStore"): "AsyncPostgresStore",
    ("psycopg", "Connection"): "Connection",
    ("psycopg", "AsyncConnection"): "AsyncConnection",
}
_SQL = "it looks into the database, not at the store"
_REASONS = {
    "test_vector_store_initialization": "its last lines list the tables of the database",
    "test_nonnull_migrations": _SQL,
    "test_sql_injection_vulnerability": "a key of a filter that would be SQL there is a key like any other here, and "
    "finds nothing",
    "test_no_running_loop": "these stores refuse synchronous calls on the event loop, as theirs could wait for itself; "
    "ours, like the one in memory, cannot",
    "test_scores": "a cosine below 0 is given as 0: scores are from 0 to 1",
}
_POSTGRES_REASONS: dict[str, str] = {}


def run(place: Place) -> Iterator[Counts]:
    """The tests of the base package, and those of the store over SQLite."""
    libraries = place.clone(_REPOSITORY) / "libs"
    base = _copied(place, libraries / "checkpoint" / "tests", "base", ("test_store.py", "embed_test_utils.py"))
    yield tested("checkpoint", place, base, ["tests/test_store.py"])
    files = ("test_store.py", "test_async_store.py", "test_ttl.py")
    sqlite = _copied(place, libraries / "checkpoint-sqlite" / "tests", "sqlite", files)
    yield tested("checkpoint-sqlite, sync and async", place, sqlite, [f"tests/{file}" for file in files[:2]])
    yield tested("checkpoint-sqlite, time to live", place, sqlite, [f"tests/{files[2]}"])


def run_postgres(place: Place) -> Iterator[Counts]:
    """The tests of the store over Postgres, of which no server is needed: what they do to the database does nothing."""
    libraries = place.clone(_REPOSITORY) / "libs"
    files = ("test_store.py", "test_async_store.py", "conftest.py", "embed_test_utils.py")
    postgres = _copied(place, libraries / "checkpoint-postgres" / "tests", "postgres", files)
    # Each test with a plain connection alone: ours has no pipeline and no pool.
    options = ("-k", "not pipe and not pool", "--timeout", "300")
    yield tested("checkpoint-postgres, sync", place, postgres, ["tests/test_store.py"], *options)
    yield tested("checkpoint-postgres, async", place, postgres, ["tests/test_async_store.py"], *options)


def _copied(place: Place, source: Path, name: str, files: tuple[str, ...]) -> Path:
    """A folder with those files as a package `tests`, and with our store beside it."""
    folder = place.folder(name)
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    shutil.copy(FIXTURES / "crab_store.py", folder)
    for file in files:
        text = (source / file).read_text("utf-8")
        for (module, theirs), ours in _INSTEAD.items():
            line = rf"^from {re.escape(module)} import {theirs}$"
            text = re.sub(line, f"from crab_store import {ours} as {theirs}", text, flags=re.MULTILINE)
        (folder / "tests" / file).write_text(text, "utf-8")
    return folder


PEER = Peer(
    "LangGraph's stores",
    run,
    repository=_REPOSITORY,
    packages=("langgraph>=1.2,<2", "langgraph-checkpoint-sqlite", "pytest-mock", "pytest-retry"),
    reasons=_REASONS,
)
POSTGRES = Peer(
    "LangGraph's store over Postgres",
    run_postgres,
    repository=_REPOSITORY,
    packages=("langgraph>=1.2,<2", "langgraph-checkpoint-postgres", "psycopg[binary]"),
    reasons=_POSTGRES_REASONS,
)
