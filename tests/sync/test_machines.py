"""Machines that change one memory at random, and exchange what they have by a bare repository: nothing is lost."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from dulwich.repo import Repo

from crabmem import CrabmemError, Memory
from crabmem.operations.proposals import apply_proposal, proposals, propose_identity, reject_proposal
from crabmem.sync.standing import state
from crabmem.sync.sync import name_remote, sync
from tests.conftest import git

# Seeds with which lines are purged, too.
_PURGED = range(6)
NAMES = ["Luna", "Tea", "Deploy key", "Marta", "luna the cat"]


def exchange(memory: Memory, hub: Path) -> None:
    """Take in what the hub has, and give it what this machine has."""
    person = Memory(memory.root, is_person=True)
    if state(person).remote is None:
        name_remote(person, str(hub), "/")
    sync(person, is_expected=True, joins_apart=True, even_if_many=True)
    person.close()


class Machine:
    """One machine: what it does at random, each line that it wrote, and those that it purged."""

    def __init__(self, root: Path, name: str, chance: random.Random, said: set[str], purged: set[str]) -> None:
        self.name, self.memory, self._chance = name, Memory(root, agent=name), chance
        self._said, self._purged, self._count = said, purged, 0

    def _line(self) -> str:
        self._count += 1
        line = f"{self.name} said {self._count}."
        self._said.add(line)
        return line

    def _file(self) -> Path | None:
        files = sorted((self.memory.root / "memory" / "entries").glob("*.md"))
        return self._chance.choice(files) if files else None

    def remember(self) -> None:
        self.memory.remember(self._chance.choice(NAMES), "something", self._line())

    def forget(self) -> None:
        self.memory.forget(self._chance.choice(NAMES))

    def rename(self) -> None:
        self.memory.rename(self._chance.choice(NAMES), self._chance.choice(NAMES))

    def edit(self) -> None:
        if file := self._file():
            lines = file.read_text().splitlines()
            lines.insert(self._chance.randint(lines.index("---", 1) + 1, len(lines)), self._line())
            file.write_text("\n".join(lines) + "\n")
            self.memory.adopt()

    def drop(self) -> None:
        if (file := self._file()) and "said" in (text := file.read_text()):
            gone = self._chance.choice([line for line in text.splitlines() if "said" in line])
            file.write_text(text.replace(f"{gone}\n", ""))
            self.memory.adopt()

    def overview(self) -> None:
        path = self.memory.root / "memory" / "MEMORY.md"
        before = path.read_text() if path.exists() else "# Memory\n"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(before + f"- {self._line()}\n")
        self.memory.adopt()

    def purge(self) -> None:
        """Purge a line that anybody said: it stands nowhere any more then, and is not to come back."""
        line = self._chance.choice(sorted(self._said) or [""])
        self.memory.purge(text=line)
        self._said.discard(line)
        self._purged.add(line)

    def undo(self) -> None:
        self.memory.undo()

    def revert(self) -> None:
        commit = self._chance.choice(self.memory.log(limit=10))
        self.memory.revert(commit.commit, take=self._chance.choice(["ours", "theirs"]))

    def propose(self) -> None:
        propose_identity(self.memory, self._line())

    def decide(self) -> None:
        with Memory(self.memory.root, is_person=True) as person:
            waiting = self._chance.choice(proposals(person))
            if self._chance.random() < 0.5:
                apply_proposal(person, waiting.id)
            else:
                reject_proposal(person, waiting.id)
                # What is let go is written nowhere any more.
                self._said.difference_update((waiting.text or "").splitlines())

    def act(self, purges: bool) -> None:
        acts = [self.remember, self.remember, self.edit, self.edit, self.overview, self.forget, self.rename, self.drop]
        acts += [self.purge] * 2 if purges else [self.undo, self.revert, self.propose, self.decide]
        with suppress(CrabmemError, IndexError):
            self._chance.choice(acts)()


def traces(root: Path, lines: set[str]) -> list[str]:
    """Which of some lines stand in any object of a repository, or in a file of its."""
    ids = git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    texts = [git(root, "cat-file", "-p", oid) for oid in ids]
    files = [file for file in root.rglob("*") if file.is_file() and "objects" not in file.parts]
    texts += [file.read_bytes().decode("utf-8", "replace") for file in files]
    return sorted(line for line in lines if any(line in text for text in texts))


@pytest.mark.parametrize(
    ("seed", "purges"), [*((seed, False) for seed in range(6)), *((seed, True) for seed in _PURGED)]
)
def test_machines_that_exchange_what_they_have_end_up_the_same(tmp_path: Path, seed: int, purges: bool) -> None:
    chance, said, purged = random.Random(seed), set[str](), set[str]()
    hub = tmp_path / "hub.git"
    Repo.init_bare(str(hub), mkdir=True).close()
    machines = [
        Machine(tmp_path / f"m{number}", f"m{number}", chance, said, purged) for number in range(chance.randint(3, 4))
    ]
    for machine in machines:
        machine.memory.root.mkdir(exist_ok=True)
        (machine.memory.root / "crabmem.toml").write_text('soul = "propose"\n')
        exchange(machine.memory, hub)
        machine.remember()
        exchange(machine.memory, hub)
    for _ in range(40):
        machine = chance.choice(machines)
        if chance.random() < 0.3:
            exchange(machine.memory, hub)
        else:
            machine.act(purges)
    for machine in machines * 2:
        exchange(machine.memory, hub)
    states = {git(machine.memory.root, "rev-parse", "HEAD") for machine in machines}
    assert len(states) == 1
    for machine in machines:
        root = machine.memory.root
        assert not git(root, "status", "--short")
        assert not git(root, "fsck", "--strict", "--no-dangling")
        texts = [file.read_text() for file in root.rglob("*.md")]
        assert not any(mark in text for text in texts for mark in ("<<<<<<<", ">>>>>>>"))
        assert not traces(root, purged)
        names = [entry.name for entry in machine.memory.entries()]
        assert len(set(names)) == len(names)
    assert bool(purged) == purges
    memory = machines[0].memory
    removed = "".join(line for line in git(memory.root, "log", "-m", "-p", "--format=").splitlines() if line[:1] == "-")
    there = "".join(file.read_text() for file in memory.root.rglob("*.md"))
    waiting = "".join(each.text or "" for machine in machines for each in proposals(machine.memory))
    # What was not pushed when a purge came is one commit: of it no state that was passed through is left.
    assert purges or not [line for line in said if line not in there + waiting + removed]
