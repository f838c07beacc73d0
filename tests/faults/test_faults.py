"""The short form of every suite, and the list of faults against the tests that there are."""

import pytest

from tests.faults import SUITES, run
from tests.faults.rows import ROWS, known_tests, missing


@pytest.mark.timeout(400)
@pytest.mark.parametrize("suite", SUITES)
def test_no_fault_breaks_a_promise(suite: str) -> None:
    counts = run(suite, False, print)
    assert counts.get("lost", 0) == 0
    assert sum(counts.values()) > 20


def test_every_fault_that_was_thought_of_is_tried_or_answered() -> None:
    tests = known_tests()
    assert [row.fault for row in ROWS if missing(row, tests) or not (row.proofs or row.answer)] == []
