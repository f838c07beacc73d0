"""What the tests of adapters do where an SDK is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import adapters

RUN = """
import sys, pytest
from tests import adapters
adapters.lacking = lambda: {lacking!r}
sys.modules["langgraph"] = None
sys.exit(pytest.main(["-q", "-n0", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
FILES = ("tests/adapters/test_langgraph.py", "tests/adapters/test_readme_adapters.py")


def ran(lacking: list[str]) -> subprocess.CompletedProcess[str]:
    """The tests of `FILES`, run where langgraph cannot be imported and packages lack."""
    return subprocess.run(
        [sys.executable, "-c", RUN.format(lacking=lacking), *FILES],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_they_are_skipped_and_one_line_says_how_many_and_how_to_run_them() -> None:
    done = ran(["langgraph"])
    [told] = [line for line in done.stdout.splitlines() if "SDK" in line]
    tests = sum(Path(file).read_text("utf-8").count("\ndef test_") for file in FILES)
    assert told == f"skipped for want of SDKs: {tests} tests in 2 files; pip install -e '.[adapters]'"
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(bool(adapters.lacking()), reason=adapters.INSTALL)
def test_where_all_are_installed_what_cannot_be_imported_is_an_error() -> None:
    done = ran([])
    assert done.returncode == 2 and "ERROR tests/adapters/test_langgraph.py" in done.stdout
