"""Each promise has a test that fails without the lines that keep it: `python -m tests.faults promises [--only NAME …]`.

A row of `KEPT` breaks one line in a copy of this checkout, and names the tests that must fail then. A promise
that is kept by what is *not* there (no program is started) has no line to break, and one that only many faults show has
no such test: `ELSEWHERE` says which those are, and who looks.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .promised import ELSEWHERE, KEPT, Kept

ROOT = Path(__file__).parent.parent.parent
#: Seconds for the tests of a row: a promise that keeps nobody waiting may be broken, too.
_PATIENCE = 300
_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+?::(?:\w+::)*(\w+)", re.MULTILINE)
_TEST = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)
_NOT_RUN = "{} did not run: {}"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a row: whether the tests noticed, and what to say of it."""

    name: str
    is_held: bool
    words: str


@cache
def test_files() -> dict[str, list[str]]:
    """The files of tests by the names of the tests in them."""
    found = dict[str, list[str]]()
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(file.read_text("utf-8")):
            found.setdefault(name, []).append(str(file.relative_to(ROOT)))
    return found


def trouble_with(row: Kept) -> str:
    """Why a row cannot be tried; "" where it can."""
    file = ROOT / row.file
    count = file.read_text("utf-8").count(row.old) if file.exists() else 0
    if count != 1:
        where = (
            f"stands {count} times in {row.file}" if file.exists() else f"is of a file that is not there, {row.file}"
        )
        return f"the text of this row {where}: name the line that keeps the promise now, or the promise has no keeper"
    if missing := [test for test in row.tests if len(test_files().get(test, ())) != 1]:
        return f"there is no one test named {', '.join(missing)}"
    return "" if row.tests else "this row names no test"


def broken(row: Kept) -> str:
    """The file of a row without the line that keeps the promise."""
    return (ROOT / row.file).read_text("utf-8").replace(row.old, row.new)


def main(words: Sequence[str]) -> int:
    """Try the rows; 1 where a promise is not held by its tests."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults promises", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only rows whose name begins so")
    parser.add_argument("--list", action="store_true", help="print the table, and try nothing")
    given = parser.parse_args(words)
    rows = [row for row in KEPT if not given.only or row.name.startswith(tuple(given.only))]
    if not rows:
        parser.error(f"no row is named so; there are: {', '.join(row.name for row in KEPT)}")
    if given.list:
        print(_table(rows))
        return 0
    return report(outcomes(rows, lambda text: print(text, flush=True)))


def report(found: Iterable[Outcome]) -> int:
    """Say how many rows are held; 1 where one is not."""
    failed = [each for each in found if not each.is_held]
    print(f"{len(failed)} not held" + "".join(f"\n  {each.name}: {each.words}" for each in failed))
    return bool(failed)


def outcomes(rows: Sequence[Kept], say: Callable[[str], None]) -> list[Outcome]:
    """Break the rows one by one, and tell of each."""
    with tempfile.TemporaryDirectory(prefix="crabmem-promises-") as folder:
        copy = Path(folder) / "checkout"
        _copy(copy)
        whole = _run(copy, sorted({test for row in rows if not trouble_with(row) for test in row.tests}))
        found = list[Outcome]()
        for row in rows:
            found.append(_tried(row, copy, whole))
            say(f"{'held    ' if found[-1].is_held else 'NOT HELD'} {row.name}: {found[-1].words}")
        return found


def _tried(row: Kept, copy: Path, whole: tuple[set[str], str]) -> Outcome:
    if trouble := trouble_with(row):
        return Outcome(row.name, False, trouble)
    if already := sorted(whole[0].intersection(row.tests)):
        return Outcome(row.name, False, f"{', '.join(already)} fails with nothing broken")
    file = copy / row.file
    before = file.read_text("utf-8")
    try:
        compile(text := broken(row), row.file, "exec")  # what cannot be loaded fails for another reason
        file.write_text(text, "utf-8")
        failed, said = _run(copy, row.tests)
    finally:
        file.write_text(before, "utf-8")
    if silent := [test for test in row.tests if test not in failed]:
        return Outcome(row.name, False, f"broken, and yet {', '.join(silent)} passes: {said}")
    return Outcome(row.name, True, f"{len(row.tests)} of {len(row.tests)} tests fail")


def _run(copy: Path, tests: Iterable[str]) -> tuple[set[str], str]:
    """The tests of these names that failed in the copy, and the last line that pytest said."""
    chosen = [f"{test_files()[test][0]}::{test}" for test in tests]
    if not chosen:
        return set(), ""
    options = ["-q", "-n", "0", "-m", "not long", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    told = [sys.executable, "-m", "pytest", *options, *chosen]
    surroundings = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(told, cwd=copy, env=surroundings, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return set(), _NOT_RUN.format("the tests", f"not done in {_PATIENCE} s")
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:]
    return set(_FAILED.findall(done.stdout)), "".join(last)


def _copy(place: Path) -> None:
    """What Git knows of this checkout, and what it does not ignore, as it is on the disk."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)


def _table(rows: Sequence[Kept]) -> str:
    kept = [f"{row.name:24} {row.says}\n{'':24}   {row.file}; {', '.join(row.tests)}" for row in rows]
    return "\n".join([*kept, *(f"{name:24} {words}" for name, words in ELSEWHERE.items())])
