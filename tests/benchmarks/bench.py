"""What the groups share: how much to measure, on what, and the points of the curve."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .corpus import Corpora, settled

ROOT = Path(__file__).parents[2]
_LARGE = 100_000


@dataclass(frozen=True)
class Bench:
    """One run: the numbers of entries to measure at, how often, and the workspaces for it."""

    sizes: tuple[int, ...]
    repeats: int
    corpora: Corpora
    say: Callable[[str], None]
    short: bool = False
    #: Seconds by number of entries, for each line of the curve.
    points: dict[str, dict[int, float]] = field(default_factory=dict)

    def size(self, meant: int) -> int:
        """`meant` entries, or as many as this run has."""
        return meant if meant in self.sizes else max(self.sizes)

    def rounds(self, entries: int) -> int:
        """How often something is repeated at so many entries."""
        return max(3, self.repeats // 3) if entries >= _LARGE else self.repeats

    @property
    def processes(self) -> int:
        """How many processes are started for the median of something slow."""
        return 1 if self.short else 5

    def settled(self, root: Path) -> Path:
        """`root`, once its youngest entry is old enough for its times to be trusted; a short run does not wait."""
        return root if self.short else settled(root)

    def point(self, line: str, entries: int, seconds: float) -> None:
        """Add a point to a line of the curve."""
        self.points.setdefault(line, {})[entries] = seconds


def crabmem(*words: object) -> None:
    """`crabmem …` as a fresh process, by the script that is installed beside this Python."""
    script = Path(sys.executable).parent / "crabmem"
    command = [str(script)] if script.exists() else [sys.executable, "-m", "crabmem"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}
    subprocess.run(
        [*command, *map(str, words)],
        env=environment,
        cwd=ROOT,
        check=True,
        capture_output=True,
    )


def bare_python() -> None:
    """`python -c pass` as a fresh process."""
    subprocess.run([sys.executable, "-c", "pass"], check=True, cwd=ROOT)


def in_child(task: str, *words: object) -> dict[str, Any]:
    """What a task of `child.py` answers, done in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.child", task, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
