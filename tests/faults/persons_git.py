"""A person works with Git in the folder while agents write: nobody's commit may be lost to the other."""

import atexit
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path

from crabmem import CrabmemError, Memory

from . import Counts, Say
from .actors import Record, apart, body, commits, in_history, left_locks, main, running, token, total, waited
from .crashes import copied
from .repository import complaints, git

PERSON = "Anna"
_HOOK = '#!/bin/sh\n[ "$1" = committed ] && cat >> "$0.log"\nexit 0\n'
_NAMES = 3

_COMMIT = "echo $N > notes.txt && git add notes.txt && git commit -qm notes-$N"
_THREE = "for F in a b c; do echo $N > $F.txt; git add $F.txt; git commit -qm $F-$N; done"
_TOPIC = f"git checkout -qf -b topic-$N HEAD~2 && {_THREE}"
_APART = (
    "git checkout -qf -b topic-$N HEAD~1 && echo topic-$N > notes.txt && git commit -qam topic-$N && echo $N > d.txt "
    "&& git add d.txt && git commit -qm d-$N && git checkout -qf main && echo main-$N > notes.txt "
    "&& git commit -qam main-$N"
)
_BACK = "git checkout -qf main"


@dataclass(frozen=True)
class Storm:
    """What a person types again and again, `$N` being how often; whether commits of their own are dropped by it."""

    typed: tuple[str, ...]
    drops: bool = False
    prunes: bool = False


STORMS = {
    "commit": Storm((_COMMIT,)),
    "commit -am": Storm(("echo $N > notes.txt; git commit -qam notes-$N",)),
    "amend": Storm((_COMMIT, "git commit -q --amend --allow-empty -m amended-$N"), drops=True),
    "revert": Storm((_COMMIT, "git revert --no-edit HEAD")),
    "rebase": Storm(
        (_TOPIC, "git rebase -q main || git rebase --abort", _BACK, "git merge -q topic-$N || git merge --abort"),
        drops=True,
    ),
    "rebase -i": Storm(
        (_THREE, "GIT_SEQUENCE_EDITOR='sed -i -e 1{h;d} -e 2{G}' git rebase -qi HEAD~3 || git rebase --abort"),
        drops=True,
    ),
    "rebase -i, fixup": Storm(
        (_THREE, "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -qi HEAD~4 || git rebase --abort"), drops=True
    ),
    "rebase, aborted": Storm(
        (_APART, "git checkout -qf topic-$N", "git rebase -q main", "sleep 0.05; git rebase --abort", _BACK), drops=True
    ),
    "rebase, continued": Storm(
        (
            _APART,
            "git checkout -qf topic-$N",
            "git rebase -q main",
            "sleep 0.05; echo both > notes.txt; git add notes.txt; GIT_EDITOR=true git rebase --continue",
            "git rebase --abort; git checkout -qf main; git merge -q topic-$N || git merge --abort",
        ),
        drops=True,
    ),
    "merge": Storm((_TOPIC, _BACK, "git merge -q --no-edit topic-$N || git merge --abort")),
    "merge, aborted": Storm((_APART, "git merge -q topic-$N", "sleep 0.05; git merge --abort")),
    "cherry-pick": Storm((_TOPIC, _BACK, "git cherry-pick HEAD..topic-$N || git cherry-pick --abort"), drops=True),
    "cherry-pick, aborted": Storm(
        (_APART, "git cherry-pick topic-$N~1", "sleep 0.05; git cherry-pick --abort"), drops=True
    ),
    "bisect": Storm(("git bisect start; git bisect bad HEAD; git bisect good HEAD~4", "sleep 0.05; git bisect reset")),
    "checkout -B": Storm(("git checkout -qB side", "git checkout -qB main")),
    "other branch": Storm(("git checkout -q other", _COMMIT, "git checkout -q main || git checkout -qf main")),
    "detached": Storm(("git checkout -q --detach", _COMMIT, "git branch -f was-detached-$N", "git checkout -qf main")),
    "reset --hard": Storm((_COMMIT, "git reset -q --hard HEAD~1"), drops=True),
    "commit -am, reset": Storm(
        ("echo $N > notes.txt; git commit -qam notes-$N; git reset -q --hard HEAD~1",), drops=True
    ),
    "stash -u": Storm(("echo $N > notes.txt; git stash -qu", "git stash pop -q || git checkout -qf HEAD -- .")),
    "clean": Storm(("git clean -qfd",)),
    "status": Storm(("git status -s; git status -s; git diff --stat",)),
    "gc": Storm((_COMMIT, "git gc -q")),
    "repack": Storm((_COMMIT, "git repack -qad")),
    "pack-refs": Storm((_COMMIT, "git pack-refs --all")),
    "gc --prune=now": Storm((_COMMIT, "git gc -q --prune=now")),
    "prune --expire=now": Storm(("git prune --expire=now",), prunes=True),
}


def run(long: bool, say: Say) -> Counts:
    """Every storm with one agent, a few with two; or all with both, for longer."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """Every storm in a memory of its own."""
    sums: Counter[str] = Counter()
    plays = [(name, 1) for name in STORMS] + [(name, 2) for name in STORMS if long or name in ("commit -am", "rebase")]
    for seed, (name, agents) in enumerate(plays):
        try:
            found = Play(name, agents, seed).played(seconds=6 if long else 0.15)
        except AssertionError as broken:
            raise AssertionError(f"persons_git, `{name}` beside {agents} agents, seed {seed}: {broken}") from None
        sums += found
        say(f"{name}, {agents} agents: {dict(found)}")
    return total(sums, "rounds", "person's commits", "acknowledged", "compacted", "refused", "healed", "lost")


def _type(root: Path, line: str, number: int) -> None:
    """What a person types; it may fail where an agent was quicker."""
    who = {f"GIT_{role}_{part}": PERSON for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "N": str(number), **who}
    subprocess.run(line, shell=True, cwd=root, env=environment, capture_output=True)


@cache
def _begun() -> Path:
    """A memory with commits of the person's, to be copied: made once in a process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "memory"
    with Memory(root) as memory:
        memory.remember("Seed", "the first", "the first")
        for number in range(4):
            _type(root, "echo $N > notes.txt; git add notes.txt; git commit -qm begun-$N", 900_000 + number)
        _type(root, "git branch other HEAD~1", 0)
        memory.remember("Seed", "the first", "the second")
    hook = root / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_HOOK)
    hook.chmod(0o755)
    return root


class Play:
    """One storm over one memory."""

    def __init__(self, name: str, agents: int, seed: int) -> None:
        self._storm = STORMS[name]
        self._agents = agents
        self._chance = random.Random(seed)

    def played(self, seconds: float) -> Counter[str]:
        """Let it rage for some seconds, then check; what was counted."""
        with tempfile.TemporaryDirectory() as folder:
            self._root, self._record = Path(folder, "memory"), Record(Path(folder, "said"))
            self._prepare()
            with running(*(partial(self._write, number) for number in range(self._agents)), self._compact):
                rounds = self._rage(seconds)
            return self._checked(rounds)

    def _prepare(self) -> None:
        copied(_begun(), self._root)
        self._hook = self._root / ".git/hooks/reference-transaction"

    def _rage(self, seconds: float) -> int:
        """Type until the time is over and every agent has written; how many rounds that were."""
        assert waited(lambda: len(self._record.said("text")) >= 2 * self._agents), "the agents do not write"
        deadline = time.monotonic() + seconds
        for number in count():
            for line in self._storm.typed:
                self._type(line, number)
                time.sleep(self._chance.random() * 0.02)
            if time.monotonic() > deadline and number >= 2:
                return number + 1
        raise AssertionError("counting ended")

    def _type(self, line: str, number: int) -> None:
        _type(self._root, line, number)

    def _compact(self) -> None:
        """The history is compacted all the while, as far as it can be beside what the person does."""
        with Memory(self._root) as memory:
            while True:
                with suppress(CrabmemError):
                    self._record.say("compacted", f"{memory.engine.history.compact()}")
                time.sleep(0.02)

    def _write(self, agent: int) -> None:
        with Memory(self._root, agent=f"agent {agent}") as memory:
            for number in count():
                self._write_one(memory, f"fact {agent} {number % _NAMES}", token(f"agent-{agent}", number))

    def _write_one(self, memory: Memory, name: str, text: str) -> None:
        try:
            saved = memory.remember(name, "what is written", body(text))
        except CrabmemError as error:
            self._record.say("refused", f"{type(error).__name__}: {error}")
        else:
            self._record.say("text", text)
            if saved.commit:  # a `git commit -a` of the person may have been quicker
                self._record.say("commit", saved.commit)

    # What must hold

    def _checked(self, rounds: int) -> Counter[str]:
        with Memory(self._root, agent="next") as memory:
            memory.remember("After", "written after the storm", "It works.")
            assert memory.get("After").content == "It works."
            errors = [found.message for found in memory.doctor() if found.level == "error"]
        assert left_locks(self._root) == [], f"locks were left: {left_locks(self._root)}"
        refused = self._record.said("refused")
        assert _but_merges(refused) == [], f"refused: {_but_merges(refused)[:3]}"
        assert _but_merges(errors) == [], f"doctor has errors: {errors}"
        assert complaints(self._root) == []
        theirs = self._persons_commits()
        self._check_nothing_lost(theirs)
        return Counter({
            "rounds": rounds,
            "person's commits": len(theirs),
            "acknowledged": len(self._record.said("text")),
            "compacted": sum(done != "None" for done in self._record.said("compacted")),
            "refused": len(refused),
            "healed": len(_lines(self._root / ".git/crabmem/repairs.log")),
        })  # fmt: skip

    def _persons_commits(self) -> set[str]:
        """Every commit that a command of the person put on a branch, as Git itself told a hook."""
        moves = [line.split() for line in _lines(self._hook.with_name(f"{self._hook.name}.log"))]
        made = {new for _, new, ref in moves if ref.startswith(("refs/heads/", "HEAD"))} - {"0" * 40}
        if not made:
            return set()
        told = git(self._root, "log", "--no-walk", "--format=%H %cn", *made).splitlines()
        return {line[:40] for line in told if line[41:] == PERSON}

    def _check_nothing_lost(self, theirs: set[str]) -> None:
        lost = set(self._record.said("text")) - in_history(self._root)
        assert not lost, f"acknowledged, and no reference reaches it: {sorted(lost)[:5]}"
        lost = set(self._record.said("commit")) - commits(self._root)
        assert not lost, f"acknowledged commits that no reference reaches: {sorted(lost)[:5]}"
        lost = theirs - commits(self._root, *(["--reflog"] if self._storm.drops else []))
        assert not lost, f"commits of the person were lost: {sorted(lost)[:5]}"


def _but_merges(errors: list[str]) -> list[str]:
    """The errors that are not about a merge the person has yet to resolve."""
    return [error for error in errors if "unresolved merge" not in error]


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


if __name__ == "__main__":
    main(counted)
