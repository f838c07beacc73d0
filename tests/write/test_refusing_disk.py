"""What is said of a disk that refuses: what is wrong with it, and where the text is that could not be written."""

import errno
import os
import re
from pathlib import Path

import pytest

from crabmem import Memory, Unwritable
from crabmem.disk import fs
from crabmem.operations.maintenance import doctor

STAGED = re.compile(r"/tmp/write-[0-9a-f]{16}\Z")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A disk that holds the first ten bytes of what is staged."""
    write = fs._write

    def until_full(handle: int, file: Path, data: bytes) -> None:
        if STAGED.search(str(file)):
            os.write(handle, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(handle, file, data)

    monkeypatch.setattr(fs, "_write", until_full)
    return monkeypatch


def test_a_write_that_a_full_disk_refused_leaves_no_text_of_an_unknown_save(
    memory: Memory, full: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unwritable, match="free some space and try again"):
        memory.remember("Luna", "dog", "Thursday")
    full.undo()
    memory.remember("Tea", "how Ann takes it", "black")
    private = memory.root / ".git/crabmem"
    assert not list(private.glob("recovered/*")) and not list(private.glob("tmp/*"))
    assert [finding.message for finding in doctor(memory) if "write" in finding.message] == []


def test_a_text_that_a_crash_left_is_named_with_the_time_of_its_write(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    left = memory.root / ".git/crabmem/tmp/write-0123456789abcdef"
    left.write_text("half of a te")
    os.utime(left, ns=(0, 0))
    memory.remember("Tea", "how Ann takes it", "black")
    [said] = (line for line in memory.engine.writer.repairs() if "a write failed" in line)
    kept = re.search(r"on \d{4}-\d\d-\d\d at \d\d:\d\d; its text is in (\S+): delete that", said)
    assert kept and Path(kept[1]).read_text() == "half of a te"


def test_a_disk_that_is_mounted_read_only_is_not_mended_by_trying_again_or_by_permissions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Luna", "dog", "Thursday")
    there = os.statvfs(memory.root)
    values = {name: getattr(there, name) for name in dir(there) if name.startswith("f_")}
    read_only = type("Disk", (), values | {"f_flag": there.f_flag | os.ST_RDONLY})
    monkeypatch.setattr(os, "statvfs", lambda place: read_only)
    monkeypatch.setattr(os, "access", lambda place, mode: mode & os.W_OK == 0)
    said = [finding.message for finding in doctor(memory) if finding.level == "error"]
    assert len(said) == 1 and "mounted read-only" in said[0] and "chmod" not in said[0]


def test_what_a_read_only_disk_refuses_is_told_without_an_invitation_to_try_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(operation: str, path: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(fs, "before", refuse)
    with pytest.raises(Unwritable, match="mounted read-only") as refused:
        memory.remember("Luna", "dog", "Thursday")
    assert "try again" not in str(refused.value)
