"""The calls that change the disk, and the one that reads it."""

import errno
import os
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from crabmem.disk import fs, regular, system


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two files, "1" and "2"."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    return one, other


@pytest.mark.parametrize("is_missing", [False, True])
def test_exchange_swaps_two_files_also_where_the_system_has_none(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, is_missing: bool
) -> None:
    def missing(one: object, other: object) -> None:
        raise OSError(errno.ENOSYS, "no such call")

    if is_missing:
        monkeypatch.setattr(system, "exchange", missing)
    one, other = two
    fs.exchange(one, other)
    assert (one.read_text(), other.read_text()) == ("2", "1")
    assert sorted(file.name for file in one.parent.iterdir()) == ["one", "other"]


@pytest.mark.parametrize("step", range(4))
def test_an_exchange_in_steps_that_dies_keeps_both_texts_and_can_be_tried_again(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    steps = list[str]()

    def die(operation: str, path: str) -> None:
        steps.append(operation)
        if len(steps) == step + 1:
            raise KeyboardInterrupt

    one, other = two
    monkeypatch.setattr(system, "LINUX", False)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(fs, "before", die)
        fs.exchange(one, other)
    assert {"1", "2"} == {file.read_text() for file in one.parent.iterdir()}
    if one.exists():
        fs.exchange(one, other)
        assert (one.read_text(), other.read_text()) == ("2", "1")


@pytest.mark.parametrize("refused", range(2, 5))
def test_an_exchange_in_steps_that_is_refused_leaves_the_file_as_it_was(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    steps = list[str]()

    def refuse(operation: str, path: str) -> None:
        steps.append(operation)
        if len(steps) == refused:
            raise OSError(errno.ENOSPC, "no space left on device", path)

    monkeypatch.setattr(system, "LINUX", False)
    monkeypatch.setattr(fs, "before", refuse)
    with pytest.raises(OSError, match="no space"):
        fs.exchange(*two)
    assert two[1].read_text() == "2"
    assert not list(two[1].parent.glob("*.aside"))


@pytest.mark.parametrize(("step", "ends"), [("link", ("1", "2")), ("replace 1", ("2", "1")), ("replace 2", ("2", "1"))])
def test_an_exchange_in_steps_goes_by_what_a_step_did_and_not_by_what_it_reports(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, step: str, ends: tuple[str, str]
) -> None:
    one, other = two
    name, _, number = step.partition(" ")
    real, calls = getattr(os, name), list[str]()

    def done_and_refused(source: str, target: str, **options: Any) -> None:
        real(source, target, **options)
        calls.append(target)
        if len(calls) == int(number or 1):
            raise OSError(errno.ENOSPC, "no space left on device", target)

    monkeypatch.setattr(system, "LINUX", False)
    monkeypatch.setattr(os, name, done_and_refused)
    with pytest.raises(OSError, match="no space") if ends == ("1", "2") else nullcontext():
        fs.exchange(one, other)
    assert (one.read_text(), other.read_text()) == ends
    assert not list(one.parent.glob("*.aside"))


def test_a_file_of_more_bytes_than_are_taken_is_not_even_opened(tmp_path: Path) -> None:
    """What is mapped is not read to its end, as `read` does."""
    (tmp_path / "large").write_bytes(b"x" * 11)
    with pytest.raises(fs.NotAFile):
        regular.opened(str(tmp_path / "large"), limit=10)
    os.close(regular.opened(str(tmp_path / "large"), limit=11))


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder", "large"])
def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "odd"
    if kind in ("link", "dangling"):
        (tmp_path / "target").write_text("secret") if kind == "link" else None
        file.symlink_to(tmp_path / "target")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"x" * (fs.MAX_BYTES + 1))
    with pytest.raises(fs.NotAFile):
        fs.read(file)


@pytest.mark.parametrize("code", [errno.ENXIO, errno.EOPNOTSUPP], ids=["as Linux says", "as macOS says"])
def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has a hundred characters at most
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("odd")
        opened = os.open

        def told(*given: Any, **options: Any) -> int:
            try:
                return opened(*given, **options)
            except OSError as error:
                raise OSError(code, "it is a socket") from error

        monkeypatch.setattr(os, "open", told)
        with pytest.raises(fs.NotAFile):
            fs.read(tmp_path / "odd")


def test_new_files_and_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        fs.make_folder(tmp_path / "a/b")
        fs.create(tmp_path / "a/b/c", b"x")
    finally:
        os.umask(old)
    modes = [(tmp_path / path).stat().st_mode & 0o777 for path in ("a", "a/b", "a/b/c")]
    assert modes == [0o700, 0o700, 0o600]


def test_create_never_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(FileExistsError):
        fs.create(tmp_path / "there", b"yours")
    assert (tmp_path / "there").read_text() == "mine"


def test_this_process_is_alive_and_an_ended_one_is_not() -> None:
    ended = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(ended, 0)
    assert (fs.is_alive(os.getpid()), fs.is_alive(ended)) == (True, False)
