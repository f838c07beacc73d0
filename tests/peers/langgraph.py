"""LangGraph's tests of stores, with `crabmem.adapters.langgraph.Store` in the place of its own three."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from .peer import FIXTURES, Counts, Peer, Place, tested

_REPOSITORY = "langchain-ai/langgraph"
# The lines that bring in a store of theirs, and what brings in ours.
_INSTEAD = (
    (r"^from langgraph\.store\.memory import InMemoryStore$", "from crab_store import MemoryStore as InMemoryStore"),
    (r"^from langgraph\.store\.sqlite import SqliteStore$", "from crab_store import SyncStore as SqliteStore"),
    (
        r"^from langgraph\.store\.sqlite import AsyncSqliteStore$",
        "from crab_store import AsyncStore as AsyncSqliteStore",
    ),
    (
        r"^from langgraph\.store\.sqlite\.aio import AsyncSqliteStore$",
        "from crab_store import AsyncStore as AsyncSqliteStore",
    ),
)


def run(place: Place) -> Iterator[Counts]:
    """The tests of the base package, and those of the store over SQLite, with and without a time to live."""
    libraries = place.clone(_REPOSITORY) / "libs"
    base = _copied(place, libraries / "checkpoint" / "tests", "base", ("test_store.py", "embed_test_utils.py"))
    yield tested("checkpoint", place, base, ["tests/test_store.py"])
    files = ("test_store.py", "test_async_store.py", "test_ttl.py")
    sqlite = _copied(place, libraries / "checkpoint-sqlite" / "tests", "sqlite", files)
    yield tested("checkpoint-sqlite, sync and async", place, sqlite, [f"tests/{file}" for file in files[:2]])
    yield tested("checkpoint-sqlite, time to live", place, sqlite, [f"tests/{files[2]}"])


def _copied(place: Place, source: Path, name: str, files: tuple[str, ...]) -> Path:
    """A folder with those files as a package `tests`, and with our store beside it."""
    folder = place.folder(name)
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    shutil.copy(FIXTURES / "crab_store.py", folder)
    for file in files:
        text = (source / file).read_text("utf-8")
        for theirs, ours in _INSTEAD:
            text = re.sub(theirs, ours, text, flags=re.MULTILINE)
        (folder / "tests" / file).write_text(text, "utf-8")
    return folder


PEER = Peer(
    "LangGraph's stores",
    run,
    repository=_REPOSITORY,
    packages=("langgraph>=1.2,<2", "langgraph-checkpoint-sqlite", "pytest-mock", "pytest-retry", "numpy"),
)
