"""The only programs that a sync starts: `ssh`, and the person's credential helper. Never in a stranger's folder."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

_PATIENCE = 1.0
#: Programs must not prompt: nobody is there to answer, and a window that opens by itself frightens people.
_UNASKED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",  # what a program says is looked at
}
#: The environment variable of a token, for machines on which no helper is set up.
TOKEN = "CRABMEM_SYNC_TOKEN"
# Variables that no program gets: the token, and those that point Git to a repository whose settings may name programs.
_KEPT_BACK = {
    TOKEN,
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CONFIG",
}


def found(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program; None if `PATH` has none.

    Relative entries of `PATH` are skipped: the current folder may be a stranger's.
    """
    path = os.pathsep.join(each for each in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(each))
    place = shutil.which(name, path=path) if path else None
    return place if place and os.path.isabs(place) else None


def started(command: Sequence[str], environ: Mapping[str, str], stderr: int, **more: str) -> "subprocess.Popen[bytes]":
    """Start a program with pipes, in the root folder and a session of its own: no repository, no terminal to ask at.

    `more` are further environment variables.
    """
    own = {name: value for name, value in environ.items() if name not in _KEPT_BACK} | _UNASKED | more
    return subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=own,
        cwd=os.path.abspath(os.sep),
        start_new_session=True,
    )


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all that it started: it leads a process group of its own."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]") -> int:
    """Close a program's pipes and wait for its end; return its code. After `_PATIENCE` kill it: the code is negative.

    Processes that it left running stay, such as a helper that caches a password for an hour; killing takes them too.
    """
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError, ValueError):
            if pipe:
                pipe.close()
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        kill(process)
        return process.wait()


def answer(command: Sequence[str], words: bytes, environ: Mapping[str, str], seconds: float, most: int) -> bytes:
    """Return a program's answer to `words`; b"" if it fails, takes over `seconds`, or writes more than `most` bytes."""
    process = started(command, environ, subprocess.DEVNULL)
    timer = threading.Timer(seconds, kill, [process])
    timer.daemon = True
    timer.start()
    said = b""
    try:
        with suppress(OSError, ValueError):
            assert process.stdin and process.stdout
            process.stdin.write(words)
            process.stdin.close()
            while len(said) <= most and (piece := process.stdout.read(most)):
                said += piece
    finally:
        code = end(process)
        timer.cancel()
    return said if code == 0 and len(said) <= most else b""
