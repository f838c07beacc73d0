"""The table of promises is of this code, and who breaks them notices what no test does."""

from dataclasses import replace

from tests.faults.promised import KEPT
from tests.faults.promises import broken, outcomes, trouble_with

_BY_NAME = {row.name: row for row in KEPT}


def test_the_line_that_keeps_a_promise_is_there_and_so_are_its_tests() -> None:
    """Where a text is gone: name in tests/faults/promised.py the line that keeps the promise now."""
    assert {row.name: trouble for row in KEPT if (trouble := trouble_with(row))} == {}
    for row in KEPT:
        compile(broken(row), row.file, "exec")


def test_names_are_given_once() -> None:
    assert len(_BY_NAME) == len(KEPT)


def test_a_promise_that_no_test_holds_is_named() -> None:
    held = _BY_NAME["agent-dots"]
    rows = [
        held,
        replace(held, name="silent", tests=("test_this_process_is_alive_and_an_ended_one_is_not",)),
        replace(held, name="gone", old="a line that is nowhere"),
        replace(held, name="unknown", tests=("test_that_nobody_wrote",)),
    ]
    told = {each.name: each for each in outcomes(rows, lambda text: None)}
    assert [name for name, each in told.items() if each.is_held] == ["agent-dots"]
    assert "broken, and yet test_this_process" in told["silent"].words
    assert "stands 0 times in crabmem/disk/fs.py" in told["gone"].words
    assert "no one test named test_that_nobody_wrote" in told["unknown"].words
