"""What the slow ones of many operations take: a process that writes and recalls while the history is compacted."""

import subprocess
from collections.abc import Iterator
from statistics import quantiles

import numpy as np

from crabmem import Memory
from crabmem.disk.background import start

from ..bench import Bench
from ..corpus import new_facts, questions
from ..measure import measure
from ..row import Row, within
from ..timing import seconds, with_each
from .writing import write_one

_OPERATIONS = 5_000
#: A compaction is begun after so many operations, unless one still runs.
_BETWEEN = 100
_SAID = 1_000


@measure(1_000, 10_000)
def mixed(bench: Bench, entries: int) -> Iterator[Row]:
    """Writes and recalls in one process, in any order, beside compactions of another."""
    root, many = bench.in_use(entries, "mixed"), bench.many(_OPERATIONS, 60)
    new, asked = new_facts(), questions(entries)
    took: dict[str, list[float]] = {"writes": [], "recalls": []}
    compacting: list[subprocess.Popen[bytes]] = []
    beside = 0
    with Memory(root, agent="bench") as memory:
        write = with_each(lambda fact: write_one(memory, fact), new)
        recall = with_each(lambda question: [hit.entry.content for hit in memory.recall(question, 6)], asked)
        for action in (recall, write):  # what only the first one of a process does is not among them
            action.before()
            action.run()
        for number, is_write in enumerate(np.random.default_rng(1).random(many) < 0.5):
            if number % _SAID == 0:
                bench.say(f"  {number:,} of {many:,} operations")
            if number % _BETWEEN == 0 and not _runs(compacting):
                compacting += filter(None, [start("git.upkeep", root)])
            name, action = ("writes", write) if is_write else ("recalls", recall)
            action.before()
            took[name].append(seconds(action.run))
            beside += _runs(compacting)
    for each in compacting:
        each.wait()
    bench.corpora.drop(root)
    state = (
        f"{many:,} operations one after the other, a write or a recall by chance, no question asked before, while"
        " another process compacts the history again and again"
    )
    for name, times in took.items():
        at = quantiles(times, n=100, method="inclusive")
        figures = {"p99 ms": at[98], "p50 ms": at[49], "p95 ms": at[94], "longest ms": max(times)}
        yield Row(
            f"{name} among mixed operations, p99",
            "their own median",
            within({1_000: 4, 10_000: 4}),
            at[98] / at[49],
            entries,
            state,
            figures={unit: value * 1000 for unit, value in figures.items()},
            note=f"of {len(times):,}, a compaction beside {beside / many:.0%} of all",
        )


def _runs(started: list["subprocess.Popen[bytes]"]) -> bool:
    """Whether the last one that was started still runs."""
    return bool(started) and started[-1].poll() is None
