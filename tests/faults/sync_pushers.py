"""Many machines that push to one bare folder at once, while agents write on each of them; anybody may be killed.

Each machine is a workspace with two processes that write and one that syncs without end. In the end all agree, and what
was acknowledged on any of them is in the history of each.
"""

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from crabmem import Busy, CrabmemError, Memory
from crabmem.errors import Unreachable
from crabmem.sync.standing import state
from crabmem.sync.sync import name_remote

from . import Counts, Say
from .actors import Record, apart, body, commits, in_history, killed, left_locks, main, started, token, total, whole
from .machines import exchanged, person, sync_all
from .repository import assert_clean, complaints, git

_MACHINES = 4
_SHARED = 3
_PAUSE = 0.15
_ROLES = ("writer-a", "writer-b", "syncer")
_ROUNDS = 12


def run(long: bool, say: Say) -> Counts:
    """Kill 40 processes of four machines, or 1,000 in 20 turns."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """Every turn is another remote, and machines that begin with nothing."""
    sums: Counter[str] = Counter()
    for turn in range(20 if long else 1):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_STATE_HOME"] = f"{folder}/state"
            try:
                sums += Turn(Path(folder), turn, 50 if long else 40).played()
            except AssertionError as broken:
                raise AssertionError(f"sync_pushers, seed {turn}: {broken}") from None
        say(f"{sums['kills']} kills, {sums['synced']} syncs, {sums['acknowledged']} writes, none lost")
    return total(sums, "kills", "of syncers", "synced", "joined", "outrun", "busy", "acknowledged", "lost")


class Turn:
    """One remote and its machines."""

    def __init__(self, folder: Path, seed: int, kills: int) -> None:
        self._folder, self._seed, self._kills = folder, seed, kills
        self._chance, self._record = random.Random(seed), Record(folder / "said")
        self._hub = folder / "hub.git"
        self._roots = [folder / f"machine-{number}" for number in range(_MACHINES)]
        self._crew: dict[tuple[Path, str], int] = {}
        self._counts: Counter[str] = Counter()

    def played(self) -> Counter[str]:
        """Let all loose, kill, and check; what was counted."""
        for root in self._roots:
            with person(root) as memory:
                name_remote(memory, str(self._hub), "/")
                memory.remember(f"Seed of {root.name}", "the first", body(token(root.name, 0)))
                sync_all(memory)
        self._killing()
        self._check()
        for kind in ("synced", "joined", "outrun", "busy"):
            self._counts[kind] = len(self._record.said(kind))
        return self._counts

    def _killing(self) -> None:
        try:
            for root in self._roots:
                for role in _ROLES:
                    self._start((root, role))
            while self._counts["kills"] < self._kills - len(self._crew):
                time.sleep(self._chance.expovariate(1 / _PAUSE))
                who = self._chance.choice(list(self._crew))
                if self._chance.random() < 0.3:
                    who = who[0], "syncer"
                killed(self._crew.pop(who))
                self._counts["kills"] += 1
                self._counts["of syncers"] += who[1] == "syncer"
                self._start(who)
        finally:
            crew, self._crew = self._crew, {}
            self._counts["kills"] += len(crew)
            killed(*crew.values())

    def _start(self, who: tuple[Path, str]) -> None:
        root, role = who
        work: Callable[[], None] = partial(self._sync if role == "syncer" else self._write, root)
        self._crew[who] = started(work)

    def _write(self, root: Path) -> None:
        with Memory(root, agent=f"agent {os.getpid()}") as memory:
            chance = random.Random(os.getpid())
            for number in count():
                text = token(f"{root.name}-{os.getpid()}", number)
                name = f"shared {chance.randrange(_SHARED)}" if chance.random() < 0.3 else f"{root.name} {number % 5}"
                try:
                    saved = memory.remember(name, "what many write", body(text))
                except Busy:
                    continue
                self._record.say("text", text)
                if saved.commit:
                    self._record.say("commit", saved.commit)
                time.sleep(chance.random() * 0.4)

    def _sync(self, root: Path) -> None:
        """Sync again and again. Who is outrun again and again, or waits for a lock too long, is told so."""
        while True:
            with person(root) as memory:
                try:
                    done = sync_all(memory)
                except (Busy, Unreachable) as error:
                    self._record.say("busy", f"{error}")
                else:
                    self._record.say("synced", "")
                    for kind, times in (("joined", int(done.is_joined)), ("outrun", done.rounds - 1)):
                        for _ in range(times):
                            self._record.say(kind, "")

    # What must hold

    def _check(self) -> None:
        assert complaints(self._hub) == [], "git fsck complains about the remote"
        self._agree()
        assert left_locks(self._hub) == [], f"locks were left: {left_locks(self._hub)}"
        texts, made = set(self._record.said("text")), set(self._record.said("commit"))
        texts |= {token(root.name, 0) for root in self._roots}
        self._counts["acknowledged"] += len(texts)
        for root in (self._hub, *self._roots):
            assert complaints(root) == [], f"git fsck complains about {root.name}"
            lost = (texts - in_history(root)) | (made - commits(root))
            assert not lost, f"acknowledged, and not in the history of {root.name}: {sorted(lost)[:5]}"
        for root in self._roots:
            assert_clean(root)
            assert left_locks(root) == [], f"locks were left: {left_locks(root)}"
            files = [*(root / "memory/entries").glob("*.md")]
            torn = [file.name for file in files if not whole(file.read_text())]
            assert torn == [], f"files that are nobody's whole text: {torn}"
            with person(root) as memory:
                names = [entry.name for entry in memory.entries()]
                assert len(set(names)) == len(names), f"two facts of one name: {sorted(names)}"
                errors = [found.message for found in memory.doctor() if found.level == "error"]
                assert errors == [], f"doctor has errors: {errors}"
                assert not state(memory).error

    def _agree(self) -> None:
        """Sync all until they agree."""
        for _ in range(_ROUNDS):
            for root in self._roots:
                try:
                    exchanged(root)
                except CrabmemError as error:
                    raise AssertionError(f"{root.name} cannot sync after it: {error!r}") from None
            if len({git(root, "rev-parse", "HEAD") for root in (*self._roots, self._hub)}) == 1:
                return
        raise AssertionError("they do not agree")


if __name__ == "__main__":
    main(counted)
