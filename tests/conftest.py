"""What tests stand on: real folders, a clock that is handed in, copies of the sample workspaces."""

import compileall
import gc
import importlib
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.disk.allowed import Allowed
from crabmem.disk.seal import Seal
from crabmem.disk.user_state import state_folder
from crabmem.session.locate import reach_of, settings_at
from crabmem.text.words import counted
from tests import adapters, examples, forked, slow
from tests.faults.repository import ANN, assert_clean, git
from tests.story import tell
from tests.ui import NO_BROWSER

__all__ = [
    "ANN", "FIXTURES", "Clock", "Run", "allow", "assert_clean", "completed", "git", "needs_git", "typed", "typed_in",
]  # fmt: skip

FIXTURES = Path(__file__).parent.parent / "fixtures"
TESTS = Path(__file__).parent
PACKAGE = FIXTURES.parent / "crabmem"

examples.register()

sys.dont_write_bytecode = False  # what pytest makes of a test is kept, for the other workers too

#: `crabmem --dir root …` in this process, as the fixture `run` gives it.
Run = Callable[..., Result]


def pytest_configure(config: pytest.Config) -> None:
    """Compile once, where the surroundings keep Python from it: else each process of ours does it again.

    What crabmem keeps of a person on this machine is kept in a folder of the tests' own.
    """
    if not hasattr(config, "workerinput"):
        _stay_in_memory(config)
        compileall.compile_dir(PACKAGE, quiet=2)
        compileall.compile_dir(TESTS, quiet=2, rx=re.compile("/test_"))  # what suites of faults run in processes
        os.environ["CRABMEM_ALONE"] = "1"  # no process of a test is answered by another test's server
        # A person's own settings of Git sign commits, run hooks and end lines as they like.
        os.environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="crabmem-tests-")
        Seal(state_folder(os.environ), "").sealed(b"")  # makes the key, which tests that count changes all find
        forks = ExitStack()
        forks.enter_context(forked.server(Path(os.environ["XDG_STATE_HOME"])))
        config.add_cleanup(forks.close)


def _stay_in_memory(config: pytest.Config) -> None:
    """Have temporary files in the machine's memory, where there is room and nobody named another place.

    Tests make, sync and remove thousands of small files: on a disk a write costs twice the processor's time, and waits.
    What failed is kept with `TMPDIR=FOLDER pytest`.
    """
    shared = Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(shared, os.W_OK) or shutil.disk_usage(shared).free < 4_000_000_000:
        return
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="crabmem-tests-", dir=shared)
    os.chmod(tempfile.tempdir, 0o711)  # a test run by root becomes another user for a moment, who must reach it
    config.add_cleanup(lambda: shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Two workers more than there are cores, unless the surroundings say how many: many tests wait for processes."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else len(os.sched_getaffinity(0)) + 2


def pytest_collection(session: pytest.Session) -> None:
    """Share among workers what takes longest in collecting all tests: each begins to load them at another one.

    What one has compiled is there for the next. No garbage is looked for in what is loaded, now or later.
    """
    config = session.config
    gc.disable()
    if hasattr(config, "workerinput") and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        files = sorted(TESTS.rglob("test_*.py"))
        first = len(files) * int(config.workerinput["workerid"].removeprefix("gw")) // config.workerinput["workercount"]
        for file in files[first:] + files[:first]:
            with suppress(Exception, pytest.skip.Exception):  # collecting it says so
                importlib.import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests, before pytest picks tests by their marks, and give them and those in a browser more time."""
    for item in items:
        if slow.is_slow(item.nodeid):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") or item.get_closest_marker("ui"):
            item.add_marker(pytest.mark.timeout(600))  # a minute on one machine is three on another
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        functions = {item.nodeid.removeprefix("tests/").partition("[")[0] for item in items}
        if gone := slow.SLOW.keys() - functions:
            raise pytest.UsageError(f"tests/slow.py lists tests that are gone: {', '.join(sorted(gone))}")


#: For what shrinks a failing example for minutes before it fails.
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs a git program")
# What Python and shells say of a `git` that is not there, be it in a process of a test's.
_WITHOUT_GIT = re.compile(r"No such file or directory: 'git'|git: (command )?not found|\(git\): no such file")


@pytest.hookimpl(wrapper=True)
def _skipping_without_git() -> Generator[None, object, object]:
    """Skip what needs a `git` program where there is none: crabmem needs none, but tests ask Git what it sees."""
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        if shutil.which("git") is None and _WITHOUT_GIT.search("".join(traceback.format_exception(error))):
            pytest.skip("needs a git program")
        raise


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _skipping_without_git


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line what was left out because SDKs are not installed, and how to get them."""
    reports = [each for each in terminalreporter.stats.get("skipped", ()) if adapters.INSTALL in str(each.longrepr)]
    files = {each.nodeid.partition("::")[0] for each in reports}
    tests = sum(len(re.findall(r"^def test_", (TESTS.parent / file).read_text("utf-8"), re.M)) for file in files)
    unseen = [each for each in terminalreporter.stats.get("skipped", ()) if NO_BROWSER in str(each.longrepr)]
    if unseen:
        terminalreporter.line(
            f"skipped for want of a browser: {counted(len(unseen), 'test')}; {NO_BROWSER}", yellow=True
        )
    if files:
        told = f"{counted(tests, 'test')} in {counted(len(files), 'file')}"
        terminalreporter.line(f"skipped for want of SDKs: {told}; {adapters.INSTALL}", yellow=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)


def allow(root: Path) -> None:
    """Allow what the settings of a workspace name outside of it, as `crabmem config allow --yes` does."""
    Allowed(os.environ).allow(root, reach_of(root, settings_at(root)))


class Clock:
    """A clock that goes on by a minute each time it is asked, and can be set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory, as the agent "coder" in session "s-1" has it; its history must end up clean."""
    with Memory(tmp_path / "memory", agent="coder", session="s-1") as memory:
        yield memory
    if (memory.root / ".git").is_dir():
        assert_clean(memory.root)


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Path]:
    """Copies the sample workspace of that name and returns where it is."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(FIXTURES / name, tmp_path / name))

    return copied


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story, made once for a module; only to be copied."""
    root = tmp_path_factory.mktemp("told") / "notes"
    tell(root)
    return root


@pytest.fixture
def story(told_once: Path, tmp_path: Path) -> Path:
    """A copy of the story, of which no process knows anything yet."""
    return Path(shutil.copytree(told_once, tmp_path / "notes", symlinks=True))


def typed(*words: object, stdin: str | bytes = "") -> Result:
    """Return what `crabmem WORDS…` does in this process; an exception that no person should see fails the test."""
    result = CliRunner().invoke(cli, list(map(str, words)), input=stdin, prog_name="crabmem")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def typed_in(root: Path, *words: object, stdin: str | bytes = "") -> Result:
    """`crabmem --dir root …` in this process."""
    return typed("--dir", root, *words, stdin=stdin)


@pytest.fixture
def run(root: Path) -> Run:
    """`typed_in` that folder."""
    return partial(typed_in, root)


def completed(line: str) -> list[str]:
    """What a shell is offered for the last of these words, with which a line begins."""
    words = line.split(" ")
    told = {"_CRABMEM_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        result = CliRunner().invoke(cli, [], prog_name="crabmem", complete_var="_CRABMEM_COMPLETE")
    return [line.partition(",")[2] for line in result.stdout.splitlines() if line]
