"""What crabmem costs, measured side by side with what one would use otherwise, as ratios within one run.

Every module listed in `GROUPS` has `rows(bench)`: it measures on workspaces of made-up entries and yields a
row for each target. Times are medians of repeats taken by turns.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the processes that are measured import this package, and nothing more
    from .bench import Bench
    from .row import Row

#: What can be measured, and what that is.
GROUPS = {
    "writing": "one write, in a running process and as a fresh one, against git, dulwich and the disk",
    "importing": "a thousand facts in one commit",
    "recalling": "one recall, in a running process and as a fresh one, against FTS5, tantivy and bare Python",
    "hooking": "what a host waits for at the events of a session, in fresh processes",
    "changing": "a file edited outside until it is found, against a rebuild; and opening a workspace",
    "memory": "the peak memory of a process that recalls",
    "growing": "the size of .git, and writes beside its compaction",
}


def measured(bench: "Bench", groups: Iterable[str]) -> Iterator["Row"]:
    """The rows of these groups, one after the other."""
    for name in groups:
        bench.say(f"{name}: {GROUPS[name]}")
        for row in import_module(f"tests.benchmarks.{name}").rows(bench):
            bench.say(f"  {row.what}, against {row.against}: {row.told} ({row.verdict}; {row.details})")
            yield row
