"""`python -m tests.benchmarks.child TASK ROOT …`: what has to be measured in a process of its own. Prints JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from crabmem import Memory, search
from crabmem.sync.sync import sync


def first_recall(root: str, asked: str) -> Mapping[str, object]:
    """The seconds until a memory is there, and until its first recall is answered; and the scores of all queries."""
    questions: list[str] = json.loads(asked)
    began = time.perf_counter()
    memory = Memory(root)
    opened = time.perf_counter()
    memory.recall(questions[0], 6)
    answered = time.perf_counter()
    scores = [{hit.entry.path: hit.score for hit in memory.recall(question, 6)} for question in questions]
    memory.close()
    return {"opened": opened - began, "answered": answered - began, "scores": scores}


def load(folder: str) -> Mapping[str, object]:
    """The seconds until the index that was kept in `folder` can be asked."""
    began = time.perf_counter()
    kept = search.load(Path(folder))
    assert kept, "there is no index"
    return {"loaded": time.perf_counter() - began}


def peak(root: str, asked: str) -> Mapping[str, object]:
    """The highest memory of a process that answers these queries, in bytes."""
    memory = Memory(root)
    for question in json.loads(asked):
        memory.recall(question, 6)
    memory.close()
    return {"bytes": _peak()}


def synced(root: str) -> Mapping[str, object]:
    """The seconds that a sync takes, and the highest memory of its process, in bytes."""
    with Memory(root, is_person=True) as memory:
        began = time.perf_counter()
        sync(memory)
        return {"seconds": time.perf_counter() - began, "bytes": _peak()}


def _peak() -> int:
    """The highest resident size of this program, where the system tells; what it was started from does not count."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


_TASKS: Mapping[str, Callable[..., Mapping[str, object]]] = {
    "first-recall": first_recall,
    "load": load,
    "peak": peak,
    "sync": synced,
}

if __name__ == "__main__":
    print(json.dumps(_TASKS[sys.argv[1]](*sys.argv[2:])))
