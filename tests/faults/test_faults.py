"""The short form of every suite."""

import pytest

from tests.faults import SUITES, run


@pytest.mark.timeout(400)
@pytest.mark.parametrize("suite", SUITES)
def test_no_fault_breaks_a_promise(suite: str) -> None:
    counts = run(suite, False, print)
    assert counts.get("lost", 0) == 0
    assert sum(counts.values()) > 20
