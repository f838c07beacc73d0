"""Fixtures of the tests of imports."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from tests.conftest import typed

Import = Callable[..., Result]


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """`crabmem --dir … import …` in this process."""
    return partial(typed, "--dir", tmp_path / "memory", "import")
