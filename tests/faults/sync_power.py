"""Cuts the power at every call of a sync: of the machine alone, or of the remote with it, where both are one disk.

As `power` does, disks are built from the trace of the calls, without what nobody synced. The remote has to be whole on
each of them, and what machines and remote agree on in the end is what they agree on where nothing happens.
"""

import json
import pickle
import random
import shutil
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crabmem import CrabmemError

from .crashes import in_child
from .machines import End, World, check_remote, exchanged, settled
from .power import FORMS, Disk, Model, build, cut_all, cut_each
from .shim import Call, Shim
from .sync_crashes import EXCHANGES, Exchange, ready


@dataclass(frozen=True)
class Tale:
    """A sync as it was lived: its calls, and how all ends."""

    name: str
    world: World
    calls: list[Call]
    end: End

    def model(self) -> Model:
        """The disk as it was before."""
        return Model(self.world.kept, str(self.world.folder))


def lived(name: str, folder: Path) -> Tale:
    """Sync in a process of its own, and take note of its calls."""
    case = ready(name, folder)
    case.world.again()
    calls = folder / "calls"
    assert in_child(lambda: _live(case.world, EXCHANGES[name], calls)) == 0, f"{name} failed"
    return Tale(name, case.world, pickle.loads(calls.read_bytes()), case.end)


def _live(world: World, exchange: Exchange, calls: Path) -> int:
    with Shim(sync=False) as shim, exchange.limits():
        exchanged(world.here)
    calls.write_bytes(pickle.dumps(shim.trace))
    return 0


def check_order(tale: Tale) -> int:
    """No file of memory gets its name before its bytes are on the disk, or is acknowledged before its name is."""
    model = tale.model()
    for call in tale.calls:
        model.apply(call)
    assert model.loose() == [], f"{tale.name}: acknowledged and not synced: {model.loose()}"
    assert model.unsafe == [], f"{tale.name}: {model.unsafe}"
    return len(tale.calls)


def check_cuts(tale: Tale, long: bool, stride: int) -> Counter[str]:
    """Cut the power after each call, or after every `stride`th and the last, and see what is left."""
    counted, model, seen = Counter[str](), tale.model(), set[int]()
    for cut in range(len(tale.calls) + 1):
        if cut:
            model.apply(tale.calls[cut - 1])
        if cut % stride and cut < len(tale.calls):
            continue
        counted["cuts"] += 1
        for words, disk in _disks(tale, cut, model, long):
            if (key := hash(frozenset(disk.items()))) not in seen:
                seen.add(key)
                _check_disk(disk, tale, words)
                counted["disks"] += 1
    return counted


def _disks(tale: Tale, cut: int, model: Model, long: bool) -> Iterator[tuple[str, Disk]]:
    """What may be left, and the words to make it again; in the short form one form of one disk, another for each cut.

    Where only the machine loses its power, the remote has all that was asked of it.
    """
    now = model.disk(model.names, lambda node: node.contents[-1])
    forms = [(form, is_alone) for form in sorted(FORMS) for is_alone in (True, False)]
    one = forms[zlib.crc32(f"{tale.name} {cut}".encode()) % len(forms)]
    for form, is_alone in forms if long else [one]:
        make, draws = FORMS[form]
        for draw in range(draws if long else 1):
            words = f"{tale.name}, power cut after call {cut}, {form}, {'here' if is_alone else 'both'}, draw {draw}"
            disk = make(model, random.Random(words))
            yield words, _with_remote(disk, now, tale.world.remote) if is_alone else disk


def _with_remote(disk: Disk, now: Disk, remote: str) -> Disk:
    """A disk with the remote of another one."""
    others = {path: held for path, held in disk.items() if path.partition("/")[0] != remote}
    return others | {path: held for path, held in now.items() if path.partition("/")[0] == remote}


def _check_disk(disk: Disk, tale: Tale, words: str) -> None:
    shutil.rmtree(tale.world.folder)
    tale.world.folder.mkdir()
    build(disk, tale.world.folder)
    try:
        check_remote(tale.world)
        with Shim(sync=False):
            found = settled(tale.world)
        assert found == tale.end, f"not as where nothing happens: {found}"
    except (AssertionError, CrabmemError, OSError, subprocess.CalledProcessError) as error:
        raise AssertionError(f"{words}: {getattr(error, 'stderr', '') or error}") from error


def cuts(names: list[str], long: bool, stride: int) -> Counter[str]:
    """Cut the power in exchanges."""
    return cut_each(names, lambda name, folder: _cut(lived(name, folder), long, stride))


def _cut(tale: Tale, long: bool, stride: int) -> Counter[str]:
    return Counter(calls=check_order(tale)) + check_cuts(tale, long, stride)


def run(long: bool, say: Callable[[str], None]) -> Mapping[str, int]:
    """Cut the power after every call of every exchange, or, in the short form, after some calls of some."""
    return {
        "exchanges": len(EXCHANGES),
        **cut_all("tests.faults.sync_power", list(EXCHANGES), long, 200, say),
        "lost": 0,
    }


if __name__ == "__main__":
    print(json.dumps(cuts(json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]))))
