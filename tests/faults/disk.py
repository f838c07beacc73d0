"""Disks that are full or read-only, locks that are held for ever or removed, clocks that go back."""

import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from crabmem import Busy, CrabmemError, Memory, Unwritable
from crabmem.disk import fs
from crabmem.write.actor import Actor
from tests.opening import opened_with

from . import Counts, Say
from .actors import (
    Record,
    apart,
    body,
    commits,
    ended,
    in_history,
    is_whole,
    left_locks,
    main,
    page,
    started,
    token,
    total,
)  # fmt: skip
from .repository import assert_clean, complaints, git

FAILURES = 30
_TIMEOUT = 0.5
_WRITERS = 4
_WRITES = 12
_PAGE = 4096


@dataclass(frozen=True)
class Disk:
    """A folder whose disk can be filled, all but for `left` of what it counts, and freed again."""

    folder: Path
    fill: Callable[[int], None]
    free: Callable[[], None]


def run(long: bool, say: Say) -> Counts:
    """Refuse 30 writes in every way there is, or 300; where we may mount, on disks that are really full."""
    return apart(__name__, long, say, *_with_mounts_of_its_own())


def _with_mounts_of_its_own() -> list[str]:
    """The command in which a process may mount, and by which its mounts end with it; none where there is none."""
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        if shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return words
    return []


def counted(long: bool, say: Say) -> Counts:
    """Every kind of refusal, each time in a new memory."""
    sums: Counter[str] = Counter()
    can_mount = may_mount()
    disks = [_small_disk, _few_inodes] if can_mount else [_small_files]
    claims: list[Claim] = [partial(_refused_writes, disk) for disk in disks]
    claims += [partial(_refused_compactions, disk) for disk in disks]
    claims += [partial(_read_only, can_mount), _stopped_holder, _removed_lock, _clock_going_back, _hidden_edit]
    for claim in claims:
        for seed in range(10 if long else 1):
            with tempfile.TemporaryDirectory() as folder:
                sums += claim(Path(folder), random.Random(seed))
        say(f"{_name(claim)}: as promised")
    sums["disks mounted"] = int(can_mount)
    return total(
        sums, "refused", "written", "compacted", "recalls", "busy", "locks removed", "jumps", "hidden edits", "lost",
        "disks mounted",
    )  # fmt: skip


Claim = Callable[[Path, random.Random], Counter[str]]


def _name(claim: Claim) -> str:
    if isinstance(claim, partial):
        return " ".join([_name(claim.func), *(_name(each) for each in claim.args if callable(each))])
    return getattr(claim, "__name__", "").strip("_").replace("_", " ")


# Disks that refuse


def _refused_writes(
    kind: Callable[[Path], AbstractContextManager[Disk]], folder: Path, chance: random.Random
) -> Counter[str]:
    """A write is refused with an error of ours or is done; recall goes on; with space again all is well."""
    with kind(folder) as disk:
        root, written = disk.folder / "memory", [token("before", number) for number in range(3)]
        with Memory(root, agent="agent") as memory:
            for number, text in enumerate(written):
                memory.remember(f"fact {number}", "what is written", body(text))
            counts = _written_until_refused(memory, disk, written)
            disk.free()
            memory.remember("After", "written after the refusals", body(token("after", 0)))
            assert memory.get("After").content == body(token("after", 0))
        _check(root, written)
        return counts


def _written_until_refused(memory: Memory, disk: Disk, written: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in count():
        disk.fill(number % 14)
        text = token("agent", number)
        try:
            memory.remember(f"fact {number % 3}", "what is written", body(text))
            written.append(text)
            counts["written"] += 1
        except CrabmemError as error:
            assert isinstance(error, Unwritable), f"refused with {error!r}"
            counts["refused"] += 1
        hits = memory.recall("fact what is written")
        assert len(hits) == 3 and all(is_whole(hit.entry.content) for hit in hits), f"recall: {hits}"
        counts["recalls"] += 1
        if counts["refused"] == FAILURES:
            return counts
        assert number < FAILURES * 20, "the disk is never full"
    raise AssertionError("counting ended")


def _refused_compactions(
    kind: Callable[[Path], AbstractContextManager[Disk]], folder: Path, chance: random.Random
) -> Counter[str]:
    """A compaction is refused with an error of ours or is done; nothing is lost; with space again it works."""
    counts: Counter[str] = Counter()
    with kind(folder) as disk:
        root, written = disk.folder / "memory", [token("agent", number) for number in range(12)]
        with Memory(root, agent="agent") as memory:
            for number, text in enumerate(written):
                memory.remember(f"fact {number % 3}", "what is written", body(text))
                disk.fill(number)
                try:
                    counts["compacted"] += bool(memory.engine.history.compact())
                except CrabmemError as error:
                    assert isinstance(error, Unwritable), f"refused with {error!r}"
                    counts["refused"] += 1
                assert len(memory.log()) == number + 2, "the history cannot be read"
                disk.free()
            memory.engine.history.compact()
        assert list((root / ".git/objects/pack").glob("tmp_*")) == []
        _check(root, written)
    assert counts["refused"] and counts["compacted"], f"not both refused and done: {counts}"
    return counts


@contextmanager
def _small_disk(folder: Path) -> Iterator[Disk]:
    """A disk of a few megabytes, filled but for some pages."""
    ballast = folder / "ballast"

    def fill(left: int) -> None:
        with ballast.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * _PAGE):
                pass
        os.truncate(ballast, max(0, ballast.stat().st_size - _PAGE * left))

    with mounted(folder, "size=6m"):
        yield Disk(folder, fill, ballast.unlink)


@contextmanager
def _few_inodes(folder: Path) -> Iterator[Disk]:
    """A disk with space and no room for another file but for a few."""
    ballast = folder / "ballast"

    def fill(left: int) -> None:
        ballast.mkdir(exist_ok=True)
        with suppress(OSError):
            for number in count(len(list(ballast.iterdir()))):
                (ballast / f"{number}").touch(exist_ok=False)
        for file in list(ballast.iterdir())[:left]:
            file.rename(ballast / "gone")
            (ballast / "gone").unlink()

    with mounted(folder, "size=32m,nr_inodes=3000"):
        yield Disk(folder, fill, lambda: shutil.rmtree(ballast))


@contextmanager
def _small_files(folder: Path) -> Iterator[Disk]:
    """A disk that takes a few bytes of every file: what a process without rights can have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(left: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (left * 40, hard))

    def free() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield Disk(folder, fill, free)
    finally:
        free()


def may_mount() -> bool:
    refused = suppress(OSError, subprocess.CalledProcessError)
    with tempfile.TemporaryDirectory() as folder, refused, mounted(Path(folder), "size=64k"):
        return True
    return False


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A file system in memory, over `folder`."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def _read_only(can_mount: bool, folder: Path, chance: random.Random) -> Counter[str]:
    """Reading goes on as ever; every write is refused for what it is."""
    if os.geteuid() == 0 and not can_mount:
        return Counter()  # nothing else keeps root from writing
    with mounted(folder, "size=32m") if can_mount else nullcontext():
        root = folder / "memory"
        with Memory(root, agent="agent") as memory:
            memory.remember("fact", "what is written", body(token("agent", 0)))
        with _unwritable(folder, root, can_mount), Memory(root, agent="agent") as memory:
            assert memory.recall("fact")[0].entry.content == body(token("agent", 0))
            assert memory.get("fact").content and memory.prompt() and memory.log() and memory.entries()
            assert {found.check for found in memory.doctor() if found.level == "error"} <= {"permissions"}
            for write in (lambda: memory.remember("fact", "", "x"), lambda: memory.forget("fact"), memory.undo):
                _assert_unwritable(write)
        with Memory(root, agent="agent") as memory:
            memory.remember("fact", "what is written", body(token("agent", 1)))
        _check(root, [token("agent", 0), token("agent", 1)])
    return Counter({"refused": 3, "recalls": 1, "written": 2})


def _assert_unwritable(write: Callable[[], object]) -> None:
    try:
        write()
    except Unwritable:
        return
    raise AssertionError("a write on a read-only disk was acknowledged")


@contextmanager
def _unwritable(folder: Path, root: Path, can_mount: bool) -> Iterator[None]:
    """Take away the right to write: of the disk, or where we may not, of every folder and file."""
    if can_mount:
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
        return
    everything = {item: item.stat().st_mode for item in [root, *root.rglob("*")]}
    for item, mode in everything.items():
        item.chmod(mode & 0o555)
    try:
        yield
    finally:
        for item, mode in everything.items():
            item.chmod(mode)


# Locks


def _stopped_holder(folder: Path, chance: random.Random) -> Counter[str]:
    """Whoever waits for a process that is stopped is told which, soon; it can go on, or be killed."""
    root = folder / "memory"
    with Memory(root, agent="agent") as memory:
        memory.remember("fact", "what is written", body(token("agent", 0)))
        (root / "crabmem.toml").write_text(f"lock_timeout = {_TIMEOUT}\n")
        for number, sign in enumerate((signal.SIGCONT, signal.SIGKILL)):
            pid = started(partial(_write_and_stop, root, number, chance.randint(5, 40)))
            os.waitpid(pid, os.WUNTRACED)
            _assert_busy(memory, pid)
            assert memory.recall("fact")
            os.kill(pid, sign)
            assert ended(pid) == (0 if sign == signal.SIGCONT else -signal.SIGKILL)
            memory.remember("after", "what is written", body(token("after", number)))
    _check(root, [token("stopped", 0), token("after", 0), token("after", 1)])
    return Counter({"busy": 2, "recalls": 2, "written": 4})


def _write_and_stop(root: Path, number: int, at: int) -> None:
    """Stop before a change of the disk, with the lock held."""
    changes = count(1)

    def stop(operation: str, path: str) -> None:
        if next(changes) == at:
            os.kill(os.getpid(), signal.SIGSTOP)

    with Memory(root, agent="stopped") as memory:
        fs.before = stop
        memory.remember("fact", "what is written", body(token("stopped", number)))


def _assert_busy(memory: Memory, pid: int) -> None:
    began = time.monotonic()
    try:
        memory.remember("fact", "what is written", "while another holds the lock")
    except Busy as error:
        took = time.monotonic() - began
        assert took < _TIMEOUT + 1, f"waited {took:.1f} s"
        assert f"process {pid} " in str(error), f"does not name process {pid}: {error}"
        return
    raise AssertionError("two writers at once")


def _removed_lock(folder: Path, chance: random.Random) -> Counter[str]:
    """The lock file is removed again and again while processes write."""
    root, record = folder / "memory", Record(folder / "said")
    with Memory(root) as memory:
        memory.init()
    writers = [started(partial(_write_some, root, record, number)) for number in range(_WRITERS)]
    removed = 0
    while not all(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for pid in writers):
        time.sleep(chance.random() * 0.02)
        with suppress(FileNotFoundError):
            (root / ".git/crabmem/lock").unlink()
            removed += 1
    assert [ended(pid) for pid in writers] == [0] * _WRITERS, "a writer ended by itself; its trace is above"
    written = record.said("text")
    with Memory(root, agent="agent") as memory:
        memory.remember("after", "what is written", body(token("after", 0)))
        wide = [commit.subject for commit in memory.log() if commit.tool == "remember" and len(commit.paths) != 1]
        persons = [commit.subject for commit in memory.log() if commit.author == "person"]
    _check(root, written)
    assert set(record.said("commit")) <= commits(root), "an acknowledged commit was lost"
    assert wide == [] and persons == [], f"recorded wrongly: {wide + persons}"
    return Counter({"written": len(written), "locks removed": removed})


def _write_some(root: Path, record: Record, writer: int) -> None:
    with Memory(root, agent=f"agent {writer}") as memory:
        for number in range(_WRITES):
            text = token(f"agent-{writer}", number)
            saved = memory.remember(f"fact {number % 3}", "what is written", body(text))
            record.say("text", text)
            record.say("commit", f"{saved.commit}")


# Times


def _clock_going_back(folder: Path, chance: random.Random) -> Counter[str]:
    """The history is told in the order it happened, whatever the clock said meanwhile."""
    root, now, jumps = folder / "memory", [datetime(2026, 3, 1, tzinfo=UTC)], 12
    with opened_with(root, Actor("agent", None), lambda: now[0]) as memory:
        for number in range(jumps):
            now[0] += timedelta(hours=chance.randint(-100_000, 60_000))
            memory.remember("fact", "what is written", body(token("agent", number)))
            _assert_seen(memory, root / "memory/entries/fact.md", token("person", number))
        told = [commit.tool for commit in memory.log() if commit.author != "crabmem"]
        assert told == ["remember", *([None, "remember"] * (jumps - 1))], f"out of order: {told}"
        memory.adopt()
    times = [int(line) for line in git(root, "log", "--reverse", "--format=%ct").split()]
    assert times == sorted(times), f"a commit is older than its parent: {times}"
    _check(root, [token(who, number) for who in ("agent", "person") for number in range(jumps)])
    return Counter({"jumps": jumps, "written": jumps})


def _assert_seen(memory: Memory, file: Path, text: str) -> None:
    """What a person saves is what is recalled next."""
    file.write_text(page("fact", text))
    [hit] = memory.recall("fact")
    assert hit.entry.content == body(text), f"{text} was not seen: {hit.entry.content[:60]!r}"


def _hidden_edit(folder: Path, chance: random.Random) -> Counter[str]:
    """A save that leaves size and time as they were is seen all the same."""
    root, edits = folder / "memory", 20
    ahead = datetime.now(UTC) + timedelta(hours=1)  # by this clock nothing was changed of late
    with opened_with(root, Actor("agent", None), lambda: ahead) as memory:
        memory.remember("fact", "what is written", body(token("agent", 0)))
        file = root / "memory/entries/fact.md"
        file.write_text(page("fact", token("person", 0)))
        for number in range(1, edits):
            before = file.stat()
            file.write_text(page("fact", token("person", number)))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert file.stat().st_size == before.st_size
            [hit] = memory.recall("fact")
            assert hit.entry.content == body(token("person", number)), f"edit {number} was not seen"
            memory.adopt()
    _check(root, [token("person", number) for number in range(1, edits)])
    return Counter({"hidden edits": edits - 1})


def _check(root: Path, written: list[str]) -> None:
    """Nothing was lost, nothing is left to repair."""
    lost = set(written) - in_history(root)
    assert not lost, f"acknowledged, and in no history: {sorted(lost)[:5]}"
    assert left_locks(root) == [], f"locks were left: {left_locks(root)}"
    assert complaints(root) == []
    assert_clean(root)


if __name__ == "__main__":
    main(counted)
