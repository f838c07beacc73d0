"""A file of tests whose SDK is not installed is skipped; `pytest_terminal_summary` of all tests says so in a line."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import adapters

_LACKING = adapters.lacking()


class _OfAdapter(pytest.Module):
    """A file of tests that may need what is not installed."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            if not isinstance(error.__cause__, ImportError):
                raise
            pytest.skip(f"{self.name} needs SDKs: {adapters.INSTALL}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Where all SDKs are installed, what cannot be imported is an error."""
    return _OfAdapter.from_parent(parent, path=module_path) if _LACKING else None
