"""A process that works on a memory for long, and says how much of the machine's memory it takes meanwhile."""

import ctypes
import gc
import json
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from crabmem import Memory, NotFound
from crabmem.operations import history, maintenance

FACTS = 200
#: What is kept up to a bound is to reach it early, so that all else that grows is seen.
BOUNDS = {
    "crabmem.recall.reader._PARSED": 300,
    "crabmem.disk.store._MOST_CHANGES": 300,
    "crabmem.git.walk.MOST_ROWS": 300,
    "crabmem.git.store._KEPT": 500_000,
}
_WORDS = [f"word{number}" for number in range(2_000)]


def ways(memory: Memory, chance: random.Random) -> list[tuple[int, Callable[[], object]]]:
    """What is done, and how often of a hundred times."""

    def text() -> str:
        return " ".join(chance.choices(_WORDS, k=40))

    def name() -> str:
        return f"Fact {chance.randrange(FACTS)}"

    return [
        (40, lambda: memory.remember(name(), "what it is", text())),
        (5, lambda: memory.forget(name())),
        (15, lambda: memory.recall(text()[:20])),
        (5, lambda: memory.recall(text()[:20], blame=True)),
        (5, lambda: memory.recall("word1", as_of=chance.choice(memory.log(limit=300)).commit)),
        (5, lambda: history.patch(memory, chance.choice(memory.log(limit=300)).commit)),
        (5, lambda: memory.blame(name())),
        (5, lambda: memory.get(name())),
        (5, lambda: memory.diff(history.newest(memory))),
        (5, lambda: memory.before_turn(text())),
        (5, lambda: memory.call("recall", {"query": text()[:20]})),
    ]


def held() -> float:
    """Megabytes that this process has for itself."""
    gc.collect()
    with suppress(AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1_024


def endured(root: Path, count: int) -> list[float]:
    """What was held after each tenth of so many operations."""
    (root / "crabmem.toml").write_text('durability = "fast"\n')
    chance, found = random.Random(1), list[float]()
    with Memory(root, agent="coder", session="s-1") as memory:
        often, does = zip(*ways(memory, chance), strict=True)
        for number in range(1, count + 1):
            with suppress(NotFound):
                chance.choices(does, often)[0]()
            if number % (count // 10) == 0:
                maintenance.compact(memory)  # what is read in packs is what dulwich keeps
                found.append(held())
    return found


def main() -> None:
    """Print what was held, as JSON."""
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as root:
        for name, bound in BOUNDS.items():
            patch(name, bound).start()
        print(json.dumps(endured(Path(root), int(sys.argv[1]))))


if __name__ == "__main__":
    main()
