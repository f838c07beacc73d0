"""The answer of a fresh process: the same words as the whole program's, or left to it."""

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from crabmem import Memory, quick
from tests import forked
from tests.conftest import FIXTURES

_ENTRIES = "memory/entries"
_ASKED = "boiler"


#: Facts of which a line is changed for a model, each by a word that no other has.
_ODD = {
    "trombone": "Steps follow.\n\n## Steps\n\nOil it.",
    "clarinet": "In the case.\n(from memory/entries/other.md)",
    "bassoon": "It says <recall> on the case.",
    "piccolo": "One\n  ## Two",
}
#: So many tests of a module want a memory of their own; what settles at once settles in one moment.
_MANY = 20


@pytest.fixture(scope="module")
def households(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Memories that are known from the last process, all their files older than a moment."""
    return _settled(tmp_path_factory.mktemp("quick"))


@pytest.fixture(scope="module")
def besides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same, with a fact and a daily note in `memory/` itself."""
    fact = "---\nname: Boiler key\ndescription: 'key: of the boiler room'\n---\n\nOn the hook.\n"
    odd = {f"{word}.md": f"---\nname: The {word}\ndescription: d\n---\n\n{text}\n" for word, text in _ODD.items()}
    return _settled(tmp_path_factory.mktemp("beside"), {"boiler-key.md": fact, "2026-11-20.md": fact, **odd})


@pytest.fixture
def settled(households: Iterator[Path]) -> Path:
    """A memory that is known from the last process, all its files older than a moment."""
    return next(households)


@pytest.fixture
def beside(besides: Iterator[Path]) -> Path:
    """The same, with a fact and a daily note in `memory/` itself."""
    return next(besides)


@pytest.fixture(scope="module")
def looked_at(households: Iterator[Path]) -> Path:
    """The same, for tests that change nothing."""
    return next(households)


def _settled(folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Path]:
    roots = [folder / str(number) / "household" for number in range(_MANY)]
    for root in roots:
        shutil.copytree(FIXTURES / "household", root, ignore=shutil.ignore_patterns("crabmem.toml"))
        for name, text in more.items():
            (root / "memory" / name).write_text(text)
        for file in root.rglob("*.md"):
            os.utime(file, (1_700_000_000, 1_700_000_000))
    time.sleep(2.6)  # their status changed just now
    for root in roots:
        with Memory(root) as memory:
            memory.adopt()
            memory.recall("anything")
        yield root


def whole(root: Path, *words: str) -> str:
    """What the whole command line prints."""
    command = [sys.executable, "-c", "from crabmem.cli import main; main()", "--dir", str(root), "recall", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_quick_answer_is_the_whole_programs(looked_at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = tomllib.loads((FIXTURES / "queries.toml").read_text("utf-8"))["query"]
    asked = [query["text"].split() for query in queries if query["workspace"] == looked_at.name]
    answered = 0
    for words in [*asked, [_ASKED, "--limit", "1"]]:
        if quick.answered(["--dir", str(looked_at), "recall", *words], os.environ):
            answered += 1
            assert capsys.readouterr().out == whole(looked_at, *words)
    assert answered > len(asked) / 2


def _edited(root: Path) -> None:
    file = next((root / _ENTRIES).glob("*.md"))
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"e", b"a"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _removed(root: Path) -> None:
    next((root / _ENTRIES).glob("*.md")).unlink()


def _added(root: Path) -> None:
    (root / _ENTRIES / "new.md").write_text("---\nname: New\ndescription: d\n---\n\nthe vet\n")


def _renamed(root: Path) -> None:
    file = next((root / _ENTRIES).glob("*.md"))
    file.rename(file.with_name("other.md"))


def _linked(root: Path) -> None:
    (root / "memory").rename(root.parent / "elsewhere")
    (root / "memory").symlink_to(root.parent / "elsewhere")


def _interrupted(root: Path) -> None:
    (root / ".git/crabmem/journal").write_text("{}")


def _with_settings(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = 1\n")


def _forgotten(root: Path) -> None:
    shutil.rmtree(root / ".git/crabmem/index")


@pytest.mark.parametrize(
    "change", [_edited, _removed, _added, _renamed, _linked, _interrupted, _with_settings, _forgotten]
)
def test_whatever_changed_is_left_to_the_whole_program(settled: Path, change: Callable[[Path], None]) -> None:
    assert quick.answered(["--dir", str(settled), "recall", _ASKED], os.environ)
    change(settled)
    assert not quick.answered(["--dir", str(settled), "recall", _ASKED], os.environ)


def test_quick_answer_knows_facts_beside_the_overview(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quick.answered(["--dir", str(beside), "recall", "boiler", "key"], os.environ)
    assert capsys.readouterr().out == whole(beside, "boiler", "key")


@pytest.mark.parametrize("word", _ODD)
def test_a_fact_that_is_quoted_for_a_model_is_left_to_the_whole_program(beside: Path, word: str) -> None:
    assert quick.answered(["--dir", str(beside), "recall", "boiler"], os.environ)
    assert not quick.answered(["--dir", str(beside), "recall", word], os.environ)
    assert whole(beside, word).startswith("1 hit from memory: ") and f"\n\n## The {word}\n" in whole(beside, word)


def _added_beside(root: Path) -> None:
    (root / "memory/new.md").write_text("---\nname: New\ndescription: d\n---\n\nthe vet\n")


def _edited_beside(root: Path) -> None:
    (root / "memory/boiler-key.md").write_text("the boiler, elsewhere\n")


def _removed_beside(root: Path) -> None:
    (root / "memory/boiler-key.md").unlink()


def _moved_between(root: Path) -> None:
    (root / "memory/boiler-key.md").rename(root / _ENTRIES / "boiler-key.md")


def _noted(root: Path) -> None:
    (root / "memory/2026-11-21.md").write_text("The boiler hums.\n")


@pytest.mark.parametrize("change", [_edited, _removed, _added, _renamed, _added_beside, _edited_beside,
                                    _removed_beside, _moved_between, _linked])  # fmt: skip
def test_whatever_changed_beside_is_left_to_the_whole_program(beside: Path, change: Callable[[Path], None]) -> None:
    assert quick.answered(["--dir", str(beside), "recall", _ASKED], os.environ)
    change(beside)
    assert not quick.answered(["--dir", str(beside), "recall", _ASKED], os.environ)


@pytest.mark.parametrize("change", [_added_beside, _noted])
def test_a_fact_or_a_note_that_comes_into_the_folder_of_the_overview_is_seen(
    settled: Path, change: Callable[[Path], None]
) -> None:
    assert quick.answered(["--dir", str(settled), "recall", _ASKED], os.environ)
    change(settled)
    assert not quick.answered(["--dir", str(settled), "recall", _ASKED], os.environ)


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (["recall", "vet", "--json"], {}),
        (["recall", "vet", "-t", "pets"], {}),
        (["recall", "--", "vet"], {}),
        (["recall"], {}),
        (["recall", "vet", "--limit", "9" * 5_000], {}),
        (["recall", " "], {}),
        (["recall", "vet", "--limit", "0"], {}),
        (["recall", "vet\u200b"], {}),
        (["recall", "unheardofword"], {}),
        (["recall", "boil*"], {}),
        (["recall", '"the boiler"'], {}),
        (["recall", "“boiler”"], {}),
        (["remember", "vet"], {}),
        (["recall", _ASKED], {"CRABMEM_WORKSPACE": "coder"}),
    ],
)
def test_other_commands_are_left_to_the_whole_program(
    looked_at: Path, words: list[str], environment: dict[str, str]
) -> None:
    assert not quick.answered(["--dir", str(looked_at), *words], {**os.environ, **environment})
    assert not quick.answered(words, {**os.environ, "CRABMEM_DIR": str(looked_at), **environment})


@pytest.mark.parametrize("words", [[_ASKED], [_ASKED, "unheardofword"]])
def test_quick_answer_loads_neither_numpy_nor_yaml_nor_the_command_line(looked_at: Path, words: list[str]) -> None:
    code = (
        "import os, sys; from crabmem import quick; quick.answered(sys.argv[1:], os.environ)"
        "; print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "--dir", str(looked_at), "recall", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert " from memory: " in done.stdout.partition("\n")[0] and "\n\n## " in done.stdout
    assert not {
        "re",
        "unicodedata",
        "numpy",
        "bm25s",
        "yaml",
        "dulwich",
        "click",
        "dataclasses",
        "typing",
        "hashlib",
    } & set(done.stderr.split())


def test_reader_that_leaves_ends_the_answer_quietly(looked_at: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*forked.COMMAND, "--dir", str(looked_at), "recall", _ASKED]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("words", [["--dir"], ["--dir", "x"], ["--dir", "", "recall", "vet"], ["--limit", "3"], []])
def test_half_a_command_is_left_to_the_whole_program(words: list[str]) -> None:
    assert not quick.answered(words, os.environ)
