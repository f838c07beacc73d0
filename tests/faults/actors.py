"""Those who act in a suite: forked processes that can be killed, a person's editors, and texts that are told apart.

A suite runs in a process of its own (`apart`), which loads everything once and forks before it has threads.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import Counts, Say
from .repository import git

ROOT = Path(__file__).parents[2]
#: Lines of a text; every one is its token, so that a torn text is seen.
LINES = 20
_TOKEN = re.compile(r"[a-z]+(?:-[a-z0-9]+)*#[0-9]{6}")


# Suites in a process of their own


def apart(module: str, long: bool, say: Say, *through: str) -> Counts:
    """Run a suite's own `main` in a fresh process, `through` another command if given; what it counted.

    Raises:
        AssertionError: a promise was broken; the message is its last words.
    """
    words = [*through, sys.executable, "-m", module, *(["--long"] if long else [])]
    # Numeric libraries start threads as they are loaded, and threads do not go with a fork.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as suite:
        said = [line.rstrip() for line in _told(suite, say)]
        output = suite.stdout.read() if suite.stdout else ""
    assert suite.returncode == 0, "\n".join(said[-30:])
    counts: dict[str, int] = json.loads(output)
    return counts


def _told(suite: "subprocess.Popen[str]", say: Say) -> Iterator[str]:
    for line in suite.stderr or ():
        say(f"  {line.rstrip()}")
        yield line


def main(counted: Callable[[bool, Say], Counts]) -> None:
    """What `python -m tests.faults.SUITE [--long]` does: count, and print the counts as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    try:
        counts = counted(given.long, lambda text: print(text, file=sys.stderr))
    except AssertionError as broken:
        traceback.print_exc()
        sys.exit(f"broken promise: {broken}")
    print(json.dumps(counts))


# Processes


def started(work: Callable[[], None]) -> int:
    """Fork a process that does `work` and ends with 0, or with 1 and a trace; its number."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for a forked process; its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed(*pids: int) -> None:
    """Kill forked processes, all of them.

    Raises:
        AssertionError: one had ended by itself, which no process under test does.
    """
    for pid, code in [(pid, _stopped(pid)) for pid in pids]:
        assert code == -signal.SIGKILL, f"process {pid} ended by itself with {code}; its trace is above"


@contextmanager
def running(*works: Callable[[], None]) -> Iterator[list[int]]:
    """Processes that do `works`, killed at the end.

    Raises:
        AssertionError: one had ended by itself.
    """
    pids = [started(work) for work in works]
    try:
        yield pids
    finally:
        codes = [_stopped(pid) for pid in pids]
    assert set(codes) <= {-signal.SIGKILL}, f"processes ended by themselves, with {codes}; their traces are above"


def _stopped(pid: int) -> int:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return ended(pid)


class Record:
    """What processes said, a line each, in files of a folder: an acknowledgement outlives who gave it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def say(self, kind: str, text: str) -> None:
        """Add a line to what this process said of that kind."""
        handle = os.open(self._folder / f"{kind}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, f"{text}\n".encode())
        finally:
            os.close(handle)

    def said(self, kind: str) -> list[str]:
        """All that was said of a kind; a line that was cut short was not said."""
        texts = [file.read_text() for file in sorted(self._folder.glob(f"{kind}.*"))]
        return [line.rstrip("\n") for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]


def waited(for_what: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait until something is so; whether it was in time."""
    deadline = time.monotonic() + seconds
    while not for_what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


# Texts


def token(who: str, number: int) -> str:
    """What one text of somebody is known by."""
    return f"{who}#{number:06}"


def body(token: str) -> str:
    """The text that stands for `token`."""
    return "\n".join([token] * LINES)


def page(name: str, token: str) -> str:
    """The file of an entry as a person writes it."""
    return f"---\nname: {name}\n---\n\n{body(token)}\n"


def tokens(text: str) -> set[str]:
    """Every token in `text`."""
    return set(_TOKEN.findall(text))


def whole(text: str) -> set[str]:
    """The token of which `text` holds every line and of which nothing is beside it, if there is one."""
    found = Counter(_TOKEN.findall(text))
    return set(found) if list(found.values()) == [LINES] else set()


def is_whole(content: str) -> bool:
    """Whether `content` is exactly one text of somebody."""
    return any(content.strip() == body(token) for token in whole(content))


def in_history(root: Path) -> set[str]:
    """The tokens whose whole text a reference reaches."""
    oids = "\n".join(line[:40] for line in git(root, "rev-list", "--all", "--objects").splitlines())
    words = ["git", "-C", str(root), "cat-file", "--batch"]
    data = subprocess.run(words, input=oids.encode(), capture_output=True, check=True).stdout
    return {token for text in _blobs(data) for token in whole(text)}


def _blobs(data: bytes) -> Iterator[str]:
    """The texts in what `git cat-file --batch` prints."""
    at = 0
    while at < len(data):
        head, _, _ = data[at : at + 100].partition(b"\n")
        at += len(head) + 1
        _, kind, size = head.split(b" ")
        if kind == b"blob":
            yield data[at : at + int(size)].decode("utf-8", "replace")
        at += int(size) + 1


def added_by(root: Path, author: str) -> set[str]:
    """The tokens in lines that commits of an author added."""
    words = ("log", "--all", f"--author=^{author}", "--format=", "-p", "-U0", "--diff-merges=first-parent")
    return tokens("\n".join(line for line in git(root, *words).splitlines() if line.startswith("+")))


def on_disk(root: Path) -> set[str]:
    """The tokens whose whole text is in a file of the workspace, or in one that recovery set aside."""
    files = [file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts]
    files += [file for file in (root / ".git/crabmem/recovered").glob("*") if file.is_file()]
    return {token for file in files for token in whole(file.read_text("utf-8", "replace"))}


def commits(root: Path, *options: str) -> set[str]:
    """Every commit that a reference reaches."""
    return set(git(root, "rev-list", "--all", *options).split())


# A person's editors


def save_in_place(file: Path, text: str) -> None:
    """As editors that truncate the file and write it anew."""
    with file.open("w") as stream:
        stream.write(text)


def save_by_rename(file: Path, text: str) -> None:
    """As editors that write a temporary file and move it over."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text)
    os.replace(temporary, file)


def save_with_backup(file: Path, text: str) -> None:
    """As vim: the old file becomes a backup, and the name is made anew."""
    backup = file.with_name(f"{file.name}~")
    with suppress(FileNotFoundError):
        os.replace(file, backup)
    file.write_text(text)
    backup.unlink(missing_ok=True)


def save_slowly(file: Path, text: str, pause: float) -> None:
    """As an editor on a slow disk: half of the text is on disk before the other half is."""
    with file.open("w") as stream:
        stream.write(text[: len(text) // 2])
        stream.flush()
        time.sleep(pause)
        stream.write(text[len(text) // 2 :])


STYLES: dict[str, Callable[[Path, str], None]] = {
    "in place": save_in_place,
    "by rename": save_by_rename,
    "with backup": save_with_backup,
}


# What must hold after all


def left_locks(root: Path) -> list[str]:
    """Git's locks that nobody can hold any more."""
    found = [*(root / ".git").rglob("*.lock"), *(root / ".git").glob("gc.pid")]
    return [file.relative_to(root).as_posix() for file in found]


def total(counts: Counter[str], *names: str) -> dict[str, int]:
    """The counts in the order of `names`, those that were never counted as 0."""
    return {name: counts[name] for name in names}
