"""The command `crabmem` as a process of its own, without what Python and its imports cost each time.

`COMMAND` is a small program that hands its words, surroundings and streams to a server, which has loaded crabmem once
and forks; it ends as the fork ends, passes signals on, and takes the fork with it when it is killed. What a process
loads, how it begins, its group and its limits are not those of `python -m crabmem`: where that is the point, use that.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACE = "TESTS_FORK_SERVER"
_FOLDER = Path(__file__).parent

#: `crabmem`, to be used in place of `[sys.executable, "-m", "crabmem"]` while a server runs.
COMMAND = [sys.executable, "-I", "-S", str(_FOLDER / "fork_client.py"), os.environ.get(_PLACE, "")]


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """A server for this process and those that it starts; it loads nothing before somebody asks."""
    os.environ[_PLACE] = str(folder / "fork")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # threads do not go with a fork
    command = [sys.executable, str(_FOLDER / "fork_server.py"), os.environ[_PLACE]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout and process.stdin
        assert process.stdout.readline() == b"ready\n"
        COMMAND[-1] = os.environ[_PLACE]
        yield
        process.terminate()
