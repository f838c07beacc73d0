"""One writer at a time, whatever happens to the one before."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crabmem import Busy
from crabmem.disk.lock import WriterLock
from crabmem.text.values import once

HOLD = """
import sys, time
from pathlib import Path
from crabmem.disk.lock import WriterLock
with WriterLock(Path(sys.argv[1])).held(5):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(file: Path) -> subprocess.Popen[str]:
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize("stopped", [False, True])
def test_busy_names_the_process_that_holds_the_lock(tmp_path: Path, stopped: bool) -> None:
    with holder(tmp_path / "lock") as process:
        if stopped:
            process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(Busy, match=f"process {process.pid} "), WriterLock(tmp_path / "lock").held(0.2):
            pass
        assert 0.2 <= time.monotonic() - began < 2
        process.kill()


def test_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        process.kill()
        process.wait()
        with WriterLock(tmp_path / "lock").held(1):
            pass


def test_deleted_lock_file_does_not_let_two_in(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        process.kill()
        process.wait()
        (tmp_path / "lock").unlink()
        with WriterLock(tmp_path / "lock").held(1), pytest.raises(Busy), WriterLock(tmp_path / "lock").held(0.05):
            pass


def test_threads_of_one_memory_take_turns(tmp_path: Path) -> None:
    lock, inside, most = WriterLock(tmp_path / "lock"), [0], [0]

    def work() -> None:
        for _ in range(20):
            with lock.held(10):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.0005)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside[0], most[0]) == (0, 1)


def test_thread_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock")
    told: list[str] = []

    def wait() -> None:
        try:
            with lock.held(0.05):
                pass
        except Busy as error:
            told.append(str(error))

    with lock.held(1):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert told == ["another thread has been writing for 0.05 s; try again"]


def test_a_property_that_another_thread_computes_keeps_no_forked_child_waiting() -> None:
    class Slow:
        @once
        def value(self) -> int:
            time.sleep(0.5)
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        os._exit(Slow().value)
    status = os.waitpid(child, 0)[1]
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 1


def test_a_lock_whose_folder_is_exchanged_while_somebody_waits_is_that_of_the_new_one(tmp_path: Path) -> None:
    held = list[bool]()
    for name in ("old", "new"):
        (tmp_path / name).mkdir()

    def wait() -> None:
        with WriterLock(tmp_path / "old/lock").held(10):
            held.append(is_new_free)

    with WriterLock(tmp_path / "new/lock").held(0):
        is_new_free = False
        with WriterLock(tmp_path / "old/lock").held(0):
            thread = threading.Thread(target=wait)
            thread.start()
            time.sleep(0.1)
            (tmp_path / "old").rename(tmp_path / "gone")
            (tmp_path / "new").rename(tmp_path / "old")
        time.sleep(0.1)
        is_new_free = True
    thread.join()
    assert held == [True]
