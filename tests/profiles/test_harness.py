"""The mastersof-ai harness: its tools word for word, its prompt, and folders of its agents as they are found."""

import json
import multiprocessing
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_types import CallToolResult, TextContent

from crabmem import Memory, Result
from crabmem.operations import files
from crabmem.text.edit import BOM
from tests import forked
from tests.conftest import assert_clean, git
from tests.examples import examples
from tests.faults.attacks import PATHS, Ground, folded, folder, grounds
from tests.faults.repository import complaints
from tests.serving import connected, environment
from tests.stories.test_fixtures import everything

ESCAPES = "Error: filename must not escape memory directory."
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
Sample = Callable[[str], Path]


def opened(root: Path, **more: Any) -> Memory:
    return Memory(root, agent="ember", session="s-1", profile="harness", **more)


@pytest.fixture
def ember(tmp_path: Path) -> Iterator[Memory]:
    """An agent's empty folder; its history must end up clean."""
    with opened(tmp_path / "agents" / "ember") as memory:
        yield memory
    if (memory.root / ".git").is_dir():
        assert_clean(memory.root)


def call(memory: Memory, tool: str, *given: Any, **more: Any) -> Result:
    """What a tool says to these arguments, in the order of its schema."""
    [names] = [each.input_schema["properties"] for each in memory.tools_named([f"memory_{tool}"])]
    return memory.call(f"memory_{tool}", {**dict(zip(names, given, strict=False)), **more})


def said(memory: Memory, tool: str, *given: object) -> str:
    result = call(memory, tool, *given)
    return f"{'error: ' * result.is_error}{result.text}"


def subjects(memory: Memory) -> list[str]:
    return [commit.subject for commit in memory.log()]


def looked_at(root: Path) -> dict[Path, tuple[int, ...]]:
    """What would tell a change of any file or folder, links too."""
    found = {place: place.lstat() for place in root.rglob("*")}
    return {place: (status.st_ino, status.st_size, status.st_mtime_ns) for place, status in found.items()}


#: A call of each tool that takes the name of a file.
EACH: tuple[Callable[[str], tuple[Any, ...]], ...] = (
    lambda name: ("read", name),
    lambda name: ("write", name, "x"),
    lambda name: ("replace", name, "secret", "x"),
    lambda name: ("insert", name, 0, "x"),
)


def test_every_reply_is_word_for_word_that_of_the_harness_and_every_failure_an_error(ember: Memory) -> None:
    assert said(ember, "list") == "Memory directory not found."
    ember.file("memory").mkdir(parents=True)
    assert said(ember, "list") == "No memory files yet."
    assert said(ember, "read", "CONTEXT.md") == "error: Memory file 'CONTEXT.md' not found."
    assert said(ember, "replace", "CONTEXT.md", "a", "b") == "error: Memory file 'CONTEXT.md' not found."
    assert said(ember, "insert", "CONTEXT.md", 0, "b") == "error: Memory file 'CONTEXT.md' not found."
    assert said(ember, "write", "CONTEXT.md", "one\ntwo\none\n") == "Memory file 'CONTEXT.md' written successfully."
    assert said(ember, "read", "CONTEXT.md") == "one\ntwo\none\n"
    assert said(ember, "replace", "CONTEXT.md", "three", "3") == "error: String not found in 'CONTEXT.md'."
    assert said(ember, "replace", "CONTEXT.md", "one", "1") == (
        "error: Multiple occurrences found at lines 1, 3. Provide more context to make old_str unique."
    )
    assert said(ember, "replace", "CONTEXT.md", "two", "2") == "Replaced in 'CONTEXT.md'."
    assert said(ember, "insert", "CONTEXT.md", 0, "top") == "Inserted at line 0 in 'CONTEXT.md'."
    assert said(ember, "insert", "CONTEXT.md", 4, "end\n") == "Inserted at line 4 in 'CONTEXT.md'."
    assert said(ember, "insert", "CONTEXT.md", 6, "x") == "error: Line 6 is beyond end of file (5 lines)."
    assert said(ember, "read", "CONTEXT.md") == "top\none\n2\none\nend\n"
    assert said(ember, "write", "clients/island school.md", "Forty children.") != ""
    assert said(ember, "list") == "CONTEXT.md\nclients/island school.md"
    assert said(ember, "read", "clients") == "error: 'clients' is a directory; name a file in it."
    assert said(ember, "write", "clients", "x") == "error: 'clients' is a directory; name a file in it."
    assert said(ember, "read", "clients/island school.md") == "Forty children."


def test_each_write_is_one_commit_that_says_which_file_and_a_refusal_is_none(ember: Memory) -> None:
    call(ember, "write", "notes.md", "one\n")
    call(ember, "write", "notes.md", "one\n")
    call(ember, "replace", "notes.md", "one", "two")
    call(ember, "replace", "notes.md", "one", "two")
    call(ember, "insert", "notes.md", 1, "three")
    call(ember, "read", "notes.md")
    call(ember, "list")
    assert subjects(ember) == [
        "memory: insert into notes.md",
        "memory: replace in notes.md",
        "memory: write notes.md",
        "init: a new memory",
    ]
    assert {(commit.agent, commit.session, commit.paths) for commit in ember.log(3)} == {
        ("ember", "s-1", ("memory/notes.md",))
    }


def test_what_only_reads_is_marked_so_and_the_others_say_what_they_do(ember: Memory) -> None:
    hints = {tool.name: tool.annotations for tool in ember.tools}
    assert {name for name, hint in hints.items() if hint.read_only} == {"memory_read", "memory_list"}
    assert {name for name, hint in hints.items() if hint.destructive} == {"memory_write", "memory_replace"}
    assert {name for name, hint in hints.items() if not hint.idempotent} == {"memory_replace", "memory_insert"}
    for tool in ember.tools:
        assert all(each["description"].endswith(".") for each in tool.input_schema["properties"].values())


def test_every_answer_is_as_the_schema_of_its_tool_says(ember: Memory) -> None:
    calls: list[tuple[Any, ...]] = [
        ("write", "a.md", "one\n"),
        ("replace", "a.md", "one", "two"),
        ("insert", "a.md", 0, "x"),
        ("read", "a.md"),
    ]
    for name, *arguments in [*calls, ("list",)]:
        [tool] = ember.tools_named([f"memory_{name}"])
        data = json.loads(json.dumps(call(ember, name, *arguments).data))
        jsonschema.validate(data, {**tool.output_schema, "additionalProperties": False})
    done = call(ember, "write", "a.md", "three\n").data
    assert done["diff"].endswith("-x\n-two\n+three\n") and not done["created"]
    assert call(ember, "read", "a.md").data == {"path": "memory/a.md", "text": "three\n", "version": done["version"]}


def test_a_text_that_overlaps_itself_is_there_more_than_once(ember: Memory) -> None:
    call(ember, "write", "a.md", "x\naaa\n")
    assert "found at lines 2, 2." in said(ember, "replace", "a.md", "aa", "b")
    assert said(ember, "replace", "a.md", "aaa", "b") == "Replaced in 'a.md'."


def test_no_text_to_replace_and_a_line_before_the_first_are_bad_arguments(ember: Memory) -> None:
    call(ember, "write", "a.md", "x\n")
    assert said(ember, "replace", "a.md", "", "b").startswith("error: invalid arguments: old_str is empty")
    assert said(ember, "insert", "a.md", -1, "b").startswith("error: invalid arguments: ")
    assert subjects(ember)[0] == "memory: write a.md"


PIECES = st.sampled_from(["one", "two\n", "aa", "\n", "é", "\r\n", "last", " "])
TEXTS = st.builds(lambda mark, pieces: mark + "".join(pieces), st.sampled_from(["", BOM]), st.lists(PIECES, max_size=9))


@pytest.fixture(scope="module")
def fast() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as root:
        Path(root, "crabmem.toml").write_text('durability = "fast"\n')
        Path(root, "memory").mkdir()
        with opened(Path(root)) as memory:
            yield memory


@settings(max_examples=examples(60))
@given(
    before=TEXTS, old=st.sampled_from(["one", "aa", "two\n", "\r\n", "last", "é", "o"]), new=st.text("xy\n", max_size=4)
)
@example(before=f"{BOM}a\r\none\r\n", old="one", new="x\ny")
def test_replacing_changes_the_text_that_is_named_and_no_other_byte(
    fast: Memory, before: str, old: str, new: str
) -> None:
    file = fast.file("memory/a.md")
    file.write_bytes(before.encode())
    result = call(fast, "replace", "a.md", old, new)
    # Who reads sees no "\r"; that it stays where it was is a law of `replace_once`, see tests/text/test_edit.
    flat, sought = before.replace("\r\n", "\n"), old.replace("\r\n", "\n")
    places = [at for at in range(len(flat)) if flat.startswith(sought, at)]
    after = file.read_bytes().decode()
    if len(places) == 1:
        assert after.replace("\r\n", "\n") == flat[: places[0]] + new + flat[places[0] + len(sought) :]
        assert not result.is_error
    else:
        assert result.is_error and after == before


@pytest.mark.parametrize("mark", ["", BOM])
def test_a_file_of_another_system_keeps_its_line_breaks_and_its_mark(ember: Memory, mark: str) -> None:
    ember.file("memory").mkdir(parents=True)
    file = ember.file("memory/times.md")
    file.write_bytes(f"{mark}# Times\r\n\r\n- 7:40\r\n- 9:10\r\n".encode())
    call(ember, "replace", "times.md", "# Times\n\n- 7:40", "# Times\n\n- 7:45")
    call(ember, "insert", "times.md", 3, "- 8:25\n")
    assert file.read_bytes() == f"{mark}# Times\r\n\r\n- 7:45\r\n- 8:25\r\n- 9:10\r\n".encode()
    call(ember, "write", "times.md", "None\nthis week\n")
    assert file.read_bytes() == f"{mark}None\r\nthis week\r\n".encode()


@settings(max_examples=examples(40))
@given(TEXTS)
def test_what_is_written_to_a_new_file_is_what_is_read(fast: Memory, text: str) -> None:
    fast.file("memory/new.md").unlink(missing_ok=True)
    call(fast, "write", "new.md", text)
    assert call(fast, "read", "new.md").data["text"] == text == fast.file("memory/new.md").read_bytes().decode()


def test_only_markdown_is_memory_and_hidden_files_are_not_listed(sample: Sample) -> None:
    root = sample("harness")
    with opened(root) as memory:
        assert said(memory, "list") == "CONTEXT.md\nclients/island-school.md\nrepairs.md\ntimetable.md"
        for each in EACH:
            assert "memory is Markdown; use a name that ends in .md" in said(memory, *each("tasks.json"))
        assert said(memory, "read", ".draft.md") == "error: Memory file '.draft.md' not found."
        assert "cannot be a name on every system" in said(memory, "write", ".draft.md", "x")
    assert not (root / ".git").exists()


@pytest.mark.parametrize(
    "name",
    ["..", "../IDENTITY.md", "a/../../x.md", "/etc/passwd.md", "..\\x.md", "C:\\x.md", "a.md\0", "../memory2/x.md",
     "../../ember2/memory/x.md", "../MEMORY/CONTEXT.md", "../.GIT/config.md", "link.md", "down/x.md", "dead.md"],
)  # fmt: skip
def test_a_name_that_leads_out_of_memory_is_an_error_and_touches_nothing(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "agents" / "ember") as ember:
        call(ember, "write", "CONTEXT.md", "one\n")
        for beside in (ember.root / "memory2", ember.root.parent / "ember2" / "memory"):
            beside.mkdir(parents=True)
            (beside / "x.md").write_text("secret\n")
        ember.file("memory/link.md").symlink_to("../memory2/x.md")
        ember.file("memory/down").symlink_to("../memory2")
        ember.file("memory/dead.md").symlink_to("../nowhere.md")
        before = looked_at(tmp_path)
        for each in EACH:
            assert said(ember, *each(name)) == f"error: {ESCAPES}"
        assert looked_at(tmp_path) == before


def test_no_name_reaches_outside_or_makes_a_file_that_some_system_cannot_have() -> None:
    for ground, payloads in grounds(PATHS[1::2]):
        with opened(ground.root) as memory:
            for payload in payloads:
                for name in (payload, f"clients/{payload}.md"):
                    told = [call(memory, "write", name, "harmless"), call(memory, "read", name)]
                    told += [call(memory, "replace", name, "the-secret", "x"), call(memory, "insert", name, 0, "x")]
                    ground.assert_untouched(name, repr(told))
        names = [path for path in git(ground.root, "ls-tree", "-rz", "--name-only", "HEAD").split("\0") if path]
        assert all(name in ("Crab.md", "IDENTITY.md") or name.startswith("memory/") for name in names), names
        assert len({folded(name) for name in names}) == len(names)
        assert complaints(ground.root) == [] and git(ground.root, "status", "--porcelain") == ""


def test_a_memory_folder_that_is_a_link_is_not_followed() -> None:
    with folder() as around:
        ground = Ground(around)
        (ground.root / "memory").rename(around / "elsewhere")
        (ground.root / "memory").symlink_to(around / "elsewhere")
        ground.look_again()
        with opened(ground.root) as memory:
            assert said(memory, "write", "x.md", "x") == said(memory, "read", "MEMORY.md") == f"error: {ESCAPES}"
        ground.assert_untouched("memory", "")


def test_a_file_in_the_way_of_a_folder_and_a_credential_are_refused(ember: Memory) -> None:
    call(ember, "write", "a.md", "one\n")
    assert "a.md is not a folder" in said(ember, "write", "a.md/b.md", "x")
    assert said(ember, "replace", "a.md", "one", TOKEN).startswith(
        "error: not saved: it contains what looks like a secret"
    )
    assert said(ember, "write", "A.md", "x").startswith("error: invalid arguments: A.md: other systems take that for")
    assert subjects(ember) == ["memory: write a.md", "init: a new memory"]


def test_a_file_changed_since_it_was_read_is_not_written_over_when_the_version_is_named(ember: Memory) -> None:
    call(ember, "write", "a.md", "one\n")
    version = call(ember, "read", "a.md").data["version"]
    ember.file("memory/a.md").write_text("by hand\n")
    for each in EACH[1::2]:
        result = call(ember, *each("a.md"), if_version=version)
        assert result.is_error and result.data["current"] == "by hand\n"
    assert ember.file("memory/a.md").read_text() == "by hand\n"
    assert not call(ember, "write", "a.md", "two\n", if_version=call(ember, "read", "a.md").data["version"]).is_error


def test_what_was_written_over_comes_back(ember: Memory) -> None:
    call(ember, "write", "CONTEXT.md", "The radar is broken.\n")
    call(ember, "write", "CONTEXT.md", "Nothing.\n")
    ember.undo()
    assert said(ember, "read", "CONTEXT.md") == "The radar is broken.\n"


GROUP = """
about = "files by name, some of them for nobody else"
tools = ["harness"]
[kinds.group]
hides = ["memory/private*.md"]
[[part]]
words = "You are in a group."
"""


def test_what_is_hidden_from_a_session_is_told_by_no_tool(tmp_path: Path) -> None:
    (tmp_path / "group.toml").write_text(GROUP)
    with opened(tmp_path / "ember") as memory:
        call(memory, "write", "private.md", "secret\n")
        call(memory, "write", "open.md", "one\n")
    with Memory(tmp_path / "ember", profile=str(tmp_path / "group.toml"), kind="group") as memory:
        assert said(memory, "list") == "open.md"
        told = [call(memory, *each("private.md")) for each in EACH]
        told += [call(memory, *each("private.md"), if_version="0123456789ab") for each in EACH[1::2]]
        assert all(result.is_error and "secret" not in repr(result) for result in told)
        done = files.rewrite(memory, "copy", lambda tree: {f"copy-of-{path}": "x\n" for path in tree.paths()})
        assert done.paths == ("memory/copy-of-open.md",)
    assert (tmp_path / "ember/memory/private.md").read_text() == "secret\n"


def test_a_file_that_is_no_text_is_listed_and_said_to_be_none(ember: Memory) -> None:
    ember.file("memory").mkdir(parents=True)
    ember.file("memory/old.md").write_bytes(b"caf\xe9\n")
    assert said(ember, "list") == "old.md"
    for each in EACH:
        assert "is not UTF-8 text" in said(ember, *each("old.md"))
    assert ember.file("memory/old.md").read_bytes() == b"caf\xe9\n"


def test_what_a_person_saved_between_reading_and_replacing_is_their_commit_and_stays(ember: Memory) -> None:
    call(ember, "write", "a.md", "one\ntwo\n")
    ember.file("memory/a.md").write_text("one, by hand\ntwo\n")
    assert said(ember, "replace", "a.md", "two", "2") == "Replaced in 'a.md'."
    assert ember.file("memory/a.md").read_text() == "one, by hand\n2\n"
    assert [(commit.author, commit.subject) for commit in ember.log(2)] == [
        ("ember", "memory: replace in a.md"),
        ("person", "edit: a"),
    ]


def _count(root: Path, word: str) -> None:
    with opened(root) as memory:
        for number in range(10):
            assert said(memory, "replace", "a.md", f"{word} {number}\n", f"{word} {number + 1}\n").startswith(
                "Replaced"
            )


def test_two_processes_that_replace_different_texts_of_one_file_both_succeed_each_time(ember: Memory) -> None:
    call(ember, "write", "a.md", "one 0\nand\ntwo 0\n")
    context = multiprocessing.get_context("spawn")
    agents = [context.Process(target=_count, args=(ember.root, word)) for word in ("one", "two")]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join()
    assert said(ember, "read", "a.md") == "one 10\nand\ntwo 10\n"
    assert subjects(ember).count("memory: replace in a.md") == 20


def test_the_tools_of_one_agent_reach_no_other(tmp_path: Path) -> None:
    with opened(tmp_path / "agents" / "em") as em, opened(tmp_path / "agents" / "ember") as ember:
        call(em, "write", "a.md", "of em\n")
        call(ember, "write", "a.md", "of ember\n")
        assert said(em, "read", "a.md") == "of em\n" and said(em, "list") == "a.md"
        for name in ("../../ember/memory/a.md", "../ember/memory/a.md", str(ember.root / "memory/a.md")):
            assert said(em, "read", name) == said(em, "write", name, "x") == f"error: {ESCAPES}"
        assert said(ember, "read", "a.md") == "of ember\n" and len(ember.log()) == 2


def test_the_prompt_is_identity_context_time_place_and_how_to_work_in_this_order(sample: Sample) -> None:
    root = sample("harness")
    with opened(root) as memory:
        prompt = memory.prompt()
    parts = [
        (root / "IDENTITY.md").read_text().strip(),
        f"# Persistent Memory\n\n{(root / 'memory/CONTEXT.md').read_text().strip()}",
        "2026",
        str(root),
        "# Your environment",
        "# Verify before you say so",
        "# Continuity between sessions",
        "# Sub-agents",
    ]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places) and prompt.startswith(parts[0]) and "island-school" not in prompt


def test_a_blank_context_is_none(ember: Memory) -> None:
    call(ember, "write", "CONTEXT.md", " \n")
    assert "Persistent Memory" not in ember.prompt()


def test_a_sub_agent_reads_and_lists_and_writes_nothing(sample: Sample) -> None:
    root = sample("harness")
    with opened(root, kind="subagent") as memory:
        assert [tool.name for tool in memory.tools] == ["memory_read", "memory_list"]
        assert said(memory, "read", "repairs.md").startswith("# Repairs")
        refused = memory.call("memory_write", {"filename": "repairs.md", "content": "x"})
        assert refused.is_error and (root / "memory/repairs.md").read_text().startswith("# Repairs")
        prompt = memory.prompt()
    assert "# Persistent Memory" in prompt and "memory_write" not in prompt and "# Sub-agents" not in prompt
    assert not (root / ".git").exists()


def test_without_tools_the_context_still_goes_into_the_prompt(sample: Sample) -> None:
    root = sample("harness")
    (root / "crabmem.toml").write_text('profile = "harness"\ntools = false\n')
    with Memory(root) as memory:
        assert memory.tools == [] and "memory_" not in memory.prompt()
        assert "the *Tern* and the *Avocet*" in memory.prompt()
        assert memory.call("memory_write", {"filename": "a.md", "content": "x"}).is_error
    assert not (root / "memory" / "a.md").exists()


def words(answer: CallToolResult) -> str:
    [content] = answer.content
    assert isinstance(content, TextContent)
    return content.text


def run(root: Path, *words: str) -> str:
    """What the command prints, as a process of its own."""
    told = [*forked.COMMAND, "--dir", str(root), "--profile", "harness", *words]
    return subprocess.run(told, capture_output=True, text=True, env=environment(), check=True, timeout=60).stdout


def test_from_an_empty_folder_to_a_file_that_the_next_process_knows(tmp_path: Path) -> None:
    root = tmp_path / "ember"
    given = {"filename": "CONTEXT.md", "content": "# What goes on\n\nThe radar of the Tern is broken.\n"}
    assert run(root, "call", "memory_write", json.dumps(given)) == "Memory file 'CONTEXT.md' written successfully.\n"
    prompt = run(root, "prompt")
    assert "# Persistent Memory\n\n# What goes on\n\nThe radar of the Tern is broken." in prompt
    assert "`memory_read`" in prompt and (root / "IDENTITY.md").read_text().strip() in prompt
    assert run(root, "call", "memory_read", '{"filename": "CONTEXT.md"}').endswith("of the Tern is broken.\n")
    assert [line.split(" | ")[-1] for line in git(root, "log", "--format=%s").splitlines()] == [
        "memory: write CONTEXT.md",
        "init: a new memory",
    ]
    assert_clean(root)


def test_a_client_of_the_protocol_keeps_and_edits_files(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with connected(tmp_path / "ember", "stdio", "auto", options=["--profile", "harness"]) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == [
                "memory_read",
                "memory_write",
                "memory_replace",
                "memory_insert",
                "memory_list",
                "prompt_propose",
            ]
            hints = [each.annotations and each.annotations.read_only_hint for each in tools.values()]
            assert hints == [True, False, False, False, True, False]
            await client.call_tool("memory_write", {"filename": "crew.md", "content": "Ines\nBram\n"})
            await client.call_tool("memory_insert", {"filename": "crew.md", "line": 1, "text": "Yusuf"})
            missed = await client.call_tool("memory_replace", {"filename": "crew.md", "old_str": "Juno", "new_str": ""})
            assert missed.is_error and words(missed) == "String not found in 'crew.md'."
            read = await client.call_tool("memory_read", {"filename": "crew.md"})
            assert words(read) == "Ines\nYusuf\nBram\n"

    anyio.run(conversation)


def test_an_agents_folder_that_is_there_is_read_by_everything_and_nothing_in_it_changes(sample: Sample) -> None:
    root = sample("harness")
    before = everything(root)
    with opened(root) as memory:
        assert said(memory, "read", "timetable.md").startswith("# Timetable\n")
        assert call(memory, "read", "timetable.md").data["text"].startswith("# Timetable\r\n")
        for refused in (("replace", "repairs.md", "radar", "x"), ("insert", "repairs.md", 99, "x"), ("read", "..")):
            assert call(memory, *refused).is_error
        assert memory.context().parts and memory.recall("radar of the Tern")[0].entry.slug == "repairs"
        assert memory.entries() and memory.doctor() and not memory.log() and memory.diff()
        assert memory.overview().path == "memory/CONTEXT.md" and memory.identity().path == "IDENTITY.md"
    for verb in (
        ["prompt"],
        ["context"],
        ["list"],
        ["recall", "radar"],
        ["overview", "show"],
        ["identity", "show"],
        ["log"],
    ):
        assert run(root, *verb) or verb == ["log"]
    assert run(root, "call", "memory_list") == "CONTEXT.md\nclients/island-school.md\nrepairs.md\ntimetable.md\n"
    assert everything(root) == before


def test_the_first_write_beside_files_that_are_there_leaves_each_of_their_bytes(sample: Sample) -> None:
    root = sample("harness")
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    with opened(root) as memory:
        call(memory, "insert", "repairs.md", 5, "- 2026-03-01 radar: part arrived.")
        assert [commit.author for commit in memory.log()] == ["ember", "person"]
    changed = [file for file, data in before.items() if file.read_bytes() != data]
    assert [file.name for file in changed] == ["repairs.md"] and os.listdir(root / "memory") != []
    assert git(root, "status", "--porcelain") == "?? memory/tasks.json\n"
