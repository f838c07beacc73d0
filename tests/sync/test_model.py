"""Random scripts on several machines: `model` says what must hold. One that fails is printed as small as it gets."""

from pathlib import Path

import pytest

from crabmem.sync import joining
from tests.conftest import needs_git

from .model import Script, failure, report, run, shrunk

pytestmark = needs_git


def ends_well(script: Script) -> None:
    """Run a script; what fails is reported by the smallest one that fails so."""
    if told := failure(script):
        pytest.fail(report(script, told))


@pytest.mark.parametrize("seed", range(5))
def test_a_short_script_loses_no_text_that_nobody_removed(seed: int) -> None:
    ends_well(Script.drawn(seed, 3, 30, ["kill"]))


@pytest.mark.parametrize("also", ["kill", "git"])
@pytest.mark.parametrize("seed", range(2))
def test_a_short_script_with_purges_leaves_what_was_purged_nowhere(seed: int, also: str) -> None:
    ends_well(Script.drawn(seed, 3, 30, [also, "purge"]))


@pytest.mark.parametrize("seed", range(3))
def test_a_short_script_in_which_a_person_uses_git_beside_loses_no_text(seed: int) -> None:
    ends_well(Script.drawn(seed, 3, 30, ["git"]))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(1_000, 1_040))
def test_a_long_script_loses_no_text_that_nobody_removed(seed: int) -> None:
    ends_well(Script.drawn(seed, 5, 180, ["kill", "purge"] if seed % 2 else ["kill"]))


def test_a_script_comes_to_the_same_end_each_time(tmp_path: Path) -> None:
    counts = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        counts.append(run(Script.drawn(3, 3, 30), tmp_path / name))
    assert counts[0] == counts[1]


def test_the_model_finds_a_join_that_drops_what_should_wait_and_makes_the_script_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joining._HistoryJoin, "_set_aside", lambda *args: [])
    broken = (script for script in (Script.drawn(seed, 3, 30) for seed in range(40)) if failure(script))
    script = next(broken)
    small = shrunk(script, failure(script).partition(":")[0], tries=30)
    assert failure(small).startswith("lost: ")
    assert len(small.steps) < 12 and small.steps != script.steps
