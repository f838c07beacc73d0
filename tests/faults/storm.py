"""Everybody at one memory at once: eight writers, two readers, a watcher, and a person with an editor and Git."""

import os
import random
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from crabmem import Busy, CrabmemError, Memory, NotFound
from crabmem import watch as watcher

from . import Counts, Say
from .actors import (
    Record,
    apart,
    body,
    ended,
    in_history,
    is_whole,
    left_locks,
    main,
    on_disk,
    page,
    running,
    save_by_rename,
    save_in_place,
    started,
    token,
    total,
    whole,
)  # fmt: skip
from .repository import assert_clean, complaints, git

WRITERS = 8
READERS = 2
_SHARED = [f"shared {number}" for number in range(4)]
PERSON = "Anna"


def run(long: bool, say: Say) -> Counts:
    """Each writer writes 15 times, or 200 times."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """One storm; the person goes on for a minute in the long form."""
    with tempfile.TemporaryDirectory() as folder:
        return Storm(Path(folder), 200 if long else 15, 60 if long else 0, say).raged()


class Storm:
    """One memory and all who are at it; `record` holds what they said."""

    def __init__(self, folder: Path, writes: int, seconds: float, say: Say) -> None:
        self._root, self._record = folder / "memory", Record(folder / "said")
        self._writes, self._seconds, self._say = writes, seconds, say
        self._chance = random.Random(1)
        self._saves = 0

    def raged(self) -> Counts:
        """Let everybody loose, and check when the writers are done and the time is over."""
        with Memory(self._root) as memory:
            memory.remember("Seed", "the first", body(token("seed", 0)))
        readers = [self._guarded(self._read) for _ in range(READERS)]
        with running(*readers, self._guarded(self._watch)):
            writers = [started(self._guarded(partial(self._write, number))) for number in range(WRITERS)]
            self._be_a_person(lambda: self._are_done(writers))
            assert [ended(pid) for pid in writers] == [0] * WRITERS, "a writer ended by itself; its trace is above"
            self._say(f"{len(self._record.said('text'))} writes, {self._saves} saves; now checking")
        return self._checked()

    def _are_done(self, writers: list[int]) -> bool:
        return all(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for pid in writers)

    def _guarded(self, work: Callable[[Memory], None]) -> Callable[[], None]:
        def worked() -> None:
            with Memory(self._root, agent=f"agent {os.getpid()}") as memory:
                work(memory)

        return worked

    # Those who act

    def _write(self, number: int, memory: Memory) -> None:
        for each in range(self._writes):
            name = self._chance.choice(_SHARED) if each % 2 else f"own {number} {each % 5}"
            text = token(f"agent-{number}", each)
            began = time.monotonic()
            try:
                memory.remember(name, "what many write", body(text))
                self._record.say("text", text)
                self._record.say("took", f"{time.monotonic() - began:.3f}")
            except Busy:
                self._record.say("busy", text)

    def _read(self, memory: Memory) -> None:
        """An agent's text is seen as a whole, or not at all."""
        while True:
            time.sleep(0.01)  # two cores are also for those who write
            memory.prompt()
            for hit in memory.recall("agent person seed", limit=10):
                self._look(hit.entry.content)
            with suppress(NotFound):
                self._look(memory.get("shared 1").content)

    def _look(self, content: str) -> None:
        self._record.say("read", "")
        if not is_whole(content):
            assert "agent" not in content, f"torn: {content[:300]!r}"
            self._record.say("half", "")  # the person's editor had truncated the file

    def _watch(self, memory: Memory) -> None:
        for item in watcher.watched(memory, threading.Event()):
            assert not isinstance(item, CrabmemError) or isinstance(item, Busy), f"the watcher was stopped: {item}"
            self._record.say("busy watcher" if isinstance(item, Busy) else "watched", "")

    def _be_a_person(self, done: Callable[[], bool]) -> None:
        """Save, remove and commit until the time is over and `done`."""
        deadline = time.monotonic() + self._seconds
        acts = [self._save_in_place, self._save_by_rename, self._remove, self._commit]
        while time.monotonic() < deadline or not done():
            time.sleep(self._chance.random() * 0.2)
            self._chance.choice(acts)()

    def _save_in_place(self) -> None:
        self._save(save_in_place)

    def _save_by_rename(self) -> None:
        self._save(save_by_rename)

    def _save(self, style: Callable[[Path, str], None]) -> None:
        """Save a file that several write, but not over a save that may not be recorded yet."""
        files = {name: self._root / f"memory/entries/{name.replace(' ', '-')}.md" for name in _SHARED}
        free = [name for name, file in files.items() if "person" not in _text(file)]
        if free:
            self._saves += 1
            name = self._chance.choice(free)
            style(files[name], page(name, token("person", self._saves)))

    def _remove(self) -> None:
        """Remove a file that an agent wrote; what it says is in the history."""
        file = self._root / f"memory/entries/own-{self._chance.randrange(WRITERS)}-{self._chance.randrange(5)}.md"
        file.unlink(missing_ok=True)

    def _commit(self) -> None:
        """Commit something of their own; it fails when an agent commits at the same moment."""
        (self._root / "notes.txt").write_text(f"{self._saves}\n")
        who = ["-c", f"user.name={PERSON}", "-c", "user.email=anna@example.org"]
        for words in (["add", "notes.txt"], ["commit", "-qm", f"notes {self._saves}", "--", "notes.txt"]):
            done = subprocess.run(["git", "-C", str(self._root), *who, *words], capture_output=True, text=True)
        if done.returncode == 0:
            self._record.say(
                "persons commit", git(self._root, "log", "-1", f"--author={PERSON}", "--format=%H").strip()
            )

    # What must hold

    def _checked(self) -> Counts:
        with Memory(self._root, agent="next") as memory:
            memory.remember("After", "written after the storm", body(token("after", 0)))
            logged = memory.log()
            errors = [found for found in memory.doctor() if found.level == "error"]
        assert errors == [], f"doctor has errors: {errors}"
        assert left_locks(self._root) == []
        git(self._root, "reset", "-q", "--", "notes.txt")  # added, and then not committed: an agent was at it
        (self._root / "notes.txt").unlink(missing_ok=True)
        git(self._root, "checkout", "--", ".")
        assert_clean(self._root)
        assert complaints(self._root) == []
        wide = [commit.subject for commit in logged if commit.tool == "remember" and len(commit.paths) != 1]
        assert wide == [], f"commits that touch more than their own file: {wide[:5]}"
        self._check_texts()
        reads, written, busy = (len(self._record.said(kind)) for kind in ("read", "text", "busy"))
        assert busy * 100 <= written, f"busy {busy} times in {written} writes"
        counts = Counter(
            {"writes": written, "busy": busy, "saves": self._saves, "reads": reads, "commits": len(logged)}
        )
        self._say(f"slowest write {max(map(float, self._record.said('took'))):.1f} s")
        counts["halves seen"] = len(self._record.said("half"))
        counts["person's commits"] = len(self._record.said("persons commit"))
        return total(counts, "writes", "busy", "saves", "person's commits", "commits", "reads", "halves seen", "lost")

    def _check_texts(self) -> None:
        found = in_history(self._root)
        saved = {token("person", number + 1) for number in range(self._saves)}
        lost = (set(self._record.said("text")) | saved) - found - (on_disk(self._root) & saved)
        assert not lost, f"acknowledged or saved, and in no history: {sorted(lost)[:5]}"
        reached = set(git(self._root, "rev-list", "--all").split())
        assert set(self._record.said("persons commit")) <= reached, "a commit of the person was lost"
        files = (self._root / "memory/entries").glob("*.md")
        torn = [file.name for file in files if not whole(file.read_text())]
        assert torn == [], f"files that are nobody's whole text: {torn}"


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


if __name__ == "__main__":
    main(counted)
