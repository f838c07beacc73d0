"""The benchmarks run: every row is there, and every figure is one. How long things take is not looked at."""

import json
import math
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.benchmarks import measure, report
from tests.benchmarks.__main__ import main
from tests.benchmarks.bench import Bench
from tests.benchmarks.corpus import questions
from tests.benchmarks.picture import PANELS
from tests.benchmarks.row import ANY, NO_TARGET, Row, Target, compared, faster, within
from tests.benchmarks.timing import Action, Taken, by_turns, with_each

#: Figures that may be nothing at all.
MAY_BE_ZERO = ("highest",)
#: What may be without a figure, and the beginning of why.
MAY_BE_MISSING = {
    "served by one": "nobody listens",
    "`recall`": "tantivy is not",
}


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pages of the names and marks that the real ones have, in place of them."""
    for page in ("SPEED", "RESULTS"):
        real = getattr(report, page).read_text("utf-8")
        (tmp_path / f"{page}.md").write_text(real, "utf-8")
        monkeypatch.setattr(report, page, tmp_path / f"{page}.md")
    return tmp_path


def unmade(page: str) -> str:
    """The page without what the script writes."""
    return re.sub(r"<!-- (speed|curve) -->.*?<!-- /\1 -->", "", page, flags=re.DOTALL)


@pytest.mark.timeout(300)
def test_a_short_run_has_every_row_and_writes_figures_pages_and_a_picture(
    pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = report.SPEED.read_text("utf-8")
    monkeypatch.setattr(sys, "argv", ["-", "--short", "--write", "--json", str(pages / "figures.json")])

    assert main() == 0

    data = json.loads((pages / "figures.json").read_text("utf-8"))
    assert len({(row["what"], row["against"]) for row in data["rows"]}) == len(data["rows"]) <= 20
    for row in data["rows"]:
        if row["measured"] is None:
            assert any(part in row["what"] and row["note"].startswith(why) for part, why in MAY_BE_MISSING.items()), row
        times = [value for taken in row["taken"].values() for value in taken.values() if value is not None]
        for value in (row["measured"] or 1, *row["figures"].values(), *times):
            may_be_zero = any(word in row["what"] for word in MAY_BE_ZERO)
            assert math.isfinite(value) and (value > 0 or (value == 0 and may_be_zero)), row
        assert row["state"]
    assert set(data["seconds"]) == {line for panel in PANELS.values() for line in panel}
    ElementTree.parse(pages / "curve.svg")
    printed, results = capsys.readouterr().out, " ".join(report.RESULTS.read_text("utf-8").split())
    for row in data["rows"]:
        assert all(row[key] in printed and row[key] in results for key in ("what", "against", "target"))
        assert row["state"] in results
    assert report.marked(report.SPEED, "speed") == report.marked(report.RESULTS, "speed") != ""
    assert unmade(report.SPEED.read_text("utf-8")) == unmade(page)
    assert "| recall |" in report.marked(report.SPEED, "curve")
    assert str(pages) not in results


def test_what_the_page_says_of_speed_is_what_was_measured() -> None:
    assert report.marked(report.SPEED, "speed") == report.marked(report.RESULTS, "speed") != ""


def test_the_page_is_filled_from_results(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = report.SPEED.read_text("utf-8")
    report.SPEED.write_text(before.replace(report.marked(report.SPEED, "speed"), "nothing"), "utf-8")
    monkeypatch.setattr(sys, "argv", ["-", "page"])
    main()
    assert report.SPEED.read_text("utf-8") == before


def test_only_a_run_of_all_rows_is_written(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["-", "--short", "--rows", "about", "--write"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "one run" in capsys.readouterr().err


def test_a_measure_that_fails_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(bench: Bench, entries: int) -> Iterator[Row]:
        """What cannot be."""
        yield Row("first", "b", NO_TARGET, 1, entries, "")
        raise ZeroDivisionError

    both = {name: measure.Measure(name, (ANY,), rows) for name, rows in (("broken", broken), ("about", _plain))}
    monkeypatch.setattr("tests.benchmarks.measure.measures", lambda: both)
    monkeypatch.setattr("tests.benchmarks.__main__.measures", lambda: both)
    monkeypatch.setattr(sys, "argv", ["-", "--short"])
    assert main() == 1
    printed = capsys.readouterr()
    assert printed.out.index("first") < printed.out.index("failed: ZeroDivisionError") < printed.out.index("second")
    assert "ZeroDivisionError" in printed.err


def _plain(bench: Bench, entries: int) -> Iterator[Row]:
    yield Row("second", "b", NO_TARGET, 1, entries, "")


@pytest.mark.parametrize(
    ("target", "measured", "entries", "is_met"),
    [
        (faster({10: 6}), 6.5, 10, True),
        (faster({10: 6}), 5.5, 10, False),
        (within({10: 6}), 5.5, 10, True),
        (within({10: 6}), 6.5, 10, False),
        (within({10: 6}), None, 10, None),
        (within({10: 6}), 6.5, 100, None),
    ],
)
def test_a_target_is_met_or_missed_at_the_sizes_it_is_for(
    target: Target, measured: float | None, entries: int, is_met: bool | None
) -> None:
    row = Row("a", "b", target, measured, entries, "")
    assert row.is_met is is_met
    assert ("missed" in row.cell) == (is_met is False)


def test_a_ratio_is_of_medians_and_says_what_else_it_could_be() -> None:
    taken = {"crabmem": Taken((0.002, 0.001, 0.009), (0.001,) * 3), "git": Taken((0.004, 0.003, 0.005), (0.002,) * 3)}
    row = compared("a", "b", faster({10: 6}), 10, "", taken)
    assert (row.measured, row.cell) == (2, "2× (missed), 2 ms")
    assert row.details == (
        "crabmem 2 ms (of 3, minimum 1, CPU 1); git 4 ms (of 3, minimum 3, CPU 2); minima 3×; CPU 2×"
    )
    assert compared("a", "b", within({}), 10, "", taken).measured == 0.5


def test_actions_take_turns_and_what_is_done_before_is_not_timed() -> None:
    done: list[str] = []
    actions = {
        "a": Action(lambda: done.append("a")),
        "b": with_each(done.append, iter("12345"), lambda: done.append("-")),
    }
    taken = by_turns(actions, 3, warm_up=1)
    assert "".join(done) == "-1a" + "a-2" + "-3a" + "a-4"
    assert {name: len(each.wall) for name, each in taken.items()} == {"a": 3, "b": 3}


def test_the_time_of_a_process_is_that_of_its_own() -> None:
    import subprocess

    work = [sys.executable, "-c", "sum(range(2_000_000))"]
    actions = {
        "process": Action(lambda: subprocess.run(work, check=True), is_process=True),
        "ours": Action(lambda: subprocess.run(work, check=True)),
    }
    taken = by_turns(actions, 2)
    assert (taken["process"].cpu or 0) > 2 * (taken["ours"].cpu or 0) > 0


def test_different_rounds_have_no_minimum() -> None:
    assert str(Taken((0.002, 0.001, 0.009), (0.001, 0.001, 0.005), are_alike=False)) == "2 ms (of 3 different, CPU 1)"


def test_no_question_is_given_twice() -> None:
    asked = [*islice(questions(100), 2_000), *islice(questions(100), 2_000)]
    assert len(set(asked)) == 4_000
