"""How large `.git` becomes with many writes."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crabmem import Entry, Fact, Memory
from crabmem.disk import state
from crabmem.operations.maintenance import compact

from ..bench import Bench
from ..corpus import facts, index_cache, new_facts
from ..measure import measure
from ..row import Row, within

_NEW, _OF = 3, 5
_MB = 1_000_000
_SAMPLED = 10


@measure(1_000, 10_000)
def growth(bench: Bench, entries: int) -> Iterator[Row]:
    """The size of `.git` after a thousand writes, and the most it takes on the disk meanwhile."""
    many, root = bench.many(1000, 20), bench.corpora.copy(entries, "growth")
    with Memory(root, agent="bench") as memory:
        compact(memory)
        before = _Size.of(root)
        written, highest = _grown(memory, entries, many)
        loose = _Size.of(root)
        compact(memory)
        memory.recall(facts(entries)[0].name)  # which keeps what it had to derive
    after = _Size.of(root)
    bench.corpora.drop(root)
    done = f"{many:,} writes in one process, the first of this workspace, two of five append a line; then compacted"
    grown = after.total - after.derived - before.total + before.derived
    figures = {
        "growth MB": grown / _MB,
        "of it private MB": (after.private - before.private) / _MB,
        "text written MB": written / _MB,
        "with the search cache ×": (after.total - before.total) / written,
        "before compaction ×": (loose.total - before.total) / written,
    }
    what, target = "`.git` growth after compaction, without the search cache", within({1_000: 2.5, 10_000: 2.5})
    against = "bytes of entry text written"
    yield Row(what, against, target, grown / written, entries, done, figures=figures)
    highest = max(highest, loose.blocks)
    figures = {"highest MB": highest / _MB, "compacted MB": after.blocks / _MB}
    what, above = "highest size of `.git` on the disk while writing", max((highest - after.blocks) / _MB, 0.0)
    target = within({1_000: 64, 10_000: 64}, " MB above it")
    yield Row(what, "the compacted size", target, above, entries, done, figures=figures)


@dataclass(frozen=True)
class _Size:
    """The bytes in a `.git`: of all files, of the search cache and of what else is ours; and the blocks on the disk."""

    total: int
    derived: int
    private: int
    blocks: int

    @classmethod
    def of(cls, root: Path) -> "_Size":
        """What there is now. A file of two names counts once, one that goes meanwhile and the folders not at all.

        There are at most 256 folders for loose objects, which are there after the first few writes.
        """
        total = derived = private = blocks = 0
        cache, ours, seen = index_cache(root), root / state.FOLDER, set[int]()
        for file in (root / ".git").rglob("*"):
            try:
                status = file.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode) or status.st_ino in seen:
                continue
            seen.add(status.st_ino)
            total += status.st_size
            blocks += status.st_blocks * 512
            derived += status.st_size if file.parent == cache else 0
            private += status.st_size if ours in file.parents and file.parent != cache else 0
        return cls(total, derived, private, blocks)


def _grown(memory: Memory, entries: int, many: int) -> tuple[int, int]:
    """The bytes of text that so many writes wrote, and the most blocks that `.git` took after any of them."""
    new, written, highest = new_facts(), 0, 0
    old = iter(facts(entries))
    for number in range(many):
        fact = next(new) if number % _OF < _NEW else _longer(memory.get(next(old).name))
        saved = memory.remember(fact.name, fact.description, fact.content)
        written += memory.file(saved.path).stat().st_size
        if number % _SAMPLED == 0:
            highest = max(highest, _Size.of(memory.root).blocks)
    return written, highest


def _longer(entry: Entry) -> Fact:
    """The fact of an entry with a line appended."""
    return Fact(entry.name, entry.description, f"{entry.content}\nAnd one more line was learnt later.")
