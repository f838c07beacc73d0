"""Fresh processes that are answered by one that runs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crabmem.ask import place

from ..bench import ROOT, Bench, bare_python, crabmem, surroundings
from ..corpus import questions
from ..measure import measure
from ..row import Row, compared, within
from ..timing import Action, with_each
from .commands import PYTHON, of_host

_PATIENCE = 3.0
# A process that stands by learns from its first forks what to have ready.
_TO_LEARN, _PAUSE = 4, 1.0
_TARGET = within({1_000: 2.5, 10_000: 2.5})


@measure(1_000, 10_000)
def served(bench: Bench, entries: int) -> Iterator[Row]:
    """Fresh processes beside a running `crabmem watch`."""
    root, asked = bench.in_use(entries, "served"), questions(entries)
    state = "`crabmem watch` runs, and has answered before"

    def recall(question: str) -> None:
        crabmem("--dir", root, "recall", *question.split(), alone=False)

    def hook(question: str) -> None:
        crabmem("--dir", root, "hook", "prompt", told=of_host(question), alone=False)

    actions = {
        "recall": with_each(recall, asked, is_process=True),
        "hook prompt": with_each(hook, asked, is_process=True),
        "python": Action(bare_python, is_process=True),
    }
    with _watched(root) as is_served:
        for each in (recall, hook) * bench.many(_TO_LEARN, 1):
            each(next(asked))
            time.sleep(bench.many(1, 0) * _PAUSE)
        taken = bench.by_turns(actions, entries) if is_served else {}
    for verb in ("recall", "hook prompt"):
        what = f"`crabmem {verb}`, fresh process, served by one that runs"
        if is_served:
            both = {"crabmem": taken[verb], "python": taken["python"]}
            yield compared(what, PYTHON, _TARGET, entries, state, both)
        else:
            yield Row(what, PYTHON, _TARGET, None, entries, state, note="nobody listens here")


@contextmanager
def _watched(root: Path) -> Iterator[bool]:
    """Have `crabmem watch` run meanwhile; whether it listens."""
    command, environment = [sys.executable, "-m", "crabmem", "--dir", str(root), "watch"], surroundings()
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, stdout=nothing, stderr=nothing, env=environment) as watch:
        try:
            until = time.monotonic() + _PATIENCE
            while not os.path.exists(place(environment)) and time.monotonic() < until:
                time.sleep(0.05)
            yield os.path.exists(place(environment))
        finally:
            watch.terminate()
