"""`crabmem ui`: who may begin it, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crabmem import Inapplicable, Memory
from tests.conftest import Run

#: The first port that every user may listen on.
_FIRST_FREE = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes", agent="setter") as memory:
        memory.remember("Vet", "who", "Dr. Sousa")
    return tmp_path / "notes"


@contextmanager
def begun(root: Path, *options: str, **surroundings: str) -> Iterator[tuple["subprocess.Popen[bytes]", Path, int]]:
    """The page in a process of its own, the file that leads in, and its port."""
    told = [sys.executable, "-m", "crabmem", "--dir", str(root), "ui", *options]
    state = {**os.environ, "XDG_STATE_HOME": str(root.parent / "state"), "BROWSER": "/bin/true", **surroundings}
    with subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=state) as process:
        try:
            assert process.stdout and process.stderr
            said = process.stderr.readline().decode()
            file = Path(process.stdout.readline().decode().strip().removeprefix("file://"))
            assert "http://" not in said  # which would be a closed door
            yield process, file, int(re.findall(r"127\.0\.0\.1:(\d+)", said)[0])
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_as_asked_and_with_the_terminal_and_leaves_nothing(root: Path, number: int) -> None:
    with begun(root, "--no-open") as (process, file, port):
        assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o077 == 0
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, b"", b"") and not file.exists()


def test_the_browser_is_given_a_file_and_no_ticket(root: Path, tmp_path: Path) -> None:
    """What a program was started with, every user of the machine can see."""
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho "$@" >> {told}\n')
    browser.chmod(0o700)
    with begun(root, BROWSER=str(browser)) as (_, file, port):
        for _ in range(200):
            if told.exists() and told.read_text():
                break
            time.sleep(0.05)
        assert told.read_text().split() == [file.as_uri()]
        assert f"http://127.0.0.1:{port}/enter/" in file.read_text()


def test_an_agent_does_not_begin_it(root: Path, run: Run) -> None:
    for words in (["--agent", "coder", "ui"], ["--kind", "group", "ui"]):
        answer = run(*words, "--no-open")
        assert answer.exit_code == 1 and "this page is for the person" in answer.stderr
    assert run("ui", "--no-open", "--port", "99999").exit_code == 2


def test_a_taken_port_is_named(root: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = run("ui", "--no-open", "--port", str(taken.getsockname()[1]))
    assert answer.exit_code == 1 and "is taken; name another with --port" in answer.stderr


@pytest.mark.skipif(int(_FIRST_FREE.read_text()) < 2, reason="every user may listen on every port here")
def test_a_port_that_needs_rights_is_not_called_taken() -> None:
    listening = pytest.importorskip("crabmem.loopback.server").listening
    is_root = os.getuid() == 0
    if is_root:
        os.seteuid(65_534)
    try:
        with pytest.raises(Inapplicable, match="port 1 cannot be used: Permission denied; name another"), listening(1):
            pass
    finally:
        if is_root:
            os.seteuid(0)


def test_without_its_libraries_it_says_how_to_get_them(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nh3", None)
    for name in [name for name in sys.modules if name.startswith("crabmem.web")]:
        monkeypatch.delitem(sys.modules, name)
    answer = run("ui", "--no-open")
    assert answer.exit_code == 1 and "needs the libraries of the extra ui" in answer.stderr and "nh3" in answer.stderr
