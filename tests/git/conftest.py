"""A history by itself, without a memory around it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem.git.history import History
from crabmem.workspace.workspace import Workspace


def opened(root: Path) -> History:
    """The history of a workspace, begun where there is none."""
    history = History(Workspace(root))
    history.ownership.prepare()
    return history


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = opened(tmp_path)
    yield history
    history.close()
