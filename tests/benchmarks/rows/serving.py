"""Fresh processes whose work one that runs already does: a place for what is not built yet."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..bench import ROOT, Bench, bare_python, crabmem
from ..corpus import new_facts, questions
from ..measure import measure
from ..row import Row, compared, within
from ..timing import Action, with_each
from .commands import PYTHON
from .writing import GIT, by_git, write_fresh

#: Where a running process is to listen, below the workspace.
_SOCKET = ".git/crabmem/socket"
_PATIENCE = 3.0
_ROWS = (
    ("recall", PYTHON, within({1_000: 1.3, 10_000: 1.3})),
    ("remember", GIT, within({1_000: 1, 10_000: 1})),
)


@measure(1_000, 10_000)
def served(bench: Bench, entries: int) -> Iterator[Row]:
    """Fresh processes beside a running `crabmem watch` that answers for them."""
    root, state = bench.in_use(entries, "served"), "`crabmem watch` runs, and answers on a socket"

    def ask(question: str) -> None:
        crabmem("--dir", root, "recall", *question.split())

    actions = {
        "recall": with_each(ask, questions(entries), is_process=True),
        "remember": with_each(lambda fact: write_fresh(root, fact), new_facts(), os.sync, is_process=True),
    }
    theirs = {PYTHON: Action(bare_python, is_process=True), GIT: by_git(bench, entries)}
    with _watched(root) as is_served:
        for verb, against, target in _ROWS:
            what = f"`crabmem {verb}`, fresh process, served by one that runs"
            if not is_served:
                yield Row(what, against, target, None, entries, state, note="not built: nobody listens")
                continue
            both = {"crabmem": actions[verb], "other": theirs[against]}
            yield compared(what, against, target, entries, state, bench.by_turns(both, entries))


@contextmanager
def _watched(root: Path) -> Iterator[bool]:
    """Have `crabmem watch` run meanwhile; whether it listens."""
    command, socket = [sys.executable, "-m", "crabmem", "--dir", str(root), "watch"], root / _SOCKET
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watch:
        try:
            until = time.monotonic() + _PATIENCE
            while not socket.exists() and time.monotonic() < until:
                time.sleep(0.05)
            yield socket.exists()
        finally:
            watch.terminate()
