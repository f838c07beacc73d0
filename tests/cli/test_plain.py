"""A command line without anything odd in it: run without click, it means what click takes it for, and loads little."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.cli.declared import GLOBALS, VERBS, GlobalOptions, Odd, OneOf, Verb, Whole
from crabmem.cli.plain import meant
from crabmem.text.json_text import as_json
from tests import forked
from tests.conftest import FIXTURES
from tests.examples import examples

_ENTRIES = "memory/entries"
_ASKED = "boiler"
COMMAND = [sys.executable, "-m", "crabmem"]


def _declared() -> dict[str, Verb]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        cli.get_command(context, name)
    return dict(VERBS)


DECLARED = _declared()


def by_click(words: list[str], environment: dict[str, str]) -> tuple[str, GlobalOptions, dict[str, Any]] | None:
    """The verb, the global options and what the verb is given as click has it; None for what it refuses."""
    got: list[tuple[str, GlobalOptions, dict[str, Any]]] = []
    before = dict(os.environ)
    os.environ.update(environment)
    originals = {}
    try:
        for name, verb in DECLARED.items():
            command = cli.get_command(click.Context(cli), name)
            assert command is not None

            def called(ctx: click.Context, /, _name: str = name, **given: Any) -> None:
                wanted = ctx.find_object(GlobalOptions)
                assert wanted is not None
                got.append((_name, wanted, given))

            originals[name] = command.callback
            command.callback = click.pass_context(called)
            assert verb.name == name
        cli.main(words, "crabmem", standalone_mode=False)
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        return None
    finally:
        for name, callback in originals.items():
            command = cli.get_command(click.Context(cli), name)
            assert command is not None
            command.callback = callback
        os.environ.clear()
        os.environ.update(before)
    return got[0] if got else None


_WORDS = st.sampled_from(["tea", "", "5", "-", "--", "--tea", "-n", "0", "-1", "name", "a b", "x=y", "café", "٣"])
_OPTIONS = sorted({name for verb in DECLARED.values() for param in verb.params for name in param.options})
_GLOBAL = sorted(name for param in GLOBALS for name in param.options)


def _values(verb: Verb) -> st.SearchStrategy[list[str]]:
    """An option of a verb with what may stand behind it, rightly or not."""
    params = [*verb.params, *GLOBALS]
    own = [param for param in params if param.options]

    def of(at: int, inline: bool, word: str) -> list[str]:
        param = own[at]
        kind, name = param.about.get("type"), param.options[-1]
        said = "3" if isinstance(kind, Whole) and word != "0" else word
        said = kind.words[-1] if isinstance(kind, OneOf) and word == "tea" else said
        return [name] if param.is_flag else [f"{name}={said}"] if inline else [name, said]

    return st.builds(of, st.integers(0, len(own) - 1), st.booleans(), _WORDS)


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """A command line: mostly a right one."""
    name = draw(st.sampled_from(sorted(DECLARED)))
    before = draw(st.lists(st.builds(lambda at, word: [_GLOBAL[at], word], st.integers(0, 6), _WORDS), max_size=2))
    pieces = draw(st.lists(st.one_of(_values(DECLARED[name]), _WORDS.map(lambda word: [word])), max_size=6))
    return [*chain.from_iterable(before), name, *chain.from_iterable(pieces)]


@settings(max_examples=examples(1_500))
@given(lines(), st.sampled_from([{}, {"CRABMEM_AGENT": "a", "CRABMEM_KIND": ""}, {"CRABMEM_PROFILE": "claw"}]))
@example(["--dir", "x", "recall", "--workspace", "", "tea"], {})
@example(["recall", "--profile", "", "tea"], {"CRABMEM_PROFILE": "claw"})
@example(["--profile", "", "recall", "tea"], {"CRABMEM_PROFILE": "claw"})
@example(["log", "--agent", "a", "-n", "2"], {})
@example(["remember", "tea", "-d", "x", "-c", "y", "-t", "a", "--tag", "b"], {})
def test_what_is_run_without_click_is_what_click_would_run(words: list[str], environment: dict[str, str]) -> None:
    try:
        verb, wanted, given = meant(words, environment)
    except Odd:
        return
    assert by_click(words, environment) == (verb.name, wanted, given)


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_an_ordinary_command_line_of_each_verb_is_run_without_click(name: str) -> None:
    arguments = [param for param in DECLARED[name].params if not param.options and param.is_required]
    assert meant(["--dir", "x", name, *("tea" for _ in arguments), "--json"], {})[0].name == name


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "--", "vet"], ["recall"], ["recall", "vet", "--limit", "9" * 5_000], ["recall", "-"],
        ["recall", "--lim", "3"], ["recall", "vet", "-tpets"], ["--dir"], ["--dir", "x"], ["--limit", "3"], [],
        ["_recall", "x"], ["nothing"], ["list", "-n", "0"], ["remember", "x", "-c", "-"], ["log", "a", "b"],
        ["list", "--sort", "size"], ["import", "x"], ["../verbs/recall", "x"],
    ],
)  # fmt: skip
def test_whatever_is_odd_is_left_to_click(words: list[str]) -> None:
    with pytest.raises(Odd):
        meant(words, {})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON, st.sampled_from([None, 2]))
def test_json_is_written_as_pythons_own_writes_it(data: Any, indent: int | None) -> None:
    assert as_json(data, indent) == json.dumps(data, ensure_ascii=False, indent=indent)


# What is answered, and what that loads


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
def root(settled: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy that is as well known: the same files under other names."""
    copy = tmp_path / "household"
    shutil.copytree(settled, copy, copy_function=shutil.copy2)
    with Memory(copy) as memory:
        memory.recall("anything")
    yield copy


def said(root: Path, *words: str) -> str:
    """What a process of its own prints."""
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


#: What takes longer to load than a recall takes.
HEAVY = {"bm25s", "click", "ctypes", "dulwich", "inspect", "msgspec", "numpy", "slugify", "subprocess", "yaml"}


def loaded(root: Path, *words: str) -> set[str]:
    """The modules that a process of its own has loaded when it is done."""
    code = (
        "import os, sys; from crabmem.cli.plain import ran; assert ran(sys.argv[1:], os.environ)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "--dir", str(root), *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "words", [[_ASKED], [_ASKED, "--json"], [_ASKED, "--limit", "2"], [_ASKED, "unheardofword"], [_ASKED, "--explain"]]
)
def test_recall_loads_nothing_that_takes_longer_than_it(root: Path, words: list[str]) -> None:
    found = loaded(root, "recall", *words)
    assert found & HEAVY == set()
    # The text of the profile says whether hits make room for others; nothing reads it as TOML.
    rooms = {name for name in found if name.startswith(("crabmem.git.", "crabmem.write.", "crabmem.prompt."))}
    assert rooms <= {"crabmem.write.actor", "crabmem.prompt.shipped"}


def test_the_log_loads_neither_search_nor_what_values_are_not_made_by(root: Path) -> None:
    found = loaded(root, "log")
    assert not found & {
        "bm25s",
        "click",
        "ctypes",
        "dataclasses",
        "dulwich",
        "inspect",
        "msgspec",
        "platform",
        "shutil",
    }
    assert not {name for name in found if name.startswith(("crabmem.search", "crabmem.recall."))}


def test_the_version_is_told_with_next_to_nothing_loaded() -> None:
    code = "import os, sys; from crabmem.cli.plain import ran; ran(['--version'], os.environ); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert done.startswith("crabmem ") and not set(done.split()) & HEAVY


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
        (["show", "nobody"], 1, "crabmem: no entry named: nobody"),
        (["recall", " "], 2, "crabmem: the query is blank"),
        (["remember", "x", "-d", "d", "-c", " "], 2, "Usage: crabmem remember [OPTIONS] NAME [-]\n"),
        (["list", "--as-of", "HEAD", "--sort", "changed"], 2, "Usage: crabmem list [OPTIONS]\n"),
    ],
)  # fmt: skip
def test_an_error_is_what_click_makes_of_it(root: Path, words: list[str], status: int, told: str) -> None:
    command = ["--dir", str(root), *words]
    whole = [sys.executable, "-c", "from crabmem.cli import main; main()", *command]
    by_itself = subprocess.run([*COMMAND, *command], capture_output=True, text=True)
    by_way_of_click = subprocess.run(whole, capture_output=True, text=True)
    assert by_itself.stderr.startswith(told)
    assert (by_itself.returncode, by_itself.stdout, by_itself.stderr) == (status, "", by_way_of_click.stderr)


def test_the_help_lists_each_verb_as_it_would_be_if_all_were_loaded() -> None:
    context = click.Context(cli)
    told = cli.parts(context)
    loaded = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    assert sorted(chain.from_iterable(told.values())) == sorted(loaded)
    for name, command in loaded.items():
        assert command is not None
        assert cli.summary(name) == command.get_short_help_str(1_000), name


def test_help_and_the_verbs_that_are_asked_often_load_few_of_the_others() -> None:
    code = "import sys; from crabmem.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-I", "-c", code, "--help"], capture_output=True, text=True, check=True)
    verbs = {name for name in done.stderr.split() if name.startswith("crabmem.cli.verbs.")}
    assert "  recall  " in done.stdout and not verbs
