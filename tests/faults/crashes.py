"""Stops one operation before each call that changes the disk, and checks what the next one finds.

Run in a process of its own (`python -m tests.faults.crashes OPERATION FAULT STRIDE`), because it forks. Prints the
number of points tried, and fails with the first broken promise.
"""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from crabmem import CrabmemError, Memory, fs, writer

writer.LATE_NS = 0  # so that what stays behind is told from what was forgotten

OLD = "Every Thursday."
NEW = "Every Friday."
EDIT = "A line of the person.\n"
VET = "memory/entries/luna-s-vet.md"
OTHER = "memory/entries/other.md"


def _create(memory: Memory) -> None:
    memory.remember("Fresh", "a new fact", NEW)


def _overwrite(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", NEW)


def _forget(memory: Memory) -> None:
    memory.forget("Luna's vet")


def _overview(memory: Memory) -> None:
    memory.write_overview(NEW)


def _rollback(memory: Memory) -> None:
    memory.rollback("HEAD~1")


def _adopt(memory: Memory) -> None:
    (memory.root / OTHER).write_text(EDIT)
    memory.adopt()


def _over_an_edit(memory: Memory) -> None:
    with (memory.root / VET).open("a") as file:
        file.write(EDIT)
    _overwrite(memory)


def _init(memory: Memory) -> None:
    shutil.rmtree(memory.root)
    memory.remember("Fresh", "a new fact", NEW)


OPERATIONS: dict[str, Callable[[Memory], None]] = {
    "create": _create,
    "overwrite": _overwrite,
    "forget": _forget,
    "overview": _overview,
    "rollback": _rollback,
    "adopt": _adopt,
    "over_an_edit": _over_an_edit,
    "init": _init,
}


class Fault:
    """What happens at the Nth change of the disk: the process dies, or the call fails (once, or from then on)."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at, self.count = kind, at, 0

    def __call__(self, operation: str, path: str) -> None:
        self.count += 1
        if self.count == self.at or (self.count > self.at and self.kind.endswith("+")):
            if self.kind == "kill":
                os._exit(137)
            code = getattr(errno, self.kind.rstrip("+"))
            raise OSError(code, os.strerror(code), path)


def prepared(folder: Path) -> Path:
    """A workspace with a little history: an overview, and two versions of an entry in two commits of two files."""
    root = folder / "prepared"
    with Memory(root, agent="before") as memory:
        memory.remember("Other", "something else", OLD)
        memory.write_overview(OLD)
        memory.remember("Luna's vet", "who looks after the dog", OLD)
        (root / VET).write_text((root / VET).read_text() + "x\n")
        (root / OTHER).write_text((root / OTHER).read_text() + "x\n")
        memory.adopt()
    return root


def tree(root: Path) -> dict[str, bytes]:
    """Every file outside `.git`."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def sweep(name: str, kind: str, stride: int = 1) -> int:
    """Try every point of an operation, or every `stride`th; how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        template = prepared(Path(folder))
        before, after = tree(template), _outcome(template, Path(folder) / "outcome", name)
        for at in range(1, 10_000, stride):
            root = Path(shutil.copytree(template, Path(folder) / f"run{at}", symlinks=True))
            acknowledged = _run(root, name, Fault(kind, at))
            try:
                _check(root, name, before, after, acknowledged)
            except AssertionError:
                print(f"{name}, {kind} at change {at}", file=sys.stderr)
                raise
            shutil.rmtree(root)
            if acknowledged == "unhit":
                return at - 1
    raise AssertionError("the operation never ends")


def _outcome(template: Path, root: Path, name: str) -> dict[str, bytes]:
    shutil.copytree(template, root, symlinks=True)
    with Memory(root, agent="crashed") as memory:
        OPERATIONS[name](memory)
    return tree(root)


def _run(root: Path, name: str, fault: Fault) -> str:
    """Run the operation in a child: "dead", "refused", "done", or "unhit" when the fault was never reached."""
    child = os.fork()
    if child == 0:
        memory = Memory(root, agent="crashed")
        fs.before = fault
        try:
            OPERATIONS[name](memory)
        except CrabmemError:
            os._exit(3)
        except OSError:
            os._exit(4)
        os._exit(0 if fault.count >= fault.at else 5)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "done", 3: "refused", 5: "unhit", 137: "dead"}[status]


def _check(root: Path, name: str, before: dict[str, bytes], after: dict[str, bytes], outcome: str) -> None:
    """The promises: whole or not at all, ours stays ours, nothing to repair by hand."""
    with Memory(root, agent="next") as memory:
        memory.remember("After", "written after the fault", "It works.")
        found = tree(root)
        found.pop("memory/entries/after.md")
        edited = {
            **before,
            **{path: found.get(path, b"") for path in (VET, OTHER) if EDIT.encode() in found.get(path, b"")},
        }
        states = [before, after, edited] if name != "init" else [after, {"Crab.md": after["Crab.md"]}, before, {}]
        assert found in states, f"neither before nor after: {sorted(found)}"
        if outcome in ("done", "unhit"):
            assert found == after, "acknowledged and not there"
        _check_words(memory, name, found, after, before)
    _check_repository(root)


def _check_words(
    memory: Memory, name: str, found: dict[str, bytes], after: dict[str, bytes], before: dict[str, bytes]
) -> None:
    commits = memory.log()
    if found == after != before and name not in ("adopt", "init"):
        assert any(commit.author == "crashed" for commit in commits), "ours was recorded as somebody else's"
    if name == "over_an_edit" and found == after:
        diffs = "".join(memory.diff(f"{commit.commit}^", commit.commit) for commit in commits[:3])
        assert EDIT.strip() in diffs, "the person's line is in no commit"
    persons = [commit.subject for commit in commits if commit.author == "person"]
    assert len(persons) <= 1 + (name in ("adopt", "over_an_edit")), f"recorded as the person's: {persons}"


def _check_repository(root: Path) -> None:
    assert _git(root, "status", "--porcelain") == "", "git status is not clean"
    assert [line for line in _git(root, "fsck", "--strict", "--full").splitlines() if "dangling" not in line] == []
    assert list((root / ".git").rglob("*.lock")) == [], "a lock was left"
    assert list((root / ".git" / "crabmem" / "tmp").iterdir()) == [], "a temporary file was left"
    assert list(root.glob(".crabmem-init*")) == [], "half a repository was left"


def _git(root: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    print(sweep(sys.argv[1], sys.argv[2], int(sys.argv[3])))
