"""The fixtures for tests of the protocol."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import assert_clean


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace with a fact of somebody's session; its history must end up clean."""
    root = tmp_path / "notes"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.")
    yield root
    assert_clean(root)
