"""What a host waits for: `crabmem hook` as the fresh process that it starts at each event."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .bench import ROOT, Bench, bare_python, crabmem
from .corpus import queries
from .row import Row, Target, by_turns, medians

_MEANT = 10_000
_TARGET = Target("< 150 ms", 150, at_most=True, unit=" ms")
#: The events that an agent or a person waits for.
EVENTS = ("session-start", "prompt", "stop")


def rows(bench: Bench) -> Iterator[Row]:
    """A row for each event that an agent waits for."""
    entries = bench.size(_MEANT)
    root = bench.settled(bench.corpora.copy(entries, "hook"))
    crabmem("--dir", root, "recall", "anything")  # a workspace in use has an index
    messages = queries(50, entries, seed=11)
    actions: dict[str, Callable[[], object]] = {event: partial(_hook, root, event, messages) for event in EVENTS}
    actions["python"] = bare_python
    by_turns(actions, 2)
    taken = medians(by_turns(actions, bench.rounds(entries)))
    bench.corpora.drop(root)
    for event in EVENTS:
        figures = {"python ms": taken["python"] * 1000}
        what = f"`crabmem hook {event}` as a fresh process, 10k"
        yield Row(what, "the clock", _TARGET, taken[event] * 1000, entries, _MEANT, figures)


def _hook(root: Path, event: str, messages: list[str]) -> None:
    """One event of a session that has not heard of any message before."""
    messages.append(messages.pop(0))
    told = {"session_id": os.urandom(4).hex(), "prompt": messages[0], "stop_hook_active": False}
    command = [sys.executable, "-m", "crabmem", "--dir", str(root), "hook", event, "--host", "claude-code"]
    subprocess.run(command, input=json.dumps(told).encode(), cwd=ROOT, check=True, capture_output=True)
