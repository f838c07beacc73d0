"""Asking every memory where there is no database, or no library for one: `tests/fleet` has a server."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run, typed

#: Refuses at once: nothing listens there.
_NOBODY = "postgresql://ann@127.0.0.1:1/crabmem?connect_timeout=1"
_WHAT_IS_LOADED = """
import sys
from crabmem.cli import main
try:
    main()
finally:
    print(*(name for name in sys.modules if "fleet" in name or "psycopg" in name))
"""


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody named one."""
    monkeypatch.delenv("CRABMEM_FLEET", raising=False)
    monkeypatch.delenv("CRABMEM_FLEET_TOOL", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory with one fact."""
    with Memory(tmp_path / "notes", agent="coder") as memory:
        memory.remember("Wifi", "the password for guests", "On the router.")
    return tmp_path / "notes"


@pytest.mark.parametrize("words", [["recall", "--everywhere", "wifi"], ["fleet", "status"], ["fleet", "init"]])
def test_without_a_database_one_is_told_what_to_set(run: Run, root: Path, words: list[str]) -> None:
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no database is named: set CRABMEM_FLEET, as postgresql://" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add"], "give a NAME and an ADDRESS, or --from FILE"),
        (["add", "team/ann"], "give a NAME and an ADDRESS, or --from FILE"),
        (["add", "team/ann", "--from", "-"], "give a NAME and an ADDRESS, or --from FILE"),
        (["add", "--remove"], "--remove goes with a NAME alone"),
        (["add", "team/ann", "a.git", "--remove"], "--remove goes with a NAME alone"),
        (["grant"], "Missing argument 'ROLE'"),
        (["grant", "ann", "*", "--kind", "party"], "'party' is not one of"),
        (["follow", "--every", "0"], "is not in the range"),
        (["purge", "--yes"], "give --bytes"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_is_typed_wrongly_is_refused_before_any_database_is_asked(
    run: Run, words: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_FLEET", _NOBODY)
    done = run("fleet", *words, stdin="team/bob b.git\n")
    assert (done.exit_code, done.stdout) == (2, "") and told in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("listed", "told"),
    [("team/ann\n", "line 1 is no name and address"), ("# nothing\n\n", "names no memory"), ("a:b a.git\n", "'a:b'")],
)
def test_a_list_is_refused_as_a_whole(run: Run, listed: str, told: str) -> None:
    done = run("fleet", "add", "--from", "-", stdin=listed)
    assert done.exit_code in (1, 2) and told in done.stderr and "Traceback" not in done.stderr


def test_nobody_is_asked_for_everything_unless_they_say_yes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRABMEM_FLEET", _NOBODY)
    for words in (["rebuild"], ["purge", "--bytes"]):
        done = run("fleet", *words, stdin="n\n")
        assert done.exit_code == 1 and "database" not in done.stderr


def test_what_cannot_be_reached_is_said_on_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for url, told in ((_NOBODY, "does not answer"), ("nonsense", "no address of a database")):
        monkeypatch.setenv("CRABMEM_FLEET", url)
        done = run("fleet", "status")
        assert done.exit_code in (1, 2) and told in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_names_of_memories_go_with_everywhere(run: Run, root: Path) -> None:
    assert "--in goes with --everywhere" in run("recall", "--in", "team/*", "wifi").stderr
    for other in (["--tag", "ops"], ["--explain"], ["--as-of", "HEAD"]):
        done = run("recall", "--everywhere", *other, "wifi")
        assert done.exit_code in (1, 2) and "and nothing else" in done.stderr


# Agents


@pytest.mark.parametrize(
    "names", [[], ["CRABMEM_FLEET"], ["CRABMEM_FLEET_TOOL"], ["CRABMEM_FLEET", "CRABMEM_FLEET_TOOL"]]
)
def test_agents_may_ask_every_memory_only_where_a_person_said_so(
    root: Path, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names:
        monkeypatch.setenv(name, _NOBODY)
    with Memory(root, agent="coder") as memory:
        [tool] = [each for each in memory.tools if each.name == "recall"]
        assert ("of" in tool.input_schema["properties"]) == (len(names) == 2)
        if len(names) < 2:
            done = memory.call("recall", {"query": "wifi", "of": "everywhere"})
            assert done.is_error and "there is no argument `of`" in done.text


def test_an_agent_that_asks_every_memory_asks_the_database_and_is_told_that_it_is_silent(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_FLEET", _NOBODY)
    monkeypatch.setenv("CRABMEM_FLEET_TOOL", "1")
    with Memory(root, agent="coder") as memory:
        assert "only what is here" not in str(memory.call("recall", {"query": "wifi"}))
        told = str(memory.call("recall", {"query": "wifi", "of": "everywhere"}))
        assert "only what is here was searched: the database does not answer" in told and "On the router." in told


# Libraries


@pytest.fixture
def without_psycopg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In processes of the test psycopg is not installed."""
    (tmp_path / "before" / "psycopg").mkdir(parents=True)
    (tmp_path / "before" / "psycopg" / "__init__.py").write_text("raise ImportError('no psycopg')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "before"))


@pytest.mark.usefixtures("without_psycopg")
@pytest.mark.parametrize("words", [["recall", "--everywhere", "wifi"], ["fleet", "status"]])
def test_without_its_libraries_it_says_how_to_get_them(
    root: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_FLEET", _NOBODY)
    command = [sys.executable, "-m", "crabmem", "--dir", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the libraries of the extra fleet: " in done.stderr and "psycopg[binary]" in done.stderr


@pytest.mark.parametrize("database", ["", _NOBODY])
def test_who_asks_one_memory_loads_nothing_of_this(root: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRABMEM_FLEET", database)
    command = [sys.executable, "-c", _WHAT_IS_LOADED, "--dir", str(root), "recall", "wifi"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "On the router." in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("words", ["init", "add a b.git", "grant ann x", "revoke ann", "follow --once", "rebuild -y"])
def test_what_is_followed_and_who_may_ask_is_no_agents_to_say(words: str) -> None:
    refused = typed("--agent", "coder", "fleet", *shlex.split(words))
    assert refused.exit_code == 1 and "for the person: leave out --agent" in refused.stderr
