"""Kills whoever writes, watches, adopts, takes back or compacts, at random moments, mostly who holds the lock."""

import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

from crabmem import CrabmemError, Disabled, InvalidArguments, Memory, NotFound
from crabmem import watch as watcher

from . import Counts, Say
from .actors import (
    STYLES,
    Record,
    added_by,
    apart,
    body,
    commits,
    in_history,
    killed,
    left_locks,
    main,
    on_disk,
    page,
    save_by_rename,
    started,
    token,
    total,
)  # fmt: skip
from .repository import assert_clean, complaints

watcher.QUIET = 0.05  # the watcher lives for a fraction of a second
KILLS_A_TURN = 50
_LONGEST = 0.15
_SLOWEST = 5.0
_FACTS = 4


def run(long: bool, say: Say) -> Counts:
    """Kill at least 100 processes, or 2,000."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """Every turn is a memory that begins with nothing and loses a process every few milliseconds."""
    sums: Counter[str] = Counter()
    pace = _pace()
    for turn in range(40 if long else 2):
        sums += Turn(turn, pace).played()
        say(f"{sums['kills']} kills, {sums['acknowledged']} writes acknowledged, none lost")
    return total(sums, "kills", "of lock holders", "of compacters", "acknowledged", "saves", "lost", "repairs")


def _pace() -> float:
    """Seconds between two kills, on the average: some writes on this machine as it is now."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.init()
        began = time.monotonic()
        for number in range(10):
            memory.remember("fact", "what is written", f"{number}")
        return min(_LONGEST, (time.monotonic() - began) * 0.4)


class Turn:
    """One memory, those who work on it, and a person who saves files all the while."""

    def __init__(self, seed: int, pace: float) -> None:
        self._pace = pace
        self._seed = seed
        self._chance = random.Random(seed)
        self._counts: Counter[str] = Counter()
        self._crew: dict[str, int] = {}
        self._roles: dict[str, Callable[[Memory, int], None]] = {
            "writer-a": self._write, "writer-b": self._write, "writer-c": self._write,
            "watcher": self._watch, "adopter": self._adopt, "restorer": self._take_back,
            "compacter": self._compact,
        }  # fmt: skip

    def played(self) -> Counter[str]:
        """Kill, then check; what was counted."""
        with tempfile.TemporaryDirectory() as folder:
            self._root, self._record = Path(folder, "memory"), Record(Path(folder, "said"))
            try:
                self._killing()
                self._check()
            except AssertionError as broken:
                raise AssertionError(f"kills, seed {self._seed}: {broken}") from None
        return self._counts

    def _killing(self) -> None:
        try:
            for role in self._roles:
                self._start(role)
            while self._counts["kills"] < KILLS_A_TURN - len(self._roles):
                time.sleep(self._chance.expovariate(1 / self._pace))
                self._save()
                role = self._victim()
                self._kill(role)
                self._start(role)
        finally:
            crew, self._crew = self._crew, {}
            self._counts["kills"] += len(crew)
            killed(*crew.values())

    def _start(self, role: str) -> None:
        serial = self._counts["kills"]

        def work() -> None:
            with Memory(self._root, agent=role) as memory:
                self._roles[role](memory, serial)

        self._crew[role] = started(work)

    def _victim(self) -> str:
        """Mostly who holds the lock, for that is where a death does harm."""
        holder = self._holder()
        if self._chance.random() < 0.2:
            self._counts["of compacters"] += 1
            return "compacter"
        if holder and self._chance.random() < 0.8:
            self._counts["of lock holders"] += 1
            return holder
        return self._chance.choice(list(self._crew))

    def _holder(self) -> str | None:
        try:
            pid = int((self._root / ".git/crabmem/lock.pid").read_bytes())
        except (OSError, ValueError):
            return None
        return next((role for role, each in self._crew.items() if each == pid), None)

    def _kill(self, role: str) -> None:
        killed(self._crew.pop(role))
        self._counts["kills"] += 1

    def _save(self) -> None:
        """The person saves a file, as one editor or another, but not over a save that may not be recorded yet."""
        number, style = self._counts["saves"], self._chance.choice(list(STYLES))
        file = self._root / "memory/entries" / f"fact-{number % _FACTS}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the crew may forget it at any moment
            if "person" in file.read_text():
                file = file.with_name(f"persons-{number}.md")
        STYLES[style](file, page(file.stem, token("person", number)))
        self._counts["saves"] += 1

    # What the crew does, each until it is killed

    def _write(self, memory: Memory, serial: int) -> None:
        chance = random.Random(self._seed * 10_000 + serial)
        for number in count():
            self._write_one(memory, chance, token(f"agent-{os.getpid()}", number))

    def _write_one(self, memory: Memory, chance: random.Random, text: str) -> None:
        name, kind = f"fact-{chance.randrange(_FACTS)}", chance.random()
        if kind < 0.15:
            self._acknowledge(lambda: memory.write_overview(body(text)).commit, text)
        elif kind < 0.3:
            self._acknowledge(lambda: memory.forget(name).commit)
        else:
            self._acknowledge(lambda: memory.remember(name, "what many write", body(text)).commit, text)

    def _take_back(self, memory: Memory, serial: int) -> None:
        chance = random.Random(self._seed * 10_000 + serial)
        while True:
            self._take_one_back(memory, None if chance.random() < 0.6 else f"HEAD~{chance.randint(1, 4)}")
            time.sleep(0.01)

    def _take_one_back(self, memory: Memory, to: str | None) -> None:
        back = partial(memory.rollback, to) if to else memory.undo
        self._acknowledge(lambda: back(even_if_many=True).commit)

    def _adopt(self, memory: Memory, serial: int) -> None:
        for number in count():
            text = token(f"person-{os.getpid()}", number)
            file = self._root / f"memory/entries/adopted-{os.getpid()}-{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            save_by_rename(file, page(file.stem, text))  # killed half-way, it leaves no half
            self._record.say("saved", text)
            if commit := memory.adopt():
                self._record.say("commit", commit.commit)

    def _watch(self, memory: Memory, serial: int) -> None:
        for item in watcher.watched(memory, threading.Event()):
            assert not isinstance(item, CrabmemError), f"the watcher was stopped: {item}"
            self._record.say("commit", item.commit)

    def _compact(self, memory: Memory, serial: int) -> None:
        while True:
            memory.engine.history.compact()
            time.sleep(0.005)

    def _acknowledge(self, write: Callable[[], str | None], text: str | None = None) -> None:
        """Note that a write was acknowledged: its commit, and its text when it has one."""
        try:
            commit = write()
        except (NotFound, InvalidArguments, Disabled):
            return  # nothing to forget, to take back or to go back to
        if commit:
            self._record.say("commit", commit)
        if text:
            self._record.say("text", text)

    # What must hold

    def _check(self) -> None:
        began = time.monotonic()
        with Memory(self._root, agent="next") as memory:
            memory.remember("After", "written after the kills", "It works.")
            took = time.monotonic() - began
            memory.engine.history.compact()
            errors = [found for found in memory.doctor() if found.level in ("error", "warning")]
        self._counts["repairs"] += bool(errors) + bool(left_locks(self._root)) + (took > _SLOWEST)
        assert took < _SLOWEST, f"the next write took {took:.1f} s"
        assert errors == [], f"doctor has errors: {errors}"
        assert left_locks(self._root) == [], f"locks were left: {left_locks(self._root)}"
        assert complaints(self._root) == []
        assert_clean(self._root)
        left = [file.name for file in (self._root / ".git/objects/pack").iterdir() if file.name.startswith("tmp_")]
        assert left == [], f"a compaction left: {left}"
        self._check_nothing_lost()
        self._check_attribution()

    def _check_nothing_lost(self) -> None:
        found, made = in_history(self._root), commits(self._root)
        acknowledged = self._record.said("text")
        saved = [token("person", number) for number in range(self._counts["saves"])] + self._record.said("saved")
        lost = set(acknowledged) - found
        lost |= set(self._record.said("commit")) - made
        lost |= set(saved) - found - on_disk(self._root)
        self._counts["acknowledged"] += len(self._record.said("commit"))
        self._counts["saves"] = len(saved)
        self._counts["lost"] += len(lost)
        assert not lost, f"acknowledged or saved, and in no history: {sorted(lost)[:5]}"

    def _check_attribution(self) -> None:
        theirs = added_by(self._root, "person")
        ours = {text for text in theirs if text.startswith("agent")}
        assert not ours, f"ours was recorded as the person's: {sorted(ours)[:5]}"
        writers = added_by(self._root, "writer")
        assert not {text for text in writers if text.startswith("person")}, "the person's was recorded as ours"


if __name__ == "__main__":
    main(counted)
