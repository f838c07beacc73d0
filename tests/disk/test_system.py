"""What this system can do, and what is done where it cannot."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crabmem.disk import fs, system

NAMES = ("TELLS_CHANGES", "TELLS_WRITERS", "FULL_SYNC")


def told(**environment: str) -> dict[str, str]:
    """What a new process says of its system."""
    code = f"from crabmem.disk import system as s; print(*(repr(getattr(s, name)) for name in {NAMES}), sep='\\n');"
    code += "print(s.start_of_machine()); print(s.machine_started()); print(s.age_of_process())"
    plain = {name: value for name, value in os.environ.items() if name != "CRABMEM_PORTABLE"}
    done = subprocess.run([sys.executable, "-c", code], env=plain | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip((*NAMES, "start", "started", "age"), done.stdout.splitlines(), strict=True))


def test_portable_is_to_use_nothing_that_another_system_lacks() -> None:
    found, again = told(CRABMEM_PORTABLE="1"), told(CRABMEM_PORTABLE="1")
    assert found.pop("start") != again.pop("start"), "each process takes the machine for newly started"
    assert list(found.values()) == ["False", "False", "None", "None", "0.0"]


@pytest.mark.skipif(sys.platform != "linux", reason="what Linux tells")
def test_linux_tells_of_changes_writers_and_its_start() -> None:
    found, again = told(), told(CRABMEM_PORTABLE="0")
    assert found["start"] == again["start"]
    assert [found[name] for name in NAMES] == ["True", "True", "None"]
    assert 0 < int(found["started"]) < time.time() and 0 <= float(found["age"]) < 60


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that wait for the disk."""
    calls = list[str]()
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda handle, name=name: calls.append(name))
    return calls


def test_a_system_with_a_full_sync_is_asked_for_that(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "FULL_SYNC", fcntl.F_GETFD)  # a command that every system takes
    fs.create(tmp_path / "file", b"x")
    fs.write_at(tmp_path / "file", 0, b"y")
    fs.sync_folder(tmp_path)
    assert synced == []
    with fs.durability(False):
        monkeypatch.setattr(system, "FULL_SYNC", -1)  # nobody waits, so nothing is asked for
        fs.create(tmp_path / "other", b"x")
    assert synced == []


def test_a_disk_that_takes_no_full_sync_is_synced_as_usual(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "FULL_SYNC", 51)  # what macOS calls it, and Linux does not know
    fs.create(tmp_path / "file", b"x")
    fs.sync_folder(tmp_path)
    assert synced == ["fsync", "fsync"]


def test_a_full_sync_that_fails_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(handle: int, command: int) -> int:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(system, "FULL_SYNC", 51)
    monkeypatch.setattr(fcntl, "fcntl", broken)
    with pytest.raises(OSError, match="input/output"):
        fs.create(tmp_path / "file", b"x")


def test_a_file_that_was_just_written_in_place_may_not_be_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "TELLS_WRITERS", False)
    monkeypatch.setattr(system, "JUST_NOW", 500_000_000)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(fs.BeingWritten):
        fs.read(file, steady=True)
    assert fs.read(file)[0] == b"x"
    time.sleep(0.5)
    assert fs.read(file, steady=True)[0] == b"x"


def test_a_file_that_got_its_name_after_it_was_written_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "TELLS_WRITERS", False)
    monkeypatch.setattr(system, "JUST_NOW", 60_000_000_000)
    (tmp_path / "staged").write_text("x")
    time.sleep(0.02)  # longer than the clock of a disk goes on by
    (tmp_path / "staged").rename(tmp_path / "file")
    assert fs.read(tmp_path / "file", steady=True)[0] == b"x"


def test_a_link_to_a_folder_is_no_folder_whatever_the_system_says_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux says that it is none, macOS that there are too many links."""
    (tmp_path / "link").symlink_to(tmp_path)

    def of_mac(path: str, flags: int, *given: int, **options: int | None) -> int:
        return opened(path, flags & ~os.O_DIRECTORY, *given, **options)  # type: ignore[arg-type]

    opened = os.open
    for each in (opened, of_mac):
        monkeypatch.setattr(os, "open", each)
        with fs.opened(tmp_path) as here, pytest.raises(NotADirectoryError), fs.entered(here, "link"):
            pass
