"""Texts other than Markdown in the folder of memory: kept and guarded as facts are, and not recalled."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from anthropic.tools import ToolError
from anthropic.types import beta
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.adapters.anthropic import AsyncMemoryTool, MemoryTool
from crabmem.operations import files
from tests.adapters.test_anthropic_tool import answer, create
from tests.conftest import git
from tests.examples import examples
from tests.faults.repository import complaints
from tests.operations.test_notes import FAMILY
from tests.pace import costing_less_than


def doctored(memory: Memory) -> bool:
    """Whether the doctor finds no error."""
    return not [item for item in memory.doctor() if item.level == "error"]


NAMES = ["notes.txt", "state.json", "TODO", "a/b/c.YAML", "log.2026.txt", "日本.txt", "UP.MD"]


@pytest.fixture
def tool(memory: Memory) -> MemoryTool:
    return MemoryTool(memory)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_of_any_name_is_stored_as_it_is_and_each_change_is_a_commit(
    memory: Memory, tool: MemoryTool, name: str
) -> None:
    path, text = f"/memories/{name}", '{"a": 1}\r\nno end'
    create(tool, path, text)
    assert memory.file(f"memory/{name}").read_bytes() == text.encode()
    replace = {"command": "str_replace", "path": path, "old_str": "1", "new_str": "2"}
    assert answer(tool, replace).startswith("The memory file has been edited")
    assert path in answer(tool, {"command": "view", "path": path}).splitlines()[0]
    moved = {"command": "rename", "old_path": path, "new_path": "/memories/moved/other.csv"}
    assert answer(tool, moved) == f"Successfully renamed {path} to /memories/moved/other.csv"
    assert answer(tool, {"command": "delete", "path": "/memories/moved"}) == "Successfully deleted /memories/moved"
    assert [commit.subject.split()[1] for commit in memory.log(4)] == ["delete", "rename", "edit", "create"]
    memory.rollback("HEAD~2")
    assert memory.file(f"memory/{name}").read_bytes() == text.replace("1", "2").encode()
    assert git(memory.root, "status", "--porcelain") == "" and complaints(memory.root) == []


def test_recall_passes_over_them_and_the_doctor_says_so(memory: Memory, tool: MemoryTool) -> None:
    memory.remember("Vet", "Luna's vet", "Dr. Moreno.")
    for name in ("notes.txt", "entries/harbour.json", "entries/team/harbour"):
        create(tool, f"/memories/{name}", "Dr. Moreno has a harbour.")
    assert [hit.entry.name for hit in memory.recall("Moreno")] == ["Vet"] and not memory.recall("harbour")
    assert len(memory.entries()) == 1
    said = {item.path: item.message for item in memory.doctor() if item.level == "info"}
    for path in ("memory/notes.txt", "memory/entries/harbour.json", "memory/entries/team/harbour"):
        assert "it is not recalled" in said[path]
    rename = {"command": "rename", "old_path": "/memories/notes.txt", "new_path": "/memories/entries/notes.md"}
    answer(tool, rename)
    assert {hit.entry.path for hit in memory.recall("harbour")} == {"memory/entries/notes.md"}


def test_what_a_person_writes_there_is_recorded_as_theirs_and_never_lost(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/notes.txt", "one\ntwo\n")
    memory.file("memory/notes.txt").write_text("one\ntwo, by hand\n")
    said = answer(tool, {"command": "str_replace", "path": "/memories/notes.txt", "old_str": "two\n", "new_str": "2\n"})
    assert said.startswith("error: No replacement was performed") and "did not appear verbatim" in said
    answer(tool, {"command": "insert", "path": "/memories/notes.txt", "insert_line": 2, "insert_text": "three"})
    assert memory.file("memory/notes.txt").read_text() == "one\ntwo, by hand\nthree\n"
    edit = memory.log(2)[1]
    assert edit.author == "person" and edit.paths == ("memory/notes.txt",)
    memory.file("memory/notes.txt").unlink()
    gone = memory.adopt()
    assert gone and gone.paths == ("memory/notes.txt",)


def test_what_a_person_or_a_program_keeps_there_is_nobodys_memory_until_something_is_written_to_it(
    tmp_path: Path,
) -> None:
    kept = {"id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n", "own.json": "{}", "node_modules/a/index.js": "x = 1\n"}
    with Memory(tmp_path / "notes", agent="coder") as memory:
        memory.remember("Vet", "Luna's vet", "Dr. Moreno.")
        for path, text in kept.items():
            file = memory.file(f"memory/{path}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        assert memory.adopt() is None
        memory.remember("Tea", "what to drink", "Green.")
        with Memory(memory.root) as other:  # which has looked at nothing yet
            other.remember("Cup", "which is mine", "The blue one.")
        assert git(memory.root, "ls-files", "memory").split() == [
            f"memory/entries/{slug}.md" for slug in ("cup", "tea", "vet")
        ]
        said = {item.path: item.message for item in memory.doctor() if item.level == "info"}
        assert all("it is not recalled" in said[f"memory/{path}"] for path in kept)

        edit = {"command": "str_replace", "path": "/memories/own.json", "old_str": "{}", "new_str": "[]"}
        answer(MemoryTool(memory), edit)
        ours, theirs = memory.log(2)
        assert ours.paths == theirs.paths == ("memory/own.json",) and theirs.author == "person"
        assert git(memory.root, "show", f"{theirs.commit}:memory/own.json").strip() == "{}"
        assert memory.file("memory/own.json").read_text() == "[]"


def test_a_purge_takes_a_text_out_of_such_a_file_and_of_its_history(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/door.txt", "The code is 4711-Pinguin.\n")
    create(tool, "/memories/other.json", '{"code": "none"}')
    assert memory.purge(text="4711-Pinguin").commits
    assert memory.file("memory/door.txt").read_text() == "The code is (purged).\n"
    assert "4711-Pinguin" not in git(memory.root, "log", "-p", "--all")
    assert memory.file("memory/other.json").read_text() == '{"code": "none"}'


@pytest.mark.parametrize("name", ["photo.txt", "photo"])
def test_what_is_no_text_stops_nothing_and_is_named(memory: Memory, tool: MemoryTool, name: str) -> None:
    memory.remember("Vet", "Luna's vet", "Dr. Moreno.")
    memory.file(f"memory/{name}").write_bytes(b"\x89PNG\0\xff")
    create(tool, "/memories/big.md", "x")
    with memory.file("memory/huge.json").open("wb") as huge:
        huge.truncate(5_000_001)
    memory.file("memory/entries/huge").write_bytes(b"x" * 5_000_001)
    for command in (
        {"command": "view", "path": f"/memories/{name}"},
        {"command": "insert", "path": f"/memories/{name}", "insert_line": 0, "insert_text": "x"},
        {"command": "rename", "old_path": f"/memories/{name}", "new_path": "/memories/other.txt"},
        {"command": "create", "path": "/memories/huge.json", "file_text": "x"},
    ):
        said = answer(tool, command)
        assert said.startswith("error: ") and str(memory.root) not in said, command
    found = memory.recall("Moreno")
    assert len(found) == 1 and not found.note
    warned = {item.path for item in memory.doctor() if item.level == "warning"}
    assert warned >= {f"memory/{name}", "memory/huge.json", "memory/entries/huge"} and doctored(memory)
    assert memory.file(f"memory/{name}").read_bytes() == b"\x89PNG\0\xff"
    assert answer(tool, {"command": "delete", "path": f"/memories/{name}"}).startswith("Successfully deleted")
    memory.file("memory/huge.json").unlink()
    memory.file("memory/entries/huge").unlink()


def test_links_and_pipes_without_an_ending_are_nothing_to_memory(memory: Memory, tool: MemoryTool) -> None:
    memory.remember("Vet", "Luna's vet", "Dr. Moreno.")
    memory.file("memory/entries/away").symlink_to("/tmp")
    os.mkfifo(memory.file("memory/pipe"))
    create(tool, "/memories/notes.txt")
    assert not memory.recall("Moreno").note and doctored(memory)
    assert "away" not in answer(tool, {"command": "view", "path": "/memories"})
    assert "pipe" in answer(tool, {"command": "create", "path": "/memories/pipe", "file_text": "x"})
    assert git(memory.root, "ls-files", "memory").split() == ["memory/entries/vet.md", "memory/notes.txt"]
    memory.file("memory/entries/away").unlink()
    memory.file("memory/pipe").unlink()


def test_a_link_in_the_way_is_refused_as_the_sdk_does_and_tells_no_place_of_this_machine(
    memory: Memory, tool: MemoryTool, tmp_path: Path
) -> None:
    create(tool, "/memories/notes.txt")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    memory.file("memory/link").symlink_to(outside)
    memory.file("memory/own").symlink_to(memory.file("memory/notes.txt"))
    for command in (
        {"command": "view", "path": "/memories/link/secret.txt"},
        {"command": "create", "path": "/memories/link/a/new.txt", "file_text": "x"},
        {"command": "create", "path": "/memories/own", "file_text": "x"},
        {"command": "delete", "path": "/memories/link"},
        {"command": "rename", "old_path": "/memories/notes.txt", "new_path": "/memories/link/notes.txt"},
        {"command": "rename", "old_path": "/memories/own", "new_path": "/memories/x.txt"},
    ):
        said = answer(tool, command)
        assert "would escape /memories directory" in said and str(tmp_path) not in said
    assert os.listdir(outside) == ["secret.txt"]
    memory.file("memory/link").unlink()
    memory.file("memory/own").unlink()


def test_nothing_in_the_way_is_told_by_its_place_on_this_machine(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/a/notes.txt")
    memory.file("memory/a/.git").mkdir()
    memory.file("memory/b").mkdir()
    memory.file("memory/b/x.txt").mkdir()
    for path in ("/memories/a/new.txt", "/memories/b/x.txt"):
        said = create(tool, path)
        assert said.startswith("error: ") and str(memory.root) not in said and "/memories/" in said


def test_each_method_raises_what_the_sdk_raises(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/a.txt")
    calls: list[Callable[[], object]] = [
        lambda: tool.view(beta.BetaMemoryTool20250818ViewCommand(command="view", path="/memories/..")),
        lambda: tool.create(
            beta.BetaMemoryTool20250818CreateCommand(command="create", path="/memories/x.png", file_text="x")
        ),
        lambda: tool.delete(beta.BetaMemoryTool20250818DeleteCommand(command="delete", path="/memories/none")),
        lambda: tool.rename(
            beta.BetaMemoryTool20250818RenameCommand(
                command="rename", old_path="/memories/a.txt", new_path="/memories/x.png"
            )
        ),
    ]
    for call in calls:
        with pytest.raises(ToolError):
            call()


@pytest.mark.parametrize("rule", ['layout = "flat"', 'profile = "claw"', 'profile = "harness"'])
def test_a_folder_of_another_programs_making_takes_no_other_texts(tmp_path: Path, rule: str) -> None:
    (tmp_path / "crabmem.toml").write_text(f"{rule}\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "state.json").write_text("{}")
    (tmp_path / "script.py").write_text("print()\n")
    with Memory(tmp_path, agent="claude") as memory:
        tool = MemoryTool(memory)
        assert "memory is Markdown; use a name that ends in .md" in create(tool, "/memories/notes.txt")
        assert create(tool, "/memories/notes.md").startswith("File created")
        assert "script.py" not in answer(tool, {"command": "view", "path": "/memories"})
    assert not {"script.py", "memory/state.json"} & set(git(tmp_path, "ls-files").split())


def test_a_large_text_is_kept_up_to_what_is_read_again_and_is_no_fact(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/huge.txt", "\n".join(["line"] * 1_000_000))
    said = answer(tool, {"command": "view", "path": "/memories/huge.txt"})
    assert said == "error: File /memories/huge.txt exceeds maximum line limit of 999,999 lines."
    insert = {"command": "insert", "path": "/memories/huge.txt", "insert_line": 0, "insert_text": "more"}
    assert "at most 5000000 fit" in answer(tool, insert)
    to_fact = {"command": "rename", "old_path": "/memories/huge.txt", "new_path": "/memories/entries/huge.md"}
    assert "at most 262144 fit" in answer(tool, to_fact)
    assert memory.entries() == []


def test_a_large_text_of_lines_that_recur_is_edited_at_once(memory: Memory, tool: MemoryTool) -> None:
    # Comparing the two takes minutes: each line is found in thousands of places.
    files.rewrite(memory, "begin", lambda tree: {"large.txt": "".join(f"line {n % 150}\n" for n in range(300_000))})
    with costing_less_than(20):
        insert = {"command": "insert", "path": "/memories/large.txt", "insert_line": 150_000, "insert_text": "more"}
        assert answer(tool, insert) == "The file /memories/large.txt has been edited."


def test_a_path_that_git_or_another_system_could_not_open_is_refused(memory: Memory, tool: MemoryTool) -> None:
    for ending in ("md", "txt"):
        said = create(tool, "/memories/" + f"{'d' * 150}/" * 30 + f"x.{ending}")
        assert said.startswith("error: the path dddd") and "is too long; at most 800 bytes fit" in said
    assert create(tool, "/memories/" + f"{'d' * 150}/" * 5 + "x.txt").startswith("File created")
    assert git(memory.root, "status", "--porcelain") == "" and doctored(memory)


def test_two_tools_at_once_lose_no_line(tmp_path: Path) -> None:
    root, said = tmp_path / "ours", list[str]()
    with Memory(root, agent="first") as memory:
        create(MemoryTool(memory), "/memories/log.txt", "begin\n")

    def work(name: str) -> None:
        with Memory(root, agent=name) as memory:
            tool = MemoryTool(memory)
            for number in range(15):
                line = f"{name} {number}"
                command = {"command": "insert", "path": "/memories/log.txt", "insert_line": 1, "insert_text": line}
                said.append(answer(tool, command))
                said.append(create(tool, f"/memories/{number}.txt", name))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (root / "memory/log.txt").read_text().splitlines()
    assert sorted(lines[1:]) == sorted(f"{name} {number}" for name in ("ann", "bob") for number in range(15))
    # Of two that create one file, one is told that it is there.
    assert sum("already exists" in each for each in said) == 15 and sum(each.startswith("error") for each in said) == 15
    with Memory(root) as memory:
        assert len(memory.log(100)) == 1 + 1 + 30 + 15
    assert complaints(root) == []


PARTS = st.sampled_from(["a", "A", "notes.txt", "..", ".", "", "%2e%2e", "a\\b", "a\nb", "x.", "x ", "é", "e\u0301",
                         ".git", "git~1", "con", "nul.txt", "a" * 260, "entries", "MEMORY.md", "crabmem.toml", "\u202e",
                         "notes.txt/", "a:b", "Crab.md", "~", "tmp", "4913"])  # fmt: skip


@settings(max_examples=examples(60))
@given(st.lists(st.lists(PARTS, min_size=1, max_size=3), min_size=1, max_size=6))
def test_whatever_the_names_what_is_kept_is_below_memory_portable_and_found_again(
    tmp_path_factory: pytest.TempPathFactory, names: list[list[str]]
) -> None:
    around = tmp_path_factory.mktemp("around")
    with Memory(around / "ours") as memory:
        memory.init()
        tool = MemoryTool(memory)
        for parts in names:
            path = "/memories/" + "/".join(parts)
            said = create(tool, path, "text")
            assert str(around) not in said
            if said.startswith("File created"):
                assert "text" in answer(tool, {"command": "view", "path": path})
        kept = git(memory.root, "ls-files", "-z", "memory").split("\0")[:-1]
        assert git(memory.root, "status", "--porcelain") == ""
        folded = [each.casefold() for each in kept]
        assert len(set(folded)) == len(folded) and all(each.isprintable() for each in kept)
    assert os.listdir(around) == ["ours"]
    assert set(os.listdir(around / "ours")) <= {".git", "Crab.md", "memory", "crabmem.toml"}


def test_a_file_and_a_folder_of_one_name_do_not_replace_each_other(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/plan", "a file")
    assert "is a file, so nothing can be put below it" in create(tool, "/memories/plan/x.txt")
    create(tool, "/memories/trip/x.txt")
    assert "already exists" in create(tool, "/memories/trip")
    over = {"command": "rename", "old_path": "/memories/plan", "new_path": "/memories/trip"}
    assert "already exists" in answer(tool, over)
    assert "Cannot delete the /memories directory itself" in answer(tool, {"command": "delete", "path": "/memories/"})
    with pytest.raises(InvalidArguments, match="something with a meaning"):
        files.rewrite(memory, "take", lambda tree: {"entries": "x"})
    assert memory.remember("Vet", "Luna's vet", "Dr. Moreno.").commit


def test_the_asynchronous_tool_refuses_a_link_in_the_same_words(memory: Memory) -> None:
    memory.init()
    memory.file("memory").mkdir(exist_ok=True)
    memory.file("memory/link").symlink_to("/tmp")
    command = {"command": "view", "path": "/memories/link/x.txt"}
    with pytest.raises(ToolError, match="would escape /memories directory"):
        asyncio.run(AsyncMemoryTool(memory).call(command))
    memory.file("memory/link").unlink()


def test_claude_may_add_to_a_note_by_its_own_tool_and_change_none(tmp_path: Path) -> None:
    family = tmp_path / "family.toml"
    family.write_text(FAMILY)
    with Memory(tmp_path / "m", agent="coder", profile=str(family)) as memory:
        path = f"/memories/{memory.write_note('Tea.').path.rpartition('/')[2]}"
        tool = MemoryTool(memory)
        with pytest.raises(Exception, match="only grows"):
            tool.call({"command": "str_replace", "path": path, "old_str": "Tea", "new_str": "Coffee"})
        with pytest.raises(Exception, match="only grows"):
            tool.call({"command": "delete", "path": path})
        lines = len(memory.file(f"memory/{path.rpartition('/')[2]}").read_text().splitlines())
        tool.call({"command": "insert", "path": path, "insert_line": lines, "insert_text": "Coffee."})
        assert tool.clear_all_memory() == "All memory cleared"
