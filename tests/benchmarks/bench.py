"""What measures share: how much to measure, on what, and processes of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .corpus import Corpora, settled
from .timing import Action, Taken, by_turns

ROOT = Path(__file__).parents[2]
_LARGE = 100_000


@dataclass(frozen=True)
class Bench:
    """One run: the numbers of entries to measure at, how often, and the workspaces for it.

    A `short` one shows that it works: it waits for nothing, and its figures mean nothing.
    """

    sizes: tuple[int, ...]
    repeats: int
    corpora: Corpora
    say: Callable[[str], None]
    short: bool = False

    def rounds(self, entries: int) -> int:
        """How often something is repeated at so many entries."""
        return self.many(max(5, self.repeats // 3), 1) if entries >= _LARGE else self.repeats

    def by_turns(self, actions: Mapping[str, Action], entries: int) -> dict[str, Taken]:
        """The times of each action; the first round does not count."""
        return by_turns(actions, self.rounds(entries), warm_up=self.many(1, 0))

    def many(self, count: int, short: int) -> int:
        """So many; the other number in a short run."""
        return short if self.short else count

    def settled(self, root: Path) -> Path:
        """`root`, once its youngest entry is old enough for its times to be trusted; a short run does not wait."""
        return root if self.short else settled(root)

    def in_use(self, entries: int, label: str) -> Path:
        """A copy in which recall was used before, so that its index is there."""
        root = self.settled(self.corpora.copy(entries, label))
        crabmem("--dir", root, "recall", "anything")
        return root


def crabmem(*words: object, told: str = "", alone: bool = True) -> None:
    """`crabmem …` as a fresh process, by the script that is installed beside this Python; `told` is its input.

    It does all by itself, or not `alone`: then one that runs may answer.
    """
    script = Path(sys.executable).parent / "crabmem"
    command = [str(script)] if script.exists() else [sys.executable, "-m", "crabmem"]
    run([*command, *map(str, words)], told, {**surroundings(), "CRABMEM_ALONE": "1" * alone})


def surroundings() -> dict[str, str]:
    """The environment without settings of crabmem."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}


def bare_python() -> None:
    """`python -c pass` as a fresh process."""
    run([sys.executable, "-c", "pass"])


def run(command: list[str], told: str = "", environment: dict[str, str] | None = None) -> None:
    """Run a command; whatever it prints is read and thrown away. The status 1 says that nothing was found."""
    done = subprocess.run(command, input=told.encode(), env=environment, cwd=ROOT, capture_output=True)
    if done.returncode > 1:
        done.check_returncode()


def in_child(task: str, *words: object) -> dict[str, Any]:
    """What a task of `child.py` answers, done in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.child", task, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
