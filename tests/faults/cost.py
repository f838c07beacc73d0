"""`python -m tests.faults.cost`: what a write costs that waits for the disk, against one that does not, in one run."""

import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from crabmem import Memory

_ENTRIES = 100
_ROUNDS = 200
_TEXT = "One fact of about the usual length, which is some seven hundred bytes. " * 10


def measured(entries: int = _ENTRIES, rounds: int = _ROUNDS) -> dict[str, float]:
    """The median seconds of a `remember` by durability, taken by turns over two memories of so many entries."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        memories = {name: opened.enter_context(_prepared(Path(folder) / name, entries)) for name in ("full", "fast")}
        took: dict[str, list[float]] = {name: [] for name in memories}
        for number in range(rounds):
            for name, memory in memories.items():
                began = time.perf_counter()
                memory.remember(f"fact {number % entries}", "what is measured", f"{number} {_TEXT}")
                took[name].append(time.perf_counter() - began)
    return {name: statistics.median(each) for name, each in took.items()}


def _prepared(root: Path, entries: int) -> Memory:
    root.mkdir()
    (root / "crabmem.toml").write_text(f'durability = "{root.name}"\n')
    memory = Memory(root, agent="coder")
    for number in range(entries):
        memory.remember(f"fact {number}", "what is measured", _TEXT)
    return memory


if __name__ == "__main__":
    took = measured()
    print(", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in took.items()))
    print(f"a write that waits for the disk takes {took['full'] / took['fast']:.1f} times one that does not")
