"""A process of its own: what it answers from what is kept, what it loads for that, and how it ends."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import click
import pytest

from crabmem import Memory
from crabmem.cli.app import cli
from tests import forked
from tests.conftest import FIXTURES

_ENTRIES = "memory/entries"
_ASKED = "boiler"
COMMAND = [sys.executable, "-m", "crabmem"]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that is known from the last process, all its files older than a moment."""
    root = tmp_path_factory.mktemp("plain") / "household"
    shutil.copytree(FIXTURES / "household", root, ignore=shutil.ignore_patterns("crabmem.toml"))
    for file in root.rglob("*.md"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    time.sleep(2.6)  # their status changed just now
    with Memory(root) as memory:
        memory.adopt()
        memory.recall("anything")
    return root


@pytest.fixture
def root(settled: Path, tmp_path: Path) -> Path:
    """A copy that is as well known: the same files under other names."""
    copy = tmp_path / "household"
    shutil.copytree(settled, copy, copy_function=shutil.copy2)
    with Memory(copy) as memory:
        memory.recall("anything")
    return copy


def said(root: Path, *words: str) -> str:
    """The output of a process of its own."""
    return subprocess.run([*forked.COMMAND, "--dir", str(root), *words], capture_output=True, text=True).stdout


def _edited(root: Path) -> None:
    file = next(file for file in sorted((root / _ENTRIES).glob("*.md")) if b"boiler" in file.read_bytes())
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"boiler", b"burner"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _removed(root: Path) -> None:
    next(file for file in sorted((root / _ENTRIES).glob("*.md")) if b"boiler" in file.read_bytes()).unlink()


def _added(root: Path) -> None:
    (root / _ENTRIES / "new.md").write_text("---\nname: New\ndescription: d\n---\n\nthe boiler\n")


def _added_beside(root: Path) -> None:
    (root / "memory/new.md").write_text("---\nname: New\ndescription: d\n---\n\nthe boiler\n")


def _noted(root: Path) -> None:
    (root / "memory/2026-11-21.md").write_text("The boiler hums.\n")


def _renamed(root: Path) -> None:
    file = next(file for file in sorted((root / _ENTRIES).glob("*.md")) if b"boiler" in file.read_bytes())
    file.rename(file.with_name("other.md"))


def _with_settings(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = 1\n")


def _remembered(root: Path) -> None:
    subprocess.run(
        [*forked.COMMAND, "--dir", str(root), "remember", "New", "-d", "d", "-c", "the boiler"],
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    "change", [_edited, _removed, _added, _added_beside, _noted, _renamed, _with_settings, _remembered]
)
@pytest.mark.parametrize(
    "words", [[_ASKED], [_ASKED, "--json"], [_ASKED, "--explain", "--limit", "2"], ["unheardofword"]]
)
def test_an_answer_from_what_is_kept_is_the_one_without_it(
    root: Path, change: Callable[[Path], None], words: list[str]
) -> None:
    before = said(root, "recall", *words)
    change(root)
    found = said(root, "recall", *words)
    assert found != before or words == ["unheardofword"] or change is _with_settings
    shutil.rmtree(root / ".git/crabmem/index")
    assert said(root, "recall", *words) == found


#: What takes long to load.
HEAVY = {"bm25s", "dulwich", "numpy", "slugify", "yaml"}


@pytest.mark.parametrize(
    "words",
    [
        ["recall", _ASKED], ["recall", _ASKED, "--json"], ["log"], ["list"], ["show", "Boiler"], ["--version"],
        ["remember", "Tea", "-d", "which tea", "-c", "Oolong."],
    ],
)  # fmt: skip
def test_what_is_asked_most_often_loads_no_library_that_takes_long(root: Path, words: list[str]) -> None:
    code = "import sys; from crabmem.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-I", "-c", code, "--dir", str(root), *words]
    assert not set(subprocess.run(command, capture_output=True, text=True).stderr.split()) & HEAVY


@pytest.mark.parametrize("words", [["recall", _ASKED], ["list"], ["--version"]])
def test_reader_that_leaves_ends_the_answer_quietly(root: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, *words] if words == ["--version"] else [*COMMAND, "--dir", str(root), *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["show", "nobody"], 1, "crabmem: no fact called nobody"),
        (["remember", "x", "-d", "d", "-c", " "], 2, "Usage: crabmem remember [OPTIONS] TEXT|NAME [-]\n"),
        (["list", "--as-of", "HEAD", "--sort", "changed"], 2, "Usage: crabmem list [OPTIONS]\n"),
    ],
)  # fmt: skip
def test_an_error_is_told_on_stderr_and_by_the_status(root: Path, words: list[str], status: int, told: str) -> None:
    done = subprocess.run([*COMMAND, "--dir", str(root), *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr[: len(told)]) == (status, "", told)


def test_the_help_lists_each_verb_as_it_would_be_if_all_were_loaded() -> None:
    context = click.Context(cli)
    told = cli.parts(context)
    loaded = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    assert sorted(chain.from_iterable(told.values())) == sorted(loaded)
    for name, command in loaded.items():
        assert command is not None
        assert cli.summary(name) == command.get_short_help_str(1_000), name


@pytest.mark.parametrize("words", [["list"], ["remember", "C", "-d", "d", "-c", "c"], ["--help"], ["forget", "Kept"]])
def test_a_closed_output_is_no_traceback(tmp_path: Path, words: list[str]) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Kept", "d", "c")
    command = shlex.join([*COMMAND, "--dir", str(tmp_path), *words])
    done = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "status"), [(["remember", "C", "-d", "d", "-"], 2), (["mcp"], 0)])
def test_a_closed_input_is_an_empty_one(tmp_path: Path, words: list[str], status: int) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Kept", "d", "c")
    command = shlex.join([*COMMAND, "--dir", str(tmp_path), *words])
    done = subprocess.run(["sh", "-c", f"{command} <&-"], capture_output=True, text=True)
    assert done.returncode == status and "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full device")
@pytest.mark.parametrize("words", [["remember", "C", "-d", "d", "-c", "c"], ["list"], ["--help"]])
def test_an_answer_that_cannot_be_written_is_told_from_what_was_done(tmp_path: Path, words: list[str]) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Kept", "d", "c")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "--dir", str(tmp_path), *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.startswith("crabmem: standard output cannot be written: no space left on device; ")
    with Memory(tmp_path) as memory:
        assert len(memory.entries()) == 1 + (words[0] == "remember")


def test_an_interrupt_while_it_loads_is_no_traceback() -> None:
    code = """
import sys
import crabmem.__main__ as main
class Interrupted:
    def disable(self): raise KeyboardInterrupt
main.gc = Interrupted()
main.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "\nAborted!\n")
