"""The only programs that a sync starts: `ssh`, and the person's credential helper. Never in a stranger's folder."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

_PATIENCE = 1.0
#: Nothing may ask: nobody is there to answer, and a window that opens by itself frightens people.
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
# Most lead Git to a repository, whose configuration may name programs.
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
    """Return where a program is; None where the search path has none. One beside us, in whatever folder, is not it."""
    path = os.pathsep.join(each for each in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(each))
    place = shutil.which(name, path=path) if path else None
    return place if place and os.path.isabs(place) else None


def started(command: Sequence[str], environ: Mapping[str, str], stderr: int, **more: str) -> "subprocess.Popen[bytes]":
    """Start a program with pipes, away from every repository and terminal."""
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
    """End a program, and what it started, at once."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]") -> int:
    """Let a program go; return its code, a negative one where it did not end by itself.

    What it left running, as a helper does that remembers for an hour, is let alone then.
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
    """Return at most so many bytes of what a program answers to `words`; b"" when it fails or takes too long."""
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
