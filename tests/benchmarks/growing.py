"""How large `.git` becomes with many writes, and what writers notice of its compaction."""

import stat
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crabmem import Entry, Fact, Memory

from .bench import ROOT, Bench
from .corpus import facts, index_cache
from .row import Row, Target, seconds, within
from .writing import new_facts, remember

_MEANT = 10_000
_NEW, _OF = 3, 5
_MB = 1_000_000
_SAMPLED = 10
_TO_PACK = 100
_LONGEST = Target("≤ 2× (its own time and one more)", 2, at_most=True)


def rows(bench: Bench) -> Iterator[Row]:
    """The rows about size and compaction."""
    entries, many = bench.size(_MEANT), 20 if bench.short else 1000
    root = bench.corpora.copy(entries, "growth")
    with Memory(root, agent="bench") as memory:
        compaction: Callable[[], object] | None = getattr(memory, "compact", None)
        _all_over(compaction)
        before = _Size.of(root)
        written, highest = _grown(memory, entries, many)
        loose = _Size.of(root)
        _all_over(compaction)
        memory.recall(facts(entries)[0].name)  # which keeps what it had to derive
    after = _Size.of(root)
    yield _growth_row(before, loose, after, written, entries, bool(compaction))
    yield _highest_row(max(highest, loose.blocks), after, entries, bool(compaction))
    yield _blocking_row(bench, root, entries, bool(compaction))
    bench.corpora.drop(root)


def _all_over(compaction: Callable[[], object] | None) -> None:
    if compaction:
        compaction()


@dataclass(frozen=True)
class _Size:
    """The bytes in a `.git`: of all files, of what is derived among them, and the blocks they take on the disk."""

    total: int
    derived: int
    blocks: int

    @classmethod
    def of(cls, root: Path) -> "_Size":
        """What there is now. A file of two names counts once, one that goes meanwhile and the folders not at all.

        There are at most 256 folders for loose objects, which are there after the first few writes.
        """
        total = derived = blocks = 0
        cache, seen = index_cache(root), set[int]()
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
        return cls(total, derived, blocks)


def _grown(memory: Memory, entries: int, many: int) -> tuple[int, int]:
    """The bytes of text that so many writes wrote, and the most blocks that `.git` took after any of them."""
    new, written, highest = new_facts(entries), 0, 0
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


def _growth_row(before: _Size, loose: _Size, after: _Size, written: int, entries: int, is_there: bool) -> Row:
    growth = after.total - after.derived - before.total + before.derived
    figures = {
        "text written MB": written / _MB,
        "growth MB": growth / _MB,
        "with the search cache ×": (after.total - before.total) / written,
        "before compaction ×": (loose.total - before.total) / written,
    }
    what = f"`.git` growth after compaction, 1,000 writes at {_MEANT // 1000}k, without the search cache"
    measured = growth / written if is_there else None
    return Row(what, "bytes of entry text written", within(2.5), measured, entries, _MEANT, figures)


def _highest_row(highest: int, after: _Size, entries: int, is_there: bool) -> Row:
    above = (highest - after.blocks) / _MB
    what = "highest size of `.git` on the disk while writing"
    figures = {"highest MB": highest / _MB, "compacted MB": after.blocks / _MB}
    measured = max(above, 0.0) if is_there else None
    return Row(what, "the compacted size", within(64, " MB"), measured, entries, _MEANT, figures)


def _blocking_row(bench: Bench, root: Path, entries: int, is_there: bool) -> Row:
    """The longest write beside a compaction in another process, against the ordinary ones that it has to pack."""
    new, many = new_facts(entries), 5 if bench.short else _TO_PACK
    with Memory(root, agent="bench") as memory:
        for _ in range(3):  # the first ones read what later ones know
            remember(memory, next(new))
        ordinary = [seconds(lambda: remember(memory, next(new))) for _ in range(many)]
        beside = _beside(memory, new) if is_there else []
    figures = {"ordinary ms": statistics.median(ordinary) * 1000, "longest ordinary ms": max(ordinary) * 1000}
    if beside:
        figures |= {"beside ms": statistics.median(beside) * 1000, "longest beside ms": max(beside) * 1000}
    measured = max(beside) / max(ordinary) if beside else None
    note = f"{len(beside)} writes beside it"
    return Row("longest write beside a compaction", "the longest ordinary write", _LONGEST, measured, entries, _MEANT,
               figures, note)  # fmt: skip


def _beside(memory: Memory, new: Iterator[Fact]) -> list[float]:
    """The seconds of each write while a compaction runs."""
    command = [sys.executable, "-m", "tests.benchmarks.child", "compact", str(memory.root)]
    took: list[float] = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None:
            took.append(seconds(lambda: remember(memory, next(new))))
    assert child.returncode == 0, "the compaction failed"
    return took
