"""Whole walks through memory, as people and agents take them."""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from crabmem import Expectation, Memory
from crabmem.operations import evaluate
from tests.conftest import ANN, assert_clean, git

VET = "memory/entries/luna-s-vet.md"


def test_what_is_remembered_is_recalled_in_the_next_session(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="assistant", session="monday") as memory:
        memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno, every Thursday.")
        memory.write_overview("# The Bakers\nA dog named Luna.")
    with Memory(tmp_path, agent="assistant", session="tuesday") as memory:
        assert memory.recall("Who is it that looks after our dog?")[0].entry.content == "Dr. Moreno, every Thursday."
        assert "<memory>\n# The Bakers\nA dog named Luna.\n</memory>" in memory.prompt()
    assert_clean(tmp_path)


def test_a_person_edits_while_the_process_runs(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", "Every Thursday.")
    file = memory.root / VET
    file.write_text(file.read_text().replace("Thursday", "Friday"))
    assert memory.recall("dog")[0].entry.content == "Every Friday."
    (file.parent / "boiler.md").write_text("Serviced in October by the plumber.\n")
    assert memory.recall("plumber")[0].entry.name == "boiler"
    file.rename(file.with_name("vet.md"))
    assert memory.recall("dog")[0].entry.slug == "vet"
    memory.remember("Wifi", "guests", "On the router.")
    (file.parent / "boiler.md").unlink()
    assert len(memory.recall("plumber")) == 0
    memory.forget("Luna's vet")
    assert [(commit.author, commit.subject) for commit in memory.log()] == [
        ("coder", "forget: Luna's vet"),
        ("person", "edit: boiler"),
        ("coder", "remember: Wifi"),
        ("person", "edit: boiler, Luna's vet"),
        ("coder", "remember: Luna's vet"),
        ("crabmem", "init: a new memory"),
    ]
    assert "Every Friday." in git(memory.root, "log", "-p")


def test_a_colon_in_a_line_that_a_person_wrote_is_part_of_it(memory: Memory) -> None:
    file = memory.root / VET
    memory.remember("Wifi", "guests", "On the router.")
    lines = "---\nname: Luna's vet\ndescription: vet: looks after the dog\nrating: 5\n---\n\nDr. Moreno.\n"
    file.write_text(lines)
    found = memory.recall("dog")[0].entry
    assert (found.name, found.description) == ("Luna's vet", "vet: looks after the dog")
    assert found.content == "Dr. Moreno." and found.keys == {"rating": "5"}
    assert [(find.path, find.level) for find in memory.doctor() if "not YAML" in find.message] == [(VET, "warning")]
    memory.remember("Garden", "the gate", "It squeaks.")
    assert file.read_text() == lines
    memory.remember("Luna's vet", "vet: of the dog", "Dr. Silva.")
    assert file.read_text() == ("---\nname: Luna's vet\ndescription: 'vet: of the dog'\nrating: 5\n---\n\nDr. Silva.\n")


def test_outside_edit_is_its_own_commit_and_the_agents_touches_only_its_file(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Wifi", "guests", "router")
    (memory.root / "memory/entries/wifi.md").write_text("changed by hand\n")
    memory.remember("Luna", "dog", "Friday")
    newest, edit = memory.log(2)
    assert (newest.tool, newest.paths) == ("remember", ("memory/entries/luna.md",))
    assert (edit.tool, edit.author, edit.paths) == (None, "person", ("memory/entries/wifi.md",))


def _write(root: Path, name: str) -> None:
    with Memory(root, agent=name) as memory:
        for number in range(10):
            memory.remember(f"{name} {number}", "what it learned", f"{name} learned {number}")
            memory.remember("shared", "what both write", f"{name} was here, {number}")


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    agents = [context.Process(target=_write, args=(tmp_path, name)) for name in ("one", "two")]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join()
    history = git(tmp_path, "log", "-p", "--format=%an|%s")
    with Memory(tmp_path) as memory:
        assert len(memory.entries()) == 21
    for name in ("one", "two"):
        assert all(f"+{name} was here, {number}\n" in history for number in range(10))
    assert_clean(tmp_path)


def test_going_back_brings_back_exact_bytes_and_erases_nothing(sample: Callable[[str], Path]) -> None:
    root = sample("household")
    with Memory(root, agent="assistant") as memory:
        memory.adopt()
        then = {file.name: file.read_bytes() for file in (root / "memory/entries").iterdir()}
        for entry in memory.entries()[:5]:
            memory.forget(entry.slug)
        memory.remember("New", "something new", "new")
        memory.rollback("HEAD~6")
        assert {file.name: file.read_bytes() for file in (root / "memory/entries").iterdir()} == then
        assert len([commit for commit in memory.log() if commit.tool == "forget"]) == 5
        memory.undo()
        assert memory.get("New").content == "new"
    assert_clean(root)


def test_git_log_reads_like_a_diary(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno, every Thursday.")
    file = memory.root / VET
    file.write_text(file.read_text().replace("Thursday", "Friday"))
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Okafor, every Friday.")
    diary = git(memory.root, "log", "-p", "--format=%an: %s", "--", VET)
    told = [line for line in diary.splitlines() if line.startswith(("coder", "person", "-Dr", "+Dr"))]
    assert told == [
        "coder: remember: Luna's vet",
        "-Dr. Moreno, every Friday.",
        "+Dr. Okafor, every Friday.",
        "person: edit: Luna's vet",
        "-Dr. Moreno, every Thursday.",
        "+Dr. Moreno, every Friday.",
        "coder: remember: Luna's vet",
        "+Dr. Moreno, every Thursday.",
    ]
    assert git(memory.root, "shortlog", "-s", "--group=trailer:session", "HEAD").split() == ["2", "s-1"]


def test_a_person_works_in_the_same_repository_with_git(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / "memory/entries/luna.md").write_text("---\nname: Luna\ndescription: dog\n---\n\nSunday\n")
    git(memory.root, *ANN, "commit", "-qam", "corrected")
    memory.remember("Wifi", "guests", "router")
    assert [commit.author for commit in memory.log()] == ["coder", "Ann", "coder", "crabmem"]
    git(memory.root, "checkout", "-q", "HEAD~2", "--", "memory/entries/luna.md")
    assert memory.recall("dog")[0].entry.content == "Thursday"
    memory.adopt()


def test_a_clone_is_a_memory_too(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Luna", "dog", "Thursday")
    git(tmp_path, "clone", "-q", str(memory.root), "clone")
    with Memory(tmp_path / "clone", agent="elsewhere") as clone:
        clone.remember("Wifi", "guests", "router")
        assert [commit.author for commit in clone.log()] == ["elsewhere", "coder", "crabmem"]
    assert_clean(tmp_path / "clone")


def test_deleted_history_begins_anew_and_the_files_stay(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    shutil.rmtree(memory.root / ".git")
    memory.remember("Wifi", "guests", "router")
    assert len(memory.entries()) == 2
    assert [commit.subject for commit in memory.log()] == ["remember: Wifi", "edit: Crab.md, Luna"]


def test_moved_workspace_goes_on(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Luna", "dog", "Thursday")
    os.rename(memory.root, tmp_path / "moved")
    with Memory(tmp_path / "moved") as moved:
        moved.remember("Luna", "dog", "Friday")
        assert len(moved.log()) == 3
    assert_clean(tmp_path / "moved")


def test_a_person_measures_what_other_names_for_a_fact_are_worth(memory: Memory) -> None:
    memory.remember("Dr. Moreno", "every Thursday", "At the corner of Harbour Street.")
    memory.remember("Wifi", "the password for guests", "On the router.")
    asked = [Expectation("wifi password", ("wifi",), first=True), Expectation("animal doctor", ("Dr. Moreno",))]
    [miss] = evaluate.evaluate(memory, asked).misses
    assert (miss.question.query, miss.missing) == ("animal doctor", ("Dr. Moreno",))
    memory.remember(
        "Dr. Moreno", "every Thursday", "At the corner of Harbour Street.", aliases=["animal doctor", "vet"]
    )
    done = evaluate.evaluate(memory, asked, since="HEAD~1")
    assert done.past and (done.past.figures["right"], done.figures["right"]) == (0.5, 1.0)
    assert [pair.now.question.query for pair in done.better] == ["animal doctor"] and not done.worse
