"""A model of one memory on several machines: random scripts, and what must hold of their end.

    python -m tests.sync.model --seeds 400                    short scripts, all operations of memory, and kills
    python -m tests.sync.model --seeds 40 --machines 5 --steps 180
    python -m tests.sync.model --seeds 60 --with git --with purge

A script is a list of steps, each of which draws from a seed of its own: so one that fails is made smaller by leaving
steps out, and what is printed is the smallest found. Every write has a token of its own, which is how it is found
again.

At the end all machines sync until nothing moves; where one is refused, it does first what the words of the refusal say.
Then these hold:

1. Branch, files and what waits are the same on all machines, and the remote is at the same commit.
2. A token that nobody removed is in a file, or waits to be decided. A person or an agent removes what is in a file
   before a step of theirs and not after it, and a decision what waited and is in no file then; a sync removes nothing.
   What others added to a fact that is purged goes with it, and a file that an answer names as given up with a purge.
3. A token that was purged is in no object and no file of any machine; the remote's branch does not reach it. In what
   waited, and was decided elsewhere, it may be until Git prunes.
4. No two facts have one name, but for those that an answer of sync named, or a step made on one machine.
5. No two paths differ only by case, no file has marks of a conflict, and Git finds nothing wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from dulwich.repo import Repo

from crabmem import CrabmemError, Memory
from crabmem.disk import fs
from crabmem.errors import HoldsPurged, SyncError
from crabmem.operations import proposals as waiting
from crabmem.results import Synced
from crabmem.sync.sync import name_remote, sync
from crabmem.text.slug import spelled
from tests.faults.repository import git

NAMES = ("Luna", "Tea", "Deploy key", "Marta", "Luna the cat", "TEA", "Ärger", "A\u0308rger")
FOLDERS = ("", "pets/", "work/keys/")
TAGS = ("a", "b", "c", "d")
REVIEWS = (
    "",
    'soul = "propose"\n',
    '[review]\nwait = ["everything"]\n',
    '[review]\nwait = ["entries"]\n',
    'soul_editable = true\n[review]\nprotect = "human-lines"\n',
)
#: How far clocks are off, by the machine.
CLOCKS = (timedelta(0), timedelta(days=-40), timedelta(hours=5), timedelta(days=400), timedelta(days=-1))
GIT = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
_TOKEN = re.compile(r"tok\d+x\d+y")
_ROUNDS = 12
# So often a person follows the words of a refusal.
_FOLLOWED = 3
# A sync makes some hundred changes of a disk.
_MOST_CHANGES = 220


class Step(NamedTuple):
    """One step of a script: who does what; `number` seeds what it draws, and names its tokens."""

    number: int
    machine: int
    action: str

    def __str__(self) -> str:
        return f"{self.number:4}  machine {self.machine}  {self.action}"


@dataclass(frozen=True)
class Script:
    """What machines do: the same steps come to the same end."""

    seed: int
    machines: int
    steps: tuple[Step, ...]

    @classmethod
    def drawn(cls, seed: int, machines: int, count: int, also: Sequence[str] = ()) -> Script:
        """Return the script of a seed; `also` are the switches for kinds of steps that are not always among them."""
        chance = random.Random(f"script {seed}")
        weights = {name: weight for name, (weight, switch, _) in ACTIONS.items() if not switch or switch in also}
        names = chance.choices(list(weights), list(weights.values()), k=count)
        return cls(seed, machines, tuple(Step(at, chance.randrange(machines), name) for at, name in enumerate(names)))

    def __str__(self) -> str:
        return "\n".join([f"seed {self.seed}, {self.machines} machines", *map(str, self.steps)])


@dataclass
class Known:
    """What the model knows of a run: its tokens by what became of them, and what answers of sync said."""

    seen: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)
    #: In which waiting texts a token was seen, on which of them a person decided, and those of which one was left while
    #: the token stood in no file there: two machines may decide on one each, and one be right as the file has it.
    waited: dict[str, set[str]] = field(default_factory=dict)
    decided: dict[str, set[str]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    #: Where a token was seen, by path, and the facts that were purged: what others add to one goes with it.
    places: dict[str, set[str]] = field(default_factory=dict)
    purged_facts: set[str] = field(default_factory=set)
    #: What stood in files that an answer of sync named, as a purge of another machine took their changes along.
    given_up: set[str] = field(default_factory=set)
    has_git: bool = False
    counts: Counter[str] = field(default_factory=Counter)


class Machine:
    """One machine of a person, with an agent on it."""

    def __init__(self, root: Path, hub: Path, number: int, seed: int, known: Known) -> None:
        self.root, self._hub, self._seed, self._known = root, hub, seed, known
        offset = CLOCKS[(number + seed) % len(CLOCKS)]
        self.person, self.agent = Memory(root, is_person=True), Memory(root, agent=f"bot-{number}")
        for memory in (self.person, self.agent):
            memory.engine.clock = lambda: datetime.now().astimezone() + offset
        name_remote(self.person, str(hub), "/")
        self.chance, self._count, self._number = random.Random(), 0, 0
        #: What stood in files before syncs that failed, of which the next answer tells what was given up.
        self._untold = list[tuple[str, str]]()

    def close(self) -> None:
        """Close both."""
        self.person.close()
        self.agent.close()

    # What is there

    def files(self) -> dict[str, str]:
        """Return the texts of memory by path."""
        found = [*self.root.glob("*.md"), *self.root.glob("*.toml"), *(self.root / "memory").rglob("*.md")]
        return {file.relative_to(self.root).as_posix(): file.read_text("utf-8", "replace") for file in sorted(found)}

    def aside(self) -> dict[str, list[str]]:
        """Return the texts that wait to be decided, by the commit that keeps each."""
        found = dict[str, list[str]]()
        for each in waiting.waiting(self.person).all():
            found[each.id] = [(file.data or b"").decode("utf-8", "replace") for file in each.files]
        return found

    def tokens(self, waits: Mapping[str, list[str]]) -> tuple[set[str], set[str]]:
        """Return the tokens that are in files, and those that wait."""
        return tokens_in(self.files().values()), tokens_in(sum(waits.values(), list[str]()))

    def note_places(self) -> None:
        """Note which token is in which file."""
        for path, text in self.files().items():
            for token in _TOKEN.findall(text):
                self._known.places.setdefault(token, set()).add(path)

    def _note_waiting(
        self, before: Mapping[str, list[str]], now: Mapping[str, list[str]], filed: set[str], is_decision: bool
    ) -> None:
        for oid, texts in now.items():
            for token in tokens_in(texts):
                self._known.waited.setdefault(token, set()).add(oid)
        for oid in before.keys() - now.keys() if is_decision else ():
            for token in tokens_in(before[oid]):
                self._known.decided.setdefault(token, set()).add(oid)
            self._known.left |= tokens_in(before[oid]) - filed

    def names(self) -> Counter[str]:
        """Return how many facts have which name."""
        return Counter(spelled(entry.name) for entry in self.person.entries())

    # Steps

    def do(self, step: Step) -> None:
        """Do a step, and note what it removed; what is refused changes nothing."""
        self.chance, self._number, self._count = random.Random(f"{self._seed} {step.number}"), step.number, 0
        action, waited = ACTIONS[step.action][2], self.aside()
        before = self.tokens(waited)
        is_sync = step.action in ("sync", "kill")
        with suppress(CrabmemError, IndexError, subprocess.CalledProcessError):
            action(self)
            self._known.counts[step.action] += 1
        waits = self.aside()
        after = self.tokens(waits)
        self._known.seen |= after[0] | after[1]
        self._note_waiting(waited, waits, after[0], step.action == "decide")
        self.note_places()
        if not is_sync:
            self._known.removed |= (before[0] - after[0]) | (before[1] - after[1] - after[0])
            self._known.doubled |= {name for name, count in self.names().items() if count > 1}

    def token(self) -> str:
        """Return a text that is in no other step."""
        self._count += 1
        return f"tok{self._number}x{self._count}y"

    def line(self) -> str:
        return f"{self.chance.choice(('Says', 'Likes', '- has', 'Knows'))} of it {self.token()}."

    def writer(self) -> Memory:
        return self.chance.choice((self.person, self.agent))

    def entry(self) -> Path:
        """Return the file of a fact; IndexError for none."""
        return self.chance.choice(sorted((self.root / "memory/entries").rglob("*.md")))

    def saved(self, file: Path, text: str) -> None:
        """Save a file by hand; it is recorded now, or whenever the next look is."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if self.chance.random() < 0.6:
            self.person.adopt()

    def synced(self, is_last: bool = False) -> Synced:
        """Sync as a person who means it."""
        may = is_last or self.chance.random() < 0.5
        waiting_files = (file for each in waiting.waiting(self.person).all() for file in each.files)
        self._untold += [*self.files().items(), *((file.path, (file.data or b"").decode()) for file in waiting_files)]
        done = sync(self.person, is_expected=True, joins_apart=True, even_if_many=may)
        before, self._untold = self._untold, []
        places = self._known.places
        for path, text in before:  # which may be named as it was called when it was changed
            self._known.given_up |= {
                token for token in tokens_in([text]) if {path, *places.get(token, ())} & {*done.given_up}
            }
        self._known.doubled |= set(done.doubled)
        self.note_places()
        self._known.counts["joined"] += done.is_joined
        self._known.counts["disputed"] += len(done.disputed)
        return done

    def settled(self) -> Synced:
        """Sync as a person does who, where that is refused, does what the message says, and syncs again."""
        for _ in range(_FOLLOWED):
            try:
                return self.synced(is_last=True)
            except HoldsPurged as refused:
                held = re.match(r"(.+) in commit \w+ is again what was purged", refused.problem)
                if held is None:
                    raise
                if held[1].startswith("memory/entries/"):
                    self.person.purge(held[1])
                    self._known.purged_facts.add(held[1])
                for token in _traces(self.root, self._known.purged):
                    self.person.purge(text=token)
                self._known.counts["purged again"] += 1
            except SyncError as refused:
                if refused.problem.endswith(": sync again"):
                    self._known.counts["synced again"] += 1
                elif "`crabmem sync --to` the same address" in refused.problem:
                    name_remote(self.person, str(self._hub), "/")
                    self._known.counts["begun anew"] += 1
                else:
                    raise
        return self.synced(is_last=True)


def _remember(machine: Machine) -> None:
    tags = machine.chance.sample(TAGS, machine.chance.randint(0, 2))
    said = "\n".join(machine.line() for _ in range(machine.chance.randint(1, 3)))
    name = machine.chance.choice(NAMES)
    machine.writer().remember(name, machine.chance.choice(("a", "b", f"about {machine.token()}")), said, tags=tags)


def _forget(machine: Machine) -> None:
    machine.writer().forget(machine.chance.choice(NAMES))


def _rename(machine: Machine) -> None:
    old, new = machine.chance.sample(NAMES, 2)
    machine.person.rename(old, new, keep_alias=machine.chance.random() < 0.3)


def _edit(machine: Machine) -> None:
    file = machine.entry()
    lines = file.read_text().splitlines()
    first = lines.index("---", 1) + 1 if "---" in lines[1:] else 0
    at = machine.chance.randint(first, len(lines))
    if machine.chance.random() < 0.5 or at == len(lines):
        lines.insert(at, machine.line())
    else:
        lines[at] = machine.line()
    machine.saved(file, "\n".join(lines) + "\n")


def _drop_line(machine: Machine) -> None:
    file = machine.entry()
    lines = file.read_text().splitlines(keepends=True)
    del lines[machine.chance.choice([at for at, line in enumerate(lines) if "tok" in line])]
    machine.saved(file, "".join(lines))


def _begin_by_hand(machine: Machine) -> None:
    """Begin a fact in a file of another spelling, in some folder; none that this disk has in another case."""
    name = machine.chance.choice(NAMES)
    stem = machine.chance.choice((name, name.lower(), name.upper(), name.replace(" ", "-")))
    path = f"memory/entries/{machine.chance.choice(FOLDERS)}{stem}.md"
    if folded(path) not in map(folded, machine.files()):
        text = f"---\nname: {name}\ndescription: d\n---\n\n{machine.line()}\n{machine.line()}\n"
        machine.saved(machine.root / path, text)


def _move(machine: Machine) -> None:
    file = machine.entry()
    target = machine.root / "memory/entries" / machine.chance.choice(FOLDERS) / file.name
    if machine.chance.random() < 0.3:
        target = target.with_name(target.name.swapcase().replace(".MD", ".md"))
    others = [path for path in machine.files() if path != file.relative_to(machine.root).as_posix()]
    if folded(target.relative_to(machine.root).as_posix()) not in map(folded, others):
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text()
        file.rename(target)
        machine.saved(target, text + machine.line() + "\n" if machine.chance.random() < 0.4 else text)


def _delete(machine: Machine) -> None:
    machine.entry().unlink()
    machine.person.adopt()


def _note(machine: Machine) -> None:
    machine.writer().write_note(f"{machine.line()}\n{machine.line()}", machine.chance.choice(("", "lunch")))


def _overview(machine: Machine) -> None:
    file = machine.root / "memory/MEMORY.md"
    lines = (file.read_text() if file.exists() else "# Memory\n").splitlines()
    link = f"- [{machine.chance.choice(NAMES)}](entries/{machine.chance.choice(('tea', 'luna'))}.md): {machine.token()}"
    if len(lines) > 2 and machine.chance.random() < 0.2:
        del lines[machine.chance.randrange(1, len(lines))]
    lines.insert(machine.chance.randint(1, len(lines)), link)
    machine.saved(file, "\n".join(lines) + "\n")


def _identity(machine: Machine) -> None:
    machine.writer().write_identity(f"# I am Crab\n\n{machine.line()}\n")


def _settings(machine: Machine) -> None:
    machine.saved(machine.root / "crabmem.toml", machine.chance.choice(REVIEWS))


def _decide(machine: Machine) -> None:
    each = machine.chance.choice(waiting.proposals(machine.person))
    if machine.chance.random() < 0.6:
        waiting.apply_proposal(machine.person, each.id)
    else:
        waiting.reject_proposal(machine.person, each.id)


def _undo(machine: Machine) -> None:
    machine.person.undo(even_if_many=True)
    if machine.chance.random() < 0.3:
        machine.person.redo(even_if_many=True)


def _revert(machine: Machine) -> None:
    commit = machine.chance.choice(machine.person.log(limit=12))
    machine.person.revert(commit.commit, take=machine.chance.choice(("ours", "theirs")), even_if_many=True)


def _rollback(machine: Machine) -> None:
    commit = machine.chance.choice(machine.person.log(limit=6))
    machine.person.rollback(to=commit.commit, even_if_many=True)


def _sync(machine: Machine) -> None:
    machine.synced()


def _kill(machine: Machine) -> None:
    """End a process that syncs as it makes some change of a disk."""
    left, pid = [machine.chance.randrange(1, _MOST_CHANGES)], os.fork()
    if not pid:

        def die(operation: str, path: str) -> None:
            left[0] -= 1
            if not left[0]:
                os._exit(9)

        fs.before = die
        with suppress(BaseException):
            sync(machine.person, is_expected=True, joins_apart=True)
        os._exit(0)
    os.waitpid(pid, 0)


def _purge_text(machine: Machine) -> None:
    token = machine.chance.choice(sorted(tokens_in(machine.files().values())))
    machine.person.purge(text=token)
    machine._known.purged.add(token)


def _purge_fact(machine: Machine) -> None:
    entry = machine.chance.choice(machine.person.entries())
    tokens = set(_TOKEN.findall((machine.root / entry.path).read_text()))
    done = machine.person.purge(entry.path)
    others = tokens_in(machine.files().values())
    # What other facts quote of it stays, and is named: they are called by their paths of today.
    left = set(_traces(machine.root, tokens - others))
    assert not left or done.copies, f"purge: {sorted(left)} are left without a word"
    machine._known.purged |= tokens - others - left
    machine._known.purged_facts.add(entry.path)


def _git(machine: Machine, *words: str) -> None:
    machine._known.has_git = True
    git(machine.root, *GIT, *words)


def _git_fetch(machine: Machine) -> None:
    _git(machine, "fetch", "-q", "origin")


def _git_pull(machine: Machine) -> None:
    machine.person.adopt()
    try:
        _git(
            machine,
            "pull",
            "-q",
            *machine.chance.choice((("--rebase",), ("--no-rebase", "--no-edit"))),
            "origin",
            "main",
        )
    except subprocess.CalledProcessError:
        for verb in ("rebase", "merge"):
            with suppress(subprocess.CalledProcessError):
                git(machine.root, verb, "--abort")


def _git_commit(machine: Machine) -> None:
    file = machine.entry()
    file.write_text(f"{file.read_text()}{machine.line()}\n")
    _git(machine, "commit", "-qam", "by hand")


def _git_gc(machine: Machine) -> None:
    _git(machine, "gc", "-q")


#: How often each is drawn, the switch that has it drawn at all, and what it does.
ACTIONS: dict[str, tuple[int, str, Callable[[Machine], None]]] = {
    "sync": (28, "", _sync),
    "remember": (12, "", _remember),
    "edit": (10, "", _edit),
    "forget": (4, "", _forget),
    "rename": (5, "", _rename),
    "drop line": (4, "", _drop_line),
    "begin by hand": (5, "", _begin_by_hand),
    "move": (5, "", _move),
    "delete": (2, "", _delete),
    "note": (4, "", _note),
    "overview": (5, "", _overview),
    "identity": (2, "", _identity),
    "settings": (2, "", _settings),
    "decide": (6, "", _decide),
    "undo": (3, "", _undo),
    "revert": (3, "", _revert),
    "rollback": (1, "", _rollback),
    "kill": (4, "kill", _kill),
    "git fetch": (4, "git", _git_fetch),
    "git pull": (4, "git", _git_pull),
    "git commit": (3, "git", _git_commit),
    "git gc": (1, "git", _git_gc),
    "purge text": (3, "purge", _purge_text),
    "purge fact": (2, "purge", _purge_fact),
}
SWITCHES = ("kill", "git", "purge")


def tokens_in(texts: Iterable[str]) -> set[str]:
    """The tokens in some texts."""
    return {token for text in texts for token in _TOKEN.findall(text)}


def folded(path: str) -> str:
    """What a disk that minds neither case nor the form of letters takes a path for."""
    return normalize("NFC", normalize("NFC", path).casefold())


def run(script: Script, folder: Path) -> Counter[str]:
    """Run a script in an empty folder, and check its end; what was done, counted.

    Raises:
        AssertionError: what must hold does not.
    """
    hub, known = folder / "hub.git", Known()
    Repo.init_bare(str(hub), mkdir=True, default_branch=b"main").close()
    machines = [Machine(folder / f"m{number}", hub, number, script.seed, known) for number in range(script.machines)]
    try:
        for step in script.steps:
            machines[step.machine].do(step)
        _settle(machines)
        _check(machines, hub, known)
    finally:
        for machine in machines:
            machine.close()
    return known.counts


def _settle(machines: Sequence[Machine]) -> None:
    """Sync until nothing moves any more."""
    for _ in range(_ROUNDS):
        moved = [machine for machine in machines if (done := machine.settled()).sent or done.taken]
        refs = {git(machine.root, "for-each-ref", "refs/heads", "refs/crabmem/proposals") for machine in machines}
        if not moved and len(refs) == 1:
            return
    raise AssertionError(f"not quiet: after {_ROUNDS} rounds of syncs something moves")


def _check(machines: Sequence[Machine], hub: Path, known: Known) -> None:
    files, aside = [machine.files() for machine in machines], [machine.aside() for machine in machines]
    assert all(each == files[0] for each in files), "files: they differ between machines"
    assert all(each == aside[0] for each in aside), "waiting: it differs between machines"
    tips = {git(hub, "rev-parse", "main"), *(git(machine.root, "rev-parse", "HEAD") for machine in machines)}
    assert len(tips) == 1, "remote: it is at another commit"
    there = tokens_in([*files[0].values(), *sum(aside[0].values(), list[str]())])
    lost = known.seen - there - known.removed - known.purged - known.given_up
    lost = {token for token in lost if known.purged_facts.isdisjoint(known.places.get(token, ()))}
    lost = {token for token in lost if token not in known.left or known.waited[token] != known.decided[token]}
    assert not lost, f"lost: {sorted(lost)}"
    twice = {name for name, count in machines[0].names().items() if count > 1}
    assert twice <= known.doubled, f"names: twice without a word {sorted(twice - known.doubled)}"
    paths = list(map(folded, git(machines[0].root, "-c", "core.quotePath=off", "ls-files").split("\n")))
    assert len(set(paths)) == len(paths), f"paths: differ only by case {sorted(paths)}"
    marked = [path for path, text in files[0].items() if re.search(r"^(<<<<<<<|>>>>>>>)", text, re.M)]
    assert known.has_git or not marked, f"marks: {marked}"
    for machine in machines:
        said = git(machine.root, "fsck", "--strict", "--no-dangling")
        assert not said, f"fsck: {said}"
        status = git(machine.root, "status", "--short")
        assert not status, f"status: {status}"
        found = _traces(machine.root, known.purged)
        if known.waited.keys() & {*found}:  # decided elsewhere it is in no history: Git removes it
            git(machine.root, "gc", "-q", "--prune=now")
            found = _traces(machine.root, known.purged)
        assert not found, f"purged: found {found}"
    reached = git(hub, "log", "-p", "-m", "--format=%B", "main") if known.purged else ""
    assert not (known.purged & set(_TOKEN.findall(reached))), "purged: the remote shows it"


def _traces(root: Path, tokens: set[str]) -> list[str]:
    """Return which of some tokens are in any object of a repository, or in a file of its."""
    if not tokens:
        return []
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=root, capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    files = [file.read_bytes() for file in root.rglob("*") if file.is_file() and "objects" not in file.parts]
    found = tokens_in([objects, *(data.decode("utf-8", "replace") for data in files)])
    return sorted(tokens & found)


# Many scripts


def failure(script: Script) -> str:
    """Return what fails of a script, run in a folder of its own; "" for nothing."""
    with tempfile.TemporaryDirectory(prefix="crabmem-model-") as folder:
        try:
            run(script, Path(folder))
        except AssertionError as broken:
            return str(broken)
        except Exception as error:  # whatever it is, the script that shows it is what helps
            return f"raised {type(error).__name__}: {traceback.format_exc(limit=-12)}"
    return ""


def shrunk(script: Script, kind: str, tries: int = 160) -> Script:
    """Return a script with fewer steps that fails in the same way, as small as some tries find."""
    size = max(1, len(script.steps) // 2)
    while tries > 0:
        smaller = None
        for at in range(0, len(script.steps), size):
            candidate = Script(script.seed, script.machines, script.steps[:at] + script.steps[at + size :])
            tries -= 1
            if tries < 0 or failure(candidate).partition(":")[0] == kind:
                smaller = candidate if tries >= 0 else None
                break
        if smaller is not None:
            script = smaller
            size = min(size, max(1, len(script.steps) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return script


def report(script: Script, told: str) -> str:
    """Return the smallest script found that fails so, in words."""
    small = shrunk(script, told.partition(":")[0])
    return f"{told}\n\n{len(small.steps)} of {len(script.steps)} steps fail so: {failure(small)[:2000]}\n{small}"


def main() -> int:
    """Run scripts as the command line asks; 1 if any fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.sync.model")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--with", dest="also", action="append", choices=SWITCHES, default=[])
    parser.add_argument("--no-shrink", action="store_true")
    asked = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="crabmem-model-state-")
    seeds, failed = range(asked.first, asked.first + asked.seeds), list[int]()
    for seed in seeds:
        script = Script.drawn(seed, asked.machines, asked.steps, asked.also)
        if told := failure(script):
            failed.append(seed)
            print(f"seed {seed}: {told if asked.no_shrink else report(script, told)}\n", flush=True)
    print(f"{len(seeds)} seeds, {len(failed)} failed: {failed}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
