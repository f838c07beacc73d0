"""The sample workspaces: questions find their entries, mangled files do no harm, reading changes nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Expectation, Memory
from crabmem.operations import evaluate
from crabmem.text.evaluation import parse_questions
from tests.conftest import FIXTURES, git

QUESTIONS = parse_questions((FIXTURES / "queries.toml").read_text("utf-8"), "queries.toml")
#: Those of no family: what they say is known here.
WORKSPACES = ["broken", "coding-agent", "household"]
Sample = Callable[[str], Path]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Memory]:
    """A memory over a copy of the sample workspace of that name; only for reading."""
    root = tmp_path_factory.mktemp("samples")
    memories = {name: Memory(shutil.copytree(FIXTURES / name, root / name)) for name in WORKSPACES}
    return memories.__getitem__


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Time and bytes of every file and folder."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in [root, *root.rglob("*")]
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.query)
def test_a_question_finds_its_entry_first(reader: Callable[[str], Memory], question: Expectation) -> None:
    done = evaluate.evaluate(reader(question.workspace), [question])
    assert question.first and done.misses == ()


@pytest.mark.parametrize("workspace", WORKSPACES)
def test_reading_changes_no_byte_and_no_time_and_begins_no_history(sample: Sample, workspace: str) -> None:
    root = sample(workspace)
    before = everything(root)
    with Memory(root) as memory:
        assert len(memory.recall("my dog, or the release"))
        assert evaluate.evaluate(memory, [Expectation("the dog", (memory.entries()[0].slug,))]).answers
        assert memory.entries() and memory.prompt() and memory.before_turn(memory.entries()[0].name)
        assert memory.doctor() and not memory.log() and memory.diff()
        assert memory.call("recall", {"query": "dog"}).text
    assert everything(root) == before


@pytest.mark.parametrize("workspace", ["coding-agent", "household"])
def test_every_entry_of_a_healthy_sample_is_read_and_leads_to_itself(
    reader: Callable[[str], Memory], workspace: str
) -> None:
    memory = reader(workspace)
    files = {file.stem for file in (memory.root / "memory" / "entries").glob("*.md")}
    assert {memory.get(entry.name).slug for entry in memory.entries()} == files
    assert all(entry.problem is None and entry.description for entry in memory.entries())


@pytest.mark.parametrize("workspace", ["coding-agent", "household"])
def test_the_doctor_finds_nothing_wrong_with_a_healthy_sample(reader: Callable[[str], Memory], workspace: str) -> None:
    assert {finding.level for finding in reader(workspace).doctor()} == {"info"}


@pytest.mark.parametrize(
    ("query", "slug"),
    [("the dog and her umbrellas", "luna"), ("how to open the gate", "garden-gate"), ("marmalade", "marmalade")],
)
def test_healthy_entries_among_mangled_ones_are_found(reader: Callable[[str], Memory], query: str, slug: str) -> None:
    assert reader("broken").recall(query)[0].entry.slug == slug


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("nesting box oak blue tits", "deep-nesting"),
        ("Blue tits gloves November", "deep-nesting"),
    ],
)
def test_an_entry_with_a_mangled_header_is_found_by_its_words(
    reader: Callable[[str], Memory], query: str, slug: str
) -> None:
    assert reader("broken").recall(query)[0].entry.slug == slug


def test_recall_goes_on_beside_mangled_files_and_says_how_many_it_could_not_read(
    reader: Callable[[str], Memory],
) -> None:
    found = reader("broken").recall("the dog and her umbrellas")
    assert len(found) and found.unreadable == 4
    assert found.note == "4 files unreadable (`crabmem doctor` names them)"


def test_what_is_no_entry_is_not_read_as_one(reader: Callable[[str], Memory]) -> None:
    memory = reader("broken")
    halves = {"latin-1", "empty", "unclosed-frontmatter", "conflict-markers"}
    slugs = {file.stem for file in (memory.root / "memory" / "entries").glob("*.md")} - halves
    assert {entry.slug for entry in memory.entries()} == slugs


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("no-frontmatter", "no-frontmatter"),
        ("invalid-yaml", "KB: x"),
        ("frontmatter-is-a-list", "frontmatter-is-a-list"),
        ("no-name", "no-name"),
        ("alias-bomb", "alias-bomb"),
        ("name-is-no", "no"),
        ("name-is-1-10", "1.10"),
        ("name-is-a-date", "2026-01-02"),
        ("luna", "Luna"),
    ],
)
def test_a_mangled_entry_has_the_name_that_was_typed_or_else_its_files(
    reader: Callable[[str], Memory], slug: str, name: str
) -> None:
    assert {entry.slug: entry.name for entry in reader("broken").entries()}[slug] == name


@pytest.mark.parametrize("slug", ["crlf", "bom", "unknown-keys"])
def test_an_unusual_but_valid_entry_is_read_as_its_author_meant_it(reader: Callable[[str], Memory], slug: str) -> None:
    [entry] = [entry for entry in reader("broken").entries() if entry.slug == slug]
    assert entry.problem is None and entry.name != slug and entry.description
    assert "\r" not in entry.content and "\ufeff" not in entry.content


def test_the_overview_of_the_mangled_sample_cannot_close_its_block(reader: Callable[[str], Memory]) -> None:
    prompt = reader("broken").prompt()
    assert prompt.count("<memory>") == prompt.count("</memory>") == 1
    assert "\u200b" not in prompt


def test_writing_beside_mangled_files_leaves_each_of_their_bytes_and_records_them(sample: Sample) -> None:
    root = sample("broken")
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    with Memory(root, agent="coder") as memory:
        memory.remember("New fact", "something new", "Quite new.")
        assert memory.log()[0].subject == "remember: New fact"
    assert {file: file.read_bytes() for file in before} == before
    assert git(root, "status", "--porcelain") == "?? memory/entries/notes.txt\n"
