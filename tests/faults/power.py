"""Cuts the power at every call: what a disk may then hold is built from the trace of the calls, and opened.

A disk keeps what it was made to keep: the bytes of a file after `fsync`, the names in a folder after `fsync` of the
folder. Of the rest anything may be there or not. `FORMS` are the disks that are tried for each call.

The promise is: what was acknowledged can be made again from what is synced. A person's files are synced themselves, as
they are the memory; objects, references and Git's index need not be, if what makes them again is. So the order of the
calls is checked for files alone, and of the rest the disk with nothing but what is synced is opened after each step.
"""

import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from crabmem import CrabmemError, Memory
from crabmem.workspace.layout import ORDINARY
from crabmem.write import recovery
from tests.faults import crashes
from tests.faults.crashes import OPERATIONS, OTHER, VET, State, check_repository, copied, in_child, next_write, opened
from tests.faults.shim import Call, Shim

#: What each path below the top of a disk holds, None for a folder, beside the number of its file: links share one.
Disk: TypeAlias = dict[str, tuple[int, bytes | None]]


@dataclass
class Node:
    """A file or folder. `contents` are the bytes that are on the disk, then those that were given since."""

    is_folder: bool
    contents: list[bytes] = field(default_factory=lambda: [b""])


@dataclass(frozen=True)
class Change:
    """A name that a folder got, or lost (None), and did not have to keep yet."""

    folder: int
    name: str
    node: int | None


class Model:
    """What was asked of a disk: `kept` are the names that it has to have, `names` those it should have."""

    def __init__(self, start: Path, top: str) -> None:
        """`start` is a copy of what is below `top` at first, all of it on the disk."""
        self._top = top
        self.nodes = [Node(is_folder=True)]
        self.names: dict[tuple[int, str], int] = {}
        numbers: dict[int, int] = {}
        for file in sorted(start.rglob("*")):
            data = None if file.is_dir() else file.read_bytes()
            number = numbers.setdefault(file.stat().st_ino, len(self.nodes))
            if number == len(self.nodes):
                self.nodes.append(Node(data is None, [data or b""]))
            self.names[self._spot(f"{top}/{file.relative_to(start)}")] = number
        self.kept = dict(self.names)
        self.pending: list[Change] = []
        self.unsafe: list[str] = []

    def apply(self, call: Call) -> None:
        """Do what `call` did."""
        if f"{call.path}/".startswith(f"{self._top}/"):
            getattr(self, f"_{call.name}", self._nothing)(call)

    def loose(self) -> list[str]:
        """The files of a finished write that may be gone after a power cut, or come back."""
        names = {(change.folder, change.name) for change in self.pending}
        paths = self._paths(self.names)
        gone = [path for path, spot in paths.items() if spot in names or len(self._content(spot)) > 1]
        gone += [path for path, spot in self._paths(self.kept).items() if spot in names and path not in paths]
        return sorted(path for path in gone if _is_memory(path))

    def disk(self, names: Mapping[tuple[int, str], int], choose: Callable[[Node], bytes]) -> Disk:
        """The disk with these names, and of each file what is chosen."""
        chosen: dict[int, bytes | None] = {}
        found = {path: names[spot] for path, spot in self._paths(names).items()}
        for number in sorted(found.values()):
            node = self.nodes[number]
            chosen[number] = None if node.is_folder else choose(node)
        return {path: (number, chosen[number]) for path, number in found.items()}

    def _content(self, spot: tuple[int, str]) -> list[bytes]:
        return self.nodes[self.names[spot]].contents

    def _paths(self, names: Mapping[tuple[int, str], int]) -> dict[str, tuple[int, str]]:
        """Every path that can be reached from the top, folders before what is in them."""
        inside: dict[int, list[str]] = {}
        for folder, name in names:
            inside.setdefault(folder, []).append(name)
        found: dict[str, tuple[int, str]] = {}
        row = [("", 0)]
        while row:
            prefix, folder = row.pop()
            for name in inside.get(folder, []):
                found[prefix + name] = folder, name
                row.append((f"{prefix}{name}/", names[folder, name]))
        return found

    def _spot(self, path: str) -> tuple[int, str]:
        """A path as the folder and the name in it, as the names now are."""
        *way, name = os.path.relpath(path, self._top).split("/")
        folder = 0
        for step in way:
            folder = self.names[folder, step]
        return folder, name

    def _set(self, path: str, node: int | None) -> None:
        spot = self._spot(path)
        self.pending.append(Change(*spot, node))
        if node is None:
            del self.names[spot]
        else:
            self.names[spot] = node

    def _node(self, path: str) -> Node:
        return self.nodes[self.names[self._spot(path)]]

    def _new(self, path: str, is_folder: bool) -> None:
        self.nodes.append(Node(is_folder))
        self._set(path, len(self.nodes) - 1)

    def _moved(self, call: Call) -> int:
        """The node that gets another name. It must be on the disk if its new name is that of a file of memory."""
        node = self.names[self._spot(call.path)]
        ends = (os.path.relpath(end, self._top) for end in (call.path, call.other))
        if len(self.nodes[node].contents) > 1 and any(map(_is_memory, ends)):
            self.unsafe.append(f"{call.name} of {call.path}, which was not synced")
        return node

    def _nothing(self, call: Call) -> None:
        """Changes neither names nor bytes."""

    def _open(self, call: Call) -> None:
        if self._spot(call.path) not in self.names:
            self._new(call.path, is_folder=False)
        elif call.flags & os.O_TRUNC and self._node(call.path).contents[-1]:
            self._node(call.path).contents.append(b"")

    def _write(self, call: Call) -> None:
        contents = self._node(call.path).contents
        before = contents[-1]
        at = len(before) if call.at is None else call.at
        contents.append(before[:at].ljust(at, b"\0") + call.data + before[at + len(call.data) :])

    def _ftruncate(self, call: Call) -> None:
        contents = self._node(call.path).contents
        contents.append(contents[-1][: call.at])

    def _fsync(self, call: Call) -> None:
        number = self.names[self._spot(call.path)] if call.path != self._top else 0
        node = self.nodes[number]
        del node.contents[:-1]
        for change in [change for change in self.pending if change.folder == number]:
            _keep(self.kept, change)
            self.pending.remove(change)

    _fdatasync = _fsync

    def _mkdir(self, call: Call) -> None:
        self._new(call.path, is_folder=True)

    def _unlink(self, call: Call) -> None:
        self._set(call.path, None)

    _rmdir = _unlink

    def _link(self, call: Call) -> None:
        self._set(call.other, self._moved(call))

    def _rename(self, call: Call) -> None:
        node = self._moved(call)
        self._set(call.other, node)
        self._set(call.path, None)

    def _exchange(self, call: Call) -> None:
        node, other = self._moved(call), self.names[self._spot(call.other)]
        self._set(call.other, node)
        self._set(call.path, other)


def _keep(names: dict[tuple[int, str], int], change: Change) -> None:
    if change.node is None:
        names.pop((change.folder, change.name), None)
    else:
        names[change.folder, change.name] = change.node


def _is_memory(path: str) -> bool:
    """Whether a path is that of a file of memory, or of the workspace itself."""
    inside = path.partition("/")[2]
    return not inside or (not inside.startswith(".git/") and ORDINARY.is_kept(inside))


def _lost(model: Model, chance: random.Random) -> Disk:
    """Nothing is there that did not have to be."""
    return model.disk(model.kept, lambda node: node.contents[0])


def _emptied(model: Model, chance: random.Random) -> Disk:
    """All names are there, and in the files nothing that did not have to be: a new one is empty."""
    return model.disk(model.names, lambda node: b"" if b"" in node.contents else node.contents[0])


def _cut_short(model: Model, chance: random.Random) -> Disk:
    """The names as they were at some moment; of each file what it held at some moment, or half of it."""
    names = dict(model.kept)
    for change in model.pending[: chance.randint(0, len(model.pending))]:
        _keep(names, change)
    return model.disk(names, partial(_some, chance))


def _some(chance: random.Random, node: Node) -> bytes:
    new = node.contents[-1]
    return chance.choice([*node.contents, new[: len(new) // 2]]) if len(node.contents) > 1 else new


#: What a disk may hold after a power cut, and how many draws are made of it in the long form.
FORMS: dict[str, tuple[Callable[[Model, random.Random], Disk], int]] = {
    "lost": (_lost, 1),
    "emptied": (_emptied, 1),
    "cut short": (_cut_short, 4),
}


@dataclass(frozen=True)
class Step:
    """A part of a story. The power is not cut in the middle of what the person does."""

    act: Callable[[Path], None]
    is_persons: bool = False


def _by_agent(act: Callable[[Memory], None]) -> Step:
    def step(root: Path) -> None:
        with opened(root) as memory:
            act(memory)

    return Step(step)


def _by_person(path: str, text: str | None) -> Step:
    """The person saves a file, None: as it was before the story, and the editor syncs it."""

    def step(root: Path) -> None:
        data = text.encode() if text else (root.parent.parent / "start/memory" / path).read_bytes()
        handle = os.open(root / path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)
        folder = os.open((root / path).parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    return Step(step, is_persons=True)


_ADOPTED = _by_agent(OPERATIONS["adopt"].act)
_OVERWRITTEN, _FORGOTTEN, _ROLLED_BACK, _UNDONE, _CREATED = (
    _by_agent(OPERATIONS[name].act) for name in ("overwrite", "forget", "rollback", "undo", "create")
)

#: What happens one after the other, the power being cut at any moment. In the later ones a finished write's journal
#: comes back after the person has changed what it wrote.
STORIES: dict[str, tuple[Step, ...]] = {
    **{name: (_by_agent(operation.act),) for name, operation in OPERATIONS.items()},
    "overwritten, then another": (_OVERWRITTEN, _CREATED),
    "overwritten, edited": (_OVERWRITTEN, _by_person(VET, crashes.EDIT)),
    "overwritten, edited, adopted": (_OVERWRITTEN, _by_person(VET, crashes.EDIT), _ADOPTED),
    "overwritten, put back": (_OVERWRITTEN, _by_person(VET, None), _ADOPTED),
    "forgotten, put back": (_FORGOTTEN, _by_person(VET, None), _ADOPTED),
    "undone, edited": (_UNDONE, _by_person(VET, crashes.EDIT), _ADOPTED),
    "undone, one put back": (_UNDONE, _by_person(VET, None)),
    "undone, one put back, adopted": (_UNDONE, _by_person(VET, None), _ADOPTED),
    "rolled back, one put back": (_ROLLED_BACK, _by_person(VET, None)),
    "rolled back, one put back, adopted": (_ROLLED_BACK, _by_person(VET, None), _ADOPTED),
    "rolled back, other edited": (_ROLLED_BACK, _by_person(OTHER, crashes.EDIT), _ADOPTED),
}


@dataclass(frozen=True)
class Tale:
    """A story as it was lived: its calls, how many there were at the end of each step, and the state between steps."""

    name: str
    folder: Path
    calls: list[Call]
    ends: list[int]
    states: list[State]

    def model(self) -> Model:
        """The disk as it was before the story."""
        return Model(self.folder / "start", str(self.folder / "top"))

    def expected(self, cut: int) -> list[State]:
        """The states that may be found when the power is cut after so many calls; none in what the person does."""
        done = sum(end <= cut for end in self.ends)
        if cut == [0, *self.ends][done]:
            return [self.states[done]]
        return [] if STORIES[self.name][done].is_persons else self.states[done : done + 2]


def lived(name: str, folder: Path) -> Tale:
    """Live a story, in a process of its own that is gone when the power is."""
    for part in ("start", "top"):
        (folder / part).mkdir(parents=True)
    template = crashes.prepared(folder)
    operation = OPERATIONS.get(name, OPERATIONS["create"])
    operation.prepare(template)
    for part in ("start", "top"):
        copied(template, folder / part / "memory")
    assert in_child(lambda: _live(name, folder)) == 0, f"{name} failed"
    calls, ends = pickle.loads((folder / "calls").read_bytes())
    before = crashes.state_before(operation, template, folder / "before")
    states = [next_write(copied(folder / f"state{number}", folder / f"next{number}")) for number in range(len(ends))]
    return Tale(name, folder, calls, ends, [before, *states])


def _live(name: str, folder: Path) -> int:
    shim, ends, root = Shim(), [], folder / "top/memory"
    for number, step in enumerate(STORIES[name]):
        with shim:
            step.act(root)
        ends.append(len(shim.trace))
        copied(root, folder / f"state{number}")
    assert not shim.unseen, f"the disk is changed without `crabmem.disk.fs`: {shim.unseen}"
    (folder / "calls").write_bytes(pickle.dumps((shim.trace, ends)))
    return 0


def check_order(tale: Tale) -> int:
    """No file of memory gets its name before its bytes are on the disk, or is said to be written before its name is."""
    model = tale.model()
    for number, call in enumerate(tale.calls, 1):
        model.apply(call)
        if number in tale.ends:
            assert model.loose() == [], f"{tale.name}: acknowledged and not synced: {model.loose()}"
    assert model.unsafe == [], f"{tale.name}: {model.unsafe}"
    return len(tale.calls)


def check_cuts(tale: Tale, long: bool, stride: int) -> Counter[str]:
    """Cut the power after each call, or after every `stride`th, and at the end of each step; open what is left."""
    counted: Counter[str] = Counter()
    model, seen = tale.model(), set[int]()
    for cut in range(len(tale.calls) + 1):
        if cut:
            model.apply(tale.calls[cut - 1])
        expected = tale.expected(cut)
        if expected and (cut % stride == 0 or cut in tale.ends):
            counted["cuts"] += 1
            for seed, disk in _disks(tale.name, cut, model, long, is_end=cut in tale.ends):
                key = hash((frozenset(disk.items()), len(expected), cut in tale.ends))
                if key not in seen:
                    seen.add(key)
                    _check_disk(disk, tale, expected, seed)
                    counted["disks"] += 1
                    counted["acknowledged"] += sum(end <= cut for end in tale.ends)
    return counted


def _disks(name: str, cut: int, model: Model, long: bool, is_end: bool) -> Iterator[tuple[str, Disk]]:
    """What may be left, and the words to make it again.

    In the short form one of the forms, another for each cut; at the end of a step each of them.
    """
    one = sorted(FORMS)[zlib.crc32(f"{name} {cut}".encode()) % len(FORMS)]
    for form in FORMS if long or is_end else [one]:
        make, draws = FORMS[form]
        for draw in range(draws if long else 1):
            seed = f"{name}, power cut after call {cut}, {form}, draw {draw}"
            yield seed, make(model, random.Random(seed))


def _check_disk(disk: Disk, tale: Tale, expected: list[State], seed: str) -> None:
    with tempfile.TemporaryDirectory(dir=tale.folder) as folder:
        build(disk, Path(folder))
        root = Path(folder) / "memory"
        try:
            found = next_write(root)
            assert found.files in [state.files for state in expected], f"files lost or mixed: {sorted(found.files)}"
            assert found in expected, f"the history says otherwise: {found.commits}"
            check_repository(root)
            if "pack" in tale.name:
                crashes.check_packs(root)
        except (AssertionError, CrabmemError, subprocess.CalledProcessError) as error:
            raise AssertionError(f"{seed}: {getattr(error, 'stderr', '') or error}") from error


def build(disk: Disk, top: Path) -> None:
    """Write a disk as one that the machine was started with: nothing on it is younger than that."""
    first: dict[int, Path] = {}
    written = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) - 60
    for path, (number, data) in disk.items():
        file = top / path
        if data is None:
            file.mkdir(mode=0o700)
        elif number in first:
            file.hardlink_to(first[number])
        else:
            file.write_bytes(data)
            first[number] = file
            os.utime(file, (written, written))


def cuts(names: list[str], long: bool, stride: int) -> Counter[str]:
    """Cut the power in stories."""
    return cut_each(names, lambda name, folder: _cut(lived(name, folder), long, stride))


def _cut(tale: Tale, long: bool, stride: int) -> Counter[str]:
    return Counter(calls=check_order(tale)) + check_cuts(tale, long, stride)


def cut_each(names: list[str], cut: Callable[[str, Path], Counter[str]]) -> Counter[str]:
    """What `cut` counted of each name, in a folder of its own."""
    recovery.LATE_NS = 0
    counted: Counter[str] = Counter()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            counted += cut(name, Path(folder))
    return counted


def apart(module: str, names: list[str], long: bool, stride: int) -> Counter[str]:
    """The `cuts` of a suite, in a process of its own."""
    return crashes.counted_by([sys.executable, "-m", module, json.dumps(names), json.dumps(long), str(stride)])


def cut_all(module: str, names: list[str], long: bool, short_stride: int, say: Callable[[str], None]) -> Counter[str]:
    """The `cuts` of a suite after every call, or, in the short form, after every so many of some."""
    groups = [[name] for name in names] if long else [names[::2], names[1::2]]
    jobs = [(", ".join(group), partial(apart, module, group, long, 1 if long else short_stride)) for group in groups]
    counted: Counter[str] = Counter()
    for part in crashes.parallel(jobs, "disks", say):
        counted += part
    return counted


def run(long: bool, say: Callable[[str], None]) -> Mapping[str, int]:
    """Cut the power after every call of every story, or, in the short form, after some calls of some."""
    return {"stories": len(STORIES), **cut_all("tests.faults.power", list(STORIES), long, 100, say), "lost": 0}


if __name__ == "__main__":
    print(json.dumps(cuts(json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]))))
