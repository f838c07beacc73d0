"""Ends or fails an operation at every call that changes the disk, and checks what the next one finds.

Each call is a point: the fault acts before it, after it took effect, or with half of a write done. The sweeps run
in processes of their own (`python -m tests.faults.crashes OPERATION FAULT STRIDE [DURABILITY]`), because they fork for
each point; names may be lists with commas. They print what was counted as JSON, and fail with the first broken promise.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from crabmem import CrabmemError, Fact, Key, Memory
from crabmem.disk import system
from crabmem.git.repository import left_of_purge
from crabmem.operations import adoption, keyvalue
from crabmem.operations import files as files_operations
from crabmem.text import entry
from crabmem.write import recovery
from tests.faults.repository import complaints, git, traces
from tests.faults.shim import KILLED, MOMENTS, Call, Fault, Shim

OLD = "Every Thursday."
NEW = "Every Friday."
EDIT = "A line of the person.\n"
VET = "memory/entries/luna-s-vet.md"
OTHER = "memory/entries/other.md"
AFTER = "memory/entries/after.md"
SAME = "memory/entries/same.md"
LINKS = "[[Luna's vet]] and [[luna-s-vet|the vet]]\n"
KINDS = ("kill", "ENOSPC", "EIO", "EROFS", "ENOSPC+", "EIO+", "EROFS+")
#: What Python reports when a process is started.
_STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system")
#: How a try ended.
DONE, REFUSED, UNHIT, BROKEN = 0, 3, 5, 6
#: A name, and what counts.
Job: TypeAlias = tuple[str, Callable[[], Counter[str]]]
_LINKING = ("MEMORY.md", "beside.md", "people/ada.md")
_OTHER = "entries/other.md"
_FAST = 'durability = "fast"\n'


def _create(memory: Memory) -> None:
    memory.remember("Fresh", "a new fact", NEW)


def _overwrite(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", NEW)


def _forget(memory: Memory) -> None:
    memory.forget("Luna's vet")


def _overview(memory: Memory) -> None:
    memory.write_overview(NEW)


def _identity(memory: Memory) -> None:
    memory.write_identity(NEW)


def _rollback(memory: Memory) -> None:
    memory.rollback("HEAD~2")


def _revert(memory: Memory) -> None:
    memory.revert(agent="before", take="theirs", even_if_many=True)


def _undo(memory: Memory) -> None:
    memory.undo()


def _import(memory: Memory) -> None:
    facts = [Fact("Fresh", "a new fact", NEW), Fact("fresh!", "another one", NEW), Fact("Luna's vet", "who", NEW)]
    memory.remember_all(facts, "a folder")


def _adopt(memory: Memory) -> None:
    memory.adopt()


def _rename(memory: Memory) -> None:
    memory.rename("Luna's vet", "Dr. Moreno")


def _rewrite(memory: Memory) -> None:
    files_operations.rewrite(
        memory, "sort", lambda tree: {_OTHER: None, "people/other.md": OLD, "MEMORY.md": NEW, "b.md": NEW}
    )


def _keep(memory: Memory) -> None:
    keys = [Key(("memory",), "Other"), Key(("memory",), "Luna's vet"), Key(("users", "ada"), "coffee")]
    keyvalue.keep(memory, {keys[0]: None, **{key: Fact(key.name, "what a store keeps", NEW) for key in keys[1:]}})


def _wrote(memory: Memory) -> None:
    adoption.adopt_written(memory, [str(memory.root / path) for path in (VET, OTHER)])


def _compact(memory: Memory) -> None:
    memory.engine.history.compact()


def _purge(memory: Memory) -> None:
    memory.purge(text=OLD)


def _nothing(root: Path) -> None:
    """The workspace is ready as it is."""


def _saved_by_the_person(root: Path) -> None:
    for path in (VET, OTHER):
        with (root / path).open("a") as file:
            file.write(EDIT)


def _linked(root: Path) -> None:
    """Files in every place lead to the entry."""
    with Shim(sync=False), opened(root, "before") as memory:
        files_operations.rewrite(
            memory, "link", lambda tree: {**dict.fromkeys(_LINKING, LINKS), _OTHER: tree.text(_OTHER) + LINKS}
        )


def _packed_before(root: Path) -> None:
    """There is a pack of ours to be replaced, and something to be packed."""
    with Shim(sync=False), opened(root, "before") as memory:
        _compact(memory)
        for text in (NEW, OLD):
            memory.remember("Luna's vet", "who looks after the dog", text)


def _without_anything(root: Path) -> None:
    shutil.rmtree(root)


def _killed(
    operation: Callable[[Memory], None], name: str, ending: str, first: Callable[[Path], None] = _nothing
) -> Callable[[Path], None]:
    """Prepares what `operation` leaves behind when it is killed after the call `name` of a path with that ending."""

    def end(call: Call) -> None:
        if call.name == name and (call.other or call.path).endswith(ending):
            os._exit(KILLED)

    def prepare(root: Path) -> None:
        first(root)

        def work() -> int:
            with Shim(sync=False, after=end), Memory(root, agent="crashed") as memory:
                operation(memory)
            return DONE

        assert in_child(work) == KILLED, f"there is no {name} of {ending} to be killed at"

    return prepare


def _half_made(root: Path) -> None:
    shutil.rmtree(root)
    _killed(_create, "write", "/config")(root)


def _killed_compacting(name: str, ending: str) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        _packed_before(root)
        _killed(_compact, name, ending)(root)

    return prepare


@dataclass(frozen=True)
class Operation:
    """What is done under faults, in a workspace that `prepare` made ready."""

    act: Callable[[Memory], None]
    prepare: Callable[[Path], None] = _nothing


#: The call that puts a file in the place of another; the second step of three where the system has none for that.
EXCHANGED = "rename" if system.IS_PORTABLE else "exchange"
#: The operations; a recovery is a write that first has to finish what a killed one left.
OPERATIONS: dict[str, Operation] = {
    "create": Operation(_create),
    "overwrite": Operation(_overwrite),
    "forget": Operation(_forget),
    "overview": Operation(_overview),
    "identity": Operation(_identity),
    "rollback": Operation(_rollback),
    "revert": Operation(_revert),
    "undo": Operation(_undo),
    "import": Operation(_import),
    "adopt": Operation(_adopt, _saved_by_the_person),
    "rename": Operation(_rename, _linked),
    "rewrite": Operation(_rewrite, _linked),
    "keep": Operation(_keep),
    "wrote": Operation(_wrote, _saved_by_the_person),
    "over_an_edit": Operation(_overwrite, _saved_by_the_person),
    "init": Operation(_create, _without_anything),
    "purge": Operation(_purge),
    "compact": Operation(_compact),
    "compact_again": Operation(_compact, _packed_before),
    "recovery_of_begun": Operation(_create, _killed(_overwrite, "fsync", "/crabmem/journal")),
    "recovery_of_placed": Operation(_create, _killed(_overwrite, EXCHANGED, VET)),
    "recovery_of_half_placed": Operation(_create, _killed(_undo, EXCHANGED, VET)),
    "recovery_of_half_imported": Operation(_create, _killed(_import, "link", "/fresh.md")),
    "recovery_of_half_renamed": Operation(_create, _killed(_rename, "link", "/dr-moreno.md", _linked)),
    "recovery_of_half_linked": Operation(_create, _killed(_rename, EXCHANGED, "/beside.md", _linked)),
    "recovery_of_half_rewritten": Operation(_create, _killed(_rewrite, "link", "/people/other.md", _linked)),
    "recovery_of_signed": Operation(_create, _killed(_wrote, "write", "/crabmem/bylines", _saved_by_the_person)),
    "recovery_of_taken_away": Operation(_create, _killed(_forget, "fsync", "/entries")),
    "recovery_of_locked": Operation(_create, _killed(_overwrite, "link", "/refs/heads/main.lock")),
    "recovery_of_committed": Operation(_create, _killed(_overwrite, "rename", "/refs/heads/main")),
    "recovery_of_half_made": Operation(_create, _half_made),
    "recovery_of_half_purged": Operation(_create, _killed(_purge, EXCHANGED, VET)),
    "recovery_of_purged": Operation(_create, _killed(_purge, EXCHANGED, "/.git")),
    "recovery_of_half_packed": Operation(_compact, _killed_compacting("rename", ".pack")),
    "recovery_of_packed": Operation(_compact, _killed_compacting("rename", ".idx")),
    "recovery_of_half_unpacked": Operation(_compact, _killed_compacting("unlink", ".idx")),
}


@dataclass(frozen=True)
class State:
    """The files of a workspace, and author and subject of each commit, newest first."""

    files: Mapping[str, bytes]
    commits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Case:
    """An operation ready to be tried: where its workspace is copied from, and the states it may leave behind."""

    name: str
    template: Path
    before: State
    after: State
    calls: int
    writes: int

    @property
    def operation(self) -> Operation:
        """What is done."""
        return OPERATIONS[self.name]


@cache
def _prepared_once(durability: str) -> Path:
    """What `prepared` gives copies of, made once in a process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "prepared"
    root.mkdir()
    if durability == "fast":
        (root / "crabmem.toml").write_text(_FAST)
    with Shim(sync=False), Memory(root, agent="before") as memory:
        memory.remember("Other", "something else", OLD)
        memory.write_overview(OLD)
        memory.remember("Luna's vet", "who looks after the dog", OLD)
        for path in (VET, OTHER):
            (root / path).write_text((root / path).read_text() + "x\n")
        memory.adopt()
    return root


def prepared(folder: Path, durability: str = "full") -> Path:
    """A workspace with a little history: an overview, and two versions of an entry in two commits of two files."""
    return copied(_prepared_once(durability), folder / "prepared")


def tree(root: Path) -> dict[str, bytes]:
    """Every file outside `.git`."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def in_child(work: Callable[[], int]) -> int:
    """What `work` returns in a child process, or what it was ended with."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = BROKEN
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def case(name: str, folder: Path, durability: str = "full") -> Case:
    """Prepare an operation, and do it once undisturbed."""
    folder.mkdir()
    template = prepared(folder, durability)
    OPERATIONS[name].prepare(template)
    before = state_before(OPERATIONS[name], template, folder / "before", durability)
    root = copied(template, folder / "after")
    with Shim(sync=False) as shim, opened(root) as memory:
        OPERATIONS[name].act(memory)
    assert not shim.unseen, f"{name} changes the disk without `crabmem.disk.fs`: {shim.unseen}"
    return Case(name, template, before, next_write(root), shim.count, shim.writes)


def state_before(operation: Operation, template: Path, root: Path, durability: str = "full") -> State:
    """What is in the `template` of an operation, found in a copy at `root`; for those that prepare nothing, once."""
    if operation.prepare is _nothing:
        return _state_prepared(durability)
    return next_write(copied(template, root))


@cache
def _state_prepared(durability: str) -> State:
    with tempfile.TemporaryDirectory() as folder:
        return next_write(prepared(Path(folder), durability))


def copied(template: Path, root: Path) -> Path:
    """A copy of a workspace, or of there being none. Two names of one file stay that: locks are known by it."""
    if template.exists():
        shutil.copytree(template, root, symlinks=True)
    known: dict[int, Path] = {}
    for file in (template / ".git").rglob("*"):
        status = file.lstat()
        if status.st_nlink > 1 and file.is_file():
            copy = root / file.relative_to(template)
            first = known.setdefault(status.st_ino, copy)
            if first != copy:
                copy.unlink()
                copy.hardlink_to(first)
    return root


def opened(root: Path, agent: str = "crashed") -> Memory:
    """The memory at `root`, as the operations have it."""
    return Memory(root, agent=agent, soul_editable=True)


class Points(Protocol):
    """What faults are tried at: how many calls it makes, and how many of them write."""

    @property
    def name(self) -> str: ...
    @property
    def calls(self) -> int: ...
    @property
    def writes(self) -> int: ...


def sweep(case: Points, kind: str, stride: int, tried: Callable[[Fault], int]) -> Counter[str]:
    """Try every point of an operation, or every `stride`th, at each moment of the call; `tried` says how one ended."""
    counted: Counter[str] = Counter()
    for moment in MOMENTS:
        for at in _points(case, kind, moment, stride):
            fault = Fault(kind, at, moment)
            try:
                outcome = tried(fault)
            except (AssertionError, CrabmemError, subprocess.CalledProcessError) as error:
                words = getattr(error, "stderr", "") or str(error)
                raise AssertionError(f"{case.name}, {kind} {moment} call {at} of {case.calls}: {words}") from error
            if outcome == UNHIT:
                break
            counted["points"] += moment == "before"
            counted["faults"] += 1
            counted["kills"] += outcome == KILLED
            counted["errors"] += outcome == REFUSED or kind != "kill"
            counted["acknowledged"] += outcome == DONE
    return counted


def _points(case: Points, kind: str, moment: str, stride: int) -> Iterator[int]:
    """How many calls a fault can act at. With a stride, other ones for each sweep; without, until there are no more."""
    points = case.writes if moment == "torn" else case.calls
    if stride == 1:
        return iter(range(1, points + 100))
    first = zlib.crc32(f"{case.name} {kind} {moment}".encode()) % stride
    return iter(range(1 + first, points + 1, stride))


def _tried(case: Case, fault: Fault) -> int:
    """Do the operation with a fault, and check what it left; how it ended."""
    with tempfile.TemporaryDirectory(dir=case.template.parent) as folder:
        root = copied(case.template, Path(folder) / "memory")
        outcome = in_child(lambda: _attempt(root, case.operation, fault))
        assert outcome != BROKEN, "see above"
        _check(root, case, outcome)
    return outcome


def _attempt(root: Path, operation: Operation, fault: Fault) -> int:
    """Do the operation; after an error recall still answers, and the same memory writes again once the disk is well."""
    refused = False
    with Shim(fault, sync=False) as shim:
        memory = opened(root)
        try:
            operation.act(memory)
        except CrabmemError:
            refused = True
            memory.recall("dog friday")
    if refused:
        memory.remember("Same", "written by the same memory", "It works.")
        return REFUSED
    return DONE if shim.is_hit else UNHIT


def next_write(root: Path) -> State:
    """What is there once somebody has written again, but for what was written."""
    with Shim(sync=False), opened(root, "next") as memory:
        memory.recall("dog friday")
        memory.remember("After", "written after the fault", "It works.")
        hits = [hit.entry.path for hit in memory.recall("written after fault")]
        assert AFTER in hits, "what was written next is not recalled"
        commits = [(commit.author, commit.subject) for commit in memory.log()]
    found = tree(root)
    ours = [found.pop(path, None) for path in (AFTER, SAME)]
    assert ours[0], "what was written next is not there"
    return State(found, tuple(words for words in commits if words[1] not in ("remember: After", "remember: Same")))


def _check(root: Path, case: Case, outcome: int) -> None:
    """The promises: whole or not at all, ours stays ours, nothing to repair by hand."""
    found = next_write(root)
    if outcome in (DONE, UNHIT):
        assert found.files == case.after.files, f"acknowledged and not there: {_differing(found, case.after)}"
    states = [state for state in (case.before, case.after) if state.files == found.files]
    assert states, f"neither before nor after: {sorted(found.files)}"
    assert found.commits in [state.commits for state in states], f"the history says otherwise: {found.commits}"
    for path, data in found.files.items():
        if path.startswith("memory/entries/"):
            assert entry.parse_entry(path, data).problem is None, f"{path} cannot be parsed"
    check_repository(root)
    if case.operation.act is _compact:
        check_packs(root)
    if case.operation.act is _purge and found.files == case.after.files:
        assert traces(root, OLD) == [], "what was purged still stands"


def _differing(one: State, other: State) -> list[str]:
    return sorted(path for path, _ in one.files.items() ^ other.files.items())


def check_packs(root: Path) -> None:
    """The next compaction clears up what was left, and there is one pack then."""
    with Shim(sync=False), opened(root) as memory:
        _compact(memory)
    assert complaints(root) == [], "git fsck complains after the next compaction"
    packs = sorted(file.name for file in (root / ".git/objects/pack").iterdir())
    assert len(packs) == 2 and not any(name.startswith("tmp_") for name in packs), f"packs were left: {packs}"
    loose = int(git(root, "count-objects").split()[0])
    assert loose <= 5, f"{loose} objects lie loose"


def check_repository(root: Path) -> None:
    """Git finds nothing wrong, and nothing was left behind."""
    assert git(root, "status", "--porcelain") == "", "git status is not clean"
    assert complaints(root) == [], "git fsck complains"
    assert list((root / ".git").rglob("*.lock")) == [], "a lock was left"
    assert not (root / ".git/gc.pid").exists(), "Git's gc was left locked out"
    assert [file.name for file in (root / ".git/crabmem/tmp").glob("*-*")] == [], "a temporary file was left"
    assert list(root.glob(".crabmem-init*")) == [], "half a repository was left"
    assert left_of_purge(root) == [], "a purge left something"


def starts_no_process() -> int:
    """Write in every way, and see that no process is started for it; how many writes there were."""
    started: list[str] = []

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_STARTS):
            started.append(f"{event} {arguments}")

    def work() -> int:
        sys.addaudithook(hear)
        for act in acts:
            with opened(root) as memory:
                act(memory)
        sys.stderr.write("".join(f"{what}\n" for what in started))
        return len(started)

    acts = (_create, _overwrite, _overview, _identity, _rollback, _undo, _forget, _adopt)
    with tempfile.TemporaryDirectory() as folder:
        root = prepared(Path(folder))
        git(root, "config", "commit.gpgsign", "true")
        (root / ".gitattributes").write_text("*.md filter=shout\n")
        git(root, "config", "filter.shout.clean", "tr a-z A-Z")
        _hook(root, "pre-commit", "post-commit", "reference-transaction")
        assert in_child(work) == 0, "a write started a process"
    return len(acts)


def _hook(root: Path, *names: str) -> None:
    (root / ".git/hooks").mkdir(exist_ok=True)
    for name in names:
        (root / ".git/hooks" / name).write_text("#!/bin/sh\nexit 1\n")
        (root / ".git/hooks" / name).chmod(0o755)


def sweeps(names: list[str], kinds: list[str], stride: int, durability: str) -> Counter[str]:
    """Sweep operations with kinds of faults."""
    recovery.LATE_NS = 0  # so that what stays behind is told from what was forgotten
    counted: Counter[str] = Counter()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            ready = case(name, Path(folder) / name, durability)
            for kind in kinds:
                counted += sweep(ready, kind, stride, partial(_tried, ready))
    return counted


def swept(names: str, kinds: str, stride: int, durability: str = "full") -> Counter[str]:
    """The same, in a process of its own."""
    words = [sys.executable, "-m", "tests.faults.crashes", names, kinds, str(stride), durability]
    return counted_by(words)


def counted_by(words: list[str]) -> Counter[str]:
    """What a process printed that it counted.

    Raises:
        AssertionError: it found a broken promise.
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads and forks do not go together
    top = Path(__file__).parent.parent.parent
    done = subprocess.run(words, capture_output=True, text=True, cwd=top, env=environment)
    assert done.returncode == 0, done.stderr
    return Counter(json.loads(done.stdout))


def run(long: bool, say: Callable[[str], None]) -> Mapping[str, int]:
    """Try all points with all kinds of faults; in the short form every 250th with three."""
    counted = Counter(lost=0, **{"writes without a process": starts_no_process()})
    for part in parallel(_jobs(long), "faults", say):
        counted += part
    return {**counted, "lost": 0}


def _jobs(long: bool) -> list[Job]:
    names = list(OPERATIONS)
    if not long:
        halves = [",".join(names[::2]), ",".join(names[1::2])]
        return [(half, partial(swept, half, "kill,ENOSPC,EIO+", 250)) for half in halves]
    full = [(name, partial(swept, name, ",".join(KINDS), 1)) for name in names]
    # What recovers is prepared by a kill at a sync, and there is none.
    fast = [name for name in names if not name.startswith("recovery")]
    return [*full, *((f"{name}, fast", partial(swept, name, "kill", 1, "fast")) for name in fast)]


def parallel(jobs: Sequence[Job], what: str, say: Callable[[str], None]) -> Iterator[Counter[str]]:
    """What each job counted, as many at a time as there are processors; says how much of `what`."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, waiting in [(name, pool.submit(job)) for name, job in jobs]:
            counted = waiting.result()
            say(f"  {name}: {counted[what]:,} {what}")
            yield counted


if __name__ == "__main__":
    operations, faults, every, *rest = sys.argv[1:]
    print(json.dumps(sweeps(operations.split(","), faults.split(","), int(every), *(rest or ["full"]))))
