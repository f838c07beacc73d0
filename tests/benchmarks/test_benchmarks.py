"""The benchmarks run: every row is there, and every figure is one. How long things take is not looked at."""

import json
import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.benchmarks import GROUPS
from tests.benchmarks.__main__ import main
from tests.benchmarks.hooking import EVENTS
from tests.benchmarks.report import PANELS, table
from tests.benchmarks.row import Row, faster, within

TARGETS = (
    ("`remember` in a running process, 10k", "`git add && git commit`, same durability", "≥ 6× faster"),
    ("`remember` in a running process, 10k", "dulwich `porcelain.add` + `commit`", "≥ 30× faster"),
    ("`remember` in a running process, 10k", "floor: the same bytes written, fsynced and hashed", "≤ 2.5×"),
    ("`remember` in a running process, 100k", "`git add && git commit`, same durability", "≥ 4× faster"),
    ("`crabmem remember` as a fresh process, 10k", "`git add && git commit`, same durability", "no slower (≤ 1×)"),
    ("`crabmem import` of 1,000 entries as a fresh process, 10k", "the clock", "< 5 s"),
    ("`recall` warm, 10k, limit 6", "SQLite FTS5 (porter, OR)", "≥ 30× faster"),
    ("`recall` warm, 10k, limit 6", "tantivy (Python)", "no slower (≤ 1×)"),
    ("`recall` warm, 100k, limit 6", "SQLite FTS5 (porter, OR)", "≥ 100× faster"),
    ("`recall` warm, 100k, limit 6", "tantivy (Python)", "no slower (≤ 1×)"),
    ("`crabmem recall` as a fresh process, 10k", "`python -c pass`", "≤ 5×"),
    *((f"`crabmem hook {event}` as a fresh process, 10k", "the clock", "< 150 ms") for event in EVENTS),
    ("change on disk → found by the next `recall`, 10k", "full rebuild", "≥ 1,000× faster"),
    ("the scores after such changes, 10k", "those of a rebuild", "≤ 1e-06"),
    ("open a 100k workspace with a valid index cache: index loaded", "reading all the files", "≥ 20× faster"),
    (
        "open a 100k workspace with a valid index cache: first recall, every file's status checked",
        "reading all the files",
        "≥ 20× faster",
    ),
    ("peak memory of a process serving recall, 100k", "size of the entries", "≤ 6×"),
    (
        "`.git` growth after compaction, 1,000 writes at 10k, without the search cache",
        "bytes of entry text written",
        "≤ 2.5×",
    ),
    ("highest size of `.git` on the disk while writing", "the compacted size", "≤ 64 MB"),
    ("longest write beside a compaction", "the longest ordinary write", "≤ 2× (its own time and one more)"),
)
#: Figures that may be nothing at all.
MAY_BE_ZERO = ("scores", "highest")


def test_a_short_run_has_every_row_and_writes_figures_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "figures.json", tmp_path / "curve.svg"]
    monkeypatch.setattr(sys, "argv", ["-", "--short", "--json", str(files[0]), "--picture", str(files[1])])
    main()
    data = json.loads(files[0].read_text("utf-8"))
    assert tuple((row["what"], row["against"], row["target"]) for row in data["rows"]) == TARGETS
    figures = {f"{row['what']}: {name}": value for row in data["rows"] for name, value in row["figures"].items()}
    measured = {row["what"]: row["measured"] for row in data["rows"] if row["measured"] is not None}
    for what, value in (figures | measured).items():
        assert math.isfinite(value) and (value > 0 or (value == 0 and any(word in what for word in MAY_BE_ZERO))), what
    assert set(data["seconds"]) == {line for panel in PANELS.values() for line in panel}
    ElementTree.parse(files[1])
    printed = capsys.readouterr().out
    assert all(words in printed for words in (*(words for row in TARGETS for words in row), "1,000"))


def test_every_group_says_what_it_measures() -> None:
    folder = Path(__file__).parent
    assert set(GROUPS) <= {file.stem for file in folder.glob("*.py")}


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("a", "b", faster(6), 6.5, 10, 10), "met"),
        (Row("a", "b", faster(6), 5.5, 10, 10), "missed"),
        (Row("a", "b", within(6), 5.5, 10, 10), "met"),
        (Row("a", "b", within(6), 6.5, 10, 10), "missed"),
        (Row("a", "b", within(6), None, 10, 10), "not there"),
        (Row("a", "b", within(6), 5.5, 10, 100), "at 10 only"),
    ],
)
def test_verdict_is_what_the_target_says(row: Row, verdict: str) -> None:
    assert row.verdict == verdict
    assert re.search(rf"{verdict}$", table([row]).splitlines()[1])
