"""Ends or fails a sync at every call that changes a disk, this machine's or the remote's; then all go on, and agree.

After each fault the remote is whole as it is, and what both machines and the remote have in the end is what they have
where nothing happened: every fact, text that waits, and commit, once. Sweeps run in processes of their own (`python -m
tests.faults.sync_crashes EXCHANGE FAULT STRIDE`), as those of `crashes` do.

A push alone is failed at each step in `tests/remotes/test_folder.py` and `test_bundle.py`, a fetch alone in
`tests/remotes/test_quarantine.py`. What a remote or the way to it does wrong is in `sync_remotes`.
"""

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crabmem import CrabmemError, Memory
from crabmem.git import packing
from crabmem.operations.proposals import apply_proposal, proposals, reject_proposal
from crabmem.remotes import folder as folders
from crabmem.remotes import limit, quarantine
from crabmem.write import recovery

from .crashes import BROKEN, DONE, EXCHANGED, REFUSED, UNHIT, counted_by, in_child, parallel, sweep
from .machines import LUNA, Act, End, World, check_remote, exchanged, made, person, settled, shared, sync_all
from .shim import KILLED, Call, Fault, Shim

KINDS = ("kill", "ENOSPC", "EIO+")


def _tea(memory: Memory) -> None:
    memory.remember("Tea", "how it is made", "Hot.")


def _key(memory: Memory) -> None:
    memory.remember("Key", "where it is", "In the vault.")


def _many(memory: Memory) -> None:
    """Change a fact, remove one, begin one, and add to the overview."""
    memory.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes milk.\nAnd cream.")
    memory.forget("Marta")
    _tea(memory)
    memory.write_overview("- [[Luna]]\n- [[Tea]]\n")


def _renamed(memory: Memory) -> None:
    memory.rename("Luna", "Luna the cat")
    _key(memory)
    memory.write_overview("- [[Luna]]\n- [[Key]]\n")


def _eleven(memory: Memory) -> None:
    memory.remember("Luna", "the cat", "A cat.\nEleven years old.\nLikes milk.")


def _twelve(memory: Memory) -> None:
    memory.remember("Luna", "the cat", "A cat.\nTwelve years old.\nLikes milk.")


def _edited(memory: Memory) -> None:
    """Save a file by hand, which nobody has recorded."""
    (memory.root / LUNA).write_text((memory.root / LUNA).read_text().replace("Ten", "Thirteen"))


def _applied(memory: Memory) -> None:
    apply_proposal(memory, proposals(memory)[0].id)


def _rejected(memory: Memory) -> None:
    reject_proposal(memory, proposals(memory)[0].id)


def _nothing(memory: Memory) -> None:
    """Leave it as it is."""


@dataclass(frozen=True)
class Exchange:
    """What machines did since they were the same, and where the one that syncs was killed before, if it was.

    `begin` makes the world, in a folder. With `is_packed` few objects are worth a pack.
    """

    here: Act = _nothing
    there: Act = _nothing
    begin: Callable[[Path], World] = shared
    is_packed: bool = False
    killed_at: tuple[str, str] | None = None

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Have few objects count as many, if they are to."""
        before = limit.FEW, packing.MOST_OBJECTS
        try:
            if self.is_packed:
                vars(quarantine)["FEW"] = vars(folders)["FEW"] = 3
                packing.MOST_OBJECTS = 10
            yield
        finally:
            vars(quarantine)["FEW"] = vars(folders)["FEW"] = before[0]
            packing.MOST_OBJECTS = before[1]


def _disputed(folder: Path) -> World:
    """A world in which both machines know that two texts of one line wait."""
    world = shared(folder)
    _done(world, Exchange(_eleven, _twelve))
    for root in (world.here, world.there):
        exchanged(root)
    return world


def _apart(folder: Path) -> World:
    """A world in which one machine has a history of its own."""
    world = made(folder)
    with person(world.there) as memory:
        _twelve(memory)
        sync_all(memory)
    return world


def _done(world: World, exchange: Exchange) -> None:
    """Do what each machine does, and sync the one `there`."""
    with person(world.there) as memory:
        exchange.there(memory)
        sync_all(memory)
    with person(world.here) as memory:
        exchange.here(memory)


EXCHANGES = {
    "nothing to do": Exchange(),
    "push": Exchange(_tea),
    "fetch": Exchange(there=_key),
    "join": Exchange(_many, _renamed),
    "the same line": Exchange(_eleven, _twelve),
    "an edit by hand": Exchange(_edited, _twelve),
    "decided here": Exchange(_applied, begin=_disputed),
    "let go there": Exchange(_tea, _rejected, begin=_disputed),
    "the first": Exchange(_tea, begin=made),
    "all taken in": Exchange(there=_many, begin=lambda folder: _new_here(shared(folder))),
    "histories apart": Exchange(_eleven, begin=_apart),
    "packs": Exchange(_many, _renamed, is_packed=True),
    "a bundle": Exchange(_eleven, _twelve, begin=partial(shared, remote="hub.bundle")),
    "after a death among files": Exchange(_eleven, _twelve, killed_at=(EXCHANGED, LUNA)),
    "after a death in a commit": Exchange(_many, _renamed, killed_at=("rename", "here/.git/refs/heads/main")),
    "after a death in a push": Exchange(_eleven, _twelve, killed_at=("link", "hub.git/refs/heads/main.lock")),
    "after a death behind a push": Exchange(_eleven, _twelve, killed_at=("rename", "hub.git/refs/heads/main")),
}


def _new_here(world: World) -> World:
    """A world with a new machine in place of the one `here`."""
    shutil.rmtree(world.here)
    world.here.mkdir()
    return world


@dataclass(frozen=True)
class Case:
    """An exchange ready to be tried: the world, how many calls it makes, and how it ends where nothing happens."""

    name: str
    world: World
    end: End
    calls: int
    writes: int


def ready(name: str, folder: Path) -> Case:
    """Prepare an exchange, and do it once undisturbed."""
    exchange = EXCHANGES[name]
    with Shim(sync=False):
        world = exchange.begin(folder)
        _done(world, exchange)
        if exchange.killed_at:
            _kill(world, *exchange.killed_at)
        world.keep()
    with Shim(sync=False) as shim, exchange.limits():
        exchanged(world.here)
    assert not shim.unseen, f"{name} changes the disk without `crabmem.disk.fs`: {shim.unseen}"
    with Shim(sync=False):
        return Case(name, world, settled(world), shim.count, shim.writes)


def _kill(world: World, name: str, ending: str) -> None:
    """Sync, and die after the call `name` of a path with that ending."""

    def end(call: Call) -> None:
        if call.name == name and (call.other or call.path).endswith(ending):
            os._exit(KILLED)

    def work() -> int:
        with Shim(sync=False, after=end):
            exchanged(world.here)
        return DONE

    assert in_child(work) == KILLED, f"there is no {name} of {ending} to be killed at"


def _tried(case: Case, fault: Fault) -> int:
    """Sync with a fault, and have all go on; how the sync ended."""
    case.world.again()
    outcome = in_child(lambda: _attempt(case, fault))
    assert outcome != BROKEN, "see above"
    check_remote(case.world)
    if outcome == KILLED and not case.world.hub.is_dir():  # the message of the next push says so
        case.world.hub.with_name(f"{case.world.hub.name}.lock").unlink(missing_ok=True)
    with Shim(sync=False):
        found = settled(case.world)
    assert found == case.end, f"not as where nothing happens: {_difference(case.end, found)}"
    return outcome


def _attempt(case: Case, fault: Fault) -> int:
    """Sync; after an error recall still answers, and the same memory writes and syncs once the disk is well."""
    is_refused = False
    with Shim(fault, sync=False) as shim, EXCHANGES[case.name].limits():
        memory = person(case.world.here)
        try:
            sync_all(memory)
        except CrabmemError:
            is_refused = True
            memory.recall("cat milk")
    if is_refused:
        memory.remember("Same", "written by the same memory", "It works.")
        sync_all(memory)
        return REFUSED
    return DONE if shim.is_hit else UNHIT


def _difference(wanted: End, found: End) -> str:
    if wanted.files != found.files:
        paths = [path for path in wanted.files.keys() | found.files if wanted.files.get(path) != found.files.get(path)]
        return f"files {[(path, found.files.get(path)) for path in sorted(paths)]}"
    return f"waiting {found.waiting}" if wanted.waiting != found.waiting else f"commits {found.commits}"


def sweeps(names: list[str], kinds: list[str], stride: int) -> Counter[str]:
    """Sweep exchanges with kinds of faults."""
    recovery.LATE_NS = 0  # so that what stays behind is told from what was forgotten
    counted: Counter[str] = Counter()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            case = ready(name, Path(folder))
            for kind in kinds:
                counted += sweep(case, kind, stride, partial(_tried, case))
    return counted


def swept(names: list[str], kinds: str, stride: int) -> Counter[str]:
    """The same, in a process of its own."""
    return counted_by([sys.executable, "-m", "tests.faults.sync_crashes", ",".join(names), kinds, str(stride)])


def run(long: bool, say: Callable[[str], None]) -> Mapping[str, int]:
    """Try every third point with all kinds of faults; in the short form every 300th with two."""
    names, counted = list(EXCHANGES), Counter[str]()
    if long:
        jobs = [(name, partial(swept, [name], ",".join(KINDS), 3)) for name in names]
    else:
        jobs = [(", ".join(half), partial(swept, half, "kill,EIO+", 300)) for half in (names[::2], names[1::2])]
    for part in parallel(jobs, "faults", say):
        counted += part
    return {"exchanges": len(names), **counted, "lost": 0}


if __name__ == "__main__":
    exchanges, faults, every = sys.argv[1:]
    print(json.dumps(sweeps(exchanges.split(","), faults.split(","), int(every))))
