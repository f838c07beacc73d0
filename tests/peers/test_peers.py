"""What `python -m tests.peers` makes of the reports of peers' suites. The suites themselves are not run here."""

from pathlib import Path

import pytest

from . import report
from .peer import Counts, NotThere, Peer, Place, counted

REPORT = """<testsuites><testsuite>
<testcase classname="tests.disk.test_store" name="test_get[memory]"/>
<testcase classname="tests.test_async" name="test_get[memory]"><failure message="assert 1&#10; == 2"/></testcase>
<testcase classname="tests.disk.test_store" name="test_sql[a::b]"><error message="no cursor"/></testcase>
<testcase classname="tests.disk.test_store" name="test_later"><skipped message="no server"/></testcase>
</testsuite></testsuites>"""
PEER = Peer("Theirs", lambda place: iter(()), reasons={"test_sql": "it is SQL", "test_old": "it was SQL"})


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    file = tmp_path / "report.xml"
    file.write_text(REPORT)
    return counted("suite", file)


def test_tests_of_one_name_in_two_files_are_counted_apart(counts: Counts) -> None:
    assert (counts.passed, counts.skipped, counts.total) == (1, 1, 3)
    assert counts.failed == {"test_async::test_get[memory]": "assert 1 == 2", "test_store::test_sql[a::b]": "no cursor"}


def test_a_failure_without_a_reason_and_a_reason_without_a_failure_are_told(counts: Counts) -> None:
    assert report.unexplained(PEER, [counts]) == [
        "test_async::test_get[memory] fails: assert 1 == 2",
        "test_old does not fail; its reason can go",
    ]


def test_results_of_peers_that_were_not_run_stay(
    counts: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "RESULTS.md")
    report.write({"Others": "## Others\n\nold\n", "Theirs": "## Theirs\n\nold\n"})
    report.write({"Theirs": report.section(PEER, "theirs at 1a2b3c", [counts])})
    text = (tmp_path / "RESULTS.md").read_text()
    assert (
        text.startswith("# The suites of peers") and "## Others\n\nold\n\n## Theirs\n\nTests: theirs at 1a2b3c." in text
    )
    assert "| suite | 1 of 3 | 1 |" in text and "- suite, `test_sql`: it is SQL\n" in text
    assert "**no reason** (assert 1 == 2)" in text


def test_a_clone_that_is_missing_is_named_with_what_gets_it(tmp_path: Path) -> None:
    with pytest.raises(NotThere, match=r"git clone --depth 1 https://github\.com/langchain-ai/langgraph"):
        Place(tmp_path, tmp_path, tmp_path).clone("langchain-ai/langgraph")
