"""`python -m tests.benchmarks.child TASK ROOT …`: what has to be measured in a process of its own. Prints JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from crabmem import Memory
from crabmem.sync.sync import sync


def first_recall(root: str, asked: str) -> Mapping[str, object]:
    """The seconds until a memory is there and has answered its first recall."""
    began = time.perf_counter()
    with Memory(root) as memory:
        memory.recall(asked, 6)
        return {"answered": time.perf_counter() - began}


def peak(root: str, asked: str) -> Mapping[str, object]:
    """The highest memory of a process that answers these queries, in bytes."""
    memory = Memory(root)
    for question in json.loads(asked):
        memory.recall(question, 6)
    memory.close()
    return {"bytes": _peak()}


def synced(root: str) -> Mapping[str, object]:
    """The seconds that a sync takes."""
    with Memory(root, is_person=True) as memory:
        began = time.perf_counter()
        sync(memory)
        return {"seconds": time.perf_counter() - began}


def _peak() -> int:
    """The highest resident size of this program, where the system tells; what it was started from does not count."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


_TASKS: Mapping[str, Callable[..., Mapping[str, object]]] = {
    "first-recall": first_recall,
    "peak": peak,
    "sync": synced,
}

if __name__ == "__main__":
    print(json.dumps(_TASKS[sys.argv[1]](*sys.argv[2:])))
