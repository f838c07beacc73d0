"""Nobody is harmed by opening a folder, whoever made it.

Each workspace is built to attack, and looked at in every way there is: no file outside is read or written, no process
is started, nothing is asked of the net, nothing hangs, takes more than 300 MB or is changed by a look.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.hostile import KINDS, MAIN, ROOT, TRAPS, VERBS


def wrong(
    folder: Path,
    verbs: Sequence[str],
    traps: Sequence[str] = (),
    kinds: Sequence[str] = (),
    few: int = 1_000,
    always: Sequence[str] = (),
) -> dict[str, list[str]]:
    """What is wrong, found in a process that has nothing of the tests in it; a `few` of the verbs look at each."""
    asked = json.dumps(
        {"folder": str(folder), "verbs": verbs, "traps": traps, "kinds": kinds, "few": few, "always": always}
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads do not go with a fork
    command = [sys.executable, "-m", "tests.faults.hostile", asked]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


NAMES = list(TRAPS)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "traps", [pytest.param(NAMES[::8], id="some of each kind"), *(NAMES[start::4] for start in range(4))], ids=str
)
def test_no_trap_springs_whatever_looks_at_it(tmp_path: Path, traps: list[str]) -> None:
    others = [verb for verb in VERBS if verb not in MAIN]
    assert wrong(tmp_path, others, traps=traps, few=4, always=MAIN) == {}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("traps", [NAMES[start::4] for start in range(4)], ids=str)
def test_no_trap_springs_whatever_of_all_looks_at_it(tmp_path: Path, traps: list[str]) -> None:
    assert wrong(tmp_path, list(VERBS), traps=traps) == {}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_the_place_of_a_file_is_believed_or_waited_for(tmp_path: Path, kind: str) -> None:
    """Each place is looked at by one of the main verbs, by another one for each kind: with all kinds, by every one."""
    assert wrong(tmp_path, MAIN, kinds=[kind], few=1) == {}


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_the_place_of_a_file_is_believed_or_waited_for_by_any_verb(tmp_path: Path, kind: str) -> None:
    assert wrong(tmp_path, list(VERBS), kinds=[kind]) == {}
